/*
 * Operators that only move elements move bytes: the DequantizeLinear before such a node
 * goes behind it. A chain of them ends at a QuantizeLinear, which then has the numbers
 * of the DequantizeLinear and goes, or becomes a table; or at another node, which reads
 * fewer bytes. A QuantizeLinear behind a move of floats goes before it. No byte of a
 * result changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/move/pad.h"
#include "graph/op/move/params.h"
#include "graph/op/quantized/quantize.h"
#include "graph/pass/quantizer.h"

enum { PAD_VALUE = 2 }; /* input of Pad */

static int add_byte(const struct msd_quantizer *q, const struct msd_quantized *x,
		    int32_t value, modser_sg_tensor **ret)
{
	uint8_t *data = malloc(1);

	if (data == NULL)
		return msd_sg_no_memory(q->job->g);
	*data = (uint8_t)value;
	*ret = msd_sg_add_const(q->job->g, x->x->name, x->dtype, NULL, 0, data);
	if (*ret == NULL)
		free(data);
	return *ret != NULL ? 0 : -1;
}

/* A new DequantizeLinear of @bytes, with the numbers of @x, makes @y. */
static int add_dequantize(const struct msd_quantizer *q, const struct msd_quantized *x,
			  modser_sg_tensor *bytes, modser_sg_tensor *y)
{
	modser_graph *g = q->job->g;
	modser_sg_tensor *zero = x->zero;

	if (zero == NULL && add_byte(q, x, 0, &zero) != 0)
		return -1;
	modser_sg_node *node = modser_sg_node_create(g, y->name);
	modser_sg_op *op =
		node != NULL ? modser_sg_op_create(g, "DequantizeLinear") : NULL;

	if (op == NULL || modser_sg_node_add_input(node, bytes) < 0 ||
	    modser_sg_node_add_input(node, x->scale) < 0 ||
	    modser_sg_node_add_input(node, zero) < 0 ||
	    modser_sg_node_add_output(node, y) < 0)
		return -1;
	msd_sg_node_take_op(node, op);
	return 0;
}

/* The outputs of @node, which has bytes with the numbers of @x as its inputs. */
static int push(struct msd_quantizer *q, modser_sg_node *node,
		const struct msd_quantized *x)
{
	for (size_t i = 0; i < node->n_outputs; i++) {
		modser_sg_tensor *y = node->outputs[i];
		modser_sg_tensor *bytes =
			y != NULL ? modser_sg_tensor_create(q->job->g, y->name) : NULL;

		if (y == NULL)
			continue;
		if (bytes == NULL)
			return -1;
		msd_sg_tensor_take_dtype(bytes, x->dtype);
		msd_sg_give_output(node, i, bytes);
		if (add_dequantize(q, x, bytes, y) != 0)
			return -1;
	}
	q->n++;
	return 0;
}

/* The byte that stands for exactly what the Pad @node pads with: *@ret, -1 if there is
 * none. */
static void find_padding(const modser_sg_node *node, const struct msd_quantized *x,
			 int32_t *ret)
{
	const modser_sg_tensor *t =
		node->n_inputs > PAD_VALUE ? node->inputs[PAD_VALUE] : NULL;
	float value = msd_params_pad(node).value;
	struct msd_quantized own;

	*ret = -1;
	if (t != NULL && msd_quantized_from_one(t, &own)) {
		if (msd_quantized_is_same(&own, x) &&
		    own.x->type == MODSER_TENSOR_CONST && own.x->data != NULL)
			*ret = *(const uint8_t *)own.x->data;
		return;
	}
	if (t != NULL &&
	    (!msd_quantized_is_const(t, true, 32) || t->bytes != sizeof(value)))
		return;
	if (t != NULL)
		memcpy(&value, t->data, sizeof(value));
	const int32_t zero = msd_quantized_zero(x, 0);
	const int32_t least = x->dtype.code == MSD_DT_INT ? INT8_MIN : 0;
	const float units = value / msd_quantized_scale(x, 0);

	if (!(fabsf(units) <= 255) || rintf(units) * msd_quantized_scale(x, 0) != value)
		return;
	const int32_t byte = (int32_t)rintf(units) + zero;
	if (byte >= least && byte <= least + 255)
		*ret = (uint8_t)byte;
}

/* *@ret_fits is false if bytes cannot express the padding. */
static int set_padding(const struct msd_quantizer *q, modser_sg_node *node,
		       const struct msd_quantized *x, bool *ret_fits)
{
	modser_sg_tensor *t = NULL;
	int32_t byte = 0;

	*ret_fits = false;
	if (node->n_inputs < PAD_VALUE)
		return 0; /* the fields of Tengine */
	if (msd_params_pad(node).mode == MSD_PAD_CONSTANT) {
		find_padding(node, x, &byte);
		if (byte < 0)
			return 0;
		if (add_byte(q, x, byte, &t) != 0)
			return -1;
	}
	*ret_fits = true;
	if (node->n_inputs > PAD_VALUE) {
		node->inputs[PAD_VALUE] = t;
		return 0;
	}
	return t == NULL || modser_sg_node_add_input(node, t) >= 0 ? 0 : -1;
}

