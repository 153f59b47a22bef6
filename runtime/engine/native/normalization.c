/* Softmax, normalizations and reductions. */
#include <math.h>

#include "graph/op/layer/params.h"
#include "graph/op/reduce/params.h"
#include "graph/op/reduce/reduce.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/kernels.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"

enum { MOST_ROWS = 4096 };

struct job {
	const struct msd_native_kernels *k;
	const float *x;
	float *y;
	size_t n;     /* elements of a row */
	size_t inner; /* rows of a column reduction */
	bool is_log;
	struct msd_native_norm norm;
	float *mean, *inverse; /* NULL: not requested */
	const double *factors; /* and addends, one per channel */
	size_t channels;
	enum msd_native_reduce kind;
	bool is_mean, is_root;
};

static size_t axis_of(const modser_sg_node *node, int64_t own)
{
	return msd_kernel_axis(
		own, (size_t)modser_sg_tensor_ndim(modser_sg_node_input(node, 0)));
}

static bool may_softmax(const modser_sg_node *node)
{
	const modser_sg_tensor *x = modser_sg_node_input(node, 0);
	const size_t ndim = (size_t)modser_sg_tensor_ndim(x);

	return msd_native_is_single(node, 0) && ndim > 0 &&
	       (msd_kernel_inner(modser_sg_tensor_dims(x), ndim,
				 axis_of(node, msd_params_softmax(node).axis)) == 1 ||
		msd_params_softmax(node).flattens != 0);
}

static void soft_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++)
		j->k->softmax(j->x + i * j->n, j->n, j->is_log, j->y + i * j->n);
}

static msd_err soft(const struct msd_kernel_call *c, bool is_log)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t axis = axis_of(c->node, msd_params_softmax(c->node).axis);
	const struct job j = {
		.k = msd_native_kernels(),
		.x = c->in[0],
		.y = c->out[0],
		.n = msd_native_count(dims, axis, msd_kernel_in_ndim(c, 0)),
		.is_log = is_log,
	};

	if (j.n > 0) {
		msd_native_each(msd_native_count(dims, 0, axis), (double)j.n + 20,
				soft_rows, &j);
	}
	return MSD_OK;
}

static msd_err run_softmax(const struct msd_kernel_call *c,
			   const struct msd_native_packed *packed, struct msd_diag *d)
{
	(void)packed;
	(void)d;
	return soft(c, false);
}

static msd_err run_log_softmax(const struct msd_kernel_call *c,
			       const struct msd_native_packed *packed,
			       struct msd_diag *d)
{
	(void)packed;
	(void)d;
	return soft(c, true);
}

static void norm_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		j->k->norm(&j->norm, j->x + i * j->n, j->y + i * j->n,
			   j->mean != NULL ? j->mean + i : NULL,
			   j->inverse != NULL ? j->inverse + i : NULL);
	}
}

static float *output(const struct msd_kernel_call *c, size_t i)
{
	return modser_sg_node_output(c->node, i) != NULL ? c->out[i] : NULL;
}

static msd_err run_layer_norm(const struct msd_kernel_call *c,
			      const struct msd_native_packed *packed,
			      struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t axis = axis_of(c->node, msd_params_layer_norm(c->node).axis);
	const size_t n = msd_native_count(dims, axis, msd_kernel_in_ndim(c, 0));
	const struct job j = {
		.k = msd_native_kernels(),
		.x = c->in[0],
		.y = c->out[0],
		.n = n,
		.norm = {.n = n,
			 .eps = msd_params_layer_norm(c->node).eps,
			 .scale = msd_kernel_has(c, 1) ? c->in[1] : NULL,
			 .shift = msd_kernel_has(c, 2) ? c->in[2] : NULL},
		.mean = output(c, 1),
		.inverse = output(c, 2),
	};

	(void)packed;
	(void)d;
	if (n > 0) {
		msd_native_each(msd_native_count(dims, 0, axis), (double)n / 2 + 20,
				norm_rows, &j);
	}
	return MSD_OK;
}

