/* Elementwise operators of one, two or more tensors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op/element/params.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/kernels.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"
#include "runtime/kernel/walk.h"

enum { CHUNK = 4096 };

/* Readers of parameters. */
typedef float param_fn(const modser_sg_node *node);
#define PARAM(id, field)                                                               \
	static float id##_##field(const modser_sg_node *node)                          \
	{                                                                              \
		return msd_params_##id(node).field;                                    \
	}
PARAM(clip, min)
PARAM(clip, max)
PARAM(elu, alpha)
PARAM(hard_swish, alpha)
PARAM(hard_swish, beta)
PARAM(hardsigmoid, alpha)
PARAM(hardsigmoid, beta)
PARAM(relu, negative_slope)

struct unary {
	const char *op;
	enum msd_native_unary kind;
	double ns;       /* per element, roughly */
	param_fn *a, *b; /* NULL: it has none */
};

static const struct unary rows[] = {
	{"Absval", MSD_NATIVE_ABS, 0.2, NULL, NULL},
	{"Clip", MSD_NATIVE_CLIP, 0.2, clip_min, clip_max},
	{"Elu", MSD_NATIVE_ELU, 1, elu_alpha, NULL},
	{"Erf", MSD_NATIVE_ERF, 1, NULL, NULL},
	{"Exp", MSD_NATIVE_EXP, 0.7, NULL, NULL},
	{"Gelu", MSD_NATIVE_GELU, 1.2, NULL, NULL},
	{"HardSwish", MSD_NATIVE_HARD_SWISH, 0.2, hard_swish_alpha, hard_swish_beta},
	{"Hardsigmoid", MSD_NATIVE_HARD_SIGMOID, 0.2, hardsigmoid_alpha,
	 hardsigmoid_beta},
	{"Log", MSD_NATIVE_LOG, 0.8, NULL, NULL},
	{"Neg", MSD_NATIVE_NEG, 0.2, NULL, NULL},
	{"ReLu", MSD_NATIVE_RELU, 0.2, relu_negative_slope, NULL},
	{"Reciprocal", MSD_NATIVE_RECIPROCAL, 0.4, NULL, NULL},
	{"Sigmoid", MSD_NATIVE_SIGMOID, 0.9, NULL, NULL},
	{"Softplus", MSD_NATIVE_SOFTPLUS, 1.5, NULL, NULL},
	{"Sqrt", MSD_NATIVE_SQRT, 0.5, NULL, NULL},
	{"Tanh", MSD_NATIVE_TANH, 1, NULL, NULL},
};

struct unary_job {
	const struct msd_native_kernels *k;
	enum msd_native_unary kind;
	const float *x;
	float *y;
	size_t n;
	float a, b;
};

static void run_chunks(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct unary_job *j = ctx;
	const size_t from = first * CHUNK;
	const size_t to = end * CHUNK < j->n ? end * CHUNK : j->n;

	(void)thread;
	j->k->unary(j->kind, j->x + from, to - from, j->a, j->b, j->y + from);
}

/* The parameters of a node, read once. */
struct function {
	struct msd_native_packed base;
	enum msd_native_unary kind;
	double ns;
	float a, b;
};

static float param(const modser_sg_node *node, param_fn *read)
{
	return read != NULL ? read(node) : 0;
}

static const struct unary *row_of(const modser_sg_op *op)
{
	size_t i = 0;

	while (strcmp(rows[i].op, modser_sg_op_name(op)) != 0)
		i++;
	return &rows[i];
}

bool msd_native_read_function(const modser_sg_node *node,
			      struct msd_native_packed **ret)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const struct unary *row = row_of(op);
	struct function *f = malloc(sizeof(*f));

	if (f == NULL)
		return false;
	*f = (struct function){.base.destroy = msd_native_packed_free,
			       .kind = row->kind,
			       .ns = row->ns,
			       .a = param(node, row->a),
			       .b = param(node, row->b)};
	if (f->kind == MSD_NATIVE_RELU && f->a != 0)
		f->kind = MSD_NATIVE_LEAKY;
	if (f->kind == MSD_NATIVE_GELU &&
	    strcmp(msd_params_gelu(node).approximate, "tanh") == 0)
		f->kind = MSD_NATIVE_GELU_TANH;
	*ret = &f->base;
	return true;
}

