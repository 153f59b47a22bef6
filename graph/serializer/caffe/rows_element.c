/* Layers that work element by element or channel by channel. */
#include <math.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/caffe/layer.h"

static modser_sg_tensor *times(const struct caffe_layer *x, modser_sg_tensor *t,
			       float v)
{
	return v == 1 ? t : msd_build_two(&x->b, "Mul", t, msd_build_number(&x->b, v));
}

static modser_sg_tensor *plus(const struct caffe_layer *x, modser_sg_tensor *t, float v)
{
	return v == 0 ? t : msd_build_two(&x->b, "Add", t, msd_build_number(&x->b, v));
}

#define UNARY(name, op)                                                                \
	static modser_sg_tensor *name(const struct caffe_layer *x)                     \
	{                                                                              \
		return msd_build_one(&x->b, op, x->in[0]);                             \
	}
UNARY(load_sigmoid, "Sigmoid")
UNARY(load_tanh, "Tanh")
UNARY(load_absval, "Absval")
UNARY(load_bnll, "Softplus")
UNARY(load_dropout, "Dropout")

static modser_sg_tensor *load_relu(const struct caffe_layer *x)
{
	const Caffe__ReLUParameter *p = x->p->relu_param;
	modser_sg_tensor *t = msd_build_node(&x->b, "ReLu", x->in, 1);

	return msd_build_done(msd_build_float(t, "negative_slope",
					      p != NULL ? p->negative_slope : 0));
}

static modser_sg_tensor *load_relu6(const struct caffe_layer *x)
{
	modser_sg_tensor *const in[] = {x->in[0], msd_build_number(&x->b, 0),
					msd_build_number(&x->b, 6)};

	if (x->p->relu6_param != NULL && x->p->relu6_param->negative_slope != 0)
		return caffe_fail(x, "a ReLU6 with a negative slope cannot be read");
	return msd_build_done(msd_build_node(&x->b, "Clip", in, 3));
}

static modser_sg_tensor *load_clip(const struct caffe_layer *x)
{
	const Caffe__ClipParameter *p = x->p->clip_param;

	if (p == NULL || !p->has_min || !p->has_max)
		return caffe_fail(x, "clip_param has no min or max");
	modser_sg_tensor *const in[] = {x->in[0], msd_build_number(&x->b, p->min),
					msd_build_number(&x->b, p->max)};
	return msd_build_done(msd_build_node(&x->b, "Clip", in, 3));
}

static modser_sg_tensor *load_elu(const struct caffe_layer *x)
{
	const Caffe__ELUParameter *p = x->p->elu_param;
	modser_sg_tensor *t = msd_build_node(&x->b, "Elu", x->in, 1);

	return msd_build_done(msd_build_float(t, "alpha", p != NULL ? p->alpha : 1));
}

static modser_sg_tensor *load_prelu(const struct caffe_layer *x)
{
	const bool is_shared =
		x->p->prelu_param != NULL && x->p->prelu_param->channel_shared;
	int64_t dims[] = {1};

	if (caffe_ndim(x, 0) < 2)
		return caffe_fail(x, "its input has no channels");
	dims[0] = is_shared ? 1 : caffe_dims(x, 0)[1];
	return msd_build_two(&x->b, "PReLU", x->in[0], caffe_weights(x, 0, dims, 1));
}

/* (shift + scale x) to the power. */
static modser_sg_tensor *load_power(const struct caffe_layer *x)
{
	const Caffe__PowerParameter none = CAFFE__POWER_PARAMETER__INIT;
	const Caffe__PowerParameter *p =
		x->p->power_param != NULL ? x->p->power_param : &none;
	modser_sg_tensor *t = plus(x, times(x, x->in[0], p->scale), p->shift);

	if (p->power == 1)
		return t;
	return msd_build_two(&x->b, "Pow", t, msd_build_number(&x->b, p->power));
}

/* The natural logarithm of a base; a base of -1 means e. False: there is none. */
static bool find_base(const struct caffe_layer *x, float base, float *ret)
{
	*ret = base == -1 ? 1 : logf(base);
	if (base == -1 || (base > 0 && base != 1))
		return true;
	(void)caffe_fail(x, "its base is %g, expected -1 (e) or above 0 and not 1",
			 (double)base);
	return false;
}