/* All of the first @n inputs have numbers. *@ret_same: the same ones; *@ret_constant:
 * all are constants. */
static bool has_numbers(const modser_sg_node *node, size_t n, bool *ret_same,
			bool *ret_constant)
{
	struct msd_quantized first, x;

	*ret_same = *ret_constant = true;
	for (size_t i = 0; i < n; i++) {
		if (!msd_quantized_from_one(node->inputs[i], &x))
			return false;
		first = i == 0 ? x : first;
		*ret_same = *ret_same && msd_quantized_is_same(&first, &x);
		*ret_constant = *ret_constant && x.x->type == MODSER_TENSOR_CONST;
	}
	return n > 0;
}

/* Inputs with other numbers than @to get a table. */
static int take_bytes(const struct msd_quantizer *q, modser_sg_node *node, size_t n,
		      const struct msd_quantized *to)
{
	struct msd_quantized x;

	for (size_t i = 0; i < n; i++) {
		(void)msd_quantized_from_one(node->inputs[i], &x);
		node->inputs[i] = x.x;
		if (!msd_quantized_is_same(&x, to) &&
		    msd_quantizer_change(q, &x, to, &node->inputs[i]) != 0)
			return -1;
	}
	return 0;
}

/* The numbers that follow the only output. */
static bool find_end(const struct msd_quantizer *q, const modser_sg_node *node,
		     struct msd_quantized *ret)
{
	const modser_sg_node *next =
		node->n_outputs == 1 ? msd_links_only(&q->links, node->outputs[0])
				     : NULL;

	return next != NULL && msd_quantized_to(next, ret) &&
	       ret->x == node->outputs[0];
}

/* A node that only moves elements of input 0, for one reader. */
static bool may_hoist(const struct msd_quantizer *q, const modser_sg_node *move)
{
	static const char *const ops[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze",
					  "Transpose"};
	bool is_move = false;

	if (move == NULL || move->n_outputs != 1 || move->n_inputs == 0 ||
	    move->inputs[0] == NULL || move->inputs[0]->producer == NULL ||
	    move->inputs[0]->type == MODSER_TENSOR_CONST ||
	    msd_links_only(&q->links, move->inputs[0]) != move)
		return false;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		is_move = is_move || msd_links_is_op(move, ops[i]);
	return is_move && q->job->host.may_make(move, MSD_QUANTIZED_TABLE);
}

/* The node before the move can then make the bytes. */
int msd_quantize_hoist(struct msd_quantizer *q, modser_sg_node *node)
{
	struct msd_quantized to;

	while (msd_quantized_to(node, &to) && msd_links_only(&q->links, to.x) == node &&
	       may_hoist(q, to.x->producer) &&
	       q->job->host.may_make(node, MSD_QUANTIZED_TABLE)) {
		modser_sg_node *move = to.x->producer;
		modser_sg_tensor *x = move->inputs[0];
		modser_sg_tensor *y = node->outputs[0];
		modser_sg_tensor *bytes = modser_sg_tensor_create(q->job->g, y->name);

		if (bytes == NULL)
			return -1;
		msd_sg_tensor_take_dtype(bytes, to.dtype);
		msd_sg_give_output(node, 0, bytes);
		node->inputs[0] = x;
		q->links.readers[x->index].first[0] = node;
		msd_sg_give_output(move, 0, y);
		move->inputs[0] = bytes;
		q->n++;
	}
	return 0;
}

int msd_quantize_shape(struct msd_quantizer *q, modser_sg_node *node)
{
	struct msd_quantized x;

	if (msd_quantized_from_one(node->inputs[0], &x) &&
	    q->job->host.may_make(node, MSD_QUANTIZED_TABLE)) {
		node->inputs[0] = x.x;
		q->n++;
	}
	return 0;
}

int msd_quantize_move(struct msd_quantizer *q, modser_sg_node *node, bool all)
{
	const size_t n = all ? node->n_inputs : 1;
	struct msd_quantized to;
	bool is_same, is_constant;

	if (!has_numbers(node, n, &is_same, &is_constant) ||
	    !q->job->host.may_make(node, MSD_QUANTIZED_TABLE))
		return 0;
	/* Constants that become floats are for the pass `fold`. */
	if ((!is_same || is_constant) && !find_end(q, node, &to))
		return 0;
	if (is_same)
		(void)msd_quantized_from_one(node->inputs[0], &to);
	if (msd_links_is_op(node, "Pad")) {
		bool fits;

		if (set_padding(q, node, &to, &fits) != 0)
			return -1;
		if (!fits)
			return 0;
	}
	return take_bytes(q, node, n, &to) == 0 ? push(q, node, &to) : -1;
}
