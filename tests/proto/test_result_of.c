#include <criterion/criterion.h>
#include <string.h>

#include "proto/result_of.h"
#include "proto/value.h"

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

Test(result_of, is_found_wherever_it_stands)
{
	const struct msd_result_of wanted = {.id = 77, .n_path = 2, .path = {1, 4000}};
	struct msd_result_of got = {0};
	struct msd_buf b = {0};
	struct msd_span before;

	msd_pack_array(&b, 2);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "key");
	msd_pack_result_of(&b, &wanted);
	msd_pack_bin(&b, "\xd7\x09 no name: data", 17);
	struct msd_cur c = msd_cur_of(span_of(&b));
	cr_assert(msd_result_of_next(&c, &before, &got));
	cr_expect_eq(before.n, 6);
	cr_expect_eq(got.id, 77);
	cr_expect_eq(got.n_path, 2);
	cr_expect(got.path[0] == 1 && got.path[1] == 4000);
	cr_expect_not(msd_result_of_next(&c, &before, &got));
	cr_expect_eq(before.n, 19);
	msd_buf_finish(&b);
}

static msd_err pick(const uint32_t *path, uint32_t n, struct msd_span *ret,
		    struct msd_diag *d)
{
	static const char nested[] = "\x92\x90\x93\x07\xa1x\x91\xc3";
	struct msd_result_of r = {.id = 5, .n_path = n};

	for (uint32_t i = 0; i < n; i++)
		r.path[i] = path[i];
	return msd_result_of_pick(
		&r, (struct msd_span){(const uint8_t *)nested, sizeof(nested) - 1}, ret,
		d);
}

Test(result_of, path_leads_into_arrays)
{
	struct msd_span got = {0};

	cr_assert_eq(pick(NULL, 0, &got, NULL), MSD_OK);
	cr_expect_eq(got.n, 8, "all of it");
	cr_assert_eq(pick((const uint32_t[]){0}, 1, &got, NULL), MSD_OK);
	cr_expect_eq(got.p[0], 0x90);
	cr_assert_eq(pick((const uint32_t[]){1, 1}, 2, &got, NULL), MSD_OK);
	cr_expect(got.n == 2 && got.p[1] == 'x');
	cr_assert_eq(pick((const uint32_t[]){1, 2, 0}, 3, &got, NULL), MSD_OK);
	cr_expect_eq(got.p[0], 0xc3);
}

Test(result_of, path_that_leads_nowhere_names_the_step)
{
	static const struct {
		uint32_t path[3], n;
		const char *text;
	} wrong[] = {{{2}, 1, "element 2 at step 1"},
		     {{0, 0}, 2, "element 0 at step 2"},
		     {{1, 0, 0}, 3, "element 0 at step 3"},
		     {{1, UINT32_MAX}, 2, "element 4294967295 at step 2"}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct msd_diag d = {0};
		struct msd_span got;

		cr_expect_eq(pick(wrong[i].path, wrong[i].n, &got, &d),
			     MSD_BAD_REQUEST);
		cr_expect_not_null(strstr(msd_diag_text(&d), wrong[i].text), "%s",
				   msd_diag_text(&d));
		msd_diag_finish(&d);
	}
}