static msd_err run_unary(const struct msd_kernel_call *c,
			 const struct msd_native_packed *packed, struct msd_diag *d)
{
	const struct function *f = (const struct function *)packed;
	struct unary_job j = {
		.k = msd_native_kernels(),
		.kind = f->kind,
		.x = c->in[0],
		.y = c->out[0],
		.n = msd_kernel_out_elements(c, 0),
		.a = f->a,
		.b = f->b,
	};

	(void)d;
	if (f->kind == MSD_NATIVE_CLIP && msd_kernel_has(c, 1))
		j.a = *msd_kernel_in(c, 1);
	if (f->kind == MSD_NATIVE_CLIP && msd_kernel_has(c, 2))
		j.b = *msd_kernel_in(c, 2);
	msd_native_each((j.n + CHUNK - 1) / CHUNK, f->ns * CHUNK, run_chunks, &j);
	return MSD_OK;
}

/* Powers with one exponent: squares and cubes are products. */
static void raise_chunks(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct unary_job *j = ctx;

	(void)thread;
	for (size_t at = first * CHUNK; at < end * CHUNK && at < j->n; at += CHUNK) {
		const size_t n = j->n - at < CHUNK ? j->n - at : CHUNK;
		const float *x = j->x + at;
		float *y = j->y + at;

		if (j->a != 2 && j->a != 3) {
			for (size_t i = 0; i < n; i++)
				y[i] = (float)pow((double)x[i], (double)j->a);
			continue;
		}
		if (j->a == 3) {
			j->k->unary(MSD_NATIVE_CUBE, x, n, 0, 0, y);
		} else {
			j->k->binary(MSD_NATIVE_MUL, x, 1, x, 1, n, y);
		}
	}
}

static bool may_raise(const modser_sg_node *node)
{
	const modser_sg_tensor *exponent = modser_sg_node_input(node, 1);

	return msd_native_all_single(node) &&
	       msd_native_count(modser_sg_tensor_dims(exponent), 0,
				(size_t)modser_sg_tensor_ndim(exponent)) == 1;
}

static msd_err run_pow(const struct msd_kernel_call *c,
		       const struct msd_native_packed *packed, struct msd_diag *d)
{
	const float exponent = *msd_kernel_in(c, 1);
	const double ns = exponent == 2 || exponent == 3 ? 0.2 : 20;
	const struct unary_job j = {
		.k = msd_native_kernels(),
		.x = c->in[0],
		.y = c->out[0],
		.n = msd_kernel_out_elements(c, 0),
		.a = exponent,
	};

	(void)packed;
	(void)d;
	msd_native_each((j.n + CHUNK - 1) / CHUNK, ns * CHUNK, raise_chunks, &j);
	return MSD_OK;
}

/* Axes of an elementwise operation on two tensors, merged where both are contiguous. */
struct pairs {
	const struct msd_native_kernels *k;
	enum msd_native_binary kind;
	const float *a, *b;
	float *y;
	struct msd_walk w;
};

static bool can_merge(const struct msd_walk *w, size_t axis, size_t last)
{
	for (size_t i = 0; i < w->n_operands; i++) {
		if (w->steps[i][axis] != w->steps[i][last] * w->dims[last])
			return false;
	}
	return true;
}

/* Merge each axis with the one after it if they are one stretch of both operands. */
static void merge(const struct msd_walk *from, struct msd_walk *ret)
{
	size_t axes[MODSER_GRAPH_MAX_NDIM];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MSD_WALK_OPERANDS][MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;

	for (size_t i = from->ndim; i > 0; i--) {
		const size_t axis = i - 1;

		if (from->dims[axis] == 1 && from->ndim > 1 && (n > 0 || axis > 0))
			continue;
		if (n > 0) {
			struct msd_walk last = *from;

			last.dims[axes[n - 1]] = dims[n - 1];
			if (can_merge(&last, axis, axes[n - 1])) {
				dims[n - 1] *= from->dims[axis];
				continue;
			}
		}
		axes[n] = axis;
		dims[n++] = from->dims[axis];
	}
	int64_t turned[MODSER_GRAPH_MAX_NDIM];
	for (size_t i = 0; i < n; i++) {
		turned[n - 1 - i] = dims[i];
		for (size_t k = 0; k < from->n_operands; k++)
			steps[k][n - 1 - i] = from->steps[k][axes[i]];
	}
	msd_walk_init(ret, turned, n);
	for (size_t k = 0; k < from->n_operands; k++)
		msd_walk_operand(ret, steps[k], 0);
}

