/*
 * Operators between DequantizeLinear and QuantizeLinear become integer operators of
 * the native engine: a convolution, MatMul or Gemm with constant weights, Add, Sub and
 * Mul, functions of one tensor as tables, and operators that only move elements. A
 * Relu or Clip becomes limits. A node of the file becomes the integer node, which
 * makes the QuantizeLinear's output; a DequantizeLinear that nothing reads any more
 * goes.
 *
 * The integer operators have no other engine: a node is changed only if the native
 * engine computes it with all shapes. Bytes differ from those of the separate nodes at
 * ties, by one. The pass runs before `fold`, which makes floats of quantized weights.
 */
#include "graph/op/quantized/quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/window/window.h"
#include "graph/pass/links.h"
#include "graph/pass/pass.h"
#include "graph/pass/quantized.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO, BIAS, INPUTS };
enum { MOST_TERMS = 33000 }; /* a sum of 32 bits: MSD_NATIVE_TERMS */

struct quantizer {
	const struct msd_pass_job *job;
	struct msd_links links;
	size_t n;
};

/* The parts of an integer node. */
struct made {
	const char *op;
	modser_sg_tensor *inputs[INPUTS];
	struct msd_quantized_tail tail;
	bool has_limits;
	const char *param; /* NULL: none */
	int64_t value;     /* of param */
};

static int set_param(modser_sg_op *op, const char *name, float value)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_FLOAT, .as.f = value};

	return modser_sg_op_set_param(op, name, &a);
}

/* Parameters that both operators have stay. */
static modser_sg_op *make_op(const modser_sg_node *node, const struct made *m)
{
	modser_sg_op *op = modser_sg_op_create(node->graph, m->op);

	for (size_t i = 0; op != NULL && i < op->schema->n_fields; i++) {
		const char *name = op->schema->fields[i].name;
		const modser_sg_attr *old = modser_sg_op_param(node->op, name);

		if (old != NULL && modser_sg_op_set_param(op, name, old) != 0)
			return NULL;
	}
	if (op == NULL ||
	    (m->param != NULL && modser_sg_op_set_int(op, m->param, m->value) != 0))
		return NULL;
	if (m->has_limits && (set_param(op, "low", m->tail.low) != 0 ||
			      set_param(op, "high", m->tail.high) != 0))
		return NULL;
	return op;
}

static bool may_make(const struct quantizer *q, const modser_sg_node *node,
		     const struct made *m)
{
	const struct msd_quantized_tail *t = &m->tail;

	for (size_t i = 0; i < t->n; i++) {
		if (!q->job->host.may_make(t->nodes[i], m->op))
			return false;
	}
	return q->job->host.may_make(node, m->op);
}

static void take_tail(modser_sg_node *node, const struct msd_quantized_tail *t)
{
	for (size_t i = 0; i < t->n; i++)
		msd_sg_merge(t->nodes[i], node);
	if (t->n > 0)
		msd_sg_give_output(node, 0, t->y);
}

/* Turn @node into the integer node. */
static int make(struct quantizer *q, modser_sg_node *node, const struct made *m)
{
	size_t n = INPUTS;

	if (!may_make(q, node, m))
		return 0;
	modser_sg_op *op = make_op(node, m);
	if (op == NULL)
		return -1;
	while (n > 0 && m->inputs[n - 1] == NULL)
		n--;
	take_tail(node, &m->tail);
	msd_sg_node_take_op(node, op);
	node->n_inputs = 0;
	for (size_t i = 0; i < n; i++) {
		if (modser_sg_node_add_input(node, m->inputs[i]) < 0)
			return -1;
	}
	q->n++;
	return 0;
}

static void set_operand(struct made *m, size_t at, const struct msd_quantized *x)
{
	m->inputs[at] = x->x;
	m->inputs[at + 1] = x->scale;
	m->inputs[at + 2] = x->zero;
}

static void set_tail(struct made *m)
{
	m->has_limits = true;
	m->inputs[Y_SCALE] = m->tail.to.scale;
	m->inputs[Y_ZERO] = m->tail.to.scale != NULL ? m->tail.to.zero : NULL;
}

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

