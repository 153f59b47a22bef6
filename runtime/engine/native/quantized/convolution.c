/*
 * Integer convolutions as products: packed units of weights, one output channel per
 * row, times units of input channels, one output position per column. A depthwise
 * convolution has no sums over channels: its sums fit into floats, whose kernel
 * computes them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/quantized/params.h"
#include "graph/op/window/window.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/quantized/operands.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/window.h"
#include "runtime/engine/native/work.h"

enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS }; /* inputs */
enum { TILES = 4 }; /* A part has so many: it brings its columns for them. */

struct packed {
	struct msd_native_packed base;
	const struct msd_native_units *units; /* NULL: depthwise */
	size_t row_units;    /* a depthwise channel has so many; 0: floats */
	size_t group_floats; /* of packed weights */
	const int32_t *sums; /* of quads: those of the channels' weights */
};

struct convolution {
	const struct msd_kernel_call *call;
	const struct msd_native_kernels *k;
	const struct packed *packed;
	struct msd_native_window w;
	struct msd_native_bytes x; /* of the image */
	struct msd_native_sums sums;
	char *y; /* of the image */
	size_t element;
	float *planes;
	float *scratch;
	size_t scratch_floats; /* per thread */
	size_t channels, in_channels, groups;
	size_t deep; /* units of input channels of a group */
	size_t in_plane, out_plane, taps;
	size_t n_parts, n_step, m_parts, m_step;
};

/* Scaled or not: the places of weights and zero points. */
static bool is_scaled(const modser_sg_node *node)
{
	return msd_op_conv_weights(node) == W;
}

static size_t weights_zero(const modser_sg_node *node)
{
	return is_scaled(node) ? W_ZERO : 3;
}

static size_t group_count(const modser_sg_node *node)
{
	return (size_t)msd_params_conv_integer(node).group;
}

static bool may(const modser_sg_node *node)
{
	const size_t w = msd_op_conv_weights(node);
	const modser_sg_tensor *weights = modser_sg_node_input(node, w);
	struct msd_op_window axes[MSD_OP_AXES];

	if (!msd_native_is_bytes(node, X) || !msd_native_is_bytes(node, w) ||
	    !msd_native_is_fixed(node, w) ||
	    !msd_native_is_fixed(node, weights_zero(node)) ||
	    !msd_native_is_zero(node, X_ZERO) ||
	    modser_sg_tensor_ndim(modser_sg_node_input(node, X)) < 3)
		return false;
	const size_t terms = msd_native_count(modser_sg_tensor_dims(weights), 1,
					      (size_t)modser_sg_tensor_ndim(weights));
	if (terms > MSD_NATIVE_TERMS)
		return false;
	if (is_scaled(node) &&
	    (!msd_native_is_scale(node, X_SCALE) ||
	     !msd_native_is_single(node, W_SCALE) ||
	     !msd_native_is_scale(node, Y_SCALE) || !msd_native_is_zero(node, Y_ZERO) ||
	     !msd_native_is_bias(node, BIAS, terms)))
		return false;
	msd_op_conv_windows(node, axes);
	return msd_native_window_fits(axes);
}

/* The weights of channel @m without their zero point. */
static struct msd_native_bytes channel_of(const modser_sg_node *node, size_t m,
					  size_t depth)
{
	const modser_sg_tensor *w =
		modser_sg_node_input(node, msd_op_conv_weights(node));
	const size_t input = weights_zero(node);
	const modser_sg_tensor *zero = modser_sg_node_input(node, input);
	const uint8_t *zeros = zero != NULL ? zero->data : NULL;

	if (zeros != NULL && msd_native_elements(node, input) > 1)
		zeros += m;
	return msd_native_bytes_at(w->dtype, (const uint8_t *)w->data + m * depth,
				   zeros, 1);
}

static size_t deep_of(const struct msd_native_units *u, size_t group_in)
{
	return (group_in + u->width - 1) / u->width;
}

