#include "daemon/supervisor/module/life/self_test_case.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Happy path: parse a map key by key in place. Failures: an invalid test is reported
 * with its key; a wrong answer with its first wrong element. */

static msd_err bad(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s", what);
}

static uint64_t align(uint64_t bytes)
{
	return (bytes + 127u) / 128u * 128u;
}

static msd_err read_dtype(struct msd_span text, struct msd_dtype *ret,
			  struct msd_diag *d)
{
	return msd_dtype_parse((const char *)text.p, text.n, ret)
		       ? MSD_OK
		       : bad(d, "dtype: expected one such as float32");
}

static msd_err read_shape(struct msd_span items, struct msd_wire_tensor *t,
			  struct msd_diag *d)
{
	struct msd_wire_value v;
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(items, &c, &n) || n > MSD_MAX_NDIM)
		return bad(d, "shape: expected an array of extents");
	t->ndim = n;
	for (uint32_t i = 0; i < n; i++) {
		if (msd_value_read(&c, &v, d) != MSD_OK || v.kind != MSD_K_INT ||
		    v.as.i < 0)
			return bad(d, "shape: expected extents of 0 and more");
		t->shape[i] = v.as.i;
	}
	return MSD_OK;
}

/* Check that the number of bytes matches dtype and shape. */
static msd_err check_bytes(struct msd_self_test_value *v, struct msd_span data,
			   struct msd_diag *d)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < v->tensor.ndim; i++) {
		if (__builtin_mul_overflow(n, (uint64_t)v->tensor.shape[i], &n))
			return bad(d, "shape: too large");
	}
	const uint64_t bits = (uint64_t)v->tensor.dtype.bits * v->tensor.dtype.lanes;
	if (n > MSD_SELF_TEST_BYTES || (n * bits + 7) / 8 != data.n) {
		return bad(d,
			   "data: the number of bytes does not match dtype and shape");
	}
	v->tensor.bytes = data.n;
	v->data = data.p;
	return MSD_OK;
}

static msd_err read_value(struct msd_span map, struct msd_self_test_value *ret,
			  struct msd_diag *d)
{
	struct msd_wire_value text, bytes;
	struct msd_cur c;

	*ret = (struct msd_self_test_value){0};
	c = msd_cur_of(msd_map_value(map, "dtype"));
	if (msd_value_read(&c, &text, d) != MSD_OK || text.kind != MSD_K_STR)
		return bad(d, "dtype: expected a str");
	c = msd_cur_of(msd_map_value(map, "data"));
	if (msd_value_read(&c, &bytes, d) != MSD_OK || bytes.kind != MSD_K_BYTES)
		return bad(d, "data: expected a bin");
	msd_err err = read_dtype(text.as.str, &ret->tensor.dtype, d);
	if (err == MSD_OK)
		err = read_shape(msd_map_value(map, "shape"), &ret->tensor, d);
	return err == MSD_OK ? check_bytes(ret, bytes.as.str, d) : err;
}

static msd_err read_values(struct msd_span map, const char *key,
			   struct msd_self_test_value *ret, uint32_t *ret_n,
			   struct msd_diag *d)
{
	struct msd_span item;
	uint64_t offset = 0;
	struct msd_cur c;

	if (!msd_array_open(msd_map_value(map, key), &c, ret_n) ||
	    *ret_n > MSD_SELF_TEST_TENSORS) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: expected an array of at most %u tensors", key,
				    MSD_SELF_TEST_TENSORS);
	}
	for (uint32_t i = 0; i < *ret_n; i++) {
		msd_err err = msd_object_parse(&c, &item) ? read_value(item, &ret[i], d)
							  : bad(d, "cut");
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "%s: %u", key, i);
		ret[i].tensor.offset = offset;
		offset += align(ret[i].tensor.bytes);
	}
	return MSD_OK;
}

static msd_err read_tolerance(struct msd_span map, const char *key, double *ret,
			      struct msd_diag *d)
{
	const struct msd_span value = msd_map_value(map, key);
	struct msd_wire_value v;

	*ret = 0;
	if (value.n == 0)
		return MSD_OK;
	struct msd_cur c = msd_cur_of(value);
	const msd_err err = msd_value_read(&c, &v, d);
	if (err == MSD_OK && v.kind == MSD_K_FLOAT) {
		*ret = v.as.f;
	} else if (err == MSD_OK && v.kind == MSD_K_INT) {
		*ret = (double)v.as.i;
	} else {
		*ret = -1;
	}
	return *ret >= 0 ? MSD_OK
			 : msd_diag_set(d, MSD_BAD_REQUEST,
					"%s: expected a number of 0 and more", key);
}

