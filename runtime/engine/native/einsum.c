/*
 * Einsum of two tensors as a stack of products, if the axes of its rows, columns and
 * sums each lie at one distance: most equations of attention do. The columns are those
 * of the output's neighbours, so the inputs may change places.
 */
#include "graph/op/layer/einsum.h"

#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/product.h"
#include "runtime/engine/native/select.h"
#include "runtime/kernel/walk.h"

enum { A, B, Y, TENSORS };
enum { STACKS, ROWS, COLUMNS, SUMS, KINDS };

/* Axes of one kind, and their steps in each tensor. */
struct axes {
	size_t n;
	int64_t extents[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[TENSORS][MODSER_GRAPH_MAX_NDIM];
};

struct einsum {
	struct axes kinds[KINDS];
	bool is_swapped; /* the columns are those of input 0 */
};

static size_t kind_of(const struct msd_op_einsum *e, size_t axis)
{
	if (axis >= e->n_out)
		return SUMS;
	if (e->steps[A][axis] != 0 && e->steps[B][axis] != 0)
		return STACKS;
	return e->steps[B][axis] != 0 ? COLUMNS : ROWS;
}

/* False: the axes of its kind are at several distances. */
static bool add_axis(struct axes *x, int64_t extent, const int64_t steps[TENSORS],
		     bool is_merged)
{
	bool continues = x->n > 0;

	for (size_t t = 0; t < TENSORS && x->n > 0; t++)
		continues = continues && x->steps[t][x->n - 1] == extent * steps[t];
	if (!continues && is_merged && x->n > 0)
		return false;
	const size_t at = continues ? x->n - 1 : x->n;
	if (at == MODSER_GRAPH_MAX_NDIM)
		return false;
	x->extents[at] = continues ? x->extents[at] * extent : extent;
	for (size_t t = 0; t < TENSORS; t++)
		x->steps[t][at] = steps[t];
	x->n = at + 1;
	return true;
}

/* Rows, columns and sums have one axis each then. */
static void complete(struct einsum *e)
{
	for (size_t i = 0; i < KINDS; i++) {
		struct axes *x = &e->kinds[i];

		if (x->n == 0) {
			x->extents[0] = 1;
			for (size_t t = 0; t < TENSORS; t++)
				x->steps[t][0] = 1;
			x->n = 1;
		}
	}
}

static bool read(const modser_sg_node *node, struct einsum *ret)
{
	struct msd_op_einsum equation;
	int64_t out[MODSER_GRAPH_MAX_NDIM];

	*ret = (struct einsum){.is_swapped = false};
	if (msd_op_einsum_read(node, &equation) != 0)
		return false;
	msd_walk_steps(equation.extents, equation.n_out, out);
	for (size_t i = 0; i < equation.n_axes; i++) {
		const size_t kind = kind_of(&equation, i);
		const int64_t steps[] = {equation.steps[A][i], equation.steps[B][i],
					 i < equation.n_out ? out[i] : 0};

		if (equation.extents[i] != 1 &&
		    !add_axis(&ret->kinds[kind], equation.extents[i], steps,
			      kind != STACKS))
			return false;
	}
	complete(ret);
	ret->is_swapped = ret->kinds[COLUMNS].steps[Y][0] != 1;
	return !ret->is_swapped || ret->kinds[ROWS].steps[Y][0] == 1;
}

static bool may(const modser_sg_node *node)
{
	struct einsum e;

	return modser_sg_node_input_count(node) == 2 &&
	       modser_sg_node_input(node, 1) != NULL && msd_native_all_single(node) &&
	       read(node, &e);
}

static msd_err run(const struct msd_kernel_call *c,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	struct msd_walk places;
	struct einsum e;

	(void)packed;
	if (!read(c->node, &e))
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its equation cannot be");
	const size_t left = e.is_swapped ? B : A;
	const size_t right = e.is_swapped ? A : B;
	const struct axes *rows = &e.kinds[e.is_swapped ? COLUMNS : ROWS];
	const struct axes *columns = &e.kinds[e.is_swapped ? ROWS : COLUMNS];
	const struct axes *sums = &e.kinds[SUMS];
	const struct axes *stacks = &e.kinds[STACKS];
	struct msd_native_stack s = {
		.k = msd_native_kernels(),
		.p = {.m = (size_t)rows->extents[0],
		      .n = (size_t)columns->extents[0],
		      .k = (size_t)sums->extents[0],
		      .a = c->in[left],
		      .a_row = (size_t)rows->steps[left][0],
		      .a_step = (size_t)sums->steps[left][0],
		      .b = c->in[right],
		      .b_row = (size_t)sums->steps[right][0],
		      .b_step = (size_t)columns->steps[right][0],
		      .y = c->out[0],
		      .y_row = (size_t)rows->steps[Y][0]},
		.places = &places,
		.a_size = 1,
		.b_size = 1,
		.y_size = 1,
	};

	msd_walk_init(&places, stacks->extents, stacks->n);
	msd_walk_operand(&places, stacks->steps[left], 0);
	msd_walk_operand(&places, stacks->steps[right], 0);
	msd_walk_operand(&places, stacks->steps[Y], 0);
	return msd_native_stack_run(&s, msd_native_count(stacks->extents, 0, stacks->n),
				    d);
}

const struct msd_native_claim msd_native_einsum = {"Einsum", may, NULL, run, 0};
