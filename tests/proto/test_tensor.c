#include <criterion/criterion.h>
#include <string.h>

#include "tests/proto/golden.h"
#include "tests/support/exact.h"

#define ENCODED_MAX (MSD_WIRE_TENSOR_BYTES + 8 * MSD_MAX_NDIM)

/* The code for @t written and read again from an exact-size block. */
static msd_err round_trip(const struct msd_wire_tensor *t, struct msd_wire_tensor *ret)
{
	uint8_t data[ENCODED_MAX];
	size_t n = msd_wire_tensor_write(t, data);
	uint8_t *copy = exact_copy(data, n);

	msd_err err = msd_wire_tensor_read(copy, n, ret, NULL);
	free(copy);
	return err;
}

static msd_err read_changed(struct msd_wire_tensor t)
{
	struct msd_wire_tensor ret;

	return round_trip(&t, &ret);
}

Test(tensor, every_place_round_trips)
{
	for (int where = MSD_AT_INLINE; where <= MSD_AT_OUT; where++) {
		struct msd_wire_tensor t = golden_tensor((enum msd_where)where), r;

		t.device = (struct msd_device){MSD_DEV_CUDA, 3};
		cr_assert_eq(round_trip(&t, &r), MSD_OK);
		cr_assert_eq(r.where, t.where);
		cr_assert(msd_dtype_eq(r.dtype, t.dtype));
		cr_assert(r.device.type == MSD_DEV_CUDA && r.device.id == 3);
		cr_assert(r.segment == t.segment && r.offset == t.offset);
		cr_assert(r.handle.slot == t.handle.slot &&
			  r.handle.generation == t.handle.generation);
		cr_assert(r.bytes == 24 && r.ndim == 2);
		cr_assert(r.shape[0] == 2 && r.shape[1] == 3);
	}
}

Test(tensor, is_laid_out_as_documented)
{
	static const uint8_t expected[] = {1,  2, 32, 2, 1, 0, 2, 0, 0, 0, 0, 0,
					   0,  0, 0,  0, 0, 1, 0, 0, 0, 0, 0, 0,
					   24, 0, 0,  0, 0, 0, 0, 0, 2, 0, 0, 0,
					   0,  0, 0,  0, 3, 0, 0, 0, 0, 0, 0, 0};
	struct msd_wire_tensor t = golden_tensor(MSD_AT_SEGMENT);
	uint8_t data[ENCODED_MAX];

	cr_assert_eq(msd_wire_tensor_write(&t, data), sizeof(expected));
	cr_assert_eq(memcmp(data, expected, sizeof(expected)), 0);
}

Test(tensor, rank_zero_and_the_highest_rank_are_read)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_OUT);

	t.ndim = 0;
	t.bytes = 4;
	cr_assert_eq(read_changed(t), MSD_OK);
	t.ndim = MSD_MAX_NDIM;
	for (size_t i = 0; i < MSD_MAX_NDIM; i++)
		t.shape[i] = 1;
	cr_assert_eq(read_changed(t), MSD_OK);
}

Test(tensor, without_elements_is_read)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_INLINE);

	t.shape[0] = 0;
	t.bytes = 0;
	cr_assert_eq(read_changed(t), MSD_OK);
}

Test(tensor, every_prefix_is_refused)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_INLINE), r;
	uint8_t data[ENCODED_MAX];
	size_t n = msd_wire_tensor_write(&t, data);

	for (size_t i = 0; i < n; i++) {
		uint8_t *copy = exact_copy(data, i);

		cr_assert_eq(msd_wire_tensor_read(copy, i, &r, NULL), MSD_BAD_REQUEST);
		free(copy);
	}
}

Test(tensor, unknown_place_is_refused)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_OUT);

	t.where = (enum msd_where)4;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
}

Test(tensor, bytes_must_be_those_of_shape_and_dtype)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_INLINE);

	t.bytes = 23;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
	t.bytes = 25;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
}

Test(tensor, negative_and_overflowing_shapes_are_refused)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_INLINE);

	t.shape[0] = -2;
	t.shape[1] = -3;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
	t.shape[0] = INT64_MAX;
	t.shape[1] = INT64_MAX;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
	t.shape[0] = 1ll << 62; /* 2^64 bytes: wraps to 0 */
	t.shape[1] = 1;
	t.bytes = 0;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
}

Test(tensor, misaligned_offset_is_refused)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_INLINE);

	t.offset = 64;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
	t = golden_tensor(MSD_AT_SEGMENT);
	t.offset = 129;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
}

Test(tensor, fields_that_the_place_does_not_have_are_zero)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_OUT);

	t.offset = 128;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
	t = golden_tensor(MSD_AT_INLINE);
	t.segment = 1;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
	t = golden_tensor(MSD_AT_RESIDENT);
	t.handle.generation = 0;
	cr_assert_eq(read_changed(t), MSD_BAD_REQUEST);
}

Test(tensor, element_types_outside_the_protocol_are_refused)
{
	static const struct msd_dtype bad[] = {
		{MSD_DT_HANDLE, 64, 1}, {18, 8, 1},          {MSD_DT_FLOAT, 0, 1},
		{MSD_DT_FLOAT, 32, 0},  {MSD_DT_UINT, 1, 1}, {MSD_DT_BOOL, 1, 1},
		{255, 255, 65535},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct msd_wire_tensor t = golden_tensor(MSD_AT_OUT);

		t.dtype = bad[i];
		if (!msd_dtype_bytes(bad[i], 6, &t.bytes))
			t.bytes = 0;
		cr_assert_eq(read_changed(t), MSD_BAD_REQUEST, "row %zu", i);
	}
}

Test(tensor, error_names_both_sizes)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_INLINE), r;
	struct msd_diag d = {0};
	uint8_t data[ENCODED_MAX];

	t.bytes = 20;
	size_t n = msd_wire_tensor_write(&t, data);
	cr_assert_eq(msd_wire_tensor_read(data, n, &r, &d), MSD_BAD_REQUEST);
	cr_assert_str_eq(msd_diag_text(&d),
			 "tensor: 20 bytes given, but its shape and type make 24");
	msd_diag_finish(&d);
}

Test(tensor, patch_changes_the_place_alone)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_INLINE), r;
	uint8_t data[ENCODED_MAX];
	size_t n = msd_wire_tensor_write(&t, data);

	msd_wire_tensor_patch(data, MSD_AT_SEGMENT, 7, 1024);
	cr_assert_eq(msd_wire_tensor_read(data, n, &r, NULL), MSD_OK);
	cr_assert(r.where == MSD_AT_SEGMENT && r.segment == 7 && r.offset == 1024);
	cr_assert(r.bytes == 24 && r.shape[1] == 3 && msd_dtype_eq(r.dtype, t.dtype));
}
