#include <criterion/criterion.h>

#include "client/cli/stages.h"

#define SUM "modserd_call_stage_seconds_sum"
#define COUNT "modserd_call_stage_seconds_count"

static const char before[] = SUM "{module=\"add\",stage=\"queue\"} 1.5\n" COUNT
				 "{module=\"add\",stage=\"queue\"} 100\n";
static const char later[] = SUM "{module=\"addition\",stage=\"queue\"} 99\n" SUM
				"{module=\"add\",stage=\"queue\"} 1.500002\n" COUNT
				"{module=\"add\",stage=\"queue\"} 102\n" SUM
				"{module=\"add\",stage=\"run\"} 0.5\n" COUNT
				"{module=\"add\",stage=\"run\"} 1";

/* The mean of @stage between the two texts. */
static uint64_t mean(const char *a, const char *b, unsigned stage)
{
	const struct msd_span name = {(const uint8_t *)"add", 3};
	struct msd_stages one, two;

	msd_stages_read(a, name, &one);
	msd_stages_read(b, name, &two);
	return msd_stages_mean_ns(&one, &two, stage);
}

Test(stages, means_are_of_the_calls_between_two_looks)
{
	cr_expect_str_eq(msd_stages_key(1), "queue_mean_ns");
	cr_expect_eq((mean(before, later, 1) + 5) / 10, 100, "2 us by 2 calls");
	cr_expect_eq(mean(before, later, 3), 500000000);
}

Test(stages, no_calls_between_them_are_no_time)
{
	cr_expect_eq(mean(before, before, 1), 0);
	cr_expect_eq(mean("", "", 3), 0);
	cr_expect_eq(mean(later, "", 1), 0, "a daemon that began anew");
}
