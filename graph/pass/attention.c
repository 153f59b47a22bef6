/*
 * Exporters write attention as its formula. The nodes of one formula become one
 * FusedAttention, if nothing else reads the tensors between: an engine computes it
 * without a matrix of all scores. Only for an engine that has this operator: others
 * keep the bits of the formula.
 *
 *   softmax(where(flags, queries x keys * scale, fill) + mask) x values
 *
 * The flags, the mask and the scale are optional. The scale may be at the queries and
 * the keys. Transposes at both ends are taken, too. Shapes may be open: the operator
 * broadcasts as the formula does.
 */
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/attention/fused.h"
#include "graph/pass/fusion.h"
#include "graph/pass/rank.h"

enum { MOST = 24 }; /* nodes of a formula */

/* An order of axes; @n is 0: as they are. */
struct order {
	size_t n;
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
};

/* One of queries, keys and values, before it is transposed. */
struct operand {
	modser_sg_tensor *t;
	struct order order;
};

struct formula {
	const struct msd_fusion *f;
	modser_sg_node *nodes[MOST]; /* in any order; the last one stays */
	size_t n;
	struct operand q, k, v;
	struct order y_order;
	modser_sg_tensor *mask, *flags;
	modser_sg_tensor *factors[2];
	size_t n_factors;
	float scale, fill;
	bool is_scaled, hides, is_safe;
	bool is_single; /* a constant says that it is of float32 */
};

static bool take(struct formula *m, modser_sg_node *node, const char *op, size_t n_in)
{
	if (!msd_links_is_op(node, op) || node->n_inputs != n_in || m->n == MOST ||
	    !m->f->job->host.may_make(node, MSD_FUSED_ATTENTION))
		return false;
	m->nodes[m->n++] = node;
	return true;
}

static bool is_read_once(const struct formula *m, const modser_sg_tensor *t)
{
	return t->producer != NULL && msd_links_only(&m->f->links, t) != NULL;
}

/* A number that stretches no tensor. */
static bool is_constant(struct formula *m, const modser_sg_tensor *t, float *ret)
{
	if (!msd_fusion_scalar(t, ret) || t->ndim > 2)
		return false;
	m->is_single = true;
	return true;
}

/* *@t is a product with a number, or a quotient: it becomes the other operand. */
static bool take_scale(struct formula *m, modser_sg_tensor **t)
{
	modser_sg_node *node = (*t)->producer;
	const bool is_div = msd_links_is_op(node, "Div");
	float by;

	if (!is_div && !msd_links_is_op(node, "Mul"))
		return false;
	for (size_t i = is_div ? 1 : 0; i < 2; i++) {
		modser_sg_tensor *number = node->inputs[i];
		const bool is_by = is_constant(m, number, &by);

		if (!is_by && (is_div || m->n_factors == 2 ||
			       !msd_rank_is_number(number, &m->is_single)))
			continue;
		if (!take(m, node, is_div ? "Div" : "Mul", 2))
			return false;
		if (is_by) {
			m->scale = is_div ? m->scale / by : m->scale * by;
		} else {
			m->factors[m->n_factors++] = number;
		}
		m->is_scaled = true;
		*t = node->inputs[1 - i];
		return true;
	}
	return false;
}

/* False: the order is not known, or cannot be. */
static bool read_order(const modser_sg_node *node, struct order *ret)
{
	const modser_sg_attr *perm = modser_sg_op_param(node->op, "perm");

	if (perm->n == 0 || perm->n > MODSER_GRAPH_MAX_NDIM)
		return false;
	ret->n = perm->n;
	for (size_t i = 0; i < perm->n; i++) {
		ret->axes[i] = perm->as.ints[i];
		if (ret->axes[i] < 0 || (size_t)ret->axes[i] >= perm->n)
			return false;
	}
	return true;
}

