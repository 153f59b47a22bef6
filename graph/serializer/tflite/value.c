/* Constants in place, the numbers that quantized tensors stand for, and the way back.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tflite/layer.h"

const char *tflite_dtype(uint8_t type)
{
	static const char *const names[] = {
		"float32", "float16", "int32", "uint8",  "int64",   NULL,
		"bool",    "int16",   NULL,    "int8",   "float64", NULL,
		"uint64",  NULL,      NULL,    "uint32", "uint16"};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : NULL;
}

static size_t element_bytes(const char *dtype)
{
	struct msd_dtype parsed;

	return msd_dtype_parse(dtype, strlen(dtype), &parsed) && parsed.bits >= 8
		       ? parsed.bits / 8u
		       : 1;
}

bool tflite_is_quantized(const struct tflite_tensor *t)
{
	const char *dtype = tflite_dtype(t->type);

	if (t->scales.n == 0 || dtype == NULL || strstr(dtype, "int") == NULL)
		return false;
	return t->is_constant || element_bytes(dtype) <= 2;
}

/* The extents of a constant and its number of elements. */
static bool extents(const struct tflite_layer *x, const struct tflite_tensor *t,
		    int64_t *dims, size_t *ret_n)
{
	*ret_n = 1;
	for (size_t i = 0; i < t->shape.n; i++) {
		dims[i] = flat_at_i32(&t->shape, i);
		if (dims[i] < 0 || !msd_mul_size(*ret_n, (size_t)dims[i], ret_n)) {
			(void)tflite_fail(x, "constant \"%s\" has extent %" PRId64,
					  t->name, dims[i]);
			return false;
		}
	}
	return true;
}

/* The elements of a constant, as many as its shape says. */
static const uint8_t *elements(const struct tflite_layer *x,
			       const struct tflite_tensor *t, int64_t *dims,
			       size_t *ret_n)
{
	const char *dtype = tflite_dtype(t->type);
	size_t bytes;

	if (dtype == NULL) {
		(void)tflite_fail(x, "constant \"%s\" has element type %u", t->name,
				  t->type);
		return NULL;
	}
	if (!extents(x, t, dims, ret_n))
		return NULL;
	if (!msd_mul_size(*ret_n, element_bytes(dtype), &bytes) || bytes != t->data.n) {
		(void)tflite_fail(x,
				  "constant \"%s\" has %zu bytes, and its shape %zu "
				  "elements of %s",
				  t->name, t->data.n, *ret_n, dtype);
		return NULL;
	}
	return t->data.p != NULL ? t->data.p : (const uint8_t *)"";
}

modser_sg_tensor *tflite_constant(const struct tflite_layer *x, struct tflite_tensor *t)
{
	const struct msd_build b = {x->b.g, t->name};
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n;
	const uint8_t *p = elements(x, t, dims, &n);

	if (p == NULL)
		return NULL;
	const char *dtype = tflite_dtype(t->type);
	if ((uintptr_t)p % element_bytes(dtype) == 0) {
		modser_sg_tensor *made =
			msd_build_constant(&b, dtype, dims, t->shape.n, p, NULL);
		const bool is_inside = t->data.n > 0;

		if (made != NULL && is_inside &&
		    modser_sg_tensor_set_location(made, (uint64_t)(p - x->f->file.p),
						  t->data.n) != 0)
			return NULL;
		return made;
	}
	void *copy = malloc(t->data.n);
	if (copy == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return NULL;
	}
	memcpy(copy, p, t->data.n);
	modser_sg_tensor *made =
		msd_build_constant(&b, dtype, dims, t->shape.n, copy, free);
	if (made == NULL)
		free(copy);
	return made;
}

enum { INT32 = 2, UINT8 = 3, INT64 = 4, INT16 = 7, INT8 = 9 }; /* types of TFLite */

/* Element @i of integers. */
static double integer_at(uint8_t type, const uint8_t *p, size_t i)
{
	switch (type) {
	case UINT8:
		return p[i];
	case INT8:
		return (int8_t)p[i];
	case INT16:
		return (int16_t)msd_le16(p + 2 * i);
	case INT32:
		return (int32_t)msd_le32(p + 4 * i);
	case INT64:
		return (double)(int64_t)msd_le64(p + 8 * i);
	default:
		return 0;
	}
}

/* The zero point of scale @i, which may be left out. */
static int64_t zero_at(const struct tflite_tensor *t, size_t i)
{
	if (t->zeros.n == 0)
		return 0;
	return (int64_t)msd_le64(t->zeros.p + 8 * (t->zeros.n > 1 ? i : 0));
}