/* Units of one channel: input channels side by side, tap by tap. */
static void pack_channel(const struct msd_native_units *u,
			 const struct msd_native_bytes *w, size_t group_in, size_t taps,
			 float *ret)
{
	for (size_t c = 0; c < group_in; c += u->width, ret += taps) {
		struct msd_native_bytes first = *w;

		first.p += c * taps;
		u->rows(&first, group_in - c < u->width ? group_in - c : u->width, taps,
			NULL, taps, ret);
	}
}

/* @units has room for the channels of a group. */
static void pack_group(const modser_sg_node *node, struct packed *p, size_t g,
		       size_t group_out, size_t group_in, size_t taps, float *units)
{
	const size_t depth = deep_of(p->units, group_in) * taps;

	for (size_t m = 0; m < group_out; m++) {
		const struct msd_native_bytes w =
			channel_of(node, g * group_out + m, group_in * taps);

		pack_channel(p->units, &w, group_in, taps, units + m * depth);
	}
	msd_native_kernels()->pack_a(units, depth, 1, group_out, depth, NULL,
				     p->base.weights + g * p->group_floats);
}

static bool pack_weights(const modser_sg_node *node, struct packed *p, size_t channels,
			 size_t group_in, size_t taps)
{
	const size_t groups = group_count(node);
	const size_t group_out = channels / groups;
	const size_t depth = deep_of(p->units, group_in) * taps;
	int32_t *sums = (int32_t *)(void *)(p->base.weights + groups * p->group_floats);
	float *units = malloc((group_out * depth + 1) * sizeof(*units));

	if (units == NULL)
		return false;
	for (size_t g = 0; g < groups; g++)
		pack_group(node, p, g, group_out, group_in, taps, units);
	for (size_t i = 0; i < channels; i++) {
		const struct msd_native_bytes w = channel_of(node, i, group_in * taps);

		sums[i] = (int32_t)msd_native_sum(&w, group_in * taps);
	}
	free(units);
	return true;
}

/* Quads, if the level has them and the weights fit. */
static const struct msd_native_units *choose_units(const modser_sg_node *node,
						   size_t channels, size_t depth)
{
	const struct msd_native_integer_kernels *k = msd_native_kernels()->integers;

	if (k->quads == NULL)
		return k->pairs;
	for (size_t i = 0; i < channels; i++) {
		const struct msd_native_bytes w = channel_of(node, i, depth);

		if (!msd_native_fit(&w, depth))
			return k->pairs;
	}
	return k->quads;
}

/* The units of each row of a kernel, four columns a unit. */
static void pack_rows(const struct msd_native_bytes *w, size_t row, size_t rows,
		      float *ret)
{
	const struct msd_native_units *u = msd_native_kernels()->integers->quads;

	for (size_t h = 0; h < rows; h++) {
		struct msd_native_bytes x = *w;

		x.p += h * row;
		u->row(&x, row, ret + h * deep_of(u, row));
	}
}

/* The units of weights of a channel; 0: they are floats. */
static size_t row_units_of(const modser_sg_node *node, size_t taps)
{
	const struct msd_native_integer_kernels *k = msd_native_kernels()->integers;
	const size_t channels = group_count(node);
	struct msd_op_window axes[MSD_OP_AXES];
	struct msd_native_window w;

	if (modser_sg_tensor_ndim(modser_sg_node_input(node, X)) > 4 ||
	    choose_units(node, channels, taps) == k->pairs)
		return 0;
	msd_op_conv_windows(node, axes);
	msd_native_window_set(axes, &w);
	return k->depthwise_units(&w);
}

static bool pack_depthwise(const modser_sg_node *node, size_t taps, size_t row,
			   struct msd_native_packed **ret)
{
	const struct msd_native_kernels *k = msd_native_kernels();
	const size_t groups = group_count(node);
	const size_t units = row_units_of(node, taps);
	const size_t floats = units > 0 ? units : taps;
	bool is_packed = false;
	struct packed *p =
		msd_native_packed_new(node, units > 0 ? "depthwise bytes" : "depthwise",
				      sizeof(*p), groups * (floats + 1), &is_packed);

