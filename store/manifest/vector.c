#include "store/manifest/vector.h"

#include <math.h>
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/bytes.h"

/*
 * Happy path: each test has a function name and two lists of tensors, whose numbers
 * are converted to bytes. Failures: the error names the test and its part. Sizes are
 * compared with the actual data before memory is allocated.
 */

static msd_err expected(const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "expected %s", what);
}

static msd_err read_shape(const json_t *shape, struct msd_vector_tensor *ret,
			  struct msd_diag *d)
{
	uint64_t elements;

	if (!json_is_array(shape) || json_array_size(shape) > MSD_MAX_NDIM)
		return expected("shape: an array of at most 32 numbers", d);
	ret->ndim = (uint32_t)json_array_size(shape);
	for (uint32_t i = 0; i < ret->ndim; i++) {
		const json_t *extent = json_array_get(shape, i);

		if (!json_is_integer(extent))
			return expected("shape: whole numbers", d);
		ret->shape[i] = json_integer_value(extent);
	}
	if (!msd_shape_elements(ret->shape, ret->ndim, &elements) ||
	    !msd_dtype_bytes(ret->dtype, elements, &ret->bytes))
		return expected("shape: extents of a tensor", d);
	return MSD_OK;
}

/* Convert a number to an element; false if the dtype cannot hold it. */
static bool put_float(const json_t *number, unsigned bits, uint8_t *to)
{
	const double value = json_number_value(number);
	const float narrow = (float)value;

	if (!json_is_number(number) || (bits != 32 && bits != 64))
		return false;
	if (bits == 32) {
		memcpy(to, &narrow, sizeof(narrow));
		return isfinite(narrow) != 0;
	}
	memcpy(to, &value, sizeof(value));
	return true;
}

static bool put_int(const json_t *number, const struct msd_dtype *t, uint8_t *to)
{
	const int64_t value = json_integer_value(number);
	const bool has_sign = t->code == MSD_DT_INT;
	const unsigned digits = t->bits - (has_sign ? 1u : 0u);
	const bool is_whole =
		t->bits == 8 || t->bits == 16 || t->bits == 32 || t->bits == 64;
	uint8_t bytes[8];

	if (!json_is_integer(number) || !is_whole || (value < 0 && !has_sign))
		return false;
	if (digits < 63 &&
	    (value >= (int64_t)1 << digits || value < -((int64_t)1 << digits)))
		return false;
	msd_put_le64(bytes, (uint64_t)value);
	memcpy(to, bytes, t->bits / 8);
	return true;
}

static bool put_element(const json_t *element, const struct msd_dtype *t, uint8_t *to)
{
	if (t->code == MSD_DT_BOOL) {
		*to = json_is_true(element) ? 1 : 0;
		return json_is_boolean(element) && t->bits == 8;
	}
	if (t->code == MSD_DT_FLOAT)
		return put_float(element, t->bits, to);
	if (t->code == MSD_DT_INT || t->code == MSD_DT_UINT)
		return put_int(element, t, to);
	return false;
}

static msd_err read_numbers(const json_t *data, struct msd_vector_tensor *ret,
			    struct msd_diag *d)
{
	const uint64_t n = json_array_size(data);
	const uint64_t width = ret->dtype.bits / 8u;

	if (ret->dtype.lanes != 1 || ret->bytes != n * width) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "data: %llu numbers do not fill its shape",
				    (unsigned long long)n);
	}
	for (uint64_t i = 0; i < n; i++) {
		if (!put_element(json_array_get(data, (size_t)i), &ret->dtype,
				 ret->data + i * width)) {
			char name[MSD_DTYPE_NAME_MAX];

			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "data[%llu] is no %s (base64 takes any "
					    "bytes)",
					    (unsigned long long)i,
					    msd_dtype_format(ret->dtype, name));
		}
	}
	return MSD_OK;
}

static msd_err read_base64(const json_t *text, struct msd_vector_tensor *ret,
			   struct msd_diag *d)
{
	const size_t n = json_string_length(text);
	struct base64_decode_ctx ctx;
	size_t bytes = BASE64_DECODE_LENGTH(n);
	uint8_t *decoded = malloc(bytes + 1);

	if (decoded == NULL)
		return msd_diag_no_memory(d);
	base64_decode_init(&ctx);
	const bool is_fine = base64_decode_update(&ctx, &bytes, decoded, n,
						  json_string_value(text)) == 1 &&
			     base64_decode_final(&ctx) == 1 && bytes == ret->bytes;
	if (is_fine && bytes > 0)
		memcpy(ret->data, decoded, bytes);
	free(decoded);
	return is_fine ? MSD_OK : expected("base64: as many bytes as its shape has", d);
}

