/* Unique. */
#include "graph/op/index/unique.h"

#include <string.h>

#include "graph/op/index/params.h"
#include "runtime/kernel/kernels.h"

/* Copy slice @from of input 0 to slice @to of the output. */
static void copy(const struct msd_kernel_call *c, size_t from, size_t to)
{
	const bool is_flat = msd_op_unique_is_flat(c->node);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const size_t axis =
		is_flat ? 0 : msd_kernel_axis(msd_params_unique(c->node).axis, ndim);
	const size_t outer = is_flat ? 1 : msd_kernel_outer(in, axis);
	const size_t row =
		(is_flat ? 1 : msd_kernel_inner(in, ndim, axis)) * msd_kernel_size(c);
	const size_t n_in = is_flat ? 0 : (size_t)in[axis]; /* a single row: no step */
	const size_t n_out = (size_t)msd_kernel_out_dims(c, 0)[axis];

	for (size_t o = 0; o < outer && row > 0; o++) {
		memcpy((uint8_t *)c->out[0] + (o * n_out + to) * row,
		       (const uint8_t *)c->in[0] + (o * n_in + from) * row, row);
	}
}

static void put(const struct msd_kernel_call *c, size_t k, const size_t *list, size_t n)
{
	int64_t *y = k < modser_sg_node_output_count(c->node) ? c->out[k] : NULL;

	for (size_t i = 0; y != NULL && i < n; i++)
		y[i] = (int64_t)list[i];
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct msd_op_unique u = {0};
	const bool is_found = msd_op_unique_find(c->node, c->in[0], &u);

	for (size_t i = 0; is_found && c->out[0] != NULL && i < u.n_unique; i++)
		copy(c, u.first[i], i);
	if (is_found) {
		put(c, 1, u.first, u.n_unique);
		put(c, 2, u.group, u.n);
		put(c, 3, u.count, u.n_unique);
	}
	msd_op_unique_finish(&u);
	return is_found ? MSD_OK : msd_diag_no_memory(d);
}

const struct msd_kernel msd_kernel_unique = {"Unique", run, MSD_TAKES_BYTES};