static msd_err read_case(struct msd_span map, struct msd_self_test_case *ret,
			 struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(msd_map_value(map, "function"));
	struct msd_wire_value name;

	if (msd_value_read(&c, &name, d) != MSD_OK || name.kind != MSD_K_STR ||
	    name.as.str.n == 0 || name.as.str.n > 256)
		return bad(d, "function: expected a name");
	ret->function = name.as.str;
	msd_err err = read_values(map, "inputs", ret->inputs, &ret->n_inputs, d);
	if (err == MSD_OK)
		err = read_values(map, "outputs", ret->outputs, &ret->n_outputs, d);
	if (err == MSD_OK)
		err = read_tolerance(map, "rtol", &ret->rtol, d);
	if (err == MSD_OK)
		err = read_tolerance(map, "atol", &ret->atol, d);
	return err;
}

msd_err msd_self_test_case_read(struct msd_span tests, uint32_t i,
				struct msd_self_test_case *ret, struct msd_diag *d)
{
	struct msd_span map;
	struct msd_cur c;
	uint32_t n;
	msd_err err = MSD_OK;

	if (!msd_array_open(tests, &c, &n) || i >= n)
		err = bad(d, "expected an array of tests");
	for (uint32_t k = 0; err == MSD_OK && k <= i; k++) {
		if (!msd_object_parse(&c, &map))
			err = bad(d, "cut");
	}
	if (err == MSD_OK)
		err = read_case(map, ret, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "tests: %u", i);
}

msd_err msd_self_test_check(struct msd_span tests, uint32_t *ret_n, struct msd_diag *d)
{
	struct msd_self_test_case one;
	struct msd_cur c;
	msd_err err = MSD_OK;

	if (tests.n > MSD_SELF_TEST_BYTES) {
		return msd_diag_set(d, MSD_TOO_LARGE, "tests: more than %u bytes",
				    MSD_SELF_TEST_BYTES);
	}
	if (!msd_array_open(tests, &c, ret_n))
		return bad(d, "tests: expected an array");
	if (*ret_n > MSD_SELF_TEST_CASES) {
		return msd_diag_set(d, MSD_TOO_LARGE, "tests: more than %u",
				    MSD_SELF_TEST_CASES);
	}
	for (uint32_t i = 0; err == MSD_OK && i < *ret_n; i++)
		err = msd_self_test_case_read(tests, i, &one, d);
	return err;
}

static bool is_close(const struct msd_self_test_case *c, double got, double wanted)
{
	if (isnan(wanted) || isnan(got))
		return isnan(wanted) && isnan(got);
	return got == wanted || fabs(got - wanted) <= c->atol + c->rtol * fabs(wanted);
}

static double number_at(const uint8_t *data, uint64_t i, unsigned bits)
{
	double wide;
	float narrow;

	if (bits == 64) {
		memcpy(&wide, data + 8 * i, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, data + 4 * i, sizeof(narrow));
	return (double)narrow;
}

static bool is_like(const struct msd_wire_tensor *a, const struct msd_wire_tensor *b)
{
	return a->dtype.code == b->dtype.code && a->dtype.bits == b->dtype.bits &&
	       a->dtype.lanes == b->dtype.lanes && a->ndim == b->ndim &&
	       memcmp(a->shape, b->shape, a->ndim * sizeof(a->shape[0])) == 0;
}

msd_err msd_self_test_compare(const struct msd_self_test_case *c,
			      const struct msd_self_test_value *wanted,
			      const struct msd_wire_tensor *got, const uint8_t *data,
			      struct msd_diag *d)
{
	const unsigned bits = got->dtype.bits;

	if (!is_like(&wanted->tensor, got)) {
		return msd_diag_set(d, MSD_MODULE_FAILED,
				    "it has another dtype or shape");
	}
	if (got->dtype.code != MSD_DT_FLOAT || (bits != 32 && bits != 64)) {
		return got->bytes == 0 || memcmp(data, wanted->data, got->bytes) == 0
			       ? MSD_OK
			       : msd_diag_set(d, MSD_MODULE_FAILED, "its bytes differ");
	}
	for (uint64_t i = 0; i < got->bytes * 8 / bits; i++) {
		const double is = number_at(data, i, bits),
			     must = number_at(wanted->data, i, bits);

		if (!is_close(c, is, must)) {
			return msd_diag_set(d, MSD_MODULE_FAILED,
					    "element %" PRIu64 " is %g, expected %g "
					    "(rtol %g, atol %g)",
					    i, is, must, c->rtol, c->atol);
		}
	}
	return MSD_OK;
}
