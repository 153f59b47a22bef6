/*
 * Convolutions as products: packed weights, one output channel per row, times the
 * inputs of their taps, one output position per column. A depthwise convolution has
 * no sums over channels and works on vectors of positions. Kernels of 3 x 3 without
 * strides are multiplied by Winograd's method, unless an input is so large that its
 * intermediate sums could lose digits or become infinite.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op/window/params.h"
#include "graph/op/window/window.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/window.h"
#include "runtime/engine/native/winograd.h"
#include "runtime/engine/native/work.h"

enum { RESIDUAL = 4 };                     /* input */
enum { FEWEST_CHANNELS = 16 };             /* that make up for the cost of tiles */
enum { AT_ONCE = 4096, MOST_AT_ONCE = 8 }; /* floats of padded planes, and planes */
enum { FEW_CHANNELS = 64, BRINGING = 4 };  /* the rows of a product that cost as much */
enum { COLUMNS = 96, DEPTH = 256, MOST_COLUMNS = 1536 };

struct packed {
	struct msd_native_packed base;
	bool is_depthwise, is_winograd;
	size_t group_floats; /* of packed weights */
	float *start;        /* one per channel */
};

struct convolution {
	const struct msd_native_kernels *k;
	const struct packed *packed;
	struct msd_native_window w;
	struct msd_native_finish finish;
	const float *x; /* of the image */
	float *y;
	const float *residual;
	float *planes; /* padded */
	float *panels; /* all columns of all groups, or NULL: each part brings its own
			*/
	float *scratch;
	size_t scratch_floats; /* per thread */
	size_t channels, in_channels, groups;
	size_t in_plane, out_plane, taps;
	size_t n_parts, n_step, m_parts, m_step;
	size_t k_parts;   /* pieces of a panel's rows */
	bool is_in_place; /* no panels: windows are read where they lie */
};

static bool may(const modser_sg_node *node)
{
	struct msd_op_window axes[MSD_OP_AXES];

	if (!msd_native_is_single(node, 0) || msd_native_constant(node, 1) == NULL ||
	    modser_sg_tensor_ndim(modser_sg_node_input(node, 0)) < 3)
		return false;
	if (modser_sg_node_input(node, 2) != NULL &&
	    msd_native_constant(node, 2) == NULL)
		return false;
	msd_op_conv_windows(node, axes);
	return msd_native_window_fits(axes);
}

static size_t group_count(const modser_sg_node *node)
{
	return (size_t)msd_params_convolution(node).group;
}

/* It depends on the weights alone, so the bits are those of any other shape. */
static bool suits_winograd(const modser_sg_node *node)
{
	const int64_t *dims = modser_sg_tensor_dims(modser_sg_node_input(node, 1));
	struct msd_op_window axes[MSD_OP_AXES];

	if (modser_sg_tensor_ndim(modser_sg_node_input(node, 1)) != 4 ||
	    group_count(node) != 1 || dims[0] < FEWEST_CHANNELS ||
	    dims[1] < FEWEST_CHANNELS)
		return false;
	msd_op_conv_windows(node, axes);
	for (size_t i = 1; i < MSD_OP_AXES; i++) {
		if (axes[i].kernel != 3 || axes[i].stride != 1 || axes[i].dilation != 1)
			return false;
	}
	return true;
}

/* Weights with @factors, NULL: none, one per channel. */
static bool pack_weights(const modser_sg_node *node, struct packed *p, size_t group_out,
			 size_t depth, const float *factors)
{
	const struct msd_native_kernels *k = msd_native_kernels();
	const float *w = msd_native_constant(node, 1);
	const size_t groups = group_count(node);

	if (p->is_winograd) {
		return msd_native_winograd_pack(w, factors, group_out, depth / 9,
						p->base.weights);
	}
	if (p->is_depthwise) {
		memcpy(p->base.weights, w, groups * depth * sizeof(float));
		for (size_t i = 0; factors != NULL && i < groups * depth; i++)
			p->base.weights[i] *= factors[i / depth];
		return true;
	}
	for (size_t g = 0; g < groups; g++) {
		k->pack_a(w + g * group_out * depth, depth, 1, group_out, depth,
			  factors != NULL ? factors + g * group_out : NULL,
			  p->base.weights + g * p->group_floats);
	}
	return true;
}

