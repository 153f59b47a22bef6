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
	OP_FIELDS(lstm_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(34, 72),
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
	OP_FIELDS(rnn_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(35, 36),
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
	OP_FIELDS(gru_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(48, 40),
};
