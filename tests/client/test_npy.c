#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/values/npy.h"
#include "tests/support/exact.h"

/* A file of @version whose dict says @descr, @order, @shape, and @data behind it. */
static struct msd_buf file_of(int version, const char *descr, const char *order,
			      const char *shape, const void *data, size_t n)
{
	struct msd_buf dict = {0}, f = {0};

	msd_buf_printf(&dict, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }   \n",
		       descr, order, shape);
	msd_buf_put(&f, "\x93NUMPY", 6);
	msd_buf_put_u8(&f, (uint8_t)version);
	msd_buf_put_u8(&f, 0);
	if (version == 1) {
		msd_buf_put_u16(&f, (uint16_t)dict.n);
	} else {
		msd_buf_put_u32(&f, (uint32_t)dict.n);
	}
	msd_buf_put(&f, dict.p, dict.n);
	msd_buf_put(&f, data, n);
	msd_buf_finish(&dict);
	return f;
}

static msd_err read_npy(const struct msd_buf *f, const char *as, struct msd_npy *ret)
{
	struct msd_dtype t;

	*ret = (struct msd_npy){0};
	if (as != NULL && !msd_dtype_parse(as, strlen(as), &t))
		return MSD_INTERNAL;
	return msd_npy_read((struct msd_span){f->p, f->n}, as != NULL ? &t : NULL, ret,
			    NULL);
}

Test(npy, reads_the_three_versions)
{
	for (int version = 1; version <= 3; version++) {
		struct msd_buf f =
			file_of(version, "'<i2'", "False", "(2, 1)", "\1\0\2\0", 4);
		struct msd_npy npy;

		cr_assert_eq(read_npy(&f, NULL, &npy), MSD_OK);
		cr_expect(
			msd_dtype_eq(npy.dtype, (struct msd_dtype){MSD_DT_INT, 16, 1}));
		cr_expect(npy.ndim == 2 && npy.shape[0] == 2 && npy.shape[1] == 1);
		cr_expect_eq(memcmp(npy.data, "\1\0\2\0", 4), 0);
		msd_npy_finish(&npy);
		msd_buf_finish(&f);
	}
}

Test(npy, converts_fortran_order_and_big_endian)
{
	/* [[1, 2, 3], [4, 5, 6]] column by column, big-endian */
	struct msd_buf f =
		file_of(1, "'>u2'", "True", "(2, 3)", "\0\1\0\4\0\2\0\5\0\3\0\6", 12);
	struct msd_npy npy;

	cr_assert_eq(read_npy(&f, NULL, &npy), MSD_OK);
	cr_expect_eq(memcmp(npy.data, "\1\0\2\0\3\0\4\0\5\0\6\0", 12), 0);
	msd_npy_finish(&npy);
	msd_buf_finish(&f);
}

Test(npy, swaps_each_half_of_a_complex_number)
{
	struct msd_buf f = file_of(1, "'>c8'", "False", "()", "\1\2\3\4\5\6\7\10", 8);
	struct msd_npy npy;

	cr_assert_eq(read_npy(&f, NULL, &npy), MSD_OK);
	cr_expect_eq(memcmp(npy.data, "\4\3\2\1\10\7\6\5", 8), 0);
	msd_npy_finish(&npy);
	msd_buf_finish(&f);
}

Test(npy, takes_elements_as_another_type_of_equal_size)
{
	struct msd_buf f = file_of(1, "'|V2'", "False", "(1,)", "\x80\x3f", 2);
	struct msd_npy npy;

	cr_expect_eq(read_npy(&f, NULL, &npy), MSD_UNSUPPORTED);
	cr_expect_eq(read_npy(&f, "float8_e5m2", &npy), MSD_BAD_REQUEST);
	cr_assert_eq(read_npy(&f, "bfloat16", &npy), MSD_OK);
	cr_expect_eq(npy.dtype.code, MSD_DT_BFLOAT);
	msd_buf_finish(&f);
}

Test(npy, packs_integers_as_a_type_of_fewer_bits)
{
	/* [[1, -2], [7, -8]] column by column */
	struct msd_buf f = file_of(1, "'|i1'", "True", "(2, 2)", "\x01\x07\xfe\xf8", 4);
	struct msd_npy npy;

	cr_assert_eq(read_npy(&f, "int4", &npy), MSD_OK);
	cr_expect_eq(npy.bytes, 2);
	cr_expect_eq(memcmp(npy.data, "\xe1\x87", 2), 0);
	msd_npy_finish(&npy);
	cr_expect_eq(read_npy(&f, "uint4", &npy), MSD_BAD_REQUEST, "-2 is none");
	msd_buf_finish(&f);
	f = file_of(1, "'|u1'", "False", "(3,)", "\x07\x01\x08", 3);
	cr_expect_eq(read_npy(&f, "int4", &npy), MSD_BAD_REQUEST, "8 is none");
	cr_assert_eq(read_npy(&f, "uint4", &npy), MSD_OK);
	cr_expect_eq(memcmp(npy.data, "\x17\x08", 2), 0);
	msd_npy_finish(&npy);
	msd_buf_finish(&f);
}