/* A part is a chunk of a row. */
static void run_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct pairs *p = ctx;
	const size_t n = (size_t)p->w.n;
	const size_t chunks = (n + CHUNK - 1) / CHUNK;
	const size_t a_step = (size_t)msd_walk_step(&p->w, 0);
	const size_t b_step = (size_t)msd_walk_step(&p->w, 1);

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const size_t row = i / chunks;
		const size_t from = i % chunks * CHUNK;
		const size_t count = n - from < CHUNK ? n - from : CHUNK;
		const size_t a = (size_t)msd_walk_place(&p->w, 0, row * n);
		const size_t b = (size_t)msd_walk_place(&p->w, 1, row * n);

		p->k->binary(p->kind, p->a + a + from * a_step, a_step,
			     p->b + b + from * b_step, b_step, count,
			     p->y + row * n + from);
	}
}

static const struct {
	const char *op;
	enum msd_native_binary kind;
} pair_rows[] = {
	{"Add", MSD_NATIVE_ADD},
	{"Addn", MSD_NATIVE_ADD},
	{"Div", MSD_NATIVE_DIV},
	{"Maximum", MSD_NATIVE_MAX},
	{"Minimum", MSD_NATIVE_MIN},
	{"Mul", MSD_NATIVE_MUL},
	{"PReLU", MSD_NATIVE_SLOPE},
	{"SquaredDifference", MSD_NATIVE_SQUARED_DIFFERENCE},
	{"Sub", MSD_NATIVE_SUB},
};

static enum msd_native_binary kind_of(const modser_sg_node *node)
{
	const char *op = modser_sg_op_name(modser_sg_node_op(node));
	size_t i = 0;

	while (strcmp(pair_rows[i].op, op) != 0)
		i++;
	return pair_rows[i].kind;
}

static msd_err run_binary(const struct msd_kernel_call *c,
			  const struct msd_native_packed *packed, struct msd_diag *d)
{
	struct pairs p = {
		.k = msd_native_kernels(),
		.kind = kind_of(c->node),
		.a = c->in[0],
		.b = c->in[1],
		.y = c->out[0],
	};
	struct msd_walk w;

	(void)packed;
	(void)d;
	msd_walk_init(&w, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	msd_walk_stretch(&w, msd_kernel_in_dims(c, 0), msd_kernel_in_ndim(c, 0));
	msd_walk_stretch(&w, msd_kernel_in_dims(c, 1), msd_kernel_in_ndim(c, 1));
	merge(&w, &p.w);
	if (p.w.n == 0 || p.w.n_rows == 0)
		return MSD_OK;
	const size_t n = (size_t)p.w.n;
	const size_t chunks = (n + CHUNK - 1) / CHUNK;
	msd_native_each(p.w.n_rows * chunks, (double)(n < CHUNK ? n : CHUNK) * 0.3 + 10,
			run_rows, &p);
	return MSD_OK;
}

static bool may_pair(const modser_sg_node *node)
{
	return msd_native_all_single(node) && modser_sg_node_input_count(node) == 2;
}

/* One slope per channel is not numpy's broadcast. */
static bool may_prelu(const modser_sg_node *node)
{
	return may_pair(node) && msd_params_prelu(node).broadcasts != 0;
}

#define UNARY(id, op)                                                                  \
	const struct msd_native_claim msd_native_##id = {                              \
		op, msd_native_all_single, msd_native_read_function, run_unary, 0};
UNARY(absval, "Absval")
UNARY(clip, "Clip")
UNARY(elu, "Elu")
UNARY(erf, "Erf")
UNARY(exp, "Exp")
UNARY(gelu, "Gelu")
UNARY(hard_swish, "HardSwish")
UNARY(hardsigmoid, "Hardsigmoid")
UNARY(log, "Log")
UNARY(neg, "Neg")
UNARY(relu, "ReLu")
UNARY(reciprocal, "Reciprocal")
UNARY(sigmoid, "Sigmoid")
UNARY(softplus, "Softplus")
UNARY(sqrt, "Sqrt")
UNARY(tanh, "Tanh")

const struct msd_native_claim msd_native_pow = {"Pow", may_raise, NULL, run_pow, 0};

#define BINARY(id, op, may)                                                            \
	const struct msd_native_claim msd_native_##id = {op, may, NULL, run_binary, 0};
BINARY(add, "Add", may_pair)
BINARY(addn, "Addn", may_pair)
BINARY(div, "Div", may_pair)
BINARY(maximum, "Maximum", may_pair)
BINARY(minimum, "Minimum", may_pair)
BINARY(mul, "Mul", may_pair)
BINARY(prelu, "PReLU", may_prelu)
BINARY(squared_difference, "SquaredDifference", may_pair)
BINARY(sub, "Sub", may_pair)