	if (p == NULL)
		return false;
	int32_t *sums = (int32_t *)(void *)(p->base.weights + groups * floats);
	p->row_units = units;
	p->sums = units > 0 ? sums : NULL;
	for (size_t g = 0; g < groups && !is_packed; g++) {
		const struct msd_native_bytes w = channel_of(node, g, taps);
		float *to = p->base.weights + g * floats;

		sums[g] = (int32_t)msd_native_sum(&w, taps);
		if (units > 0) {
			pack_rows(&w, row, taps / row, to);
		} else {
			k->integers->dequantize(&w, taps, to);
		}
	}
	*ret = &p->base;
	return true;
}

static bool pack(const modser_sg_node *node, struct msd_native_packed **ret)
{
	const modser_sg_tensor *w =
		modser_sg_node_input(node, msd_op_conv_weights(node));
	const int64_t *dims = modser_sg_tensor_dims(w);
	const size_t taps = msd_native_count(dims, 2, (size_t)modser_sg_tensor_ndim(w));
	const size_t channels = (size_t)dims[0];
	const size_t group_in = (size_t)dims[1];
	const size_t groups = group_count(node);

	if (channels == groups && group_in == 1 && taps <= MSD_NATIVE_TAPS) {
		return pack_depthwise(node, taps,
				      (size_t)dims[modser_sg_tensor_ndim(w) - 1], ret);
	}
	const struct msd_native_units *u =
		choose_units(node, channels, group_in * taps);
	const size_t floats = msd_native_kernels()->pack_a_floats(
		channels / groups, deep_of(u, group_in) * taps);
	const bool is_quads = u != msd_native_kernels()->integers->pairs;
	bool is_packed = false;
	struct packed *p = msd_native_packed_new(
		node, is_quads ? "matrix of bytes" : "matrix", sizeof(*p),
		groups * floats + channels, &is_packed);
	if (p == NULL)
		return false;
	p->units = u;
	p->group_floats = floats;
	if (is_quads) {
		p->sums = (const int32_t *)(const void *)(p->base.weights +
							  groups * floats);
	}
	if (!is_packed && !pack_weights(node, p, channels, group_in, taps)) {
		msd_native_packed_free(&p->base);
		return false;
	}
	*ret = &p->base;
	return true;
}

static void pad(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct convolution *c = ctx;
	const size_t group_in = c->in_channels / c->groups;
	const size_t width = c->packed->units->width;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t in_group = i % c->deep * width;
		const size_t left = group_in - in_group;
		struct msd_native_bytes x = c->x;

		x.p += (i / c->deep * group_in + in_group) * c->in_plane;
		c->packed->units->plane(&c->w, &x, left < width ? left : width,
					c->planes + i * c->w.plane);
	}
}

static void run_depthwise(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct convolution *c = ctx;
	float *own = c->scratch + thread * c->scratch_floats;
	float *plane = own + c->in_plane;
	float *sums = plane + c->w.plane + MSD_NATIVE_ROOM;

	for (size_t i = first; i < end; i++) {
		struct msd_native_bytes x = c->x;

		x.p += i * c->in_plane;
		if (c->packed->row_units > 0) {
			c->k->integers->depthwise(
				&c->w, &x,
				(const int32_t *)(const void *)c->packed->base.weights +
					i * c->packed->row_units,
				&c->sums, i, own, c->y + i * c->out_plane * c->element);
			continue;
		}
		c->k->integers->dequantize(&x, c->in_plane, own);
		c->k->pad_plane(&c->w, own, i > first, plane);
		c->k->depthwise(&c->w, plane, c->packed->base.weights + i * c->taps, 0,
				NULL, (struct msd_native_finish){0}, sums);
		c->k->integers->put(&c->sums, sums, i, c->out_plane,
				    c->y + i * c->out_plane * c->element);
	}
}