static bool check_scales(const struct tflite_layer *x, const struct tflite_tensor *t,
			 size_t want)
{
	if (t->scales.n != 1 && t->scales.n != want) {
		(void)tflite_fail(x, "tensor \"%s\" has %zu scales for %zu channels",
				  t->name, t->scales.n, want);
		return false;
	}
	if (t->zeros.n > 1 && t->zeros.n != t->scales.n) {
		(void)tflite_fail(x, "tensor \"%s\" has %zu zero points for %zu scales",
				  t->name, t->zeros.n, t->scales.n);
		return false;
	}
	return true;
}

/* A constant as float32. */
static modser_sg_tensor *make_floats(const struct tflite_layer *x,
				     const struct tflite_tensor *t)
{
	const struct msd_build b = {x->b.g, t->name};
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t inner = 1;
	size_t n;
	const uint8_t *p = elements(x, t, dims, &n);
	const bool has_axis = t->axis >= 0 && (size_t)t->axis < t->shape.n;

	if (p == NULL || !check_scales(x, t, has_axis ? (size_t)dims[t->axis] : 1))
		return NULL;
	for (size_t i = has_axis ? (size_t)t->axis + 1 : t->shape.n; i < t->shape.n;
	     i++)
		inner *= (size_t)dims[i];
	float *own =
		n < SIZE_MAX / sizeof(*own) ? malloc((n + 1) * sizeof(*own)) : NULL;
	if (own == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const size_t channel = t->scales.n > 1 ? i / inner % t->scales.n : 0;

		own[i] = (float)((integer_at(t->type, p, i) -
				  (double)zero_at(t, channel)) *
				 (double)flat_at_f32(&t->scales, channel));
	}
	modser_sg_tensor *made =
		msd_build_constant(&b, "float32", dims, t->shape.n, own, free);
	if (made == NULL)
		free(own);
	return made;
}

static bool fits_type(uint8_t type, int64_t zero)
{
	return type == INT8    ? zero >= INT8_MIN && zero <= INT8_MAX
	       : type == UINT8 ? zero >= 0 && zero <= UINT8_MAX
	       : type == INT32 ? zero == 0
			       : zero >= INT16_MIN && zero <= UINT16_MAX;
}

/* The zero points of all scales as a constant of the tensor's type. */
static modser_sg_tensor *put_zeros(const struct tflite_layer *x,
				   const struct tflite_tensor *t)
{
	const struct msd_build b = {x->b.g, t->name};
	const char *dtype = tflite_dtype(t->type);
	const size_t bytes = element_bytes(dtype);
	const int64_t dims[] = {(int64_t)t->scales.n};
	uint8_t *own = malloc(t->scales.n * bytes + 8);

	if (own == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return NULL;
	}
	for (size_t i = 0; i < t->scales.n; i++)
		msd_put_le64(own + i * bytes, (uint64_t)zero_at(t, i));
	modser_sg_tensor *made =
		msd_build_constant(&b, dtype, dims, t->scales.n > 1 ? 1 : 0, own, free);
	if (made == NULL)
		free(own);
	return made;
}

/* Scales and zero points of a tensor as inputs 1 and 2. An int32 has none but 0. */
static bool put_scales(const struct tflite_layer *x, const struct tflite_tensor *t,
		       modser_sg_tensor **in, size_t *ret_n)
{
	const struct msd_build b = {x->b.g, t->name};
	const int64_t dims[] = {(int64_t)t->scales.n};
	float *own = malloc(t->scales.n * sizeof(*own));

	if (own == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return false;
	}
	for (size_t i = 0; i < t->scales.n; i++)
		own[i] = flat_at_f32(&t->scales, i);
	in[1] = msd_build_constant(&b, "float32", dims, t->scales.n > 1 ? 1 : 0, own,
				   free);
	if (in[1] == NULL)
		free(own);
	*ret_n = 2;
	if (in[1] != NULL && t->type != INT32)
		in[(*ret_n)++] = put_zeros(x, t);
	return in[*ret_n - 1] != NULL;
}

static bool check_one_scale(const struct tflite_layer *x, const struct tflite_tensor *t)
{
	const char *dtype = tflite_dtype(t->type);

	if (t->scales.n != 1 || t->zeros.n > 1 || element_bytes(dtype) > 2) {
		(void)tflite_fail(x,
				  "tensor \"%s\" is quantized as %s with %zu scales; "
				  "only 8 and 16 bits with one scale can be computed",
				  t->name, dtype, t->scales.n);
		return false;
	}
	if (!fits_type(t->type, zero_at(t, 0))) {
		(void)tflite_fail(x, "tensor \"%s\" of %s has the zero point %" PRId64,
				  t->name, dtype, zero_at(t, 0));
		return false;
	}
	return true;
}

