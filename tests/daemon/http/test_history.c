#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/http/page/history.h"

static struct msd_history history;

static void begin(void)
{
	msd_history_init(&history);
}

static void finish(void)
{
	msd_history_finish(&history);
}

static void note(uint64_t calls, uint64_t run_ns)
{
	msd_history_note(&history, "m", (struct msd_history_point){calls, run_ns});
}

static void expect_written(const char *text)
{
	struct msd_buf out = {0};

	msd_history_write(&history, msd_span_of("m"), &out);
	cr_expect(msd_span_is((struct msd_span){out.p, out.n}, text), "%.*s",
		  (int)out.n, (const char *)out.p);
	msd_buf_finish(&out);
}

TestSuite(history, .init = begin, .fini = finish);

Test(history, a_point_is_what_has_come_since_the_last_look)
{
	expect_written("{\"every_s\":10,\"calls\":[],\"run_ns\":[]}");
	note(100, 1000);
	note(103, 1600);
	note(103, 1600);
	expect_written("{\"every_s\":10,\"calls\":[3,0],\"run_ns\":[200,0]}");
}

Test(history, a_module_in_anothers_place_counts_from_nothing)
{
	note(100, 1000);
	note(2, 50);
	expect_written("{\"every_s\":10,\"calls\":[2],\"run_ns\":[25]}");
}

Test(history, ten_minutes_are_kept)
{
	struct msd_buf out = {0};
	unsigned n = 0;

	for (unsigned i = 0; i < 3 * MSD_HISTORY_POINTS; i++)
		note(i * (i + 1) / 2, 0);
	msd_history_write(&history, msd_span_of("m"), &out);
	for (size_t i = 0; i < out.n; i++)
		n += out.p[i] == ',';
	cr_expect_eq(n, 2 * (MSD_HISTORY_POINTS - 1) + 2);
	msd_buf_put_u8(&out, 0);
	cr_expect_not_null(strstr((const char *)out.p, "[120,121,"), "%s", out.p);
	msd_buf_finish(&out);
}
