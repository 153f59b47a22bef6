/* Convolutions and products of matrices with constant weights, as integer nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/element/params.h"
#include "graph/op/layer/params.h"
#include "graph/op/quantized/quantize.h"
#include "graph/op/window/params.h"
#include "graph/op/window/window.h"
#include "graph/pass/quantizer.h"

enum { MOST_TERMS = 33000 }; /* a sum of 32 bits: MSD_NATIVE_TERMS */

/* True if @b, int32 in units of the product of both scales, may be added to the sums
 * in 32 bits. */
static bool adds_to_sums(const struct msd_quantized *b, const struct msd_quantized *x,
			 const struct msd_quantized *w, size_t n, size_t terms)
{
	const int64_t room = INT32_MAX - (int64_t)terms * 255 * 255;

	for (size_t i = 0; i < n; i++) {
		const double unit = (double)msd_quantized_scale(x, 0) *
				    (double)msd_quantized_scale(w, i);

		if (fabs((double)msd_quantized_scale(b, i) - unit) > unit * 1e-5 ||
		    msd_quantized_zero(b, i) != 0 ||
		    llabs(((const int32_t *)b->x->data)[i]) > room)
			return false;
	}
	return true;
}

static int make_floats(const struct msd_quantizer *q, const struct msd_quantized *b,
		       size_t n, modser_sg_tensor **ret)
{
	const int64_t dims[] = {(int64_t)n};
	const struct msd_dtype f32 = {MSD_DT_FLOAT, 32, 1};
	float *data = malloc(n * sizeof(*data));

	if (data == NULL)
		return msd_sg_no_memory(q->job->g);
	for (size_t i = 0; i < n; i++) {
		const int64_t v = (int64_t)((const int32_t *)b->x->data)[i] -
				  msd_quantized_zero(b, i);

		data[i] = (float)((double)v * (double)msd_quantized_scale(b, i));
	}
	*ret = msd_sg_add_const(q->job->g, b->x->name, f32, dims, 1, data);
	if (*ret == NULL)
		free(data);
	return *ret != NULL ? 0 : -1;
}

/* The bias @t of @n elements for the integer node: *@ret_fits is false if it cannot
 * have one. */
static int find_bias(const struct msd_quantizer *q, modser_sg_tensor *t,
		     const struct msd_quantized *x, const struct msd_quantized *w,
		     size_t n, size_t terms, modser_sg_tensor **ret, bool *ret_fits)
{
	struct msd_quantized b;

	*ret = t;
	*ret_fits = true;
	if (t == NULL ||
	    (msd_quantized_is_const(t, true, 32) && t->bytes == n * sizeof(float)))
		return 0;
	*ret_fits = msd_quantized_from(t, &b) && b.dtype.code == MSD_DT_INT &&
		    b.dtype.bits == 32 && msd_quantized_is_const(b.x, false, 32) &&
		    b.x->ndim == 1 && b.x->bytes == n * sizeof(int32_t) &&
		    (msd_quantized_count(&b) == 1 || msd_quantized_count(&b) == n);
	if (!*ret_fits)
		return 0;
	if (!adds_to_sums(&b, x, w, n, terms))
		return make_floats(q, &b, n, ret);
	*ret = b.x;
	return 0;
}

/* Constant weights with a scale, or one for each of their @n positions of @axis. */
static bool is_weights(const modser_sg_tensor *t, int64_t axis, struct msd_quantized *w)
{
	if (!msd_quantized_from(t, w) || !msd_quantized_is_const(w->x, false, 8) ||
	    w->x->ndim < 2)
		return false;
	const int64_t at = w->axis < 0 ? w->axis + w->x->ndim : w->axis;
	return msd_quantized_count(w) == 1 ||
	       (at == axis && msd_quantized_count(w) == (size_t)w->x->dims[axis]);
}

