/* Helpers of all rows of operators: inputs, planes, axes, activations. */
#include "graph/serializer/tflite/layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"

static const int64_t to_planes[] = {0, 3, 1, 2};
static const int64_t from_planes[] = {0, 2, 3, 1};

modser_sg_tensor *tflite_fail(const struct tflite_layer *x, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)msd_sg_fail(x->b.g, MSD_UNSUPPORTED, "%s", text);
	return NULL;
}

const struct tflite_row *tflite_row_at(size_t i)
{
	static const struct tflite_row *const tables[] = {
		tflite_rows_element, tflite_rows_window, tflite_rows_move,
		tflite_rows_slice,   tflite_rows_reduce, tflite_rows_detect};

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct tflite_row *row = tables[t]; row->name != NULL;
		     row++) {
			if (i-- == 0)
				return row;
		}
	}
	return NULL;
}

/* Input @i; NULL: it is left out. Indices were checked. */
static struct tflite_tensor *input(const struct tflite_layer *x, size_t i)
{
	const int32_t k = i < x->in.n ? flat_at_i32(&x->in, i) : -1;

	return k >= 0 ? &x->tensors[k] : NULL;
}

bool tflite_has(const struct tflite_layer *x, size_t i)
{
	return input(x, i) != NULL;
}

size_t tflite_ndim(const struct tflite_layer *x, size_t i)
{
	const struct tflite_tensor *t = input(x, i);

	if (t == NULL)
		return 0;
	return t->raw != NULL && t->raw->ndim >= 0 ? (size_t)t->raw->ndim : t->shape.n;
}

int64_t tflite_extent(const struct tflite_layer *x, size_t i, size_t axis)
{
	const struct tflite_tensor *t = input(x, i);

	if (t == NULL || axis >= tflite_ndim(x, i))
		return -1;
	if (t->raw != NULL && t->raw->ndim >= 0)
		return t->raw->dims[axis];
	return flat_at_i32(t->open.n == t->shape.n ? &t->open : &t->shape, axis);
}

bool tflite_is_constant(const struct tflite_layer *x, size_t i)
{
	const struct tflite_tensor *t = input(x, i);

	return t != NULL && t->is_constant;
}

/* Input @i as the file has it. */
static modser_sg_tensor *raw(const struct tflite_layer *x, size_t i)
{
	struct tflite_tensor *t = input(x, i);

	if (t == NULL)
		return tflite_fail(x, "input %zu is left out", i);
	if (t->raw != NULL)
		return t->raw;
	if (t->is_variable) {
		return tflite_fail(x,
				   "tensor \"%s\" keeps its value between calls; such "
				   "models cannot be read",
				   t->name);
	}
	if (!t->is_constant) {
		return tflite_fail(x,
				   "it reads tensor \"%s\" before an operator writes "
				   "it",
				   t->name);
	}
	t->raw = tflite_constant(x, t);
	return t->raw;
}

modser_sg_tensor *tflite_value(const struct tflite_layer *x, size_t i)
{
	struct tflite_tensor *t = input(x, i);

	if (t != NULL && tflite_is_quantized(t)) {
		if (t->value != NULL)
			return t->value;
		if (t->raw == NULL && !t->is_constant)
			return raw(x, i); /* fails */
		t->value = tflite_dequantize(x, t);
		return t->value;
	}
	return raw(x, i);
}

modser_sg_tensor *tflite_unplane(const struct msd_build *b, modser_sg_tensor *planes)
{
	return msd_build_transpose(b, planes, from_planes, 4);
}

modser_sg_tensor *tflite_planes_of(const modser_sg_tensor *t)
{
	const modser_sg_node *node = t->producer;

	if (node == NULL || strcmp(modser_sg_op_name(node->op), "Transpose") != 0)
		return NULL;
	const modser_sg_attr *perm = modser_sg_op_param(node->op, "perm");
	return perm->n == 4 && memcmp(perm->as.ints, from_planes,
				      sizeof(from_planes)) == 0
		       ? node->inputs[0]
		       : NULL;
}

