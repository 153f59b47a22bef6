/*
 * Happy path: tensors of four dimensions are converted to channels first, extents and
 * bytes; axes in parameters follow them. Operators that depend on the order of
 * elements (Reshape, Flatten, FullyConnected) still get channels last: a Transpose is
 * inserted before them, and one after if the output has four dimensions. Then nodes
 * are reordered.
 *
 * Inputs and outputs of four dimensions have channels first, too, as in Tengine.
 * Other tensors keep the file's layout. An operator with unknown behaviour on such
 * tensors is rejected by name.
 */
#include "graph/serializer/tmfile/nhwc.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/ir/order.h"

enum { IMAGE = 4, WEIGHTS = 1, MOST_SPENT = 2 };

static const int64_t to_last[] = {0, 2, 3, 1}, to_first[] = {0, 3, 1, 2};

/* How an operator depends on the order of its elements. */
enum how {
	KEEPS,     /* not at all: it works on elements, channels or windows of planes */
	HAS_AXIS,  /* as above, along a parameter "axis" */
	LOOKS_FLAT /* it reads them in memory order */
};

static const struct row {
	const char *op;
	enum how how;
} rows[] = {
	{"BatchNormalization", KEEPS},
	{"Ceil", KEEPS},
	{"Clip", KEEPS},
	{"Concat", HAS_AXIS},
	{"Const", KEEPS},
	{"Convolution", KEEPS},
	{"Dropout", KEEPS},
	{"Eltwise", KEEPS},
	{"Elu", KEEPS},
	{"Flatten", LOOKS_FLAT},
	{"FullyConnected", LOOKS_FLAT},
	{"HardSwish", KEEPS},
	{"InputOp", KEEPS},
	{"Logistic", KEEPS},
	{"Noop", KEEPS},
	{"PReLU", KEEPS},
	{"Pooling", KEEPS},
	{"ReLu", KEEPS},
	{"ReLu6", KEEPS},
	{"Reshape", LOOKS_FLAT},
	{"Sigmoid", KEEPS},
	{"Softmax", HAS_AXIS},
	{"Tanh", KEEPS},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

struct turn {
	modser_graph *g;
	bool turns_axes;
	size_t left;         /* bytes of constants that may still be copied */
	int *ranks;          /* one for each tensor of the file; -1: not known yet */
	bool *is_by_channel; /* one for each tensor of the file: true for weights of
				such a convolution */
	size_t *order;
};

static bool is_op(const modser_sg_node *node, const char *name)
{
	return strcmp(node->op->schema->name, name) == 0;
}

static int fail(const modser_sg_node *node, const char *why)
{
	return msd_sg_fail(node->graph, MSD_UNSUPPORTED,
			   "node %zu \"%s\": its layout is NHWC, where %s %s",
			   node->number, node->name, node->op->schema->name, why);
}

static const struct row *row_of(const modser_sg_node *node)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (is_op(node, rows[i].op))
			return &rows[i];
	}
	return NULL;
}

static int rank_of(const struct turn *t, const modser_sg_tensor *tensor)
{
	return tensor != NULL ? t->ranks[tensor->index] : -1;
}

/* Dimensions of a Reshape's output: one for each element of its list, except
 * Tengine's codes below -1. */
static int reshaped(const modser_sg_node *node, int *ret)
{
	const modser_sg_attr *list = modser_sg_op_param(node->op, "re_shape");

	*ret = (int)list->n;
	for (size_t i = 0; i < list->n; i++) {
		if (list->as.ints[i] < -1)
			return fail(node, "has codes below -1, which cannot be read");
	}
	return list->n > 0 ? 0 : fail(node, "does not say the shape");
}

/* Many files give shapes of inputs and constants only. */
static int find_rank(struct turn *t, const modser_sg_node *node)
{
	int rank = -1;

	for (size_t i = 0; i < node->n_inputs; i++) {
		const int k = rank_of(t, node->inputs[i]);

		rank = k > rank ? k : rank; /* a list aligns with channels */
	}
	if (is_op(node, "Flatten") || is_op(node, "FullyConnected"))
		rank = 2;
	if (is_op(node, "Reshape") && reshaped(node, &rank) != 0)
		return -1;
	for (size_t i = 0; i < node->n_outputs; i++) {
		int *mine = node->outputs[i] != NULL
				    ? &t->ranks[node->outputs[i]->index]
				    : &rank;

		*mine = *mine < 0 ? rank : *mine;
		if (*mine < 0) {
			return fail(node, "has a number of dimensions that is not "
					  "known");
		}
	}
	return 0;
}