static bool may_layer_norm(const modser_sg_node *node)
{
	return msd_native_all_single(node) &&
	       modser_sg_tensor_ndim(modser_sg_node_input(node, 0)) > 0;
}

/* Rows of an InstanceNorm are planes with one scale and shift. */
static void norm_planes(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t k = i % j->channels;
		float mean;
		float inverse;

		j->k->norm(&(struct msd_native_norm){.n = j->n, .eps = j->norm.eps},
			   j->x + i * j->n, j->y + i * j->n, &mean, &inverse);
		j->k->affine(j->y + i * j->n, j->n,
			     j->norm.scale != NULL ? j->norm.scale[k] : 1,
			     j->norm.shift != NULL ? j->norm.shift[k] : 0,
			     j->y + i * j->n);
	}
}

static msd_err run_instance_norm(const struct msd_kernel_call *c,
				 const struct msd_native_packed *packed,
				 struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const struct job j = {
		.k = msd_native_kernels(),
		.x = c->in[0],
		.y = c->out[0],
		.n = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1),
		.channels = (size_t)dims[1],
		.norm = {.eps = msd_params_instance_norm(c->node).eps,
			 .scale = msd_kernel_has(c, 1) ? c->in[1] : NULL,
			 .shift = msd_kernel_has(c, 2) ? c->in[2] : NULL},
	};

	(void)packed;
	(void)d;
	if (j.n > 0) {
		msd_native_each((size_t)(dims[0] * dims[1]), (double)j.n + 20,
				norm_planes, &j);
	}
	return MSD_OK;
}

static bool may_instance_norm(const modser_sg_node *node)
{
	return may_layer_norm(node) &&
	       modser_sg_tensor_ndim(modser_sg_node_input(node, 0)) > 1;
}

/* One factor and addend per channel. */
static void scale_planes(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t k = i % j->channels;
		const double *norm = j->factors;

		j->k->affine(j->x + i * j->n, j->n, (float)norm[2 * k],
			     (float)norm[2 * k + 1], j->y + i * j->n);
	}
}

enum { SCALE = 1, SHIFT, MEAN, VARIANCE };

static bool may_batch_norm(const modser_sg_node *node)
{
	return may_instance_norm(node) && modser_sg_node_input_count(node) == 5 &&
	       msd_params_batch_normalization(node).training_mode == 0;
}

static msd_err run_batch_norm(const struct msd_kernel_call *c,
			      const struct msd_native_packed *packed,
			      struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const double rescale =
		(double)msd_params_batch_normalization(c->node).rescale_factor;
	const double by = rescale != 0 ? 1 / rescale : 0;
	const double eps = (double)msd_params_batch_normalization(c->node).eps;
	const size_t channels = (size_t)dims[1];
	float *room = msd_native_scratch_take(4 * channels + 2);
	double *factors = (double *)(void *)room;

	(void)packed;
	if (room == NULL)
		return msd_diag_no_memory(d);
	for (size_t k = 0; k < channels; k++) {
		const double factor =
			(double)msd_kernel_in(c, SCALE)[k] /
			sqrt((double)msd_kernel_in(c, VARIANCE)[k] * by + eps);

		factors[2 * k] = factor;
		factors[2 * k + 1] = (double)msd_kernel_in(c, SHIFT)[k] -
				     (double)msd_kernel_in(c, MEAN)[k] * by * factor;
	}
	const struct job j = {
		.k = msd_native_kernels(),
		.x = c->in[0],
		.y = c->out[0],
		.n = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1),
		.channels = channels,
		.factors = factors,
	};
	msd_native_each((size_t)dims[0] * channels, (double)j.n * 0.3 + 10,
			scale_planes, &j);
	msd_native_scratch_give(room);
	return MSD_OK;
}

/* The reduced axes are neighbours: @outer, n and @inner elements. Axes of one element
 * may be anything. */