static void run_part(const struct convolution *c, size_t i, float *scratch)
{
	const size_t group_out = c->channels / c->groups;
	const size_t m0 = i % c->m_parts * c->m_step;
	const size_t n0 = i / c->m_parts % c->n_parts * c->n_step;
	const size_t g = i / c->m_parts / c->n_parts;
	const size_t m1 = m0 + c->m_step < group_out ? m0 + c->m_step : group_out;
	const size_t n1 = n0 + c->n_step < c->out_plane ? n0 + c->n_step : c->out_plane;
	struct msd_native_window w = c->w;
	struct msd_native_sums sums = c->sums;

	w.x = c->planes + g * c->deep * w.plane;
	sums.start = sums.start != NULL ? sums.start + g * group_out : NULL;
	sums.scales = sums.scales != NULL ? sums.scales + g * group_out : NULL;
	sums.offsets = sums.offsets != NULL ? sums.offsets + g * group_out : NULL;
	const struct msd_native_integers p = {
		.m = group_out,
		.n = c->out_plane,
		.k = c->deep * c->taps,
		.packed_a = c->packed->base.weights + g * c->packed->group_floats,
		.window = &w,
		.is_a_signed = true,
		.sums = sums,
		.y = c->y + g * group_out * c->out_plane * c->element,
		.y_row = c->out_plane,
	};
	if (m0 < m1)
		c->packed->units->product(&p, m0, m1, n0, n1, scratch);
}

static void run_parts(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct convolution *c = ctx;

	for (size_t i = first; i < end; i++)
		run_part(c, i, c->scratch + thread * c->scratch_floats);
}

/* Each part brings its columns itself, so parts get few columns before they get few
 * rows. Some whole panels for each thread are enough. */
static void divide(struct convolution *c)
{
	const size_t threads = msd_native_threads();
	const size_t tiles = (c->channels / c->groups + c->k->rows - 1) / c->k->rows;
	const size_t panels = (c->out_plane + c->k->panel - 1) / c->k->panel;
	const size_t whole = c->out_plane / c->k->panel * c->groups;
	const size_t wanted =
		threads > 1 ? (threads * 4 + c->groups - 1) / c->groups : 1;

	const size_t n_parts = wanted < panels ? wanted : panels;
	c->n_step = (panels + n_parts - 1) / n_parts * c->k->panel;
	c->n_parts = (c->out_plane + c->n_step - 1) / c->n_step;
	c->m_parts = 1;
	if (whole < threads * 2) {
		const size_t m_parts = (wanted + c->n_parts - 1) / c->n_parts;
		const size_t most = (tiles + TILES - 1) / TILES;

		c->m_parts = m_parts < most ? m_parts : most;
	}
	c->m_step = (tiles + c->m_parts - 1) / c->m_parts * c->k->rows;
}

static void run_image(struct convolution *c)
{
	const size_t group_out = c->channels / c->groups;
	const double units = (double)(c->deep * c->taps);

	if (c->packed->units == NULL) {
		const double ns = (double)(c->out_plane * c->taps + 2 * c->w.plane) / 8;

		msd_native_each(c->channels, ns, run_depthwise, c);
		return;
	}
	msd_native_each(c->groups * c->deep, (double)c->w.plane / 4, pad, c);
	msd_native_each(c->groups * c->n_parts * c->m_parts,
			units * (double)(group_out * c->n_step) / (double)c->m_parts /
				(double)(4 * c->k->lanes),
			run_parts, c);
}

/* Subtract the zero point that quads keep. */
static void set_start(struct convolution *c, int32_t *start)
{
	for (size_t i = 0; i < c->channels; i++) {
		const uint32_t first =
			c->sums.start != NULL ? (uint32_t)c->sums.start[i] : 0;

		start[i] = (int32_t)(first - (uint32_t)c->x.zero *
						     (uint32_t)c->packed->sums[i]);
	}
	c->sums.start = start;
}

/* Scales and offsets of each channel, in the order of the operator's definition. */
static void set_sums(struct convolution *c, float *scales)
{
	const struct msd_kernel_call *call = c->call;
	const bool is_made = strcmp(modser_sg_op_name(modser_sg_node_op(call->node)),
				    MSD_QUANTIZED_CONVOLUTION) == 0;
	const float low =
		is_made ? msd_params_quantized_convolution(call->node).low : -INFINITY;
	const float high =
		is_made ? msd_params_quantized_convolution(call->node).high : INFINITY;
	const float x = msd_native_scale_in(call, X_SCALE);
	const float y = msd_native_scale_in(call, Y_SCALE);
	const float *w = call->in[W_SCALE];
	const bool is_each = msd_kernel_in_elements(call, W_SCALE) > 1;
	float *offsets = scales + c->channels;

	for (size_t i = 0; i < c->channels; i++)
		scales[i] = x * w[is_each ? i : 0] / y;
	c->sums.scales = scales;
	c->sums.is_float = msd_kernel_out_dtype(call, 0).code == MSD_DT_FLOAT;
	c->sums.rounding = (struct msd_native_rounding){low, high, 0};
	if (!c->sums.is_float)
		c->sums.rounding = msd_native_rounding_of(call, Y_ZERO, low, high, y);
	if (!msd_kernel_has(call, BIAS))
		return;
	if (msd_kernel_in_dtype(call, BIAS).code == MSD_DT_INT) {
		c->sums.start = call->in[BIAS];
		return;
	}
	for (size_t i = 0; i < c->channels; i++)
		offsets[i] = ((const float *)call->in[BIAS])[i] / y;
	c->sums.offsets = offsets;
}

