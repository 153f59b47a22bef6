#include <criterion/criterion.h>
#include <string.h>

#include "artifact/params/params.h"
#include "artifact/params/tensor_blob.h"
#include "tests/artifact/payload_writer.h"
#include "tests/support/exact.h"

static void put_file(struct bw *b, uint64_t n)
{
	bw_u64(b, 0xF7E58D4F05049CB7ull);
	bw_u64(b, 0);
	bw_strs(b, (const char *const[]){"weight", "bias", NULL});
	bw_u64(b, n);
	pw_tensor(b);
	pw_tensor(b);
}

static msd_err read_exactly(struct msd_span s, struct msd_params *ret,
			    struct msd_diag *d)
{
	uint8_t *copy = exact_copy(s.p, s.n);
	msd_err err = msd_params_read_file((struct msd_span){copy, s.n}, ret, d);

	if (err == MSD_OK)
		msd_params_finish(ret);
	free(copy);
	return err;
}

Test(params, a_file_gives_its_tensors_by_name)
{
	struct bw b = {0};
	struct msd_params p;

	put_file(&b, 2);
	cr_assert_eq(msd_params_read_file(bw_span(&b), &p, NULL), MSD_OK);
	cr_assert_eq(p.n, 2);
	cr_assert_eq(msd_params_find(&p, "bias"), &p.tensors[1]);
	cr_assert_eq(p.tensors[1].ndim, 2);
	cr_assert_eq(p.tensors[1].data.n, 24);
	cr_assert_null(msd_params_find(&p, "bia"));
	msd_params_finish(&p);
	bw_free(&b);
}

Test(params, every_prefix_is_refused)
{
	struct bw b = {0};
	struct msd_params p;

	put_file(&b, 2);
	for (size_t n = 0; n < b.n; n++) {
		cr_assert_eq(read_exactly((struct msd_span){b.p, n}, &p, NULL),
			     MSD_BAD_ARTIFACT, "%zu", n);
	}
	bw_u8(&b, 0);
	cr_assert_eq(read_exactly(bw_span(&b), &p, NULL), MSD_BAD_ARTIFACT);
	bw_free(&b);
}

Test(params, a_count_beside_the_names_is_refused)
{
	struct bw b = {0};
	struct msd_diag d = {0};
	struct msd_params p;

	put_file(&b, 3);
	cr_assert_eq(read_exactly(bw_span(&b), &p, &d), MSD_BAD_ARTIFACT);
	cr_assert_str_eq(msd_diag_text(&d), "parameters: 3 of them, but 2 names");
	msd_diag_finish(&d);
	bw_free(&b);
}

Test(params, a_huge_count_allocates_nothing)
{
	struct bw b = {0};
	struct msd_params p;

	bw_u64(&b, 0xF7E58D4F05049CB7ull);
	bw_u64(&b, 0);
	bw_u64(&b, UINT64_MAX / 4);
	cr_assert_eq(read_exactly(bw_span(&b), &p, NULL), MSD_BAD_ARTIFACT);
	bw_free(&b);
}
