/* Recurrent layers. */
#include "graph/op/recurrent/recurrent.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/recurrent/params.h"

extern const modser_sg_op_schema msd_op_lstm;
extern const modser_sg_op_schema msd_op_gru;

#define COMMON(p)                                                                      \
	((struct msd_op_recurrent){(p).direction, (p).activations,                     \
				   (p).activation_alpha, (p).activation_beta,          \
				   (p).layout, (p).has_clip != 0, (p).clip})

struct msd_op_recurrent msd_op_recurrent_of(const modser_sg_node *node)
{
	if (node->op->schema == &msd_op_lstm)
		return COMMON(msd_params_lstm(node));
	if (node->op->schema == &msd_op_gru)
		return COMMON(msd_params_gru(node));
	return COMMON(msd_params_rnn(node));
}

enum { X, W, R, B, LENGTHS, STATE, CELL, PEEPHOLES };

/* True if input @i is missing or has shape @a, @b, @c. -1 means that the axis does
 * not exist. */
static bool fits(const modser_sg_node *node, size_t i, int64_t a, int64_t b, int64_t c)
{
	const int64_t want[] = {a, b, c};
	const size_t n = c >= 0 ? 3 : b >= 0 ? 2 : 1;

	if (!msd_infer_has(node, i))
		return true;
	if (msd_infer_ndim(node, i) != n)
		return false;
	return memcmp(msd_infer_dims(node, i), want, n * sizeof(*want)) == 0;
}

static int check_types(const modser_sg_node *node)
{
	const struct msd_dtype i32 = {MSD_DT_INT, 32, 1};

	for (size_t i = 1; i < modser_sg_node_input_count(node); i++) {
		const struct msd_dtype want =
			i == LENGTHS ? i32 : msd_infer_dtype_of(node, X);

		if (msd_infer_has(node, i) &&
		    !msd_dtype_eq(msd_infer_dtype_of(node, i), want))
			return msd_infer_fail(node, "input %zu is of another type", i);
	}
	return 0;
}

/* @gates: number of gate matrices stacked in one. */
static int infer(modser_sg_node *node, int64_t gates)
{
	const struct msd_op_recurrent p = msd_op_recurrent_of(node);
	const char *direction = p.direction;
	const int64_t ways = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
	const bool is_batch_first = p.layout != 0;

	if (direction[0] == '\0' || !msd_infer_has(node, R))
		return msd_infer_fail(node, "Tengine's form cannot be run");
	if (ways == 1 && strcmp(direction, "forward") != 0 &&
	    strcmp(direction, "reverse") != 0)
		return msd_infer_fail(node, "direction \"%s\" is not known", direction);
	if (check_types(node) != 0 || msd_infer_rank(node, X, 3) != 0 ||
	    msd_infer_rank(node, R, 3) != 0)
		return -1;
	const int64_t *x = msd_infer_dims(node, X);
	const int64_t hidden = msd_infer_dims(node, R)[2];
	const int64_t steps = x[is_batch_first ? 1 : 0];
	const int64_t batch = x[is_batch_first ? 0 : 1];
	if (hidden < 1 || hidden > INT32_MAX)
		return msd_infer_fail(node, "it has no state");
	const int64_t state[2][3] = {{ways, batch, hidden}, {batch, ways, hidden}};
	const int64_t *s = state[is_batch_first ? 1 : 0];
	if (!fits(node, W, ways, gates * hidden, x[2]) ||
	    !fits(node, R, ways, gates * hidden, hidden) ||
	    !fits(node, B, ways, 2 * gates * hidden, -1) ||
	    !fits(node, LENGTHS, batch, -1, -1) ||
	    !fits(node, STATE, s[0], s[1], s[2]) ||
	    !fits(node, CELL, s[0], s[1], s[2]) ||
	    !fits(node, PEEPHOLES, ways, 3 * hidden, -1))
		return msd_infer_fail(node, "the shapes of its inputs do not fit");
	const int64_t y[2][4] = {{steps, ways, batch, hidden},
				 {batch, steps, ways, hidden}};
	if (msd_infer_set_output(node, 0, y[is_batch_first ? 1 : 0], 4) != 0 ||
	    msd_infer_set_output(node, 1, s, 3) != 0)
		return -1;
	return msd_infer_set_output(node, 2, s, 3);
}

static int infer_lstm(modser_sg_node *node)
{
	return infer(node, 4);
}

static int infer_gru(modser_sg_node *node)
{
	return infer(node, 3);
}

static int infer_rnn(modser_sg_node *node)
{
	return infer(node, 1);
}

const modser_sg_op_schema msd_op_lstm = {
	.name = "LSTM",
	OP_PARAMS(MSD_PARAMS_LSTM),
	OP_IN(1, MODSER_MANY),
	.optional_in = 0xf8,
	OP_OUT(1, MODSER_MANY),
	.infer = infer_lstm,
};

const modser_sg_op_schema msd_op_rnn = {
	.name = "RNN",
	OP_PARAMS(MSD_PARAMS_RNN),
	OP_IN(1, MODSER_MANY),
	.optional_in = 0xf8,
	OP_OUT(1, MODSER_MANY),
	.infer = infer_rnn,
};

const modser_sg_op_schema msd_op_gru = {
	.name = "GRU",
	OP_PARAMS(MSD_PARAMS_GRU),
	OP_IN(1, MODSER_MANY),
	.optional_in = 0xf8,
	OP_OUT(1, MODSER_MANY),
	.infer = infer_gru,
};