/* A node of @op from @from, under the transpose that made @from if there is one. */
static modser_sg_tensor *convert(const struct tflite_layer *x, const char *op,
				 const struct tflite_tensor *t, modser_sg_tensor *from)
{
	const struct msd_build b = {x->b.g, t->name};
	modser_sg_tensor *planes = from != NULL ? tflite_planes_of(from) : NULL;
	modser_sg_tensor *in[3] = {planes != NULL ? planes : from};
	size_t n;

	if (from == NULL || !check_one_scale(x, t) || !put_scales(x, t, in, &n))
		return NULL;
	modser_sg_tensor *made = msd_build_done(msd_build_node(&b, op, in, n));
	return planes != NULL ? tflite_unplane(&b, made) : made;
}

/* True if the operator computes with bytes. */
static bool reads_bytes(const struct tflite_layer *x)
{
	for (size_t i = 0; i < x->in.n; i++) {
		const int32_t k = flat_at_i32(&x->in, i);
		const struct tflite_tensor *t = k >= 0 ? &x->tensors[k] : NULL;

		if (t != NULL && !t->is_constant && tflite_is_quantized(t) &&
		    (t->type == INT8 || t->type == UINT8))
			return true;
	}
	return false;
}

/* Constants that an engine with integer kernels uses as they are. Beside float data,
 * and for operators without such a kernel, constants become floats here: the engine
 * would make them floats in each run. */
static bool stays_integer(const struct tflite_layer *x, const struct tflite_tensor *t)
{
	enum { TRANSPOSE_CONV = 67 };

	if (!reads_bytes(x) || x->row->code == TRANSPOSE_CONV ||
	    (t->type != INT8 && t->type != UINT8 && t->type != INT32))
		return false;
	for (size_t i = 0; i < t->scales.n; i++) {
		if (!fits_type(t->type, zero_at(t, i)))
			return false;
	}
	return true;
}

/* The numbers of the integers @raw, whose channels are at @axis. */
static modser_sg_tensor *dequantize_raw(const struct tflite_layer *x,
					const struct tflite_tensor *t,
					modser_sg_tensor *raw, int64_t axis)
{
	const struct msd_build b = {x->b.g, t->name};
	modser_sg_tensor *in[3] = {raw};
	size_t n;

	if (raw == NULL || !put_scales(x, t, in, &n))
		return NULL;
	modser_sg_tensor *made = msd_build_node(&b, "DequantizeLinear", in, n);
	return msd_build_done(t->scales.n > 1 ? msd_build_int(made, "axis", axis)
					      : made);
}

/* The constant as the file has it, if its scales fit. */
static modser_sg_tensor *raw_constant(const struct tflite_layer *x,
				      struct tflite_tensor *t)
{
	const bool has_axis = t->axis >= 0 && (size_t)t->axis < t->shape.n;

	if (t->raw == NULL)
		t->raw = tflite_constant(x, t);
	return t->raw != NULL && check_scales(x, t,
					      has_axis ? (size_t)t->raw->dims[t->axis]
						       : 1)
		       ? t->raw
		       : NULL;
}

modser_sg_tensor *tflite_dequantize(const struct tflite_layer *x,
				    struct tflite_tensor *t)
{
	if (!t->is_constant)
		return convert(x, "DequantizeLinear", t, t->raw);
	return stays_integer(x, t) ? dequantize_raw(x, t, raw_constant(x, t), t->axis)
				   : make_floats(x, t);
}

modser_sg_tensor *tflite_quantize(const struct tflite_layer *x,
				  const struct tflite_tensor *t,
				  modser_sg_tensor *value)
{
	return convert(x, "QuantizeLinear", t, value);
}

static const struct turn {
	size_t ndim;
	int64_t perm[4];
} turns[TFLITE_N_TURNS] = {
	[TFLITE_TURN_OIHW] = {4, {0, 3, 1, 2}},
	[TFLITE_TURN_IOHW] = {4, {3, 0, 1, 2}},
	[TFLITE_TURN_MATRIX] = {2, {1, 0}},
};

/* True if the order of the elements stays: only axes of one element move. */
static bool keeps_order(const modser_sg_tensor *t, const struct turn *turn)
{
	int64_t last = -1;

	for (size_t i = 0; i < turn->ndim; i++) {
		const int64_t axis = turn->perm[i];

		if (t->dims[axis] == 1)
			continue;
		if (axis < last)
			return false;
		last = axis;
	}
	return true;
}