static bool take_transpose(struct formula *m, struct operand *o)
{
	modser_sg_node *node = o->t->producer;
	struct order inner;

	if (!msd_links_is_op(node, "Transpose") || !read_order(node, &inner) ||
	    (o->order.n != 0 && o->order.n != inner.n) ||
	    !take(m, node, "Transpose", 1))
		return false;
	for (size_t i = 0; i < o->order.n; i++)
		o->order.axes[i] = inner.axes[o->order.axes[i]];
	if (o->order.n == 0)
		o->order = inner;
	o->t = node->inputs[0];
	return true;
}

static void strip(struct formula *m, struct operand *o, bool has_scale)
{
	while (is_read_once(m, o->t) &&
	       (take_transpose(m, o) || (has_scale && take_scale(m, &o->t))))
		continue;
}

static bool find_scores(struct formula *m, modser_sg_tensor *t);

/* Scores are one operand of the Add, and the mask is the other one. */
static bool find_masked(struct formula *m, modser_sg_node *add)
{
	if (m->mask != NULL || m->flags != NULL || m->is_scaled ||
	    !take(m, add, "Add", 2))
		return false;
	const struct formula before = *m;
	for (size_t i = 0; i < 2; i++) {
		*m = before;
		m->mask = add->inputs[1 - i];
		if (m->mask != add->inputs[i] && find_scores(m, add->inputs[i]))
			return true;
	}
	return false;
}

static bool find_flagged(struct formula *m, modser_sg_node *where)
{
	if (m->flags != NULL || m->is_scaled || !take(m, where, "Where", 3))
		return false;
	m->flags = where->inputs[0];
	m->hides = is_constant(m, where->inputs[1], &m->fill);
	if (!m->hides && !is_constant(m, where->inputs[2], &m->fill))
		return false;
	return find_scores(m, where->inputs[m->hides ? 2 : 1]);
}

static bool find_scores(struct formula *m, modser_sg_tensor *t)
{
	modser_sg_node *node = t->producer;

	if (!is_read_once(m, t))
		return false;
	if (msd_links_is_op(node, "Add"))
		return find_masked(m, node);
	if (msd_links_is_op(node, "Where"))
		return find_flagged(m, node);
	if (take_scale(m, &t))
		return find_scores(m, t);
	if (!take(m, node, "MatMul", 2) || node->inputs[0] == node->inputs[1])
		return false;
	m->q.t = node->inputs[0];
	m->k.t = node->inputs[1];
	return true;
}

/* Where(IsNaN(shares), 0, shares): the result, or @shares. */
static modser_sg_tensor *find_guard(struct formula *m, modser_sg_tensor *shares)
{
	const struct msd_readers *r = &m->f->links.readers[shares->index];
	float zero;

	for (size_t i = 0; r->n == 2 && i < 2; i++) {
		modser_sg_node *test = r->first[i];
		modser_sg_node *where = r->first[1 - i];

		if (!msd_links_is_op(test, "IsNaN") ||
		    !msd_links_is_op(where, "Where") || where->n_inputs != 3 ||
		    where->inputs[0] != test->outputs[0] ||
		    where->inputs[2] != shares || !is_read_once(m, test->outputs[0]) ||
		    !is_constant(m, where->inputs[1], &zero) || zero != 0 ||
		    !take(m, test, "IsNaN", 1) || !take(m, where, "Where", 3))
			continue;
		m->is_safe = true;
		return where->outputs[0];
	}
	return shares;
}

static bool is_last_axis(const struct formula *m, const modser_sg_node *softmax)
{
	const int64_t axis = modser_sg_op_int(softmax->op, "axis");
	const int rank = msd_rank_of(m->f, softmax->inputs[0]);

	return axis == -1 || (rank > 0 && axis == rank - 1);
}

