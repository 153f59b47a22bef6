#include <criterion/criterion.h>

#include "daemon/worker/objects/resident_tensors.h"
#include "tests/support/fail_alloc.h"

static const struct msd_device cpu = {MSD_DEV_CPU, 0};
static const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};

static struct msd_handle alloc(struct msd_resident_tensors *r, int64_t n)
{
	struct msd_handle h;
	struct msd_tensor *t;

	cr_assert_eq(msd_resident_tensors_alloc(r, cpu, float32, &n, 1, &h, &t, NULL),
		     MSD_OK);
	return h;
}

Test(residents, freed_handle_is_stale_even_when_its_slot_is_used_again)
{
	struct msd_resident_tensors r;

	msd_resident_tensors_init(&r, 1 << 20);
	struct msd_handle old = alloc(&r, 4);
	cr_assert(msd_resident_tensors_free(&r, old));
	struct msd_handle new = alloc(&r, 4);
	cr_assert_eq(new.slot, old.slot);
	cr_assert_null(msd_resident_tensors_peek(&r, old));
	cr_assert_not(msd_resident_tensors_free(&r, old));
	cr_assert_not_null(msd_resident_tensors_peek(&r, new));
	msd_resident_tensors_finish(&r);
}

Test(residents, handle_that_never_was_is_stale)
{
	struct msd_resident_tensors r;

	msd_resident_tensors_init(&r, 1 << 20);
	(void)alloc(&r, 1);
	cr_assert_null(msd_resident_tensors_peek(&r, (struct msd_handle){0, 0}));
	cr_assert_null(msd_resident_tensors_peek(&r, (struct msd_handle){1, 0}));
	cr_assert_null(msd_resident_tensors_peek(&r, (struct msd_handle){1000000, 1}));
	msd_resident_tensors_finish(&r);
}

Test(residents, limit_counts_live_bytes_alone)
{
	struct msd_resident_tensors r;
	struct msd_handle h;
	struct msd_tensor *t;
	const int64_t too_many = 200;

	msd_resident_tensors_init(&r, 1000);
	struct msd_handle first = alloc(&r, 200);
	cr_assert_eq(msd_resident_tensors_alloc(&r, cpu, float32, &too_many, 1, &h, &t,
						NULL),
		     MSD_NO_SPACE);
	cr_assert(msd_resident_tensors_free(&r, first));
	(void)alloc(&r, 200);
	msd_resident_tensors_finish(&r);
}

Test(residents, new_tensor_is_zero)
{
	struct msd_resident_tensors r;

	msd_resident_tensors_init(&r, 1 << 20);
	const uint8_t *p = msd_resident_tensors_peek(&r, alloc(&r, 1000))->dl.data;
	for (int i = 0; i < 4000; i++)
		cr_assert_eq(p[i], 0);
	msd_resident_tensors_finish(&r);
}

Test(residents, every_failing_allocation_leaves_a_table_that_works)
{
	const int64_t n = 4;
	struct msd_resident_tensors r;
	struct msd_handle h;
	struct msd_tensor *t;
	bool failed = true;

	for (long k = 0; failed; k++) {
		msd_resident_tensors_init(&r, 1 << 20);
		msd_fail_alloc(k);
		msd_err err = msd_resident_tensors_alloc(&r, cpu, float32, &n, 1, &h,
							 &t, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK);
		(void)alloc(&r, 4);
		msd_resident_tensors_finish(&r);
	}
}