static int make_floats(const struct quantizer *q, const struct msd_quantized *b,
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
static int find_bias(const struct quantizer *q, modser_sg_tensor *t,
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

static int visit_convolution(struct quantizer *q, modser_sg_node *node)
{
	struct made m = {.op = MSD_QUANTIZED_CONVOLUTION};
	struct msd_quantized x, w;
	size_t terms = 1;
	bool fits = false;

	if (modser_sg_op_int(node->op, "activation") != -1 ||
	    !msd_quantized_from_one(node->inputs[0], &x) ||
	    !is_weights(node->inputs[1], 0, &w) || w.x->ndim < 3)
		return 0;
	for (int i = 1; i < w.x->ndim; i++) {
		terms *= (size_t)w.x->dims[i];
		if (terms == 0 || terms > MOST_TERMS)
			return 0;
	}
	if (find_bias(q, node->n_inputs > 2 ? node->inputs[2] : NULL, &x, &w,
		      (size_t)w.x->dims[0], terms, &m.inputs[BIAS], &fits) != 0)
		return -1;
	if (!fits)
		return 0;
	msd_quantized_follow(&q->links, node->outputs[0], &m.tail);
	set_operand(&m, A, &x);
	set_operand(&m, B, &w);
	set_tail(&m);
	return make(q, node, &m);
}

/* A vector that is added to the product, from then on its bias. */
static modser_sg_tensor *find_addend(const struct quantizer *q, struct made *m,
				     modser_sg_tensor *y, size_t n)
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

static int visit_matrix(struct quantizer *q, modser_sg_node *node)
{
	const bool is_gemm = msd_links_is_op(node, "Gemm");
	const bool is_turned = is_gemm && modser_sg_op_int(node->op, "transB") != 0;
	struct made m = {.op = MSD_QUANTIZED_MAT_MUL};
	modser_sg_tensor *y = node->outputs[0];
	struct msd_quantized x, w;
	bool fits = false;

	if (is_gemm && (modser_sg_op_float(node->op, "alpha") != 1 ||
			modser_sg_op_float(node->op, "beta") != 1 ||
			modser_sg_op_int(node->op, "transA") != 0))
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
	if (find_bias(q, bias, &x, &w, n, terms, &m.inputs[BIAS], &fits) != 0)
		return -1;
	if (!fits)
		return 0;
	msd_quantized_follow(&q->links, m.tail.n > 0 ? m.tail.nodes[0]->outputs[0] : y,
			     &m.tail);
	set_operand(&m, A, &x);
	set_operand(&m, B, &w);
	set_tail(&m);
	return make(q, node, &m);
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
static int visit_dynamic(struct quantizer *q, modser_sg_node *node)
{
	const modser_sg_node *a =
		node->inputs[0] != NULL ? node->inputs[0]->producer : NULL;
	struct made m = {.op = MSD_QUANTIZED_MAT_MUL, .has_limits = true};
	modser_sg_node *cast = msd_links_only(&q->links, node->outputs[0]);

	if (a == NULL || cast == NULL || !has_dynamic_operands(node, a) ||
	    !msd_links_is_op(cast, "Cast"))
		return 0;
	const char *to = modser_sg_op_param(cast->op, "to")->as.s;
	modser_sg_node *mul = msd_links_only(&q->links, cast->outputs[0]);
	if (strcmp(to, "float32") != 0 || mul == NULL || !msd_links_is_op(mul, "Mul") ||
	    mul->n_inputs != 2)
		return 0;
	const size_t n = (size_t)node->inputs[1]->dims[1];
	const size_t at = mul->inputs[0] == cast->outputs[0] ? 1 : 0;
	if (!is_unit(mul->inputs[at], a->outputs[1], n, &m.inputs[B_SCALE]))
		return 0;
	m.tail.nodes[m.tail.n++] = cast;
	m.tail.nodes[m.tail.n++] = mul;
	m.tail.y = mul->outputs[0];
	m.inputs[BIAS] = find_addend(q, &m, m.tail.y, n);
	if (m.inputs[BIAS] != NULL)
		m.tail.y = m.tail.nodes[2]->outputs[0];
	m.tail.low = -INFINITY;
	m.tail.high = INFINITY;
	m.inputs[A] = a->outputs[0];
	m.inputs[A_SCALE] = a->outputs[1];
	m.inputs[A_ZERO] = a->outputs[2];
	m.inputs[B] = node->inputs[1];
	m.inputs[B_ZERO] = node->n_inputs > 3 ? node->inputs[3] : NULL;
	return make(q, node, &m);
}

static int visit_binary(struct quantizer *q, modser_sg_node *node)
{
	struct made m = {.op = MSD_QUANTIZED_BINARY, .param = "kind"};
	struct msd_quantized a, b;

	if (node->n_inputs != 2 || !msd_quantized_from_one(node->inputs[0], &a) ||
	    !msd_quantized_from_one(node->inputs[1], &b))
		return 0;
	msd_quantized_follow(&q->links, node->outputs[0], &m.tail);
	if (m.tail.to.scale == NULL)
		return 0;
	m.value = msd_links_is_op(node, "Add")   ? MSD_QUANTIZED_ADD
		  : msd_links_is_op(node, "Sub") ? MSD_QUANTIZED_SUB
						 : MSD_QUANTIZED_MUL;
	set_operand(&m, A, &a);
	set_operand(&m, B, &b);
	set_tail(&m);
	return make(q, node, &m);
}

static int add_table(const struct quantizer *q, const modser_sg_node *function,
		     const struct msd_quantized *from, const struct msd_quantized *to,
		     modser_sg_tensor **ret)
{
	const int64_t dims[] = {256};
	uint8_t *table = malloc(256);

	if (table == NULL)
		return msd_sg_no_memory(q->job->g);
	msd_quantized_table(function, from, to, table);
	*ret = msd_sg_add_const(q->job->g, to->scale->name, to->dtype, dims, 1, table);
	if (*ret == NULL)
		free(table);
	return *ret != NULL ? 0 : -1;
}

/* A function of one tensor, or a QuantizeLinear of a DequantizeLinear. */
static int visit_function(struct quantizer *q, modser_sg_node *node)
{
	const bool is_plain = msd_links_is_op(node, "QuantizeLinear");
	struct made m = {.op = MSD_QUANTIZED_TABLE};
	struct msd_quantized x, to;
	modser_sg_node *next =
		is_plain ? node : msd_links_only(&q->links, node->outputs[0]);

	if (!msd_quantized_from_one(node->inputs[0], &x) || next == NULL ||
	    !msd_quantized_to(next, &to) || (!is_plain && to.x != node->outputs[0]))
		return 0;
	if (!is_plain) {
		m.tail = (struct msd_quantized_tail){
			.y = next->outputs[0], .nodes = {next}, .n = 1};
	}
	if (!may_make(q, node, &m))
		return 0;
	m.inputs[0] = x.x;
	if (add_table(q, is_plain ? NULL : node, &x, &to, &m.inputs[1]) != 0)
		return -1;
	return make(q, node, &m);
}

/* A new node that gives @x the numbers of @to. */
static int add_change(const struct quantizer *q, const struct msd_quantized *x,
		      const struct msd_quantized *to, modser_sg_tensor **ret)
{
	modser_graph *g = q->job->g;
	modser_sg_tensor *table = NULL;

	if (add_table(q, NULL, x, to, &table) != 0)
		return -1;
	modser_sg_node *node = modser_sg_node_create(g, x->x->name);
	modser_sg_op *op =
		node != NULL ? modser_sg_op_create(g, MSD_QUANTIZED_TABLE) : NULL;
	modser_sg_tensor *y =
		op != NULL ? modser_sg_tensor_create(g, x->x->name) : NULL;

	if (y == NULL || modser_sg_node_add_input(node, x->x) < 0 ||
	    modser_sg_node_add_input(node, table) < 0 ||
	    modser_sg_node_add_output(node, y) < 0)
		return -1;
	msd_sg_node_take_op(node, op);
	*ret = y;
	return 0;
}

/* An operator that moves elements moves bytes instead; inputs of other numbers get a
 * table first. @all: each input has elements, else only the first. */
static int visit_move(struct quantizer *q, modser_sg_node *node, bool all)
{
	const size_t n = all ? node->n_inputs : 1;
	modser_sg_node *next = node->n_outputs == 1
				       ? msd_links_only(&q->links, node->outputs[0])
				       : NULL;
	struct msd_quantized x, to;

	if (next == NULL || !msd_quantized_to(next, &to) || to.x != node->outputs[0] ||
	    !q->job->host.may_make(node, MSD_QUANTIZED_TABLE) ||
	    !q->job->host.may_make(next, MSD_QUANTIZED_TABLE))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!msd_quantized_from_one(node->inputs[i], &x))
			return 0;
	}
	for (size_t i = 0; i < n; i++) {
		(void)msd_quantized_from_one(node->inputs[i], &x);
		node->inputs[i] = x.x;
		if (!msd_quantized_is_same(&x, &to) &&
		    add_change(q, &x, &to, &node->inputs[i]) != 0)
			return -1;
	}
	modser_sg_tensor *y = next->outputs[0];
	msd_sg_merge(next, node);
	msd_sg_give_output(node, 0, y);
	q->n++;
	return 0;
}

static int visit(struct quantizer *q, modser_sg_node *node)
{
	static const char *const moves[] = {"Reshape",   "Flatten",   "Squeeze",
					    "Unsqueeze", "Transpose", "Permute",
					    "Slice"};

	if (node->op == NULL || node->n_inputs == 0 || node->n_outputs == 0 ||
	    node->outputs[0] == NULL)
		return 0;
	if (msd_links_is_op(node, "Convolution"))
		return visit_convolution(q, node);
	if (msd_links_is_op(node, "MatMul") || msd_links_is_op(node, "Gemm"))
		return visit_matrix(q, node);
	if (msd_links_is_op(node, "MatMulInteger"))
		return visit_dynamic(q, node);
	if (msd_links_is_op(node, "Add") || msd_links_is_op(node, "Sub") ||
	    msd_links_is_op(node, "Mul"))
		return visit_binary(q, node);
	if (msd_links_is_op(node, "QuantizeLinear") || msd_quantized_has_function(node))
		return visit_function(q, node);
	if (msd_links_is_op(node, "Concat"))
		return visit_move(q, node, true);
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (msd_links_is_op(node, moves[i]))
			return visit_move(q, node, false);
	}
	return 0;
}

