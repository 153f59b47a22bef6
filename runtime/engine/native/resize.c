/*
 * Resize: the axes are resized one after the other, the last one first. Rows along the
 * last axis are sums of their own elements; along other axes, whole rows are summed or
 * copied. Rows of nearest elements need no tensor between two axes. The taps of the
 * load's extents are kept; a run with others computes its own.
 */
#include "graph/op/move/resize.h"

#include <stdlib.h>
#include <string.h>

#include "graph/op/move/params.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"
#include "runtime/engine/reference/window/taps.h"

struct axis {
	bool is_resized;
	struct msd_op_scale scale;
	int64_t in;
	struct msd_native_taps taps;
	int32_t *at;
	float *weight;
};

struct packed {
	struct msd_native_packed base;
	size_t ndim;
	struct axis axes[MODSER_GRAPH_MAX_NDIM];
};

/* One axis; rows of @inner elements lie between its positions. */
struct pass {
	const struct msd_native_kernels *k;
	const struct axis *axis;
	size_t outer, inner;
	const float *x;
	float *y;
};

static bool may(const modser_sg_node *node)
{
	const modser_sg_tensor *x = modser_sg_node_input(node, 0);
	const char *mode = msd_params_resize(node).mode;

	if (!msd_native_is_single(node, 0) || modser_sg_tensor_ndim(x) < 1 ||
	    strcmp(msd_params_resize(node).coordinate_transformation_mode,
		   "tf_crop_and_resize") == 0)
		return false;
	for (int i = 0; i < modser_sg_tensor_ndim(x); i++) {
		if (modser_sg_tensor_dims(x)[i] > INT32_MAX)
			return false;
	}
	return strcmp(mode, "nearest") == 0 || strcmp(mode, "linear") == 0 ||
	       strcmp(mode, "cubic") == 0;
}

static void destroy(struct msd_native_packed *base)
{
	struct packed *p = (struct packed *)base;

	for (size_t i = 0; i < p->ndim; i++) {
		free(p->axes[i].at);
		free(p->axes[i].weight);
	}
	free(p);
}

/* Missing taps weigh nothing. */
static bool copy_taps(const struct msd_taps_axis *from, size_t n, struct axis *a)
{
	size_t taps = 1;

	for (size_t i = 0; i < n; i++)
		taps = from->places[i].n > taps ? from->places[i].n : taps;
	a->at = calloc(n * taps + 1, sizeof(*a->at));
	a->weight = calloc(n * taps + 1, sizeof(*a->weight));
	if (a->at == NULL || a->weight == NULL)
		return false;
	a->taps = (struct msd_native_taps){taps, a->at, a->weight, taps == 1, true};
	for (size_t i = 0; i < n; i++) {
		const struct msd_taps *t = &from->places[i];

		a->taps.is_doubled =
			a->taps.is_doubled && t->n == 1 && t->at[0] == (int64_t)(i / 2);
		for (size_t k = 0; k < t->n; k++) {
			a->at[i * taps + k] = (int32_t)t->at[k];
			a->weight[i * taps + k] = (float)t->weight[k];
			a->taps.is_moved = a->taps.is_moved && t->weight[k] == 1;
			a->is_resized = a->is_resized ||
					(t->weight[k] != 0 &&
					 (t->weight[k] != 1 || t->at[k] != (int64_t)i));
		}
	}
	return true;
}

static bool set_axis(const modser_sg_node *node, const struct msd_op_scale *scale,
		     int64_t in, struct axis *a)
{
	const struct msd_kernel_call call = {.node = node};
	struct msd_taps_axis taps = {0};

	a->scale = *scale;
	a->in = in;
	if (scale->scale == 1 && scale->out == in && scale->place == SIZE_MAX)
		return true;
	a->is_resized = scale->out != in;
	const bool is_set = msd_taps_make(&call, scale, in, &taps) &&
			    copy_taps(&taps, (size_t)scale->out, a);
	msd_taps_finish(&taps);
	return is_set;
}