static modser_sg_tensor *load_exp(const struct caffe_layer *x)
{
	const Caffe__ExpParameter none = CAFFE__EXP_PARAMETER__INIT;
	const Caffe__ExpParameter *p =
		x->p->exp_param != NULL ? x->p->exp_param : &none;
	float base;

	if (!find_base(x, p->base_, &base))
		return NULL;
	modser_sg_tensor *t = times(x, x->in[0], base * p->scale);
	return msd_build_one(&x->b, "Exp", plus(x, t, base * p->shift));
}

static modser_sg_tensor *load_log(const struct caffe_layer *x)
{
	const Caffe__ExpParameter none = CAFFE__EXP_PARAMETER__INIT;
	const Caffe__ExpParameter *p =
		x->p->log_param != NULL ? x->p->log_param : &none;
	float base;

	if (!find_base(x, p->base_, &base))
		return NULL;
	modser_sg_tensor *t = plus(x, times(x, x->in[0], p->scale), p->shift);
	return times(x, msd_build_one(&x->b, "Log", t), 1 / base);
}

static modser_sg_tensor *load_swish(const struct caffe_layer *x)
{
	const float beta = x->p->swish_param != NULL ? x->p->swish_param->beta : 1;
	modser_sg_tensor *t = times(x, x->in[0], beta);

	return msd_build_two(&x->b, "Mul", x->in[0],
			     msd_build_one(&x->b, "Sigmoid", t));
}

static modser_sg_tensor *load_threshold(const struct caffe_layer *x)
{
	const float limit =
		x->p->threshold_param != NULL ? x->p->threshold_param->threshold : 0;
	modser_sg_tensor *const in[] = {x->in[0], msd_build_number(&x->b, limit)};
	modser_sg_tensor *t = msd_build_node(&x->b, "Comparison", in, 2);

	t = msd_build_done(msd_build_int(t, "type", 2));
	t = msd_build_node(&x->b, "Cast", &t, 1);
	return msd_build_done(msd_build_text(t, "to", "float32"));
}

static modser_sg_tensor *load_eltwise(const struct caffe_layer *x)
{
	const Caffe__EltwiseParameter none = CAFFE__ELTWISE_PARAMETER__INIT;
	const Caffe__EltwiseParameter *p =
		x->p->eltwise_param != NULL ? x->p->eltwise_param : &none;
	const bool is_sum = p->operation == CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__SUM;
	const char *op = is_sum ? "Add"
			 : p->operation == CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__PROD
				 ? "Mul"
				 : "Maximum";
	modser_sg_tensor *t = x->in[0];

	if (p->n_coeff != 0 && (!is_sum || p->n_coeff != x->p->n_bottom)) {
		return caffe_fail(x,
				  "%zu coefficients for %zu inputs; only a sum has "
				  "them",
				  p->n_coeff, x->p->n_bottom);
	}
	for (size_t i = 1; i < x->p->n_bottom; i++) {
		if (caffe_ndim(x, i) != caffe_ndim(x, 0) ||
		    memcmp(caffe_dims(x, i), caffe_dims(x, 0),
			   caffe_ndim(x, 0) * sizeof(int64_t)) != 0)
			return caffe_fail(x, "input %zu has another shape", i);
	}
	t = p->n_coeff > 0 ? times(x, t, p->coeff[0]) : t;
	for (size_t i = 1; i < x->p->n_bottom; i++) {
		modser_sg_tensor *more = x->in[i];

		more = p->n_coeff > 0 ? times(x, more, p->coeff[i]) : more;
		t = msd_build_two(&x->b, op, t, more);
	}
	return t;
}