/* From the shares on: the values, and the order of the result. */
static bool find_values(struct formula *m, modser_sg_node *softmax)
{
	modser_sg_tensor *shares = find_guard(m, softmax->outputs[0]);
	modser_sg_node *product = msd_links_only(&m->f->links, shares);

	if (product == NULL || !take(m, product, "MatMul", 2) ||
	    product->inputs[0] != shares || product->inputs[1] == shares)
		return false;
	m->v.t = product->inputs[1];
	strip(m, &m->v, false);
	/* The product stays, unless a Transpose does. */
	modser_sg_node *last = product;
	modser_sg_node *turn = msd_links_only(&m->f->links, product->outputs[0]);
	if (msd_links_is_op(turn, "Transpose") && read_order(turn, &m->y_order) &&
	    m->y_order.axes[m->y_order.n - 1] == (int64_t)m->y_order.n - 1 &&
	    take(m, turn, "Transpose", 1)) {
		last = turn;
	} else {
		m->y_order.n = 0;
	}
	for (size_t i = 0; i < m->n; i++) {
		if (m->nodes[i] == last)
			m->nodes[i] = m->nodes[m->n - 1];
	}
	m->nodes[m->n - 1] = last;
	return true;
}

static bool is_matrix(const struct formula *m, const struct operand *o)
{
	return o->order.n >= 2 || msd_rank_of(m->f, o->t) >= 2;
}

/* Constant keys or values are packed once as products, but here in each run. */
static bool find(struct formula *m, modser_sg_node *softmax)
{
	if (!take(m, softmax, "Softmax", 1) || !is_last_axis(m, softmax) ||
	    !find_scores(m, softmax->inputs[0]))
		return false;
	strip(m, &m->q, true);
	strip(m, &m->k, true);
	return find_values(m, softmax) && is_matrix(m, &m->q) && is_matrix(m, &m->k) &&
	       is_matrix(m, &m->v) && m->k.t->type != MODSER_TENSOR_CONST &&
	       m->v.t->type != MODSER_TENSOR_CONST &&
	       (m->is_single || msd_rank_is_single(m->f, m->q.t));
}

static int set_order(modser_sg_op *op, const char *name, const struct order *order)
{
	const modser_sg_attr a = {MODSER_ATTR_INTS, order->n, {.ints = order->axes}};

	return order->n == 0 ? 0 : modser_sg_op_set_param(op, name, &a);
}

static modser_sg_op *create_op(const struct formula *m, modser_graph *g)
{
	modser_sg_op *op = modser_sg_op_create(g, MSD_FUSED_ATTENTION);

	if (op == NULL || set_order(op, "q_perm", &m->q.order) != 0 ||
	    set_order(op, "k_perm", &m->k.order) != 0 ||
	    set_order(op, "v_perm", &m->v.order) != 0 ||
	    set_order(op, "y_perm", &m->y_order) != 0 ||
	    msd_sg_set_float(op, "scale", m->scale) != 0 ||
	    msd_sg_set_float(op, "fill", m->fill) != 0 ||
	    modser_sg_op_set_int(op, "hides", m->hides) != 0 ||
	    modser_sg_op_set_int(op, "is_safe", m->is_safe) != 0)
		return NULL;
	return op;
}

static int become(struct formula *m)
{
	modser_sg_tensor *const in[MSD_FUSED_ATTENTION_INPUTS] = {
		m->q.t,   m->k.t,        m->v.t,       m->mask,
		m->flags, m->factors[0], m->factors[1]};

	return msd_fusion_become(m->nodes, m->n, create_op(m, m->f->job->g), in,
				 MSD_FUSED_ATTENTION_INPUTS);
}

static int run(const struct msd_pass_job *job, size_t *ret_n)
{
	const size_t n_nodes = job->g->n_nodes;
	struct msd_fusion f;

	if (job->host.may_make == NULL)
		return 0;
	int result = msd_fusion_init(&f, job);
	for (size_t i = 0; result == 0 && i < n_nodes; i++) {
		modser_sg_node *node = job->g->nodes[job->order[i]];
		struct formula m = {.f = &f, .scale = 1};

		if (msd_links_is_op(node, "Softmax") && find(&m, node)) {
			++*ret_n;
			result = become(&m);
		}
	}
	msd_fusion_finish(&f);
	return result;
}

const struct msd_pass msd_pass_attention = {
	"attention made of its formula", {MSD_FUSED_ATTENTION}, run};
