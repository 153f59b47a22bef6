/* Gather, and Pad. */
#include <string.h>

#include "graph/op/index/params.h"
#include "graph/op/move/pad.h"
#include "graph/op/move/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"
#include "runtime/value/element.h"

static msd_err run_gather(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_params_gather(c->node).axis, ndim);
	const size_t row = msd_kernel_inner(dims, ndim, axis) * msd_kernel_size(c);
	const size_t outer = msd_kernel_outer(dims, axis);
	const int64_t n = (int64_t)msd_kernel_in_elements(c, 1);
	const uint8_t *x = c->in[0];
	uint8_t *y = c->out[0];

	for (size_t o = 0; o < outer; o++) {
		for (int64_t k = 0; k < n; k++, y += row) {
			int64_t i;
			const msd_err err =
				msd_kernel_index(c, 1, k, dims[axis], &i, d);

			if (err != MSD_OK)
				return err;
			if (row > 0) {
				memcpy(y,
				       x + (o * (size_t)dims[axis] + (size_t)i) * row,
				       row);
			}
		}
	}
	return MSD_OK;
}

/* Map index @i, which may be out of range, to an element of an axis of @n; -1: none. */
static int64_t inside(int64_t i, int64_t n, int64_t mode)
{
	const int64_t turn = 2 * (n - 1);

	if (i >= 0 && i < n)
		return i;
	switch (mode) {
	case MSD_PAD_EDGE:
		return i < 0 ? 0 : n - 1;
	case MSD_PAD_REFLECT:
		if (n == 1)
			return 0;
		i = (i % turn + turn) % turn;
		return i < n ? i : turn - i;
	case MSD_PAD_WRAP:
		return (i % n + n) % n;
	default:
		return -1;
	}
}

struct pad {
	const uint8_t *x;
	const uint8_t *element; /* the padding */
	size_t size;
	int64_t mode;
	size_t ndim;
	const int64_t *in;
	const int64_t *out;
	struct msd_op_pads pads;
	int64_t steps[MODSER_GRAPH_MAX_NDIM]; /* strides of the input */
};

static void fill(const struct pad *p, uint8_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		memcpy(y + (size_t)i * p->size, p->element, p->size);
}

/* Elements @from .. @end - 1 of an output row, whose source is the row at @x. */
static void pick(const struct pad *p, const uint8_t *x, uint8_t *y, int64_t from,
		 int64_t end)
{
	const int64_t n = p->in[p->ndim - 1];
	const int64_t before = p->pads.before[p->ndim - 1];

	if (p->mode == MSD_PAD_CONSTANT) {
		fill(p, y + (size_t)from * p->size, end - from);
		return;
	}
	for (int64_t i = from; i < end; i++) {
		memcpy(y + (size_t)i * p->size,
		       x + (size_t)inside(i - before, n, p->mode) * p->size, p->size);
	}
}

/* A row is one range of the input with padding around it. */
static void pad_row(const struct pad *p, const uint8_t *x, uint8_t *y)
{
	const int64_t n = p->out[p->ndim - 1];
	const int64_t before = p->pads.before[p->ndim - 1];
	int64_t end = before + p->in[p->ndim - 1];
	const int64_t first = before < 0 ? 0 : before < n ? before : n;

	end = end < first ? first : end < n ? end : n;
	pick(p, x, y, 0, first);
	if (end > first) { /* an empty input may have no bytes */
		memcpy(y + (size_t)first * p->size,
		       x + (first - before) * (int64_t)p->size,
		       (size_t)(end - first) * p->size);
	}
	pick(p, x, y, end, n);
}

/* The input's row of row @row of the output; -1: padding. */
static int64_t row_of(const struct pad *p, size_t row)
{
	int64_t at = 0;

	for (size_t k = p->ndim - 1; k > 0; k--) {
		const int64_t i = (int64_t)(row % (size_t)p->out[k - 1]);
		const int64_t from =
			inside(i - p->pads.before[k - 1], p->in[k - 1], p->mode);

		if (from < 0)
			return -1;
		at += from * p->steps[k - 1];
		row /= (size_t)p->out[k - 1];
	}
	return at;
}

static msd_err run_pad(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);
	uint64_t padding[2] = {0}; /* room for an element of any type */
	struct pad p = {.x = c->in[0],
			.element = (const uint8_t *)padding,
			.size = msd_kernel_size(c),
			.mode = msd_params_pad(c->node).mode,
			.ndim = msd_kernel_in_ndim(c, 0),
			.in = msd_kernel_in_dims(c, 0),
			.out = msd_kernel_out_dims(c, 0)};
	uint8_t *y = c->out[0];

	if (msd_op_pad_amounts(c->node, &p.pads) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "what it adds is not known");
	if (msd_kernel_has(c, 2)) {
		memcpy(padding, c->in[2], p.size);
	} else if (msd_number_kind(dtype) == MSD_N_FLOAT) {
		msd_number_store_float(dtype, padding, 0,
				       (double)msd_params_pad(c->node).value);
	}
	if (n == 0)
		return MSD_OK;
	if (p.ndim == 0) {
		memcpy(y, p.x, p.size);
		return MSD_OK;
	}
	msd_walk_steps(p.in, p.ndim, p.steps);
	const size_t width = (size_t)p.out[p.ndim - 1];
	for (size_t row = 0; row < n / width; row++, y += width * p.size) {
		const int64_t at = row_of(&p, row);

		if (at < 0) {
			fill(&p, y, (int64_t)width);
		} else {
			pad_row(&p, p.x + (size_t)at * p.size, y);
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_gather = {"Gather", run_gather, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_pad = {"Pad", run_pad, MSD_TAKES_BYTES};
