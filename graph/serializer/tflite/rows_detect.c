/* Operators on boxes, on indices and on volumes. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/tflite/layer.h"

/* Inputs are boxes, scores, the largest number, two thresholds and, in version 5, a
 * sigma that must be 0. Outputs are the indices, in version 5 their scores, both with
 * zeros behind them, and their number. */
static int load_suppression(const struct tflite_layer *x, modser_sg_tensor **ret)
{
	const size_t n_out = x->row->type == 5 ? 3 : 2;
	modser_sg_tensor *in[5];
	float sigma = 0;

	if (x->out.n != n_out) {
		(void)tflite_fail(x, "it has %zu outputs", x->out.n);
		return -1;
	}
	for (size_t i = 0; i < 5; i++) {
		in[i] = tflite_value(x, i);
		if (in[i] == NULL)
			return -1;
	}
	if (x->row->type == 5) {
		const modser_sg_tensor *t = tflite_value(x, 5);

		if (t == NULL)
			return -1;
		if (t->data != NULL && t->bytes == sizeof(sigma))
			memcpy(&sigma, t->data, sizeof(sigma));
		if (t->data == NULL || sigma != 0) {
			(void)tflite_fail(x, "only a sigma of 0 can be read");
			return -1;
		}
	}
	const struct msd_suppression s = {in[0], in[1], in[2], in[3], in[4]};
	modser_sg_tensor *at = msd_build_suppress(&x->b, &s);
	ret[n_out - 1] = msd_build_count(&x->b, at, "int32");
	if (n_out == 3) {
		ret[1] = msd_build_fill(&x->b, msd_build_gather(&x->b, in[1], at, 0),
					in[2]);
	}
	ret[0] = msd_build_fill(&x->b, msd_build_cast(&x->b, at, "int32"), in[2]);
	return ret[0] != NULL ? 0 : -1;
}

/* Inputs are indices, updates and a shape; the rest is 0. */
static modser_sg_tensor *load_scatter(const struct tflite_layer *x)
{
	modser_sg_tensor *at = tflite_cast(x, tflite_value(x, 0), "int64");
	modser_sg_tensor *updates = at != NULL ? tflite_value(x, 1) : NULL;
	modser_sg_tensor *shape =
		updates != NULL ? tflite_cast(x, tflite_value(x, 2), "int64") : NULL;

	if (shape == NULL)
		return NULL;
	modser_sg_tensor *zero =
		tflite_cast(x, msd_build_number(&x->b, 0), updates->dtype_name);
	modser_sg_tensor *const in[] = {msd_build_two(&x->b, "Expand", zero, shape), at,
					updates};
	return msd_build_done(msd_build_text(msd_build_node(&x->b, "ScatterND", in, 3),
					     "reduction", "add"));
}

static modser_sg_tensor *load_atan2(const struct tflite_layer *x)
{
	modser_sg_tensor *y = tflite_value(x, 0);

	return y != NULL ? msd_build_atan2(&x->b, y, tflite_value(x, 1)) : NULL;
}

static modser_sg_tensor *load_segments(const struct tflite_layer *x)
{
	modser_sg_tensor *data = tflite_value(x, 0);
	modser_sg_tensor *ids = data != NULL ? tflite_value(x, 1) : NULL;
	modser_sg_tensor *count = NULL;

	if (ids == NULL || (x->in.n > 2 && (count = tflite_value(x, 2)) == NULL))
		return NULL;
	if (tflite_ndim(x, 1) != 1)
		return tflite_fail(x, "its segments are no vector");
	return msd_build_segments(&x->b, data, ids, count);
}

static modser_sg_tensor *load_reverse_sequence(const struct tflite_layer *x)
{
	modser_sg_tensor *t = tflite_value(x, 0);
	modser_sg_tensor *const in[] = {
		t, t != NULL ? tflite_cast(x, tflite_value(x, 1), "int64") : NULL};
	modser_sg_tensor *made = msd_build_node(&x->b, "ReverseSequence", in, 2);

	made = msd_build_int(made, "time_axis", flat_i32(x->f, &x->options, 0, 0));
	return msd_build_done(
		msd_build_int(made, "batch_axis", flat_i32(x->f, &x->options, 1, 0)));
}

/* Fields of the options; the weights are [D, H, W, I, O]. */
static modser_sg_tensor *load_conv_3d(const struct tflite_layer *x)
{
	static const int64_t to[] = {0, 4, 1, 2, 3};
	static const int64_t weights[] = {4, 3, 0, 1, 2};
	static const int64_t back[] = {0, 2, 3, 4, 1};
	static const int64_t same[] = {-1, -1, -1, -1, -1, -1};
	const int64_t strides[] = {flat_i32(x->f, &x->options, 1, 0),
				   flat_i32(x->f, &x->options, 3, 0),
				   flat_i32(x->f, &x->options, 2, 0)};
	const int64_t dilations[] = {flat_i32(x->f, &x->options, 5, 1),
				     flat_i32(x->f, &x->options, 7, 1),
				     flat_i32(x->f, &x->options, 6, 1)};
	const size_t n = tflite_has(x, 2) ? 3 : 2;
	modser_sg_tensor *in[3] = {
		msd_build_transpose(&x->b, tflite_value(x, 0), to, 5)};

	if (in[0] == NULL)
		return NULL;
	if (tflite_ndim(x, 1) != 5) {
		return tflite_fail(x, "its weights have %zu dimensions",
				   tflite_ndim(x, 1));
	}
	const int64_t inner = tflite_extent(x, 1, 3);
	const int64_t channels = tflite_extent(x, 0, 4);
	in[1] = msd_build_transpose(&x->b, tflite_value(x, 1), weights, 5);
	if (n == 3 && (in[2] = tflite_value(x, 2)) == NULL)
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, "Convolution", in, n);
	t = msd_build_list(msd_build_list(t, "strides", strides, 3), "dilations",
			   dilations, 3);
	if (inner > 0 && channels > 0)
		t = msd_build_int(t, "group", channels / inner);
	if (flat_u8(x->f, &x->options, 0, 0) == 0)
		t = msd_build_list(t, "pads", same, 6);
	t = tflite_activate(x, msd_build_done(t), 4);
	return msd_build_transpose(&x->b, t, back, 5);
}

const struct tflite_row tflite_rows_detect[] = {
	{112, "REVERSE_SEQUENCE", 2, 2, .one = load_reverse_sequence},
	{120, "NON_MAX_SUPPRESSION_V4", 5, 5, .many = load_suppression, .type = 4},
	{121, "NON_MAX_SUPPRESSION_V5", 6, 6, .many = load_suppression, .type = 5},
	{122, "SCATTER_ND", 3, 3, .one = load_scatter},
	{125, "SEGMENT_SUM", 2, 2, .one = load_segments},
	{132, "CONV_3D", 2, 3, .one = load_conv_3d},
	{155, "UNSORTED_SEGMENT_SUM", 3, 3, .one = load_segments},
	{156, "ATAN2", 2, 2, .one = load_atan2},
	{0},
};