/* The extents of factors that begin at @axis, and 1 for each axis after them. */
static bool factor_dims(const struct caffe_layer *x, int64_t axis, int64_t num_axes,
			int64_t *dims, size_t *ret_n, size_t *ret_own)
{
	const size_t ndim = caffe_ndim(x, 0);
	size_t first;

	if (!caffe_axis(x, axis, true, &first))
		return false;
	const size_t own = num_axes == -1 ? ndim - first : (size_t)num_axes;
	if (num_axes < -1 || own > ndim - first) {
		(void)caffe_fail(x, "it has no %d axes from axis %d on", (int)num_axes,
				 (int)axis);
		return false;
	}
	for (size_t i = first; i < ndim; i++)
		dims[i - first] = i < first + own ? caffe_dims(x, 0)[i] : 1;
	*ret_n = ndim - first;
	*ret_own = own;
	return true;
}

/* Factors or addends: weights @i, or input 1. */
static modser_sg_tensor *factors(const struct caffe_layer *x, size_t i, int64_t axis,
				 int64_t num_axes)
{
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n;
	size_t own;

	if (x->p->n_bottom > 1 && i == 0) /* as many axes as it has */
		num_axes = (int64_t)caffe_ndim(x, 1);
	if (!factor_dims(x, axis, num_axes, dims, &n, &own))
		return NULL;
	if (x->p->n_bottom > 1 && i == 0)
		return msd_build_reshape(&x->b, x->in[1], dims, n);
	/* The shape without the axes of 1 behind it is checked. */
	modser_sg_tensor *t = caffe_weights(x, i, dims, own);
	if (t == NULL || modser_sg_tensor_set_dims(t, dims, n) != 0)
		return NULL;
	return t;
}

/* The node of a batch norm whose own factors were not set, right before this layer in
 * place, so that no other layer reads its result. */
static modser_sg_node *plain_norm(const struct caffe_layer *x)
{
	modser_sg_node *node = x->in[0]->producer;
	const bool is_in_place = strcmp(x->p->bottom[0], x->p->top[0]) == 0;

	if (!is_in_place || node == NULL || node->op == NULL ||
	    strcmp(node->op->schema->name, "BatchNormalization") != 0 ||
	    node->graph->nodes[node->graph->n_nodes - 1] != node ||
	    node->n_inputs != 5 || node->inputs[1]->has_location)
		return NULL;
	return node;
}

static modser_sg_tensor *load_scale(const struct caffe_layer *x)
{
	const Caffe__ScaleParameter none = CAFFE__SCALE_PARAMETER__INIT;
	const Caffe__ScaleParameter *p =
		x->p->scale_param != NULL ? x->p->scale_param : &none;
	const size_t bias = x->p->n_bottom > 1 ? 0 : 1;
	modser_sg_node *norm = x->p->n_bottom == 1 && p->axis == 1 && p->num_axes == 1
				       ? plain_norm(x)
				       : NULL;

	if (norm != NULL) {
		const int64_t dims[] = {caffe_dims(x, 0)[1]};
		modser_sg_tensor *scale = caffe_weights(x, 0, dims, 1);
		modser_sg_tensor *shift =
			p->bias_term ? caffe_weights(x, 1, dims, 1) : norm->inputs[2];

		if (scale == NULL || shift == NULL)
			return NULL;
		norm->inputs[1] = scale;
		norm->inputs[2] = shift;
		return x->in[0];
	}
	modser_sg_tensor *t = msd_build_two(&x->b, "Mul", x->in[0],
					    factors(x, 0, p->axis, p->num_axes));
	if (!p->bias_term || t == NULL)
		return t;
	if (bias == 0) { /* the addends are the only weights */
		int64_t dims[MODSER_GRAPH_MAX_NDIM];
		size_t n;
		size_t own;

		if (!factor_dims(x, p->axis, (int64_t)caffe_ndim(x, 1), dims, &n, &own))
			return NULL;
		modser_sg_tensor *add = caffe_weights(x, 0, dims, own);
		if (add == NULL || modser_sg_tensor_set_dims(add, dims, n) != 0)
			return NULL;
		return msd_build_two(&x->b, "Add", t, add);
	}
	return msd_build_two(&x->b, "Add", t, factors(x, bias, p->axis, p->num_axes));
}

static modser_sg_tensor *load_bias(const struct caffe_layer *x)
{
	const Caffe__BiasParameter none = CAFFE__BIAS_PARAMETER__INIT;
	const Caffe__BiasParameter *p =
		x->p->bias_param != NULL ? x->p->bias_param : &none;

	return msd_build_two(&x->b, "Add", x->in[0],
			     factors(x, 0, p->axis, p->num_axes));
}