int msd_quantize_convolution(struct msd_quantizer *q, modser_sg_node *node)
{
	struct msd_quantizer_made m = {.op = MSD_QUANTIZED_CONVOLUTION};
	struct msd_quantized x, w;
	size_t terms = 1;
	bool fits = false;

	if (msd_params_convolution(node).activation != -1 ||
	    !msd_quantized_from_one(node->inputs[0], &x) ||
	    !is_weights(node->inputs[1], 0, &w) || w.x->ndim < 3)
		return 0;
	for (int i = 1; i < w.x->ndim; i++) {
		terms *= (size_t)w.x->dims[i];
		if (terms == 0 || terms > MOST_TERMS)
			return 0;
	}
	if (find_bias(q, node->n_inputs > 2 ? node->inputs[2] : NULL, &x, &w,
		      (size_t)w.x->dims[0], terms, &m.inputs[MSD_QUANTIZED_BIAS],
		      &fits) != 0)
		return -1;
	if (!fits)
		return 0;
	msd_quantized_follow(&q->links, node->outputs[0], &m.tail);
	msd_quantizer_operand(&m, MSD_QUANTIZED_A, &x);
	msd_quantizer_operand(&m, MSD_QUANTIZED_B, &w);
	msd_quantizer_end(&m);
	return msd_quantizer_make(q, node, &m);
}

/* A vector that is added to the product, from then on its bias. */
static modser_sg_tensor *find_addend(const struct msd_quantizer *q,
				     struct msd_quantizer_made *m, modser_sg_tensor *y,
				     size_t n)
{
	modser_sg_node *add = msd_links_only(&q->links, y);

	if (!msd_links_is_op(add, "Add") || add->n_inputs != 2)
		return NULL;
	modser_sg_tensor *b = add->inputs[add->inputs[0] == y ? 1 : 0];
	if (!msd_quantized_is_const(b, true, 32) || b->ndim != 1 ||
	    b->bytes != n * sizeof(float))
		return NULL;
	m->tail.nodes[m->tail.n++] = add;
	return b;
}

int msd_quantize_matrix(struct msd_quantizer *q, modser_sg_node *node)
{
	const bool is_gemm = msd_links_is_op(node, "Gemm");
	const bool is_turned = is_gemm && msd_params_gemm(node).transB != 0;
	struct msd_quantizer_made m = {.op = MSD_QUANTIZED_MAT_MUL};
	modser_sg_tensor *y = node->outputs[0];
	struct msd_quantized x, w;
	bool fits = false;

	if (is_gemm &&
	    (msd_params_gemm(node).alpha != 1 || msd_params_gemm(node).beta != 1 ||
	     msd_params_gemm(node).transA != 0))
		return 0;
	if (!msd_quantized_from_one(node->inputs[0], &x) ||
	    !is_weights(node->inputs[1], is_turned ? 0 : 1, &w) || w.x->ndim != 2)
		return 0;
	const size_t n = (size_t)w.x->dims[is_turned ? 0 : 1];
	const size_t terms = (size_t)w.x->dims[is_turned ? 1 : 0];
	modser_sg_tensor *bias = node->n_inputs > 2 ? node->inputs[2] : NULL;
	if (terms == 0 || terms > MOST_TERMS || n == 0)
		return 0;
	if (bias == NULL)
		bias = find_addend(q, &m, y, n);
	if (find_bias(q, bias, &x, &w, n, terms, &m.inputs[MSD_QUANTIZED_BIAS],
		      &fits) != 0)
		return -1;
	if (!fits)
		return 0;
	msd_quantized_follow(&q->links, m.tail.n > 0 ? m.tail.nodes[0]->outputs[0] : y,
			     &m.tail);
	msd_quantizer_operand(&m, MSD_QUANTIZED_A, &x);
	msd_quantizer_operand(&m, MSD_QUANTIZED_B, &w);
	msd_quantizer_end(&m);
	return msd_quantizer_make(q, node, &m);
}

