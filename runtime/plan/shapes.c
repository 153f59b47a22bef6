#include "runtime/plan/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"

static void finish_row(struct msd_shapes_row *row)
{
	free(row->dims);
	free(row->ndims);
	msd_layout_finish(&row->layout);
	*row = (struct msd_shapes_row){0};
}

void msd_shapes_finish(struct msd_shapes *s)
{
	for (size_t i = 0; i < MSD_SHAPES_KEPT; i++)
		finish_row(&s->rows[i]);
}

static size_t count_of(const modser_sg_tensor *t)
{
	return t->ndim > 0 ? (size_t)t->ndim : 0;
}

/* The offset of a tensor's extents depends on the number of dimensions of all earlier
 * tensors. */
static bool is_for(const struct msd_shapes_row *row, const modser_graph *g)
{
	const int64_t *dims = row->dims;

	if (dims == NULL)
		return false;
	for (size_t i = 0; i < g->n_tensors; i++) {
		const modser_sg_tensor *t = g->tensors[i];
		const size_t n = (size_t)row->ndims[i];

		if (t->producer != NULL && msd_sg_node_is_given(t->producer) &&
		    (count_of(t) != n || memcmp(t->dims, dims, n * sizeof(*dims)) != 0))
			return false;
		dims += n;
	}
	return true;
}

static void give(const struct msd_shapes_row *row, const modser_graph *g)
{
	const int64_t *dims = row->dims;

	for (size_t i = 0; i < g->n_tensors; i++) {
		modser_sg_tensor *t = g->tensors[i];
		const size_t n = (size_t)row->ndims[i];

		t->ndim = row->ndims[i];
		memcpy(t->dims, dims, n * sizeof(*dims));
		dims += n;
	}
}

const struct msd_layout *msd_shapes_find(struct msd_shapes *s, const modser_graph *g)
{
	for (size_t i = 0; i < MSD_SHAPES_KEPT; i++) {
		struct msd_shapes_row *row = &s->rows[i];

		if (!is_for(row, g))
			continue;
		give(row, g);
		row->used = ++s->clock;
		return &row->layout;
	}
	return NULL;
}

static msd_err take(struct msd_shapes_row *row, const modser_graph *g,
		    const size_t *order, struct msd_diag *d)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_tensors; i++)
		n += count_of(g->tensors[i]);
	row->dims = calloc(n + 1, sizeof(*row->dims));
	row->ndims = calloc(g->n_tensors + 1, sizeof(*row->ndims));
	if (row->dims == NULL || row->ndims == NULL)
		return msd_diag_no_memory(d);
	n = 0;
	for (size_t i = 0; i < g->n_tensors; i++) {
		const modser_sg_tensor *t = g->tensors[i];

		row->ndims[i] = (int)count_of(t);
		memcpy(row->dims + n, t->dims, count_of(t) * sizeof(*t->dims));
		n += count_of(t);
	}
	const msd_err err = msd_layout_init(&row->layout, g->n_tensors, d);
	if (err != MSD_OK)
		return err;
	msd_layout_find_last_reads(&row->layout, g, order);
	return msd_layout_put(&row->layout, g, order, d);
}

msd_err msd_shapes_keep(struct msd_shapes *s, const modser_graph *g,
			const size_t *order, const struct msd_layout **ret,
			struct msd_diag *d)
{
	struct msd_shapes_row *row = &s->rows[0];

	for (size_t i = 1; i < MSD_SHAPES_KEPT; i++)
		row = s->rows[i].used < row->used ? &s->rows[i] : row;
	finish_row(row);
	const msd_err err = take(row, g, order, d);
	if (err != MSD_OK) {
		finish_row(row);
		return err;
	}
	row->used = ++s->clock;
	*ret = &row->layout;
	return MSD_OK;
}
