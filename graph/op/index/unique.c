/*
 * Unique: the number of results is known with the values.
 *
 * Happy path: slices are sorted by their elements, equal ones by index, so the first
 * of each group is its first occurrence. If the node does not ask for sorted output,
 * the groups are renumbered by first occurrence.
 */
#include "graph/op/index/unique.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/op/index/params.h"
#include "graph/op/index/select.h"
#include "graph/op/op.h"

/* Slice @i has @outer rows of @inner elements, @n * @inner elements apart. */
struct slices {
	const uint8_t *x;
	struct msd_dtype dtype;
	size_t n, outer, inner;
};

struct item {
	const struct slices *all;
	size_t i;
};

/* An integer that sorts as element @i does; for floats -0 equals 0, and NaNs are at
 * the ends. */
static uint64_t key_of(const struct slices *s, size_t i)
{
	const size_t size = s->dtype.bits / 8u;
	const uint64_t sign = UINT64_C(1) << (s->dtype.bits - 1);
	const bool is_float =
		s->dtype.code == MSD_DT_FLOAT || s->dtype.code == MSD_DT_BFLOAT;
	uint64_t v = 0;

	for (size_t k = size; k > 0; k--)
		v = v << 8 | s->x[i * size + k - 1];
	if (is_float && (v & sign) != 0)
		return sign - (v & ~sign);
	return is_float || s->dtype.code == MSD_DT_INT ? v ^ sign : v;
}

static int compare(const void *a, const void *b)
{
	const struct item *p = a, *q = b;
	const struct slices *s = p->all;

	for (size_t k = 0; k < s->outer * s->inner; k++) {
		const size_t at = k / s->inner * s->n * s->inner + k % s->inner;
		const uint64_t x = key_of(s, at + p->i * s->inner);
		const uint64_t y = key_of(s, at + q->i * s->inner);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct item *p = a, *q = b;
	const int order = compare(a, b);

	if (order != 0)
		return order;
	return p->i < q->i ? -1 : p->i > q->i;
}

bool msd_op_unique_is_flat(const modser_sg_node *node)
{
	return msd_params_unique(node).axis == MSD_OP_FLAT;
}

static struct slices slices_of(const modser_sg_node *node, const void *x)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t axis = msd_params_unique(node).axis;
	struct slices s = {
		.x = x, .dtype = msd_infer_dtype_of(node, 0), .outer = 1, .inner = 1};

	if (msd_op_unique_is_flat(node)) {
		s.n = (size_t)msd_infer_product(node, 0, 0, ndim);
		return s;
	}
	axis += axis < 0 ? (int64_t)ndim : 0;
	s.n = (size_t)msd_infer_dims(node, 0)[axis];
	s.outer = (size_t)msd_infer_product(node, 0, 0, (size_t)axis);
	s.inner = (size_t)msd_infer_product(node, 0, (size_t)axis + 1, ndim);
	return s;
}

void msd_op_unique_finish(struct msd_op_unique *u)
{
	free(u->group);
	free(u->first);
	free(u->count);
}

static void take_groups(struct msd_op_unique *u, const struct item *items)
{
	for (size_t k = 0; k < u->n; k++) {
		if (k == 0 || compare(&items[k - 1], &items[k]) != 0)
			u->first[u->n_unique++] = items[k].i;
		u->group[items[k].i] = u->n_unique - 1;
	}
}

/* Renumber the groups by their first occurrence. */
static void renumber(struct msd_op_unique *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->n; i++) {
		const size_t old = u->group[i];

		if (u->first[old] == i) {
			u->count[old] = n; /* temporarily its new number */
			n++;
		}
		u->group[i] = u->count[old];
	}
	for (size_t i = u->n; i > 0; i--)
		u->first[u->group[i - 1]] = i - 1;
	memset(u->count, 0, u->n * sizeof(*u->count));
}

bool msd_op_unique_find(const modser_sg_node *node, const void *x,
			struct msd_op_unique *ret)
{
	const struct slices s = slices_of(node, x);
	struct item *items = calloc(s.n + 1, sizeof(*items));

	*ret = (struct msd_op_unique){.n = s.n,
				      .group = calloc(s.n + 1, sizeof(*ret->group)),
				      .first = calloc(s.n + 1, sizeof(*ret->first)),
				      .count = calloc(s.n + 1, sizeof(*ret->count))};
	if (items == NULL || ret->group == NULL || ret->first == NULL ||
	    ret->count == NULL) {
		free(items);
		return false;
	}
	for (size_t i = 0; i < s.n; i++)
		items[i] = (struct item){&s, i};
	qsort(items, s.n, sizeof(*items), by_order);
	take_groups(ret, items);
	free(items);
	if (msd_params_unique(node).sorted == 0)
		renumber(ret);
	for (size_t i = 0; i < s.n; i++)
		ret->count[ret->group[i]]++;
	return true;
}

static int set_shapes(const modser_sg_node *node, const struct msd_op_unique *u)
{
	const int64_t different[] = {(int64_t)u->n_unique};
	const int64_t all[] = {(int64_t)u->n};
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t axis;

	if (msd_infer_set_output(node, 1, different, 1) != 0 ||
	    msd_infer_set_output(node, 2, all, 1) != 0 ||
	    msd_infer_set_output(node, 3, different, 1) != 0)
		return -1;
	if (msd_op_unique_is_flat(node))
		return msd_infer_set(node, different, 1);
	if (msd_infer_axis(node, msd_params_unique(node).axis, &axis) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	dims[axis] = different[0];
	return msd_infer_set(node, dims, ndim);
}

static int infer(modser_sg_node *node)
{
	const struct msd_dtype dtype = msd_infer_dtype_of(node, 0);
	const size_t ndim = msd_infer_ndim(node, 0);
	struct msd_op_unique u = {0};
	size_t axis;

	for (size_t k = 1; k < 4; k++)
		msd_infer_dtype(node, k, OP_INT64);
	if (!msd_op_unique_is_flat(node) &&
	    msd_infer_axis(node, msd_params_unique(node).axis, &axis) != 0)
		return -1;
	if (dtype.bits % 8 != 0 || dtype.bits > 64)
		return msd_infer_fail(node, "its elements cannot be compared");
	if (msd_infer_value(node, 0) == NULL &&
	    msd_infer_product(node, 0, 0, ndim) != 0)
		return MSD_INFER_LATER;
	const bool is_found = msd_op_unique_find(node, msd_infer_value(node, 0), &u);
	const int result =
		is_found ? set_shapes(node, &u) : msd_sg_no_memory(node->graph);
	msd_op_unique_finish(&u);
	return result;
}

const modser_sg_op_schema msd_op_unique = {
	.name = "Unique",
	OP_PARAMS(MSD_PARAMS_UNIQUE),
	OP_IN(1, 1),
	OP_OUT(1, 4),
	.infer = infer,
};