/* NULL: memory is short. */
static struct packed *create(const modser_sg_node *node,
			     const struct msd_op_scale *scales)
{
	const modser_sg_tensor *x = modser_sg_node_input(node, 0);
	struct packed *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->base.destroy = destroy;
	p->ndim = (size_t)modser_sg_tensor_ndim(x);
	for (size_t i = 0; i < p->ndim; i++) {
		if (!set_axis(node, &scales[i], modser_sg_tensor_dims(x)[i],
			      &p->axes[i])) {
			destroy(&p->base);
			return NULL;
		}
	}
	return p;
}

static bool pack(const modser_sg_node *node, struct msd_native_packed **ret)
{
	struct msd_op_scale scales[MODSER_GRAPH_MAX_NDIM];

	if (msd_op_resize_scales(node, scales) != 0)
		return true; /* a run knows them */
	struct packed *p = create(node, scales);
	if (p != NULL)
		*ret = &p->base;
	return p != NULL;
}

static bool fits(const struct packed *p, const struct msd_kernel_call *c,
		 const struct msd_op_scale *scales)
{
	if (p == NULL || p->ndim != msd_kernel_in_ndim(c, 0))
		return false;
	for (size_t i = 0; i < p->ndim; i++) {
		const struct axis *a = &p->axes[i];

		if (a->in != msd_kernel_in_dims(c, 0)[i] ||
		    a->scale.out != scales[i].out ||
		    a->scale.scale != scales[i].scale ||
		    a->scale.place != scales[i].place)
			return false;
	}
	return true;
}

static void run_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct pass *p = ctx;
	const size_t in = (size_t)p->axis->in;
	const size_t out = (size_t)p->axis->scale.out;

	(void)thread;
	for (size_t i = first; i < end; i++)
		p->k->resample(&p->axis->taps, p->x + i * in, out, p->y + i * out);
}

/* Only rows with a weight are read. */
static void sum_rows(const struct pass *p, const float *x, size_t place, float *y)
{
	enum { MOST = 16 };
	const struct msd_native_taps *t = &p->axis->taps;
	const float *rows[MOST];
	float weights[MOST];
	size_t n = 0;

	for (size_t k = 0; k < t->n; k++) {
		const float w = t->weight[place * t->n + k];

		if (w == 0)
			continue;
		if (n == MOST) { /* these rows are a sum from now on */
			p->k->weigh(rows, weights, n, p->inner, y);
			rows[0] = y;
			weights[0] = 1;
			n = 1;
		}
		rows[n] = x + (size_t)t->at[place * t->n + k] * p->inner;
		weights[n++] = w;
	}
	p->k->weigh(rows, weights, n, p->inner, y);
}

static void run_planes(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct pass *p = ctx;
	const size_t out = (size_t)p->axis->scale.out;

	(void)thread;
	const float *x = p->x + first / out * (size_t)p->axis->in * p->inner;
	float *y = p->y + first * p->inner;
	size_t place = first % out;

	for (size_t i = first; i < end; i++, y += p->inner) {
		if (p->axis->taps.is_moved) {
			memcpy(y, x + (size_t)p->axis->taps.at[place] * p->inner,
			       p->inner * sizeof(*y));
		} else {
			sum_rows(p, x, place, y);
		}
		if (++place == out) {
			place = 0;
			x += (size_t)p->axis->in * p->inner;
		}
	}
}

/* The last two axes by their nearest elements; rows that repeat are copied. */
struct nearest {
	const struct msd_native_kernels *k;
	const struct axis *rows, *columns;
	const float *x;
	float *y;
};

static void run_nearest(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct nearest *p = ctx;
	const size_t rows = (size_t)p->rows->scale.out;
	const size_t columns = (size_t)p->columns->scale.out;
	const int32_t *at = p->rows->taps.at;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t place = i % rows;
		const size_t row = i / rows * (size_t)p->rows->in + (size_t)at[place];
		float *y = p->y + i * columns;

		if (i > first && place > 0 && at[place] == at[place - 1]) {
			memcpy(y, y - columns, columns * sizeof(*y));
		} else {
			p->k->resample(&p->columns->taps,
				       p->x + row * (size_t)p->columns->in, columns, y);
		}
	}
}