/* Take out each DequantizeLinear that nothing reads any more. */
static int drop_unread(struct quantizer *q)
{
	modser_graph *g = q->job->g;

	msd_links_finish(&q->links);
	if (msd_links_init(&q->links, q->job) != 0)
		return -1;
	for (size_t i = 0; i < g->n_nodes; i++) {
		modser_sg_node *node = g->nodes[i];

		if ((msd_links_is_op(node, "DequantizeLinear") ||
		     msd_links_is_op(node, "Mul")) &&
		    q->links.readers[node->outputs[0]->index].n == 0)
			msd_sg_take_out(node);
	}
	return 0;
}

static int run(const struct msd_pass_job *job, size_t *ret_n)
{
	const size_t n_nodes = job->g->n_nodes; /* new ones are finished */
	struct quantizer q = {.job = job};
	int result = 0;

	if (job->host.may_make == NULL)
		return 0;
	result = msd_links_init(&q.links, job);
	for (size_t i = 0; result == 0 && i < n_nodes; i++)
		result = visit(&q, job->g->nodes[job->order[i]]);
	if (result == 0 && q.n > 0)
		result = drop_unread(&q);
	msd_links_finish(&q.links);
	*ret_n += q.n;
	return result;
}

const struct msd_pass msd_pass_quantize = {"nodes computed in integers",
					   {MSD_QUANTIZED_CONVOLUTION,
					    MSD_QUANTIZED_MAT_MUL, MSD_QUANTIZED_BINARY,
					    MSD_QUANTIZED_TABLE},
					   run};