static msd_err read_tensor(const json_t *o, struct msd_vectors *all,
			   struct msd_vector_tensor *ret, struct msd_diag *d)
{
	const json_t *dtype = json_object_get(o, "dtype");
	const json_t *data = json_object_get(o, "data");
	const json_t *base64 = json_object_get(o, "base64");
	msd_err err;

	if (!json_is_string(dtype) ||
	    !msd_dtype_parse(json_string_value(dtype), json_string_length(dtype),
			     &ret->dtype) ||
	    ret->dtype.code == MSD_DT_HANDLE)
		return expected("dtype: a name such as \"float32\"", d);
	err = read_shape(json_object_get(o, "shape"), ret, d);
	if (err != MSD_OK)
		return err;
	if (json_is_array(data) == json_is_string(base64))
		return expected("either data, an array, or base64, a string", d);
	if (ret->bytes > MSD_VECTOR_BYTES - all->bytes) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "its tests have more than %u bytes of tensors",
				    MSD_VECTOR_BYTES);
	}
	all->bytes += ret->bytes;
	if (ret->bytes > 0) {
		ret->data = calloc(1, (size_t)ret->bytes);
		if (ret->data == NULL)
			return msd_diag_no_memory(d);
	}
	return json_is_array(data) ? read_numbers(data, ret, d)
				   : read_base64(base64, ret, d);
}

static msd_err read_tensors(const json_t *test, const char *key,
			    struct msd_vectors *all, struct msd_vector_tensor **ret,
			    uint32_t *ret_n, struct msd_diag *d)
{
	const json_t *list = json_object_get(test, key);
	const size_t n = json_array_size(list);
	msd_err err = MSD_OK;

	if (!json_is_array(list) || n > MSD_VECTOR_TENSORS) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "expected %s: an array of at most %u tensors", key,
				    MSD_VECTOR_TENSORS);
	}
	*ret = calloc(n > 0 ? n : 1, sizeof(**ret));
	if (*ret == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < n; i++) {
		*ret_n = (uint32_t)i + 1;
		err = read_tensor(json_array_get(list, i), all, &(*ret)[i], d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "%s[%zu]", key, i);
	}
	return MSD_OK;
}

/* Absent means 0: bit-exact results are expected. */
static msd_err read_tolerance(const json_t *test, const char *key, double *ret,
			      struct msd_diag *d)
{
	const json_t *number = json_object_get(test, key);

	if (number == NULL)
		return MSD_OK;
	*ret = json_number_value(number);
	if (!json_is_number(number) || *ret < 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "expected %s: a number that is not negative", key);
	}
	return MSD_OK;
}

static msd_err read_test(const json_t *o, struct msd_vectors *all,
			 struct msd_vector *ret, struct msd_diag *d)
{
	const json_t *function = json_object_get(o, "function");
	const size_t n = json_string_length(function);
	msd_err err;

	if (n == 0 || n >= sizeof(ret->function))
		return expected("function: a name", d);
	memcpy(ret->function, json_string_value(function), n + 1);
	err = read_tensors(o, "inputs", all, &ret->inputs, &ret->n_inputs, d);
	if (err == MSD_OK) {
		err = read_tensors(o, "outputs", all, &ret->outputs, &ret->n_outputs,
				   d);
	}
	if (err == MSD_OK)
		err = read_tolerance(o, "rtol", &ret->rtol, d);
	if (err == MSD_OK)
		err = read_tolerance(o, "atol", &ret->atol, d);
	return err;
}

msd_err msd_vectors_read(const json_t *tests, struct msd_vectors *ret,
			 struct msd_diag *d)
{
	const size_t n = json_array_size(tests);
	msd_err err = MSD_OK;

	*ret = (struct msd_vectors){0};
	if (tests == NULL)
		return MSD_OK;
	if (!json_is_array(tests) || n > MSD_VECTORS) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "tests: expected an array of at most %u",
				    MSD_VECTORS);
	}
	ret->at = calloc(n > 0 ? n : 1, sizeof(*ret->at));
	if (ret->at == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < n; i++) {
		ret->n = (uint32_t)i + 1;
		err = read_test(json_array_get(tests, i), ret, &ret->at[i], d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "tests[%zu]", i);
	}
	return MSD_OK;
}

static void tensors_free(struct msd_vector_tensor *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(t[i].data);
	free(t);
}

void msd_vectors_finish(struct msd_vectors *v)
{
	for (uint32_t i = 0; i < v->n; i++) {
		tensors_free(v->at[i].inputs, v->at[i].n_inputs);
		tensors_free(v->at[i].outputs, v->at[i].n_outputs);
	}
	free(v->at);
	*v = (struct msd_vectors){0};
}