static const char *way_of(bool is_winograd, bool is_depthwise)
{
	if (is_winograd)
		return "winograd";
	return is_depthwise ? "depthwise" : "matrix";
}

/* Sums start with the bias; the factor of a fused batch norm goes into the weights. */
static void set_start(struct packed *p, size_t channels, const float *bias,
		      const double *terms, float *factors)
{
	for (size_t i = 0; i < channels; i++) {
		const double first = bias != NULL ? (double)bias[i] : 0;

		p->start[i] =
			(float)(terms != NULL ? first * terms[i] + terms[channels + i]
					      : first);
		if (terms != NULL)
			factors[i] = (float)terms[i];
	}
}

static bool pack_as(const modser_sg_node *node, bool is_winograd, struct packed **ret)
{
	const int64_t *dims = modser_sg_tensor_dims(modser_sg_node_input(node, 1));
	const size_t ndim =
		(size_t)modser_sg_tensor_ndim(modser_sg_node_input(node, 1));
	const size_t channels = (size_t)dims[0];
	const size_t depth = msd_native_count(dims, 1, ndim);
	const size_t group_out = channels / group_count(node);
	const bool is_depthwise =
		group_out == 1 && dims[1] == 1 && depth <= MSD_NATIVE_TAPS;
	const size_t floats =
		is_winograd    ? msd_native_winograd_floats(group_out, depth / 9)
		: is_depthwise ? depth
			       : msd_native_kernels()->pack_a_floats(group_out, depth);
	const float *bias = msd_native_constant(node, 2);
	const modser_sg_tensor *scaled = modser_sg_node_input(node, 3);
	const double *terms =
		scaled != NULL ? modser_sg_tensor_data(scaled, &(uint64_t){0}) : NULL;
	bool is_packed = false;
	struct packed *p = msd_native_packed_new(
		node, way_of(is_winograd, is_depthwise), sizeof(*p),
		group_count(node) * floats + channels, &is_packed);
	float *factors = terms != NULL ? malloc((channels + 1) * sizeof(float)) : NULL;

	if (p == NULL || (terms != NULL && factors == NULL)) {
		msd_native_packed_free(p != NULL ? &p->base : NULL);
		free(factors);
		return false;
	}
	p->is_depthwise = is_depthwise;
	p->is_winograd = is_winograd;
	p->group_floats = floats;
	p->start = p->base.weights + group_count(node) * floats;
	if (!is_packed)
		set_start(p, channels, bias, terms, factors);
	is_packed = is_packed || pack_weights(node, p, group_out, depth, factors);
	free(factors);
	if (is_packed) {
		*ret = p;
	} else {
		msd_native_packed_free(&p->base);
	}
	return is_packed;
}

static bool pack(const modser_sg_node *node, struct msd_native_packed **ret)
{
	struct packed *p = NULL;
	const bool is_packed = (suits_winograd(node) && pack_as(node, true, &p)) ||
			       pack_as(node, false, &p);

	if (is_packed)
		*ret = &p->base;
	return is_packed;
}

static void set_finish(const modser_sg_node *node, struct msd_native_finish *f)
{
	const int64_t kind = msd_params_convolution(node).activation;

	if (strcmp(modser_sg_op_name(modser_sg_node_op(node)), MSD_FUSED_CONVOLUTION) ==
	    0) {
		const struct msd_params_fused_convolution p =
			msd_params_fused_convolution(node);

		msd_native_set_fused(p.fused, p.fused_a, p.fused_b, f);
		return;
	}
	f->is_bounded = kind != -1;
	f->low = kind == 1 ? -1 : 0;
	f->high = kind == 0 ? INFINITY : kind == 1 ? 1 : 6;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void pad(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct convolution *c = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		c->k->pad_plane(&c->w, c->x + i * c->in_plane, false,
				c->planes + i * c->w.plane);
	}
}

/* Small planes are padded before the first of them is read: loads that follow stores of
 * other sizes wait. */
static size_t planes_at_once(const struct convolution *c)
{
	const size_t n = AT_ONCE / (c->w.plane + 1);

	return n > 1 ? least(n, MOST_AT_ONCE) : 1;
}

