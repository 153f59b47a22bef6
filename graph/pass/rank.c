/*
 * A search follows the inputs of nodes back to tensors that are known: constants,
 * inputs of the model, and tensors with an inferred shape. A table has the operators
 * that it passes. It visits a limited number of nodes, because the paths may be many.
 */
#include "graph/pass/rank.h"

#include <string.h>

#include "graph/ir/graph.h"
#include "graph/pass/fusion.h"

enum { MOST = 64 }; /* nodes that a search visits */

/* How the rank of a result follows from the inputs. */
enum rule { SAME, LARGEST, ORDER, SHAPE, MORE };

struct row {
	const char *op;
	enum rule rule;
	bool keeps_dtype; /* the result has the dtype of each input of floats */
};

static const struct row rows[] = {
	{"Add", LARGEST, true},
	{"Sub", LARGEST, true},
	{"Mul", LARGEST, true},
	{"Div", LARGEST, true},
	{"MatMul", LARGEST, true},
	{"Where", LARGEST, false},
	{"Comparison", LARGEST, false},
	{"Logical", LARGEST, false},
	{"Transpose", ORDER, true},
	{"Reshape", SHAPE, true},
	{"Unsqueeze", MORE, true},
	{"Cast", SAME, false},
	{"Concat", SAME, true},
	{"Dropout", SAME, true},
	{"Gelu", SAME, true},
	{"LayerNorm", SAME, true},
	{"Neg", SAME, true},
	{"ReLu", SAME, true},
	{"Slice", SAME, true},
	{"Softmax", SAME, true},
};

static const struct row *find(const modser_sg_tensor *t)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (msd_links_is_op(t->producer, rows[i].op))
			return &rows[i];
	}
	return NULL;
}

/* An input of the model has the rank that it says. */
static bool is_given(const struct msd_fusion *f, const modser_sg_tensor *t)
{
	return f->known.tensors[t->index] || t->type == MODSER_TENSOR_CONST ||
	       (!f->job->is_within && msd_links_is_op(t->producer, "InputOp"));
}

/* The numbers in input 1, which is a constant or has one known extent; -1: neither. */
static int count_ints(const struct msd_fusion *f, const modser_sg_node *node)
{
	const modser_sg_tensor *t = node->n_inputs > 1 ? node->inputs[1] : NULL;

	if (t == NULL || !is_given(f, t) || t->ndim != 1 || t->dims[0] < 0 ||
	    t->dims[0] > MODSER_GRAPH_MAX_NDIM)
		return -1;
	return (int)t->dims[0];
}

static int rank_of(const struct msd_fusion *f, const modser_sg_tensor *t, int *left);

/* The largest rank of the inputs before @end; -1: one is not known. */
static int largest(const struct msd_fusion *f, const modser_sg_node *node, size_t end,
		   int *left)
{
	int most = 0;

	for (size_t i = 0; i < end; i++) {
		const int rank = node->inputs[i] != NULL
					 ? rank_of(f, node->inputs[i], left)
					 : -1;

		if (rank < 0)
			return -1;
		most = rank > most ? rank : most;
	}
	return most;
}

static int rank_of(const struct msd_fusion *f, const modser_sg_tensor *t, int *left)
{
	const struct row *row = find(t);
	const modser_sg_node *node = t->producer;
	int n;

	if (is_given(f, t))
		return t->ndim;
	if (row == NULL || --*left < 0)
		return -1;
	switch (row->rule) {
	case ORDER:
		n = (int)modser_sg_op_param(node->op, "perm")->n;
		return n > 0 ? n : largest(f, node, 1, left);
	case SHAPE:
		return count_ints(f, node);
	case MORE:
		n = node->n_inputs > 1 ? count_ints(f, node)
				       : (int)modser_sg_op_param(node->op, "axes")->n;
		const int before = largest(f, node, 1, left);
		return n < 0 || before < 0 ? -1 : n + before;
	case LARGEST:
		return largest(f, node, node->n_inputs, left);
	case SAME:
		break;
	}
	return largest(f, node, 1, left);
}

int msd_rank_of(const struct msd_fusion *f, const modser_sg_tensor *t)
{
	int left = MOST;

	return rank_of(f, t, &left);
}

static bool is_single(const struct msd_fusion *f, const modser_sg_tensor *t, int *left)
{
	const struct row *row = find(t);

	if (is_given(f, t))
		return t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 32;
	if (row == NULL || !row->keeps_dtype || --*left < 0)
		return false;
	const modser_sg_node *node = t->producer;
	for (size_t i = 0; row->rule == LARGEST && i < node->n_inputs; i++) {
		if (msd_fusion_is_single(node->inputs[i]))
			return true;
	}
	return is_single(f, node->inputs[0], left);
}

bool msd_rank_is_single(const struct msd_fusion *f, const modser_sg_tensor *t)
{
	int left = MOST;

	return is_single(f, t, &left);
}

/* The one number of a constant of int64. */
static bool read_int(const modser_sg_tensor *t, int64_t *ret)
{
	if (t == NULL || t->type != MODSER_TENSOR_CONST || t->data == NULL ||
	    t->dtype.code != MSD_DT_INT || t->dtype.bits != 64 ||
	    t->bytes != sizeof(*ret))
		return false;
	memcpy(ret, t->data, sizeof(*ret));
	return true;
}

/* One extent of a shape: the last one by a Slice, or any by a Gather. */
static bool is_extent(const modser_sg_node *node)
{
	const modser_sg_tensor *shape = node->n_inputs > 1 ? node->inputs[0] : NULL;
	int64_t from;
	int64_t to;

	if (shape == NULL || !msd_links_is_op(shape->producer, "Shape"))
		return false;
	if (msd_links_is_op(node, "Gather"))
		return read_int(node->inputs[1], &from) && node->inputs[1]->ndim <= 1;
	return msd_links_is_op(node, "Slice") && node->n_inputs >= 3 &&
	       node->n_inputs <= 4 && read_int(node->inputs[1], &from) && from == -1 &&
	       read_int(node->inputs[2], &to) && to >= INT32_MAX;
}

/* A Cast hides the dtype before it. */
static bool is_number(const modser_sg_tensor *t, bool *ret_is_single, int *left)
{
	enum { CAST };
	static const char *const functions[] = {[CAST] = "Cast", "Sqrt", "Reciprocal",
						"Div",           "Mul",  "Pow"};
	const modser_sg_node *node = t->producer;
	float number;

	if (msd_fusion_scalar(t, &number) && t->ndim <= 1) {
		*ret_is_single = true;
		return true;
	}
	if (node == NULL || --*left < 0)
		return false;
	if (is_extent(node))
		return true;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!msd_links_is_op(node, functions[i]))
			continue;
		bool unused = false;
		bool *is_single_at = i == CAST ? &unused : ret_is_single;
		for (size_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] == NULL ||
			    !is_number(node->inputs[k], is_single_at, left))
				return false;
		}
		return node->n_inputs > 0;
	}
	return false;
}

bool msd_rank_is_number(const modser_sg_tensor *t, bool *ret_is_single)
{
	int left = MOST;

	return is_number(t, ret_is_single, &left);
}