/* Mean and variance are sums in the file; the third weight is their number. */
static modser_sg_tensor *load_batch_norm(const struct caffe_layer *x)
{
	Caffe__BatchNormParameter none;
	const Caffe__BatchNormParameter *p =
		x->p->batch_norm_param != NULL ? x->p->batch_norm_param : &none;

	caffe__batch_norm_parameter__init(&none);
	if (p->has_use_global_stats && !p->use_global_stats) {
		return caffe_fail(x, "use_global_stats: false normalizes by the batch, "
				     "as in training; leave it out");
	}
	if (caffe_ndim(x, 0) < 2)
		return caffe_fail(x, "its input has no channels");
	const int64_t dims[] = {caffe_dims(x, 0)[1]};
	const size_t n = (size_t)dims[0];
	float *mean = caffe_numbers(x, 0, n);
	float *variance = mean != NULL ? caffe_numbers(x, 1, n) : NULL;
	float *count = variance != NULL ? caffe_numbers(x, 2, 1) : NULL;
	float *ones = count != NULL ? calloc(2 * n + 1, sizeof(*ones)) : NULL;
	modser_sg_tensor *t = NULL;
	if (ones != NULL) {
		const float by = *count != 0 ? 1 / *count : 0;

		for (size_t i = 0; i < n; i++) {
			ones[i] = 1;
			mean[i] *= by;
			variance[i] *= by;
		}
		modser_sg_tensor *const in[] = {
			x->in[0], msd_build_floats(&x->b, ones, dims, 1),
			msd_build_floats(&x->b, ones + n, dims, 1),
			msd_build_floats(&x->b, mean, dims, 1),
			msd_build_floats(&x->b, variance, dims, 1)};
		t = msd_build_node(&x->b, "BatchNormalization", in, 5);
		t = msd_build_done(msd_build_float(t, "eps", p->eps));
	} else if (count != NULL) {
		(void)msd_sg_no_memory(x->b.g);
	}
	free(mean);
	free(variance);
	free(count);
	free(ones);
	return t;
}

static modser_sg_tensor *load_softmax(const struct caffe_layer *x)
{
	const int64_t axis =
		x->p->softmax_param != NULL ? x->p->softmax_param->axis : 1;
	modser_sg_tensor *t = msd_build_node(&x->b, "Softmax", x->in, 1);
	size_t at;

	if (!caffe_axis(x, axis, false, &at))
		return NULL;
	return msd_build_done(msd_build_int(t, "axis", (int64_t)at));
}

const struct caffe_row caffe_rows_element[] = {
	{"AbsVal", 1, 1, 1, load_absval, NULL},
	{"BNLL", 1, 1, 1, load_bnll, NULL},
	{"BatchNorm", 1, 1, 1, load_batch_norm, NULL},
	{"Bias", 1, 2, 1, load_bias, NULL},
	{"Clip", 1, 1, 1, load_clip, NULL},
	{"Dropout", 1, 1, 1, load_dropout, NULL},
	{"ELU", 1, 1, 1, load_elu, NULL},
	{"Eltwise", 2, CAFFE_MANY, 1, load_eltwise, NULL},
	{"Exp", 1, 1, 1, load_exp, NULL},
	{"Log", 1, 1, 1, load_log, NULL},
	{"PReLU", 1, 1, 1, load_prelu, NULL},
	{"Power", 1, 1, 1, load_power, NULL},
	{"ReLU", 1, 1, 1, load_relu, NULL},
	{"ReLU6", 1, 1, 1, load_relu6, NULL},
	{"Scale", 1, 2, 1, load_scale, NULL},
	{"Sigmoid", 1, 1, 1, load_sigmoid, NULL},
	{"Softmax", 1, 1, 1, load_softmax, NULL},
	{"Swish", 1, 1, 1, load_swish, NULL},
	{"TanH", 1, 1, 1, load_tanh, NULL},
	{"Threshold", 1, 1, 1, load_threshold, NULL},
	{0},
};