static bool is_nearest(const struct axis *a)
{
	return a->is_resized && a->taps.is_moved;
}

static void run_pass(const struct pass *p)
{
	const double taps = (double)p->axis->taps.n;
	const size_t out = (size_t)p->axis->scale.out;

	if (p->inner == 1) {
		msd_native_each(p->outer, (taps * 0.7 + 0.3) * (double)out, run_rows,
				p);
	} else {
		msd_native_each(p->outer * out, taps * 0.2 * (double)p->inner + 20,
				run_planes, p);
	}
}

/* The elements after the axes from @axis on are resized. */
static size_t elements_from(const struct packed *p, size_t axis)
{
	size_t n = 1;

	for (size_t i = 0; i < p->ndim; i++) {
		n *= i < axis ? (size_t)p->axes[i].in : (size_t)p->axes[i].scale.out;
	}
	return n;
}

/* Passes write @y and @between in turns, so that the last one writes @y. */
static void run_passes(const struct packed *p, const float *x, float *y,
		       float *const between[2], size_t n_passes)
{
	struct pass pass = {.k = msd_native_kernels(), .inner = 1};
	const float *from = x;

	for (size_t i = p->ndim; i > 0; i--) {
		const struct axis *a = &p->axes[i - 1];

		if (a->is_resized) {
			pass.axis = a;
			pass.x = from;
			pass.y = n_passes == 1 ? y : between[n_passes % 2];
			pass.outer = 1;
			for (size_t k = 0; k + 1 < i; k++)
				pass.outer *= (size_t)p->axes[k].in;
			run_pass(&pass);
			from = pass.y;
			n_passes--;
		}
		pass.inner *= (size_t)a->scale.out;
	}
}

static msd_err resize(const struct packed *p, const struct msd_kernel_call *c,
		      struct msd_diag *d)
{
	size_t sizes[2] = {0, 0};
	size_t n_passes = 0;
	size_t k = 0;

	for (size_t i = 0; i < p->ndim; i++)
		n_passes += p->axes[i].is_resized ? 1 : 0;
	for (size_t i = p->ndim; i > 0; i--) {
		const size_t n = elements_from(p, i - 1);

		if (!p->axes[i - 1].is_resized || ++k == n_passes)
			continue;
		const size_t which = (n_passes - k + 1) % 2;
		sizes[which] = n > sizes[which] ? n : sizes[which];
	}
	if (n_passes == 0) {
		memcpy(c->out[0], c->in[0],
		       msd_kernel_out_elements(c, 0) * sizeof(float));
		return MSD_OK;
	}
	if (n_passes == 2 && is_nearest(&p->axes[p->ndim - 1]) &&
	    is_nearest(&p->axes[p->ndim - 2])) {
		const struct nearest n = {msd_native_kernels(), &p->axes[p->ndim - 2],
					  &p->axes[p->ndim - 1], c->in[0], c->out[0]};
		const size_t columns = (size_t)n.columns->scale.out;

		msd_native_each(msd_kernel_out_elements(c, 0) / columns,
				0.3 * (double)columns + 5, run_nearest, &n);
		return MSD_OK;
	}
	float *room = msd_native_scratch_take(sizes[0] + sizes[1]);
	if (room == NULL)
		return msd_diag_no_memory(d);
	run_passes(p, c->in[0], c->out[0], (float *const[]){room, room + sizes[0]},
		   n_passes);
	msd_native_scratch_give(room);
	return MSD_OK;
}

static msd_err run(const struct msd_kernel_call *c,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	const struct packed *p = (const struct packed *)packed;
	struct msd_op_scale scales[MODSER_GRAPH_MAX_NDIM];

	if (msd_kernel_out_elements(c, 0) == 0)
		return MSD_OK;
	if (msd_op_resize_scales(c->node, scales) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its scales are not known");
	if (fits(p, c, scales))
		return resize(p, c, d);
	struct packed *own = create(c->node, scales);
	if (own == NULL)
		return msd_diag_no_memory(d);
	const msd_err err = resize(own, c, d);
	destroy(&own->base);
	return err;
}

const struct msd_native_claim msd_native_resize = {"Resize", may, pack, run, 0};