/* Copy elements of 1 or 4 bytes in the order of the turned axes. */
static void permute(const modser_sg_tensor *t, const struct turn *turn, size_t size,
		    uint8_t *to)
{
	int64_t steps[4] = {0};
	int64_t dims[4] = {1, 1, 1, 1};
	int64_t stride = 1;
	int64_t strides[4] = {0};
	const uint8_t *from = t->data;

	for (size_t i = turn->ndim; i-- > 0; stride *= t->dims[i])
		strides[i] = stride;
	for (size_t i = 0; i < turn->ndim; i++) {
		const size_t at = 4 - turn->ndim + i;

		steps[at] = strides[turn->perm[i]];
		dims[at] = t->dims[turn->perm[i]];
	}
	for (int64_t a = 0; a < dims[0]; a++) {
		for (int64_t b = 0; b < dims[1]; b++) {
			for (int64_t c = 0; c < dims[2]; c++) {
				const int64_t row =
					a * steps[0] + b * steps[1] + c * steps[2];

				for (int64_t d = 0; d < dims[3]; d++, to += size) {
					const int64_t at = row + d * steps[3];

					if (size == 1) {
						*to = from[at];
					} else {
						memcpy(to, from + 4 * at, 4);
					}
				}
			}
		}
	}
}

/* @from is float32, or of bytes. */
static modser_sg_tensor *turn_constant(const struct tflite_layer *x,
				       const struct tflite_tensor *t,
				       modser_sg_tensor *from, const struct turn *turn)
{
	const struct msd_build b = {x->b.g, t->name};
	const char *dtype = from->dtype_name;
	int64_t dims[4];

	for (size_t i = 0; i < turn->ndim; i++)
		dims[i] = from->dims[turn->perm[i]];
	if (keeps_order(from, turn) && from == t->raw && from->release == NULL) {
		return msd_build_constant(&b, dtype, dims, turn->ndim, from->data,
					  NULL);
	}
	uint8_t *own = malloc((size_t)from->bytes + 1);
	if (own == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return NULL;
	}
	permute(from, turn, element_bytes(dtype), own);
	modser_sg_tensor *made =
		msd_build_constant(&b, dtype, dims, turn->ndim, own, free);
	if (made == NULL)
		free(own);
	return made;
}

static int64_t turned_axis(const struct turn *turn, int32_t axis)
{
	int64_t i = 0;

	while (i < (int64_t)turn->ndim && turn->perm[i] != axis)
		i++;
	return i;
}

static modser_sg_tensor *make_turned(const struct tflite_layer *x,
				     struct tflite_tensor *t, modser_sg_tensor *from,
				     const struct turn *turn)
{
	const bool is_matrix = from->ndim == (int)turn->ndim;

	if (is_matrix && t->is_constant && from->type == MODSER_TENSOR_CONST &&
	    strcmp(from->dtype_name, "float32") == 0)
		return turn_constant(x, t, from, turn);
	if (is_matrix && t->is_constant && tflite_is_quantized(t) && t->raw != NULL &&
	    element_bytes(t->raw->dtype_name) == 1 && stays_integer(x, t)) {
		modser_sg_tensor *raw = turn_constant(x, t, t->raw, turn);

		return dequantize_raw(x, t, raw, turned_axis(turn, t->axis));
	}
	return msd_build_transpose(&x->b, from, turn->perm, turn->ndim);
}

modser_sg_tensor *tflite_turned(const struct tflite_layer *x, size_t i,
				enum tflite_turn which)
{
	const struct turn *turn = &turns[which];
	modser_sg_tensor *from = tflite_value(x, i);

	if (from == NULL)
		return NULL;
	struct tflite_tensor *t = &x->tensors[flat_at_i32(&x->in, i)];
	if (t->turned[which] != NULL)
		return t->turned[which];
	if (t->shape.n != turn->ndim) {
		return tflite_fail(x,
				   "weights \"%s\" have %zu dimensions, expected %zu",
				   t->name, t->shape.n, turn->ndim);
	}
	t->turned[which] = make_turned(x, t, from, turn);
	return t->turned[which];
}

modser_sg_tensor *tflite_constant_planes(const struct tflite_layer *x, size_t i)
{
	const int32_t k = i < x->in.n ? flat_at_i32(&x->in, i) : -1;
	struct tflite_tensor *t = k >= 0 ? &x->tensors[k] : NULL;
	modser_sg_tensor *value = NULL;

	if (t != NULL && t->is_constant && (t->shape.n <= 1 || t->shape.n == 4))
		value = tflite_value(x, i);
	if (value == NULL || value->ndim != (int)t->shape.n ||
	    (tflite_is_quantized(t) && t->scales.n != 1))
		return NULL;
	if (t->shape.n == 0 || (t->shape.n == 1 && value->dims[0] == 1))
		return value;
	if (t->shape.n == 4)
		return tflite_turned(x, i, TFLITE_TURN_OIHW);
	const struct msd_build b = {x->b.g, t->name};
	const int64_t dims[] = {value->dims[0], 1, 1};
	modser_sg_tensor *from = value->type == MODSER_TENSOR_CONST ? value : t->raw;
	if (from == NULL || from->release != NULL)
		return NULL;
	from = msd_build_constant(&b, from->dtype_name, dims, 3, from->data, NULL);
	return value->type == MODSER_TENSOR_CONST ? from
						  : dequantize_raw(x, t, from, 0);
}