/* Panels begin where vectors do. */
static size_t aligned(size_t floats)
{
	return (floats + 15) / 16 * 16;
}

/* Floats of scratch that a thread needs. */
static size_t scratch_of(const struct convolution *c)
{
	if (c->packed->units != NULL)
		return c->k->integers->scratch(c->deep * c->taps);
	if (c->packed->row_units > 0)
		return c->k->integers->depthwise_scratch(&c->w);
	return c->in_plane + c->w.plane + c->out_plane + (size_t)2 * MSD_NATIVE_ROOM;
}

static msd_err run(const struct msd_kernel_call *call,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	const int64_t *x = msd_kernel_in_dims(call, X);
	const int64_t *y = msd_kernel_out_dims(call, 0);
	const size_t ndim = msd_kernel_in_ndim(call, X);
	struct msd_op_window axes[MSD_OP_AXES];
	struct convolution c = {
		.call = call,
		.k = msd_native_kernels(),
		.packed = (const struct packed *)packed,
		.element = msd_kernel_out_dtype(call, 0).bits / 8,
		.channels = (size_t)y[1],
		.in_channels = (size_t)x[1],
		.groups = group_count(call->node),
		.in_plane = msd_native_count(x, 2, ndim),
		.out_plane = msd_native_count(y, 2, ndim),
	};
	const bool is_depthwise = c.packed->units == NULL;

	msd_op_conv_windows(call->node, axes);
	msd_native_window_set(axes, &c.w);
	c.taps = c.w.n_taps;
	if (!is_depthwise) {
		c.deep = deep_of(c.packed->units, c.in_channels / c.groups);
		if (!c.w.is_direct) { /* rows are not by phase */
			c.w.plane =
				c.w.rows[0] * c.w.rows[1] * c.w.columns * c.w.stride[2];
		}
	}
	const size_t planes =
		is_depthwise ? 0 : c.groups * c.deep * c.w.plane + MSD_NATIVE_ROOM;
	const size_t shared = aligned(planes + 3 * c.channels);
	c.scratch_floats = aligned(scratch_of(&c));
	float *room = msd_native_scratch_take(shared +
					      msd_native_threads() * c.scratch_floats);
	if (room == NULL)
		return msd_diag_no_memory(d);
	c.planes = room;
	c.x = msd_native_bytes_in(call, X, X_ZERO, 1);
	if (is_scaled(call->node))
		set_sums(&c, room + planes);
	if (c.packed->sums != NULL)
		set_start(&c, (int32_t *)(void *)(room + planes + 2 * c.channels));
	c.scratch = room + shared;
	divide(&c);
	for (size_t i = 0; i < (size_t)x[0]; i++) {
		c.x.p = (const uint8_t *)call->in[X] + i * c.in_channels * c.in_plane;
		c.y = (char *)call->out[0] + i * c.channels * c.out_plane * c.element;
		run_image(&c);
	}
	msd_native_scratch_give(room);
	return MSD_OK;
}

const struct msd_native_claim msd_native_conv_integer = {"ConvInteger", may, pack, run,
							 0};
const struct msd_native_claim msd_native_q_linear_conv = {"QLinearConv", may, pack, run,
							  0};
const struct msd_native_claim msd_native_quantized_convolution = {
	MSD_QUANTIZED_CONVOLUTION, may, pack, run, 0};