static bool find_rows(const modser_sg_node *node, size_t *ret_outer, size_t *ret_n,
		      size_t *ret_inner)
{
	const modser_sg_tensor *x = modser_sg_node_input(node, 0);
	const int64_t *dims = modser_sg_tensor_dims(x);
	bool goes[MODSER_GRAPH_MAX_NDIM] = {false};
	enum { BEFORE, WITHIN, BEHIND } at = BEFORE;

	*ret_outer = *ret_n = *ret_inner = 1;
	if (msd_op_reduce_axes(node, goes) != 0)
		return false;
	for (int i = 0; i < modser_sg_tensor_ndim(x); i++) {
		if (dims[i] == 1)
			continue;
		if (goes[i] && at == BEHIND)
			return false;
		at = goes[i] ? WITHIN : at == WITHIN ? BEHIND : at;
		*(at == BEFORE   ? ret_outer
		  : at == WITHIN ? ret_n
				 : ret_inner) *= (size_t)dims[i];
	}
	/* Sums of columns have no partial sums. */
	return *ret_n > 0 && (*ret_inner == 1 || *ret_n <= MOST_ROWS);
}

static bool may_reduce(const modser_sg_node *node)
{
	const int64_t type = msd_params_reduction(node).type;
	size_t outer;
	size_t n;
	size_t inner;

	return msd_native_is_single(node, 0) && type != MSD_REDUCE_PROD &&
	       type != MSD_REDUCE_LOG_SUM && type != MSD_REDUCE_LOG_SUM_EXP &&
	       find_rows(node, &outer, &n, &inner);
}

static enum msd_native_reduce kind_of(int64_t type)
{
	switch (type) {
	case MSD_REDUCE_L1:
		return MSD_NATIVE_ABS_SUM;
	case MSD_REDUCE_SQUARES:
	case MSD_REDUCE_L2:
		return MSD_NATIVE_SQUARES;
	case MSD_REDUCE_MAX:
		return MSD_NATIVE_HIGHEST;
	case MSD_REDUCE_MIN:
		return MSD_NATIVE_LOWEST;
	default:
		return MSD_NATIVE_SUM;
	}
}

static double finish(const struct job *j, double v)
{
	if (j->is_mean)
		return v / (double)j->n;
	return j->is_root ? sqrt(v) : v;
}

static void reduce_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const float *x = j->x + i * j->n * j->inner;
		float *y = j->y + i * j->inner;

		if (j->inner == 1) {
			*y = (float)finish(j, j->k->reduce(j->kind, x, j->n));
			continue;
		}
		j->k->reduce_columns(j->kind, x, j->n, j->inner, y);
		for (size_t q = 0; (j->is_mean || j->is_root) && q < j->inner; q++)
			y[q] = (float)finish(j, (double)y[q]);
	}
}

static msd_err run_reduce(const struct msd_kernel_call *c,
			  const struct msd_native_packed *packed, struct msd_diag *d)
{
	const int64_t type = msd_params_reduction(c->node).type;
	struct job j = {
		.k = msd_native_kernels(),
		.x = c->in[0],
		.y = c->out[0],
		.kind = kind_of(type),
		.is_mean = type == MSD_REDUCE_MEAN,
		.is_root = type == MSD_REDUCE_L2,
	};
	size_t outer;

	(void)packed;
	(void)d;
	if (find_rows(c->node, &outer, &j.n, &j.inner)) {
		msd_native_each(outer, (double)(j.n * j.inner) * 0.2 + 20, reduce_rows,
				&j);
	}
	return MSD_OK;
}

const struct msd_native_claim msd_native_softmax = {"Softmax", may_softmax, NULL,
						    run_softmax, 0};
const struct msd_native_claim msd_native_log_softmax = {"LogSoftmax", may_softmax, NULL,
							run_log_softmax, 0};
const struct msd_native_claim msd_native_layer_norm = {"LayerNorm", may_layer_norm,
						       NULL, run_layer_norm, 0};
const struct msd_native_claim msd_native_instance_norm = {
	"InstanceNorm", may_instance_norm, NULL, run_instance_norm, 0};
const struct msd_native_claim msd_native_batch_normalization = {
	"BatchNormalization", may_batch_norm, NULL, run_batch_norm, 0};
const struct msd_native_claim msd_native_reduction = {"Reduction", may_reduce, NULL,
						      run_reduce, 0};