/* The product of two scales: a is that of a DynamicQuantizeLinear, b a constant. */
static bool is_unit(const modser_sg_tensor *t, const modser_sg_tensor *a, size_t n,
		    modser_sg_tensor **ret)
{
	const modser_sg_node *mul = t != NULL ? t->producer : NULL;

	if (mul == NULL || !msd_links_is_op(mul, "Mul") || mul->n_inputs != 2)
		return false;
	const size_t at = mul->inputs[0] == a ? 1 : 0;
	*ret = mul->inputs[at];
	return mul->inputs[1 - at] == a && msd_quantized_is_const(*ret, true, 32) &&
	       (*ret)->ndim <= 1 &&
	       ((*ret)->bytes == sizeof(float) || (*ret)->bytes == n * sizeof(float));
}

/* The numbers of a product without an output yet, as dynamic quantization writes them:
 * DynamicQuantizeLinear of a, constant b. */
static bool has_dynamic_operands(const modser_sg_node *node, const modser_sg_node *a)
{
	const modser_sg_tensor *b = node->inputs[1];
	const modser_sg_tensor *zero = node->n_inputs > 3 ? node->inputs[3] : NULL;

	return msd_links_is_op(a, "DynamicQuantizeLinear") && a->n_outputs == 3 &&
	       node->n_inputs > 2 && node->inputs[0] == a->outputs[0] &&
	       node->inputs[2] == a->outputs[2] && a->outputs[1] != NULL &&
	       node->inputs[2] != NULL && msd_quantized_is_const(b, false, 8) &&
	       b->ndim == 2 && b->dims[0] > 0 && b->dims[0] <= MOST_TERMS &&
	       b->dims[1] > 0 &&
	       (zero == NULL || (msd_quantized_is_const(zero, false, 8) &&
				 (zero->bytes == 1 ||
				  (zero->ndim == 1 && zero->dims[0] == b->dims[1]))));
}

/* MatMulInteger, Cast, Mul with both scales, Add of a vector: floats. */
int msd_quantize_dynamic(struct msd_quantizer *q, modser_sg_node *node)
{
	const modser_sg_node *a =
		node->inputs[0] != NULL ? node->inputs[0]->producer : NULL;
	struct msd_quantizer_made m = {.op = MSD_QUANTIZED_MAT_MUL, .has_limits = true};
	modser_sg_node *cast = msd_links_only(&q->links, node->outputs[0]);

	if (a == NULL || cast == NULL || !has_dynamic_operands(node, a) ||
	    !msd_links_is_op(cast, "Cast"))
		return 0;
	const char *to = msd_params_cast(cast).to;
	modser_sg_node *mul = msd_links_only(&q->links, cast->outputs[0]);
	if (strcmp(to, "float32") != 0 || mul == NULL || !msd_links_is_op(mul, "Mul") ||
	    mul->n_inputs != 2)
		return 0;
	const size_t n = (size_t)node->inputs[1]->dims[1];
	const size_t at = mul->inputs[0] == cast->outputs[0] ? 1 : 0;
	if (!is_unit(mul->inputs[at], a->outputs[1], n,
		     &m.inputs[MSD_QUANTIZED_B_SCALE]))
		return 0;
	m.tail.nodes[m.tail.n++] = cast;
	m.tail.nodes[m.tail.n++] = mul;
	m.tail.y = mul->outputs[0];
	m.inputs[MSD_QUANTIZED_BIAS] = find_addend(q, &m, m.tail.y, n);
	if (m.inputs[MSD_QUANTIZED_BIAS] != NULL)
		m.tail.y = m.tail.nodes[2]->outputs[0];
	m.tail.low = -INFINITY;
	m.tail.high = INFINITY;
	m.inputs[MSD_QUANTIZED_A] = a->outputs[0];
	m.inputs[MSD_QUANTIZED_A_SCALE] = a->outputs[1];
	m.inputs[MSD_QUANTIZED_A_ZERO] = a->outputs[2];
	m.inputs[MSD_QUANTIZED_B] = node->inputs[1];
	m.inputs[MSD_QUANTIZED_B_ZERO] = node->n_inputs > 3 ? node->inputs[3] : NULL;
	return msd_quantizer_make(q, node, &m);
}