static int find_ranks(struct turn *t)
{
	for (size_t i = 0; i < t->g->n_tensors; i++)
		t->ranks[i] = t->g->tensors[i]->ndim;
	for (size_t i = 0; i < t->g->n_nodes; i++) {
		const modser_sg_node *node = t->g->nodes[t->order[i]];

		if (row_of(node) == NULL)
			return fail(node, "cannot be read");
		if (find_rank(t, node) != 0)
			return -1;
	}
	return 0;
}

/* Convert the file's axis to channels first. */
static int turn_axis(const struct turn *t, const modser_sg_node *node)
{
	int64_t axis = modser_sg_op_int(node->op, "axis");

	if (rank_of(t, node->inputs[0]) != IMAGE ||
	    (is_op(node, "Softmax") && !t->turns_axes))
		return 0;
	axis += axis < 0 ? IMAGE : 0;
	if (axis < 0 || axis >= IMAGE)
		return fail(node, "has an axis that is not there");
	return modser_sg_op_set_int(node->op, "axis", to_last[axis]);
}

static modser_sg_node *add_transpose(modser_graph *g, const modser_sg_node *by,
				     const int64_t *perm, modser_sg_tensor *from,
				     modser_sg_tensor *to)
{
	const modser_sg_attr list = {MODSER_ATTR_INTS, IMAGE, {.ints = perm}};
	modser_sg_node *node = modser_sg_node_create(g, by->name);
	modser_sg_op *op = node != NULL ? modser_sg_op_create(g, "Transpose") : NULL;

	if (op == NULL || modser_sg_op_set_param(op, "perm", &list) != 0 ||
	    modser_sg_node_add_input(node, from) < 0 ||
	    modser_sg_node_add_output(node, to) < 0)
		return NULL;
	msd_sg_node_take_op(node, op);
	node->number = by->number;
	return node;
}

/* Keep channels last for @node, at its input and in its output. */
static int look_flat(const struct turn *t, modser_sg_node *node)
{
	modser_sg_tensor *between;

	if (rank_of(t, node->inputs[0]) == IMAGE) {
		between = modser_sg_tensor_create(t->g, node->name);
		if (between == NULL || add_transpose(t->g, node, to_last,
						     node->inputs[0], between) == NULL)
			return -1;
		msd_sg_tensor_take_dtype(between, node->inputs[0]->dtype);
		node->inputs[0] = between;
	}
	modser_sg_tensor *y = node->outputs[0];
	if (rank_of(t, y) != IMAGE)
		return 0;
	between = modser_sg_tensor_create(t->g, node->name);
	if (between == NULL)
		return -1;
	msd_sg_tensor_take_dtype(between, y->dtype);
	msd_sg_give_output(node, 0, between);
	return add_transpose(t->g, node, to_first, between, y) != NULL ? 0 : -1;
}

/* Find the weights of depthwise convolutions: writers declare [channels, h, w, 1] and
 * store [h, w, channels]. With one channel the two are equal. */
static void find_by_channel(const struct turn *t)
{
	for (size_t i = 0; i < t->g->n_nodes; i++) {
		const modser_sg_node *node = t->g->nodes[i];

		if (is_op(node, "Convolution") &&
		    modser_sg_op_int(node->op, "group") > 1)
			t->is_by_channel[node->inputs[WEIGHTS]->index] = true;
	}
}

/* Copy elements of @size bytes, whose extents are @dims with channels first; these
 * steps locate element [o, c, h, w] in the file. */
static void copy_turned(const int64_t *dims, const size_t *steps, size_t size,
			const uint8_t *from, uint8_t *to)
{
	for (int64_t o = 0; o < dims[0]; o++) {
		for (int64_t c = 0; c < dims[1]; c++) {
			for (int64_t k = 0; k < dims[2] * dims[3]; k++) {
				const size_t at = (size_t)o * steps[0] +
						  (size_t)c * steps[1] +
						  (size_t)k * steps[2];

				memcpy(to, from + at * size, size);
				to += size;
			}
		}
	}
}

