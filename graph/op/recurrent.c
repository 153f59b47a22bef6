/* Recurrent layers. */
#include "graph/op/op.h"

static const modser_sg_op_field lstm_fields[] = {
	OP_FLOAT("forget_bias", 0, 0),   OP_FLOAT("clip", 0, 4),
	OP_INT("output_len", 1, 8),      OP_INT("sequence_len", 1, 12),
	OP_INT("input_size", 1, 16),     OP_INT("hidden_size", 1, 20),
	OP_INT("cell_size", 1, 24),      OP_INT("has_peephole", 0, 28),
	OP_INT("has_projection", 0, 32), OP_INT("has_clip", 0, 36),
	OP_INT("has_bias", 0, 40),       OP_INT("has_init_state", 0, 44),
	OP_INT("forget_act", 0, 48),     OP_INT("input_act", 0, 52),
	OP_INT("output_act", 0, 56),     OP_INT("cellin_act", 0, 60),
	OP_INT("cellout_act", 0, 64),    OP_INT("mxnet_flag", 0, 68),
};
const modser_sg_op_schema msd_op_lstm = {
	.name = "LSTM",
	.fields = lstm_fields,
	.n_fields = OP_COUNT(lstm_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 34,
	.tm_bytes = 72,
};

static const modser_sg_op_field rnn_fields[] = {
	OP_FLOAT("clip", 0, 0),       OP_INT("output_len", 1, 4),
	OP_INT("sequence_len", 1, 8), OP_INT("input_size", 1, 12),
	OP_INT("hidden_size", 1, 16), OP_INT("has_clip", 0, 20),
	OP_INT("has_bias", 0, 24),    OP_INT("has_init_state", 0, 28),
	OP_INT("activation", 0, 32),
};
const modser_sg_op_schema msd_op_rnn = {
	.name = "RNN",
	.fields = rnn_fields,
	.n_fields = OP_COUNT(rnn_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 35,
	.tm_bytes = 36,
};

static const modser_sg_op_field gru_fields[] = {
	OP_FLOAT("clip", 0, 0),          OP_INT("output_len", 1, 4),
	OP_INT("sequence_len", 1, 8),    OP_INT("input_size", 1, 12),
	OP_INT("hidden_size", 1, 16),    OP_INT("has_clip", 0, 20),
	OP_INT("has_gate_bias", 0, 24),  OP_INT("has_candidate_bias", 0, 28),
	OP_INT("has_init_state", 0, 32), OP_INT("mxnet_flag", 0, 36),
};
const modser_sg_op_schema msd_op_gru = {
	.name = "GRU",
	.fields = gru_fields,
	.n_fields = OP_COUNT(gru_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 48,
	.tm_bytes = 40,
};