static const struct {
	const char *descr, *order, *shape;
	msd_err err;
} bad_headers[] = {
	{"'|O'", "False", "(1,)", MSD_UNSUPPORTED},
	{"[('a', '<f4')]", "False", "(1,)", MSD_UNSUPPORTED},
	{"('<f4', (2,))", "False", "(1,)", MSD_UNSUPPORTED},
	{"'<U4'", "False", "(1,)", MSD_UNSUPPORTED},
	{"'<M8[ns]'", "False", "(1,)", MSD_UNSUPPORTED},
	{"'<f16'", "False", "(1,)", MSD_UNSUPPORTED},
	{"'<i3'", "False", "(1,)", MSD_UNSUPPORTED},
	{"'<i'", "False", "(1,)", MSD_UNSUPPORTED},
	{"4", "False", "(1,)", MSD_BAD_REQUEST},
	{"'<i4'", "0", "(1,)", MSD_BAD_REQUEST},
	{"'<i4'", "False", "(-1,)", MSD_BAD_REQUEST},
	{"'<i4'", "False", "[1]", MSD_BAD_REQUEST},
	{"'<i4'", "False", "(1", MSD_BAD_REQUEST},
	{"'<i4'", "False", "(99999999999999999999,)", MSD_BAD_REQUEST},
	{"'<i4'", "False", "(4611686018427387904, 4)", MSD_BAD_REQUEST},
	{"'<i4'", "False", "(1,), 'more': 1", MSD_BAD_REQUEST},
	{"'<i4'", "False", "(1,), 'descr': '<i4'", MSD_BAD_REQUEST},
};

Test(npy, refuses_what_is_no_array_of_numbers)
{
	for (size_t i = 0; i < sizeof(bad_headers) / sizeof(bad_headers[0]); i++) {
		struct msd_buf f =
			file_of(1, bad_headers[i].descr, bad_headers[i].order,
				bad_headers[i].shape, "\0\0\0\0", 4);
		struct msd_npy npy;

		cr_expect_eq(read_npy(&f, NULL, &npy), bad_headers[i].err, "%s %s %s",
			     bad_headers[i].descr, bad_headers[i].order,
			     bad_headers[i].shape);
		msd_buf_finish(&f);
	}
}

Test(npy, refuses_every_prefix_and_every_byte_too_many)
{
	struct msd_buf f = file_of(2, "'<f4'", "True", "(2, 1)", "12345678", 8);
	struct msd_npy npy;

	msd_buf_put_u8(&f, 0);
	for (size_t n = 0; n <= f.n; n++) {
		uint8_t *copy = exact_copy(f.p, n);
		msd_err err =
			msd_npy_read((struct msd_span){copy, n}, NULL, &npy, NULL);

		cr_assert_eq(err == MSD_OK, n == f.n - 1, "%zu bytes", n);
		if (err == MSD_OK)
			msd_npy_finish(&npy);
		free(copy);
	}
	msd_buf_finish(&f);
}

Test(npy, no_flipped_bit_makes_it_read_elsewhere)
{
	struct msd_buf f = file_of(1, "'>f4'", "True", "(2, 1)", "12345678", 8);

	for (size_t bit = 0; bit < 8 * f.n; bit++) {
		uint8_t *copy = exact_copy(f.p, f.n);
		struct msd_npy npy;

		copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (msd_npy_read((struct msd_span){copy, f.n}, NULL, &npy, NULL) ==
		    MSD_OK) {
			cr_assert_eq(npy.bytes, 8);
			msd_npy_finish(&npy);
		}
		free(copy);
	}
	msd_buf_finish(&f);
}

Test(npy, writes_what_it_reads)
{
	static const char *const types[] = {"float32", "int64", "bool", "uint8",
					    "complex64"};
	const int64_t shape[] = {3, 2};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct msd_buf f = {0};
		struct msd_npy npy;
		struct msd_dtype t;
		uint64_t bytes;

		cr_assert(msd_dtype_parse(types[i], strlen(types[i]), &t));
		cr_assert(msd_dtype_bytes(t, 6, &bytes));
		msd_npy_put_header(&f, t, shape, 2, bytes);
		cr_expect_eq(f.n % 64, 0);
		for (uint64_t k = 0; k < bytes; k++)
			msd_buf_put_u8(&f, (uint8_t)k);
		cr_assert_eq(read_npy(&f, NULL, &npy), MSD_OK, "%s", types[i]);
		cr_expect(msd_dtype_eq(npy.dtype, t));
		cr_expect(npy.ndim == 2 && npy.shape[0] == 3 && npy.shape[1] == 2);
		msd_buf_finish(&f);
	}
}

Test(npy, writes_types_that_it_cannot_name_as_void)
{
	const int64_t n = 4;
	struct msd_buf f = {0};

	msd_npy_put_header(&f, (struct msd_dtype){MSD_DT_BFLOAT, 16, 1}, &n, 1, 8);
	msd_npy_put_header(&f, (struct msd_dtype){MSD_DT_F8_E5M2, 8, 1}, &n, 1, 4);
	msd_npy_put_header(&f, (struct msd_dtype){MSD_DT_INT, 4, 1}, &n, 1, 2);
	msd_buf_put_u8(&f, '\0');
	cr_expect_not_null(memmem(f.p, f.n, "|V2", 3));
	cr_expect_not_null(memmem(f.p, f.n, "|V1", 3));
	cr_expect_not_null(
		memmem(f.p, f.n, "|u1', 'fortran_order': False, 'shape': (2,)", 42));
	msd_buf_finish(&f);
}