static int turn_bytes(struct turn *t, modser_sg_tensor *w)
{
	const size_t size = w->dtype.bits / 8u;
	const size_t plane = (size_t)(w->dims[2] * w->dims[3]);
	const size_t channels = (size_t)w->dims[1];
	size_t steps[] = {plane * channels, 1, channels};
	void *copy;

	if (w->bytes > t->left) {
		return msd_sg_fail(
			t->g, MSD_BAD_ARTIFACT,
			"tensor %zu \"%s\": weights are named again and again",
			w->index, w->name);
	}
	t->left -= (size_t)w->bytes;
	if (channels == 1 && t->is_by_channel[w->index]) {
		steps[0] = 1;
		steps[2] = (size_t)w->dims[0];
	}
	copy = malloc((size_t)w->bytes);
	if (copy == NULL)
		return msd_sg_no_memory(t->g);
	copy_turned(w->dims, steps, size, w->data, copy);
	w->has_location = false;
	if (modser_sg_tensor_set_buffer(w, copy, free) == 0)
		return 0;
	free(copy);
	return -1;
}

/* Generated weights, which no file has, need no reordering. */
static int turn_tensor(struct turn *t, modser_sg_tensor *tensor)
{
	int64_t dims[IMAGE];

	if (tensor->ndim != IMAGE)
		return 0;
	for (size_t i = 0; i < IMAGE; i++)
		dims[i] = tensor->dims[to_first[i]];
	memcpy(tensor->dims, dims, sizeof(dims));
	if (tensor->type != MODSER_TENSOR_CONST || !tensor->has_location ||
	    tensor->bytes == 0)
		return 0;
	return turn_bytes(t, tensor);
}

static void move_nodes(modser_graph *g, const size_t *order, modser_sg_node **room)
{
	memcpy(room, g->nodes, g->n_nodes * sizeof(*room));
	for (size_t i = 0; i < g->n_nodes; i++) {
		g->nodes[i] = room[order[i]];
		g->nodes[i]->index = i;
	}
}

/* Place added nodes in execution order, for readers that rely on it. */
static int put_in_order(modser_graph *g)
{
	size_t *order = calloc(g->n_nodes + 1, sizeof(*order));
	modser_sg_node **room = calloc(g->n_nodes + 1, sizeof(modser_sg_node *));
	int result = -1;

	if (order == NULL || room == NULL) {
		result = msd_sg_no_memory(g);
	} else if (msd_sg_order(g, order) == 0) {
		move_nodes(g, order, room);
		result = 0;
	}
	free(order);
	free((void *)room);
	return result;
}

static int turn_nodes(struct turn *t)
{
	const size_t n = t->g->n_nodes; /* nodes of the file */

	for (size_t i = 0; i < n; i++) {
		modser_sg_node *node = t->g->nodes[i];
		const enum how how = row_of(node)->how;

		if (how == HAS_AXIS && turn_axis(t, node) != 0)
			return -1;
		if (how == LOOKS_FLAT && look_flat(t, node) != 0)
			return -1;
	}
	return put_in_order(t->g);
}

static int turn_all(struct turn *t)
{
	const size_t n = t->g->n_tensors;

	if (t->ranks == NULL || t->is_by_channel == NULL || t->order == NULL)
		return msd_sg_no_memory(t->g);
	if (modser_graph_check(t->g) != 0 || msd_sg_order(t->g, t->order) != 0 ||
	    find_ranks(t) != 0)
		return -1;
	find_by_channel(t);
	for (size_t i = 0; i < n; i++) {
		if (turn_tensor(t, t->g->tensors[i]) != 0)
			return -1;
	}
	return turn_nodes(t);
}

int tm_nhwc_turn(struct tm_view *v, bool turns_axes)
{
	modser_graph *g = v->graph;
	struct turn t = {.g = g,
			 .turns_axes = turns_axes,
			 .ranks = calloc(g->n_tensors + 1, sizeof(int)),
			 .is_by_channel = calloc(g->n_tensors + 1, sizeof(bool)),
			 .order = calloc(g->n_nodes + 1, sizeof(size_t))};

	if (!msd_mul_size(v->file.n, MOST_SPENT, &t.left))
		t.left = SIZE_MAX;
	const int result = turn_all(&t);
	free(t.ranks);
	free(t.is_by_channel);
	free(t.order);
	return result;
}
