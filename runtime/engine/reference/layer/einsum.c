/* Einsum: a product of matrices. Its rows, columns, stacks and sums may each span
 * several axes. Axes of both inputs and the output are stacks. */
#include "graph/op/layer/einsum.h"

#include "runtime/engine/reference/layer/product.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

enum { STACKS, ROWS, COLUMNS, SUMS, KINDS };

/* Axes of one kind, iterated by one index. */
struct axes {
	size_t n;
	int64_t extents[MSD_EINSUM_AXES];
	int64_t a[MSD_EINSUM_AXES]; /* strides in each tensor */
	int64_t b[MSD_EINSUM_AXES];
	int64_t y[MSD_EINSUM_AXES];
};

struct einsum {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	struct axes kinds[KINDS];
	bool has_b;
};

static int64_t place(const struct axes *x, const int64_t *steps, size_t i)
{
	int64_t at = 0;

	for (size_t k = x->n; k > 0; k--) {
		at += (int64_t)(i % (size_t)x->extents[k - 1]) * steps[k - 1];
		i /= (size_t)x->extents[k - 1];
	}
	return at;
}

static size_t count(const struct axes *x)
{
	return msd_kernel_outer(x->extents, x->n);
}

static void get_a(const void *ctx, size_t stack, size_t m, size_t first, size_t n,
		  double *ret)
{
	const struct einsum *e = ctx;
	const int64_t from = place(&e->kinds[STACKS], e->kinds[STACKS].a, stack) +
			     place(&e->kinds[ROWS], e->kinds[ROWS].a, m);
	const struct axes *sums = &e->kinds[SUMS];

	for (size_t i = 0; i < n; i++) {
		ret[i] = msd_row_at(e->dtype, e->c->in[0],
				    (size_t)(from + place(sums, sums->a, first + i)));
	}
}

static void get_b(const void *ctx, size_t stack, size_t k, size_t first, size_t n,
		  double *ret)
{
	const struct einsum *e = ctx;
	const int64_t from = place(&e->kinds[STACKS], e->kinds[STACKS].b, stack) +
			     place(&e->kinds[SUMS], e->kinds[SUMS].b, k);
	const struct axes *columns = &e->kinds[COLUMNS];

	for (size_t i = 0; i < n; i++) {
		const int64_t at = from + place(columns, columns->b, first + i);

		ret[i] = e->has_b ? msd_row_at(e->dtype, e->c->in[1], (size_t)at) : 1;
	}
}

static void put(const void *ctx, size_t stack, size_t m, size_t first, size_t n,
		double *sums)
{
	const struct einsum *e = ctx;
	const int64_t from = place(&e->kinds[STACKS], e->kinds[STACKS].y, stack) +
			     place(&e->kinds[ROWS], e->kinds[ROWS].y, m);
	const struct axes *columns = &e->kinds[COLUMNS];

	for (size_t i = 0; i < n; i++) {
		msd_kernel_put(e->c, 0,
			       (size_t)(from + place(columns, columns->y, first + i)),
			       sums[i]);
	}
}

/* Add axis @i to the axes of its kind; @step is the output's stride. */
static void sort_axis(struct einsum *e, const struct msd_op_einsum *from, size_t i,
		      int64_t step)
{
	const bool is_a = from->steps[0][i] != 0;
	const bool is_b = from->steps[1][i] != 0;
	const size_t kind = i >= from->n_out ? SUMS
			    : is_a && is_b   ? STACKS
			    : is_b           ? COLUMNS
					     : ROWS;
	struct axes *x = &e->kinds[kind];

	x->extents[x->n] = from->extents[i];
	x->a[x->n] = from->steps[0][i];
	x->b[x->n] = from->steps[1][i];
	x->y[x->n++] = step;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct einsum e = {.c = c,
			   .dtype = msd_kernel_in_dtype(c, 0),
			   .has_b = msd_kernel_has(c, 1)};
	struct msd_op_einsum equation;
	int64_t steps[MODSER_GRAPH_MAX_NDIM];

	if (msd_op_einsum_read(c->node, &equation) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its equation cannot be");
	msd_walk_steps(equation.extents, equation.n_out, steps);
	for (size_t i = 0; i < equation.n_axes; i++)
		sort_axis(&e, &equation, i, i < equation.n_out ? steps[i] : 0);
	const struct msd_product product = {
		.n_stacks = count(&e.kinds[STACKS]),
		.m = count(&e.kinds[ROWS]),
		.n = count(&e.kinds[COLUMNS]),
		.k = count(&e.kinds[SUMS]),
		.a = get_a,
		.b = get_b,
		.end = put,
		.ctx = &e,
	};
	msd_product_run(&product);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_einsum = {"Einsum", run, MSD_TAKES_NUMBERS};