modser_sg_tensor *tflite_planes(const struct tflite_layer *x, size_t i)
{
	modser_sg_tensor *value = tflite_value(x, i);

	if (value == NULL)
		return NULL;
	struct tflite_tensor *t = input(x, i);
	if (tflite_ndim(x, i) != 4) {
		return tflite_fail(x, "input %zu has %zu dimensions, expected 4", i,
				   tflite_ndim(x, i));
	}
	if (t->planes == NULL)
		t->planes = tflite_planes_of(value);
	if (t->planes == NULL)
		t->planes = msd_build_transpose(&x->b, value, to_planes, 4);
	return t->planes;
}

bool tflite_axis(const struct tflite_layer *x, size_t i, int64_t axis, size_t *ret)
{
	const int64_t ndim = (int64_t)tflite_ndim(x, i);
	const int64_t at = axis < 0 ? axis + ndim : axis;

	if (at < 0 || at >= ndim) {
		(void)tflite_fail(x, "axis %lld of %lld", (long long)axis,
				  (long long)ndim);
		return false;
	}
	*ret = (size_t)at;
	return true;
}

bool tflite_ints(const struct tflite_layer *x, size_t i, int64_t *ret, size_t max,
		 size_t *ret_n)
{
	struct tflite_tensor *t = input(x, i);
	const modser_sg_tensor *c = t != NULL && t->is_constant ? raw(x, i) : NULL;

	if (t != NULL && t->is_constant && c == NULL)
		return false;
	const bool is_64 = c != NULL && strcmp(c->dtype_name, "int64") == 0;
	if (c == NULL || (!is_64 && strcmp(c->dtype_name, "int32") != 0)) {
		(void)tflite_fail(x,
				  "input %zu is no constant of integers; only such can "
				  "be read",
				  i);
		return false;
	}
	const size_t n = (size_t)c->bytes / (is_64 ? 8 : 4);
	const uint8_t *p = c->data;
	if (n > max) {
		(void)tflite_fail(x, "input %zu has %zu numbers, at most %zu can be", i,
				  n, max);
		return false;
	}
	for (size_t k = 0; k < n; k++) {
		ret[k] = is_64 ? (int64_t)msd_le64(p + 8 * k)
			       : (int32_t)msd_le32(p + 4 * k);
	}
	*ret_n = n;
	return true;
}

const char *tflite_out_dtype(const struct tflite_layer *x, size_t k)
{
	return tflite_dtype(x->tensors[flat_at_i32(&x->out, k)].type);
}

modser_sg_tensor *tflite_cast(const struct tflite_layer *x, modser_sg_tensor *t,
			      const char *dtype)
{
	return t == NULL || (t->has_dtype && strcmp(t->dtype_name, dtype) == 0)
		       ? t
		       : msd_build_cast(&x->b, t, dtype);
}

modser_sg_tensor *tflite_clip(const struct tflite_layer *x, modser_sg_tensor *t,
			      float min, float max)
{
	modser_sg_tensor *const in[] = {t, msd_build_number(&x->b, min),
					msd_build_number(&x->b, max)};

	return msd_build_done(msd_build_node(&x->b, "Clip", in, 3));
}

modser_sg_tensor *tflite_activate(const struct tflite_layer *x, modser_sg_tensor *t,
				  unsigned i)
{
	enum { NONE, RELU, RELU_N1_TO_1, RELU6, TANH };
	const uint8_t code = flat_u8(x->f, &x->options, i, NONE);

	switch (code) {
	case NONE:
		return t;
	case RELU:
		return msd_build_one(&x->b, "ReLu", t);
	case RELU_N1_TO_1:
		return tflite_clip(x, t, -1, 1);
	case RELU6:
		return tflite_clip(x, t, 0, 6);
	case TANH:
		return msd_build_one(&x->b, "Tanh", t);
	default:
		return tflite_fail(x, "fused activation %u cannot be read", code);
	}
}
