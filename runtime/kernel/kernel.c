/* Helpers for kernels: the shapes and parameters of their node, and the pool. */
#include "runtime/kernel/kernel.h"

#include <inttypes.h>
#include <limits.h>

#include "graph/ir/graph.h"
#include "proto/small.h"
#include "runtime/kernel/row.h"
#include "runtime/pool/pool.h"
#include "runtime/value/element.h"

static bool can_read(enum msd_kernel_takes takes, const modser_sg_node *node, size_t i)
{
	const struct msd_dtype dtype = node->inputs[i]->dtype;
	const enum msd_number_kind kind = msd_number_kind(dtype);

	switch (takes) {
	case MSD_TAKES_FLOAT32:
		return dtype.code == MSD_DT_FLOAT && dtype.bits == 32;
	case MSD_TAKES_FLOAT32_FIRST:
		return i > 0 || (dtype.code == MSD_DT_FLOAT && dtype.bits == 32);
	case MSD_TAKES_FLOATS:
		return i > 0 || kind == MSD_N_FLOAT;
	case MSD_TAKES_FLOATS_ALONE:
		return kind == MSD_N_FLOAT;
	case MSD_TAKES_NUMBERS:
		return kind != MSD_N_NONE;
	case MSD_TAKES_SMALL:
		return kind != MSD_N_NONE || msd_small_is(dtype);
	case MSD_TAKES_BYTES:
		break;
	}
	return dtype.bits % 8 == 0;
}

msd_err msd_kernel_check(const struct msd_kernel *kernel, const modser_sg_node *node,
			 struct msd_diag *d)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] == NULL || can_read(kernel->takes, node, i))
			continue;
		return msd_diag_set(
			d, MSD_UNSUPPORTED, "\"%s\" is %s, which no kernel of %s reads",
			node->inputs[i]->name, node->inputs[i]->dtype_name, kernel->op);
	}
	return MSD_OK;
}

bool msd_kernel_has(const struct msd_kernel_call *c, size_t i)
{
	return modser_sg_node_input(c->node, i) != NULL;
}

const float *msd_kernel_in(const struct msd_kernel_call *c, size_t i)
{
	return c->in[i];
}

float *msd_kernel_out(const struct msd_kernel_call *c, size_t i)
{
	return c->out[i];
}

struct msd_dtype msd_kernel_in_dtype(const struct msd_kernel_call *c, size_t i)
{
	return c->node->inputs[i]->dtype;
}

struct msd_dtype msd_kernel_out_dtype(const struct msd_kernel_call *c, size_t i)
{
	return c->node->outputs[i]->dtype;
}

size_t msd_kernel_size(const struct msd_kernel_call *c)
{
	return c->node->inputs[0]->dtype.bits / 8u;
}

const int64_t *msd_kernel_in_dims(const struct msd_kernel_call *c, size_t i)
{
	return modser_sg_tensor_dims(modser_sg_node_input(c->node, i));
}

const int64_t *msd_kernel_out_dims(const struct msd_kernel_call *c, size_t i)
{
	return modser_sg_tensor_dims(modser_sg_node_output(c->node, i));
}

size_t msd_kernel_in_ndim(const struct msd_kernel_call *c, size_t i)
{
	return (size_t)modser_sg_tensor_ndim(modser_sg_node_input(c->node, i));
}

size_t msd_kernel_out_ndim(const struct msd_kernel_call *c, size_t i)
{
	return (size_t)modser_sg_tensor_ndim(modser_sg_node_output(c->node, i));
}

static size_t elements(const modser_sg_tensor *t)
{
	return msd_kernel_outer(modser_sg_tensor_dims(t),
				(size_t)modser_sg_tensor_ndim(t));
}

size_t msd_kernel_in_elements(const struct msd_kernel_call *c, size_t i)
{
	return elements(modser_sg_node_input(c->node, i));
}

size_t msd_kernel_out_elements(const struct msd_kernel_call *c, size_t i)
{
	return elements(modser_sg_node_output(c->node, i));
}

double msd_kernel_get(const struct msd_kernel_call *c, size_t i, size_t k)
{
	return msd_row_at(c->node->inputs[i]->dtype, c->in[i], k);
}

void msd_kernel_put(const struct msd_kernel_call *c, size_t i, size_t k, double v)
{
	msd_row_put(c->node->outputs[i]->dtype, c->out[i], k, v);
}

msd_err msd_kernel_index(const struct msd_kernel_call *c, size_t i, int64_t k,
			 int64_t n, int64_t *ret, struct msd_diag *d)
{
	const int64_t at = msd_number_load(msd_kernel_in_dtype(c, i), c->in[i], k).i;

	if (at < -n || at >= n) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "index %" PRId64 " of %" PRId64, at, n);
	}
	*ret = at < 0 ? at + n : at;
	return MSD_OK;
}

size_t msd_kernel_outer(const int64_t *dims, size_t axis)
{
	size_t n = 1;

	for (size_t i = 0; i < axis; i++)
		n *= (size_t)dims[i];
	return n;
}

size_t msd_kernel_inner(const int64_t *dims, size_t ndim, size_t axis)
{
	size_t n = 1;

	for (size_t i = axis + 1; i < ndim; i++)
		n *= (size_t)dims[i];
	return n;
}

size_t msd_kernel_axis(int64_t axis, size_t ndim)
{
	return (size_t)(axis < 0 ? axis + (int64_t)ndim : axis);
}

struct job {
	size_t n;
	msd_kernel_part *part;
	const void *ctx;
};

/* Each thread processes one contiguous range. */
static int run_stretch(int task, struct msd_parallel_env *env, void *data)
{
	const struct job *job = data;
	const size_t n_tasks = (size_t)env->num_task;
	const size_t step = (job->n + n_tasks - 1) / n_tasks;
	const size_t first = step * (size_t)task;
	const size_t end = first + step < job->n ? first + step : job->n;

	for (size_t i = first; i < end; i++)
		job->part(job->ctx, i);
	return 0;
}

/* As many as have enough work, and at most one for each part. */
static int count_tasks(size_t n, size_t part_ns)
{
	size_t ns;
	size_t n_tasks =
		__builtin_mul_overflow(n, part_ns, &ns) ? n : ns / MSD_KERNEL_GRAIN_NS;

	n_tasks = n_tasks < n ? n_tasks : n;
	return n_tasks < INT_MAX ? (int)n_tasks : INT_MAX;
}

void msd_kernel_each(size_t n, size_t part_ns, msd_kernel_part *part, const void *ctx)
{
	struct job job = {n, part, ctx};
	const int n_tasks = count_tasks(n, part_ns);

	if (n_tasks > 1) {
		(void)msd_pool_launch(run_stretch, &job, n_tasks); /* cannot fail */
		return;
	}
	for (size_t i = 0; i < n; i++)
		part(ctx, i);
}