/* Channel @i, by its padded plane or, without one, directly. */
static bool convolve_plane(const struct convolution *c, size_t i, const float *plane)
{
	const float *weights = c->packed->base.weights + i * c->taps;
	const float *residual =
		c->residual != NULL ? c->residual + i * c->out_plane : NULL;
	float *y = c->y + i * c->out_plane;

	if (plane == NULL) {
		return c->k->direct(&c->w, c->x + i * c->in_plane, weights,
				    c->packed->start[i], residual, c->finish, y);
	}
	c->k->depthwise(&c->w, plane, weights, c->packed->start[i], residual, c->finish,
			y);
	return true;
}

static void run_depthwise(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct convolution *c = ctx;
	const size_t size = c->w.plane + MSD_NATIVE_ROOM;
	const size_t step = planes_at_once(c);
	float *planes = c->scratch + thread * c->scratch_floats;

	while (first < end && convolve_plane(c, first, NULL))
		first++;
	for (size_t i = first; i < end; i += step) {
		const size_t n = least(step, end - i);

		for (size_t j = 0; j < n; j++) {
			c->k->pad_plane(&c->w, c->x + (i + j) * c->in_plane, i > first,
					planes + j * size);
		}
		for (size_t j = 0; j < n; j++)
			(void)convolve_plane(c, i + j, planes + j * size);
	}
}

/* The positions of a kernel of one element lie side by side: a product reads them in
 * place. */
static bool is_matrix(const struct convolution *c)
{
	return c->taps == 1 && c->w.stride[0] == 1;
}

static struct msd_native_product product_of(const struct convolution *c, size_t group,
					    struct msd_native_window *w)
{
	const size_t group_out = c->channels / c->groups;
	const size_t group_in = c->in_channels / c->groups;
	const size_t at = group * group_out * c->out_plane;

	*w = c->w;
	w->x = (w->is_direct ? c->x : c->planes) + group * group_in * w->plane;
	return (struct msd_native_product){
		.m = group_out,
		.n = c->out_plane,
		.k = group_in * c->taps,
		.packed_a = c->packed->base.weights + group * c->packed->group_floats,
		.bring = is_matrix(c) ? c->k->bring_matrix : c->k->bring_window,
		.window = w,
		.b = w->x,
		.b_row = w->plane,
		.b_step = 1,
		.y = c->y + at,
		.y_row = c->out_plane,
		.start = c->packed->start + group * group_out,
		.start_row = 1,
		.residual = c->residual != NULL ? c->residual + at : NULL,
		.finish = c->finish,
	};
}

/* Floats of the panels of a group. */
static size_t panel_floats(const struct convolution *c)
{
	return c->k->pack_b_floats(c->in_channels / c->groups * c->taps, c->out_plane);
}

/* Some rows of a panel. */
static void bring_panels(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct convolution *c = ctx;
	const size_t panel = c->k->panel;
	const size_t n_panels = (c->out_plane + panel - 1) / panel;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		struct msd_native_window w;
		const size_t g = i / c->k_parts / n_panels;
		const struct msd_native_product p = product_of(c, g, &w);
		const size_t n0 = i / c->k_parts % n_panels * panel;
		const size_t k0 = i % c->k_parts * DEPTH;

		p.bring(&p, k0, least(p.k - k0, DEPTH), n0, least(p.n - n0, panel),
			c->panels + g * panel_floats(c) + n0 * p.k + k0 * panel);
	}
}

static void run_part(const struct convolution *c, size_t i, float *scratch)
{
	struct msd_native_window w;
	const size_t g = i / c->m_parts / c->n_parts;
	struct msd_native_product p = product_of(c, g, &w);
	const size_t m0 = i % c->m_parts * c->m_step;
	const size_t n0 = i / c->m_parts % c->n_parts * c->n_step;

	if (c->panels != NULL)
		p.packed_b = c->panels + g * panel_floats(c);
	if (m0 < p.m && c->is_in_place) {
		const size_t line = c->w.out[2];

		c->k->convolve(&p, m0, least(p.m, m0 + c->m_step), n0 / line,
			       least(p.n, n0 + c->n_step) / line);
	} else if (m0 < p.m) {
		c->k->product(&p, m0, least(p.m, m0 + c->m_step), n0,
			      least(p.n, n0 + c->n_step), scratch);
	}
}

