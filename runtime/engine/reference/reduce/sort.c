/* ArgMax, ArgMin and TopKV2: the largest elements along one axis. */
#include <stdlib.h>

#include "runtime/kernel/kernels.h"
#include "runtime/value/element.h"

struct line {
	struct msd_dtype dtype;
	const void *x;
	int64_t from;
	int64_t step;
	int64_t n;
};

static int64_t key_of(const struct line *l, int64_t i)
{
	return msd_number_key(msd_number_kind(l->dtype),
			      msd_number_load(l->dtype, l->x, l->from + i * l->step));
}

static int64_t find(const struct line *l, bool is_max, bool is_last)
{
	int64_t best = 0;

	for (int64_t i = 1; i < l->n; i++) {
		const int64_t a = key_of(l, i);
		const int64_t b = key_of(l, best);

		if ((is_max ? a > b : a < b) || (is_last && a == b))
			best = i;
	}
	return best;
}

static msd_err run_arg(const struct msd_kernel_call *c, bool is_max)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const int64_t inner = (int64_t)msd_kernel_inner(dims, ndim, axis);
	const int64_t outer = (int64_t)msd_kernel_outer(dims, axis);
	const bool is_last = msd_kernel_int(c, "select_last_index") != 0;
	struct line l = {.dtype = msd_kernel_in_dtype(c, 0),
			 .x = c->in[0],
			 .step = inner,
			 .n = dims[axis]};
	int64_t *y = c->out[0];

	for (int64_t o = 0; inner > 0 && o < outer; o++) {
		for (int64_t i = 0; i < inner; i++) {
			l.from = o * l.n * inner + i;
			*y++ = find(&l, is_max, is_last);
		}
	}
	return MSD_OK;
}

static msd_err run_max(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run_arg(c, true);
}

static msd_err run_min(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run_arg(c, false);
}

struct item {
	int64_t key; /* smaller is better */
	int64_t i;
};

static int by_key(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->i < y->i ? -1 : 1;
}

static void take_best(const struct msd_kernel_call *c, const struct line *l,
		      struct item *items, int64_t k, int64_t to)
{
	const bool is_largest = msd_kernel_int(c, "largest") != 0;

	for (int64_t i = 0; i < l->n; i++) {
		const int64_t key = key_of(l, i);

		items[i] = (struct item){is_largest ? ~key : key, i};
	}
	qsort(items, (size_t)l->n, sizeof(*items), by_key);
	for (int64_t i = 0; i < k; i++) {
		const int64_t at = to + i * l->step;
		const union msd_number v =
			msd_number_load(l->dtype, l->x, l->from + items[i].i * l->step);

		if (msd_number_kind(l->dtype) == MSD_N_FLOAT) {
			msd_number_store_float(l->dtype, c->out[0], at, v.f);
		} else {
			msd_number_store(l->dtype, c->out[0], at, v.i);
		}
		if (modser_sg_node_output(c->node, 1) != NULL)
			((int64_t *)c->out[1])[at] = items[i].i;
	}
}

static msd_err run_topk(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const int64_t inner = (int64_t)msd_kernel_inner(dims, ndim, axis);
	const int64_t outer = (int64_t)msd_kernel_outer(dims, axis);
	const int64_t k = msd_kernel_out_dims(c, 0)[axis];
	struct line l = {.dtype = msd_kernel_in_dtype(c, 0),
			 .x = c->in[0],
			 .step = inner,
			 .n = dims[axis]};
	struct item *items = calloc((size_t)l.n + 1, sizeof(*items));

	if (items == NULL)
		return msd_diag_no_memory(d);
	for (int64_t o = 0; inner > 0 && o < outer; o++) {
		for (int64_t i = 0; i < inner; i++) {
			l.from = o * l.n * inner + i;
			take_best(c, &l, items, k, o * k * inner + i);
		}
	}
	free(items);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_arg_max = {"ArgMax", run_max, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_arg_min = {"ArgMin", run_min, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_topk_v2 = {"TopKV2", run_topk, MSD_TAKES_NUMBERS};
