/* ArgMax, ArgMin and TopKV2: the largest elements along one axis. */
#include <stdlib.h>
#include <string.h>

#include "graph/op/reduce/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/value/element.h"

struct line {
	struct msd_dtype dtype;
	const void *x;
	int64_t from;
	int64_t step;
	int64_t n;
};

/* Bits of floats sort as those of doubles: see msd_number_key(). */
static int64_t key_of_float(float v)
{
	int32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	if (v != v)
		return MSD_KEY_NAN;
	if (v == 0)
		return 0;
	return bits >= 0 ? bits : (int32_t)(~(uint32_t)bits | UINT32_C(1) << 31);
}

static void load_keys(const struct line *l, int64_t *keys)
{
	const enum msd_number_kind kind = msd_number_kind(l->dtype);

	if (msd_row_is_single(l->dtype)) {
		const float *x = (const float *)l->x + l->from;

		for (int64_t i = 0; i < l->n; i++)
			keys[i] = key_of_float(x[i * l->step]);
		return;
	}
	for (int64_t i = 0; i < l->n; i++) {
		keys[i] = msd_number_key(
			kind, msd_number_load(l->dtype, l->x, l->from + i * l->step));
	}
}

static int64_t find(const int64_t *keys, int64_t n, bool is_max, bool is_last)
{
	const int64_t flip = is_max ? 0 : -1; /* key, or ~key */
	int64_t best = keys[0] ^ flip;
	int64_t at = 0;

	for (int64_t i = 1; i < n; i++) {
		const int64_t key = keys[i] ^ flip;

		if (key > best || (is_last && key == best)) {
			best = key;
			at = i;
		}
	}
	return at;
}

static msd_err run_arg(const struct msd_kernel_call *c, bool is_max, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_params_arg(c->node).axis, ndim);
	const int64_t inner = (int64_t)msd_kernel_inner(dims, ndim, axis);
	const int64_t outer = (int64_t)msd_kernel_outer(dims, axis);
	const bool is_last = msd_params_arg(c->node).select_last_index != 0;
	struct line l = {.dtype = msd_kernel_in_dtype(c, 0),
			 .x = c->in[0],
			 .step = inner,
			 .n = dims[axis]};
	int64_t *y = c->out[0];
	int64_t *keys = calloc((size_t)l.n + 1, sizeof(*keys));

	if (keys == NULL)
		return msd_diag_no_memory(d);
	for (int64_t o = 0; inner > 0 && o < outer; o++) {
		for (int64_t i = 0; i < inner; i++) {
			l.from = o * l.n * inner + i;
			load_keys(&l, keys);
			*y++ = find(keys, l.n, is_max, is_last);
		}
	}
	free(keys);
	return MSD_OK;
}

static msd_err run_max(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run_arg(c, true, d);
}

static msd_err run_min(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run_arg(c, false, d);
}

struct item {
	int64_t key; /* smaller is better */
	int64_t i;
};

/* True if @x is worse: the order is total. */
static bool is_worse(const struct item *x, const struct item *y)
{
	return x->key != y->key ? x->key > y->key : x->i > y->i;
}

static int by_key(const void *a, const void *b)
{
	return is_worse(a, b) ? 1 : -1;
}

/* Place @item at the root of a heap of @n, whose root is the worst. */
static void sift(struct item *heap, int64_t n, int64_t root, struct item item)
{
	for (int64_t child = 2 * root + 1; child < n; child = 2 * root + 1) {
		if (child + 1 < n && is_worse(&heap[child + 1], &heap[child]))
			child++;
		if (!is_worse(&heap[child], &item))
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = item;
}

/* The best @k of @n keys, sorted. */
static void select_best(const int64_t *keys, int64_t n, bool is_largest, int64_t k,
			struct item *items)
{
	const int64_t flip = is_largest ? -1 : 0; /* ~key, or key */

	for (int64_t i = 0; i < k; i++)
		items[i] = (struct item){keys[i] ^ flip, i};
	for (int64_t i = k / 2; i > 0; i--)
		sift(items, k, i - 1, items[i - 1]);
	for (int64_t i = k; k > 0 && i < n; i++) {
		/* Of equal keys the first is better. */
		if ((keys[i] ^ flip) < items[0].key)
			sift(items, k, 0, (struct item){keys[i] ^ flip, i});
	}
	qsort(items, (size_t)k, sizeof(*items), by_key);
}

static void put_best(const struct msd_kernel_call *c, const struct line *l,
		     const struct item *items, int64_t k, int64_t to)
{
	const bool has_indices = modser_sg_node_output(c->node, 1) != NULL;

	for (int64_t i = 0; i < k; i++) {
		const int64_t at = to + i * l->step;
		const union msd_number v =
			msd_number_load(l->dtype, l->x, l->from + items[i].i * l->step);

		if (msd_number_kind(l->dtype) == MSD_N_FLOAT) {
			msd_number_store_float(l->dtype, c->out[0], at, v.f);
		} else {
			msd_number_store(l->dtype, c->out[0], at, v.i);
		}
		if (has_indices)
			((int64_t *)c->out[1])[at] = items[i].i;
	}
}

static msd_err run_topk(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_topk_v2 p = msd_params_topk_v2(c->node);
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(p.axis, ndim);
	const int64_t inner = (int64_t)msd_kernel_inner(dims, ndim, axis);
	const int64_t outer = (int64_t)msd_kernel_outer(dims, axis);
	const int64_t k = msd_kernel_out_dims(c, 0)[axis];
	struct line l = {.dtype = msd_kernel_in_dtype(c, 0),
			 .x = c->in[0],
			 .step = inner,
			 .n = dims[axis]};
	const bool is_largest = p.largest != 0;
	struct item *items = calloc((size_t)k + 1, sizeof(*items));
	int64_t *keys = calloc((size_t)l.n + 1, sizeof(*keys));

	if (items == NULL || keys == NULL) {
		free(items);
		free(keys);
		return msd_diag_no_memory(d);
	}

	for (int64_t o = 0; inner > 0 && o < outer; o++) {
		for (int64_t i = 0; i < inner; i++) {
			l.from = o * l.n * inner + i;
			load_keys(&l, keys);
			select_best(keys, l.n, is_largest, k, items);
			put_best(c, &l, items, k, o * k * inner + i);
		}
	}
	free(items);
	free(keys);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_arg_max = {"ArgMax", run_max, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_arg_min = {"ArgMin", run_min, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_topk_v2 = {"TopKV2", run_topk, MSD_TAKES_NUMBERS};
