/* Workers of a module over several devices. */
#include <criterion/criterion.h>

#include "proto/words/device_list.h"

static struct msd_device_list good(const char *text)
{
	struct msd_device_list s;

	cr_assert(msd_device_list_parse(msd_span_of(text), &s), "%s", text);
	return s;
}

Test(device_list, one_device_is_every_workers)
{
	const struct msd_device_list s = good("opencl:1");

	for (uint32_t i = 0; i < 3; i++)
		cr_expect_eq(msd_device_list_at(&s, i).id, 1);
}

Test(device_list, workers_take_turns)
{
	const struct msd_device_list s = good("cuda:3,cuda:0,cuda");
	const int32_t ids[] = {3, 0, 0, 3, 0};

	for (uint32_t i = 0; i < 5; i++) {
		cr_expect_eq(msd_device_list_at(&s, i).type, MSD_DEV_CUDA);
		cr_expect_eq(msd_device_list_at(&s, i).id, ids[i], "worker %u", i);
	}
}

Test(device_list, nothing_leaves_it_to_the_worker)
{
	const struct msd_device_list s = {0};

	cr_expect_eq(msd_device_list_at(&s, 2).type, 0);
}

Test(device_list, is_written_as_it_is_read)
{
	char text[MSD_DEVICE_LIST_TEXT_MAX];
	const struct msd_device_list s = good("cuda:3,cuda");

	cr_expect_str_eq(msd_device_list_format(&s, text), "cuda:3,cuda:0");
	cr_expect_str_eq(msd_device_list_format(&(struct msd_device_list){0}, text),
			 "");
}

Test(device_list, what_is_no_list_of_devices_is_refused)
{
	static const char *const texts[] = {
		"",
		",",
		"cuda:0,",
		",cuda:0",
		"cuda:0,,cuda:1",
		"cuda:0,cpu",
		"cuda:0,nothing",
		"cuda:0 cuda:1",
		"cuda,cuda,cuda,cuda,cuda,cuda,cuda,cuda,cuda,cuda,cuda,cuda,cuda,cuda,"
		"cuda,cuda,cuda",
	};
	struct msd_device_list s;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_expect_not(msd_device_list_parse(msd_span_of(texts[i]), &s), "%s",
			      texts[i]);
	}
}
