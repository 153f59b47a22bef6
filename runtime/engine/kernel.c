#include "runtime/engine/kernel.h"

#include "runtime/pool/pool.h"

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

size_t msd_kernel_elements(const modser_sg_tensor *t)
{
	return msd_kernel_outer(modser_sg_tensor_dims(t),
				(size_t)modser_sg_tensor_ndim(t));
}

size_t msd_kernel_in_elements(const struct msd_kernel_call *c, size_t i)
{
	return msd_kernel_elements(modser_sg_node_input(c->node, i));
}

size_t msd_kernel_out_elements(const struct msd_kernel_call *c, size_t i)
{
	return msd_kernel_elements(modser_sg_node_output(c->node, i));
}

int64_t msd_kernel_int(const struct msd_kernel_call *c, const char *param)
{
	return modser_sg_op_int(modser_sg_node_op(c->node), param);
}

float msd_kernel_float(const struct msd_kernel_call *c, const char *param)
{
	return modser_sg_op_float(modser_sg_node_op(c->node), param);
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

/* Each thread takes a stretch of its own. */
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

void msd_kernel_each(size_t n, msd_kernel_part *part, const void *ctx)
{
	struct job job = {n, part, ctx};

	(void)msd_pool_launch(run_stretch, &job, 0); /* its tasks do not fail */
}
