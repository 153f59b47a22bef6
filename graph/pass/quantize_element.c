/* Operators on elements as integer nodes: sums and products of two tensors, functions
 * of one as tables, pools. */
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/op/quantized/quantize.h"
#include "graph/op/window/params.h"
#include "graph/pass/quantizer.h"

enum { MAXIMUM, MEAN };          /* of a Pooling */
enum { MOST_OF_A_WINDOW = 128 }; /* MSD_NATIVE_TAPS */

int msd_quantize_binary(struct msd_quantizer *q, modser_sg_node *node)
{
	struct msd_quantizer_made m = {.op = MSD_QUANTIZED_BINARY, .param = "kind"};
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
	msd_quantizer_operand(&m, MSD_QUANTIZED_A, &a);
	msd_quantizer_operand(&m, MSD_QUANTIZED_B, &b);
	msd_quantizer_end(&m);
	return msd_quantizer_make(q, node, &m);
}

/* A function of one tensor, or a QuantizeLinear of a DequantizeLinear. */
int msd_quantize_function(struct msd_quantizer *q, modser_sg_node *node)
{
	const bool is_plain = msd_links_is_op(node, "QuantizeLinear");
	struct msd_quantizer_made m = {.op = MSD_QUANTIZED_TABLE};
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
	if (!msd_quantizer_may(q, node, &m))
		return 0;
	m.inputs[0] = x.x;
	if (is_plain && msd_quantized_is_same(&x, &to)) {
		m.op = "Noop"; /* the pass `identity` takes it out */
		return msd_quantizer_make(q, node, &m);
	}
	if (msd_quantizer_table(q, is_plain ? NULL : node, &x, &to, &m.inputs[1]) != 0)
		return -1;
	return msd_quantizer_make(q, node, &m);
}

/* The extents of a window, if the file has them: 128 elements fit into the sums. */
static bool has_small_windows(const modser_sg_node *node)
{
	const struct msd_params_pooling p = msd_params_pooling(node);
	int64_t n = 1;

	if (p.global != 0)
		return p.alg == MEAN;
	if (p.kernel.n == 0) {
		n = p.kernel_h;
		if (n < 1 || n > MOST_OF_A_WINDOW)
			return false;
		n *= p.kernel_w;
	}
	for (size_t i = 0; i < p.kernel.n; i++) {
		if (p.kernel.at[i] < 1 || p.kernel.at[i] > MOST_OF_A_WINDOW)
			return false;
		n *= p.kernel.at[i];
		if (n > MOST_OF_A_WINDOW)
			return false;
	}
	return n >= 1 && n <= MOST_OF_A_WINDOW;
}

int msd_quantize_pooling(struct msd_quantizer *q, modser_sg_node *node)
{
	const int64_t kind = msd_params_pooling(node).alg;
	struct msd_quantizer_made m = {.op = MSD_QUANTIZED_POOLING, .has_limits = true};
	struct msd_quantized x;

	if ((kind != MAXIMUM && kind != MEAN) || node->n_outputs != 1 ||
	    !has_small_windows(node) || !msd_quantized_from_one(node->inputs[0], &x))
		return 0;
	msd_quantized_follow(&q->links, node->outputs[0], &m.tail);
	if (m.tail.to.scale == NULL)
		return 0;
	msd_quantizer_operand(&m, MSD_QUANTIZED_A, &x);
	m.inputs[MSD_QUANTIZED_POOL_SCALE] = m.tail.to.scale;
	m.inputs[MSD_QUANTIZED_POOL_ZERO] = m.tail.to.zero;
	return msd_quantizer_make(q, node, &m);
}