static void run_parts(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct convolution *c = ctx;

	for (size_t i = first; i < end; i++)
		run_part(c, i, c->scratch + thread * c->scratch_floats);
}

static size_t ceiling(size_t a, size_t b)
{
	return (a + b - 1) / b;
}

/* Without panels, the sums of the last vector of a line are computed again in part;
 * this must cost less than to bring windows. Panels are aligned: many channels prefer
 * them. Threads divide lines. */
static bool suits_in_place(const struct convolution *c)
{
	const size_t channels = c->channels / c->groups;
	const size_t line = c->w.out[2];
	const size_t lanes = c->k->lanes;
	const size_t again = ceiling(line, lanes) * lanes - line;

	return !c->packed->is_depthwise && !c->packed->is_winograd && !is_matrix(c) &&
	       c->taps <= MSD_NATIVE_TAPS && channels <= FEW_CHANNELS &&
	       line >= lanes && line <= MOST_COLUMNS &&
	       again * channels <= line * BRINGING;
}

/* Threads get columns, which they bring themselves. If there are too few, rows are
 * divided, too, and the columns are brought before, once for all parts. If weights are
 * more than inputs that are read in place, only rows are divided: a thread reads a part
 * of the weights. */
static void divide(struct convolution *c)
{
	const size_t threads = msd_native_threads();
	const size_t wanted = threads * 4;
	const size_t depth = c->in_channels / c->groups * c->taps;
	const size_t unit = c->is_in_place ? c->w.out[2] : c->k->panel;
	const size_t panels = ceiling(c->out_plane, unit);
	const size_t tiles = ceiling(c->channels / c->groups, c->k->rows);

	c->n_step = least(DEPTH / least(depth, DEPTH) * COLUMNS, MOST_COLUMNS);
	if (c->is_in_place)
		c->n_step = ceiling(MOST_COLUMNS / 2, unit) * unit;
	const bool is_by_rows = threads > 1 && is_matrix(c) && c->groups == 1 &&
				c->out_plane < c->channels;
	if (is_by_rows) {
		c->n_step = panels * unit;
	} else if (threads > 1 && panels >= threads * 2) {
		const size_t most = ceiling(panels, wanted) * unit;

		c->n_step = least(c->n_step, most);
	}
	c->n_parts = ceiling(c->out_plane, c->n_step);
	c->m_parts = 1;
	if (is_by_rows || (threads > 1 && c->n_parts * c->groups < threads * 2))
		c->m_parts = least(ceiling(wanted, c->n_parts * c->groups), tiles);
	c->m_step = ceiling(tiles, c->m_parts) * c->k->rows;
	c->k_parts = ceiling(depth, DEPTH);
}

static void run_image(struct convolution *c)
{
	const size_t group_out = c->channels / c->groups;
	const size_t group_in = c->in_channels / c->groups;
	const double terms = (double)group_in * (double)c->taps;

	if (c->packed->is_depthwise) {
		const double ns = (double)(c->out_plane * c->taps + c->w.plane) / 8;

		msd_native_each(c->channels, ns, run_depthwise, c);
		return;
	}
	if (!c->w.is_direct)
		msd_native_each(c->in_channels, (double)c->w.plane / 8, pad, c);
	if (c->panels != NULL) {
		const size_t n_panels = (c->out_plane + c->k->panel - 1) / c->k->panel;

		msd_native_each(c->groups * n_panels * c->k_parts,
				terms / (double)c->k_parts * (double)c->k->panel / 8,
				bring_panels, c);
	}
	msd_native_each(c->groups * c->n_parts * c->m_parts,
			terms * (double)(group_out * c->n_step) / (double)c->m_parts /
				32,
			run_parts, c);
}

static bool run_winograd(const struct convolution *c)
{
	const struct msd_native_winograd_run r = {
		.channels = c->channels,
		.in_channels = c->in_channels,
		.in = {c->w.in[1], c->w.in[2]},
		.before = {c->w.before[1], c->w.before[2]},
		.out = {c->w.out[1], c->w.out[2]},
		.weights = c->packed->base.weights,
		.start = c->packed->start,
		.x = c->x,
		.residual = c->residual,
		.finish = c->finish,
		.y = c->y,
	};

	return msd_native_winograd_convolve(&r);
}

