#include <criterion/criterion.h>

#include "proto/value.h"
#include "proto/words/external_data.h"

static struct msd_buf list_of(const char *name, uint64_t bytes)
{
	struct msd_buf b = {0};

	msd_pack_array(&b, 2);
	msd_pack_cstr(&b, name);
	msd_pack_uint(&b, bytes);
	return b;
}

static struct msd_span items_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

Test(beside, each_file_begins_on_a_page)
{
	struct msd_buf b = list_of("a", 4096), more = list_of("b/c", 5);
	struct msd_external_data_file file;

	msd_buf_put(&b, more.p, more.n);
	cr_assert_eq(msd_external_data_check(items_of(&b), 10, 8197, NULL), MSD_OK);
	cr_assert(msd_external_data_find(items_of(&b), 10, "a", &file));
	cr_expect(file.at == 4096 && file.bytes == 4096);
	cr_assert(msd_external_data_find(items_of(&b), 10, "b/c", &file));
	cr_expect(file.at == 8192 && file.bytes == 5);
	msd_buf_finish(&b);
	msd_buf_finish(&more);
}

Test(beside, refuses_what_is_not_as_long_as_it_says)
{
	struct msd_buf b = list_of("a", 5), huge = list_of("a", INT64_MAX);

	for (uint64_t whole = 0; whole < 5000; whole++) {
		cr_expect_eq(msd_external_data_check(items_of(&b), 10, whole, NULL),
			     whole == 4101 ? MSD_OK : MSD_BAD_REQUEST);
	}
	cr_expect_eq(msd_external_data_check(items_of(&b), 0, 5, NULL),
		     MSD_BAD_REQUEST);
	cr_expect_eq(msd_external_data_check(items_of(&huge), INT64_MAX, 10, NULL),
		     MSD_BAD_REQUEST);
	msd_buf_finish(&b);
	msd_buf_finish(&huge);
}

Test(beside, refuses_names_that_leave_the_upload)
{
	static const char *const names[] = {"",     "/a",  "../a", "a/..",
					    "a//b", "./a", "a/"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct msd_buf b = list_of(names[i], 5);

		cr_expect_eq(msd_external_data_check(items_of(&b), 10, 4101, NULL),
			     MSD_BAD_REQUEST, "%s", names[i]);
		msd_buf_finish(&b);
	}
}

Test(beside, refuses_every_prefix_of_a_list)
{
	struct msd_buf b = list_of("weights", 5);

	for (size_t n = 0; n < b.n; n++) {
		const struct msd_span part = {b.p, n};

		cr_expect_eq(msd_external_data_check(part, 10, 4101, NULL),
			     MSD_BAD_REQUEST);
	}
	msd_buf_finish(&b);
}

Test(beside, refuses_more_files_than_the_bound)
{
	struct msd_buf b = {0};

	for (unsigned i = 0; i <= MSD_EXTERNAL_DATA_MAX; i++) {
		struct msd_buf one = list_of("a", 4096);

		msd_buf_put(&b, one.p, one.n);
		msd_buf_finish(&one);
	}
	cr_expect_eq(msd_external_data_check(items_of(&b), 4096,
					     4096ull * (MSD_EXTERNAL_DATA_MAX + 2),
					     NULL),
		     MSD_TOO_LARGE);
	msd_buf_finish(&b);
}

Test(beside, prefers_a_whole_name_to_its_last_part)
{
	struct msd_buf b = list_of("w", 1), more = list_of("a/w", 2);
	struct msd_external_data_file file;

	msd_buf_put(&b, more.p, more.n);
	cr_assert(msd_external_data_find(items_of(&b), 1, "a/w", &file));
	cr_expect_eq(file.bytes, 2);
	cr_assert(msd_external_data_find(items_of(&b), 1, "b/w", &file));
	cr_expect_eq(file.bytes, 1);
	cr_expect_not(msd_external_data_find(items_of(&b), 1, "v", &file));
	msd_buf_finish(&b);
	msd_buf_finish(&more);
}