static msd_err run_packed(const struct msd_kernel_call *call,
			  const struct packed *packed, struct msd_diag *d)
{
	const int64_t *x = msd_kernel_in_dims(call, 0);
	const int64_t *y = msd_kernel_out_dims(call, 0);
	const size_t ndim = msd_kernel_in_ndim(call, 0);
	struct msd_op_window axes[MSD_OP_AXES];
	struct convolution c = {
		.k = msd_native_kernels(),
		.packed = packed,
		.channels = (size_t)y[1],
		.in_channels = (size_t)x[1],
		.groups = group_count(call->node),
		.in_plane = msd_native_count(x, 2, ndim),
		.out_plane = msd_native_count(y, 2, ndim),
	};

	msd_op_conv_windows(call->node, axes);
	msd_native_window_set(axes, &c.w);
	set_finish(call->node, &c.finish);
	c.taps = c.w.n_taps;
	c.is_in_place = suits_in_place(&c);
	divide(&c);
	const bool is_product = !packed->is_depthwise && !packed->is_winograd;
	/* Panels and the threads' scratch begin aligned. */
	const size_t planes =
		is_product && !c.w.is_direct
			? (ceiling(c.in_channels * c.w.plane, MSD_NATIVE_ROOM) + 1) *
				  MSD_NATIVE_ROOM
			: 0;
	const size_t panels =
		is_product && !is_matrix(&c) && !c.is_in_place && c.m_parts > 1
			? c.groups * panel_floats(&c)
			: 0;
	c.scratch_floats = packed->is_depthwise
				   ? planes_at_once(&c) * (c.w.plane + MSD_NATIVE_ROOM)
			   : is_product ? *c.k->product_scratch
					: 0;
	float *room = msd_native_scratch_take(planes + panels +
					      msd_native_threads() * c.scratch_floats);
	if (room == NULL)
		return msd_diag_no_memory(d);
	c.planes = room;
	c.panels = panels != 0 ? room + planes : NULL;
	c.scratch = room + planes + panels;
	bool is_done = true;
	for (size_t i = 0; is_done && i < (size_t)x[0]; i++) {
		c.x = msd_kernel_in(call, 0) + i * c.in_channels * c.in_plane;
		c.y = msd_kernel_out(call, 0) + i * c.channels * c.out_plane;
		if (msd_kernel_has(call, MSD_FUSED_CONVOLUTION_RESIDUAL)) {
			c.residual =
				msd_kernel_in(call, MSD_FUSED_CONVOLUTION_RESIDUAL) +
				i * c.channels * c.out_plane;
		}
		if (packed->is_winograd) {
			is_done = run_winograd(&c);
		} else {
			run_image(&c);
		}
	}
	msd_native_scratch_give(room);
	return is_done ? MSD_OK : msd_diag_no_memory(d);
}

/* Inputs that are too large are rare: the weights are packed for this run. */
static msd_err run(const struct msd_kernel_call *call,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	const struct packed *mine = (const struct packed *)packed;
	const size_t n = msd_native_count(msd_kernel_in_dims(call, 0), 0,
					  msd_kernel_in_ndim(call, 0));
	struct packed *own = NULL;

	if (!mine->is_winograd || msd_native_winograd_takes(msd_kernel_in(call, 0), n))
		return run_packed(call, mine, d);
	if (msd_native_constant(call->node, 1) == NULL)
		return MSD_NATIVE_NEEDS_CONSTANTS;
	if (!pack_as(call->node, false, &own))
		return msd_diag_no_memory(d);
	const msd_err err = run_packed(call, own, d);
	msd_native_packed_free(&own->base);
	return err;
}

enum { PACKS = 1u << 1 | 1u << 2 }; /* weights and bias */

const struct msd_native_claim msd_native_convolution = {"Convolution", may, pack, run,
							PACKS};
const struct msd_native_claim msd_native_scaled_convolution = {"ScaledConvolution", may,
							       pack, run, PACKS};
const struct msd_native_claim msd_native_fused_convolution = {MSD_FUSED_CONVOLUTION,
							      may, pack, run, PACKS};
