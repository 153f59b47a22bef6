#ifndef MSD_GRAPH_OP_RECURRENT_PARAMS_H
#define MSD_GRAPH_OP_RECURRENT_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_RECURRENT(X)                                                        \
	X(STR, direction, "", RARE)                                                    \
	X(STR, activations, "", RARE)                                                  \
	X(FLOATS, activation_alpha, NULL, RARE)                                        \
	X(FLOATS, activation_beta, NULL, RARE)                                         \
	X(INT, layout, 0, RARE)

#define MSD_PARAMS_LSTM(X)                                                             \
	X(FLOAT, forget_bias, 0, SHOWN)                                                \
	X(FLOAT, clip, 0, SHOWN)                                                       \
	X(INT, output_len, 1, SHOWN)                                                   \
	X(INT, sequence_len, 1, SHOWN)                                                 \
	X(INT, input_size, 1, SHOWN)                                                   \
	X(INT, hidden_size, 1, SHOWN)                                                  \
	X(INT, cell_size, 1, SHOWN)                                                    \
	X(INT, has_peephole, 0, SHOWN)                                                 \
	X(INT, has_projection, 0, SHOWN)                                               \
	X(INT, has_clip, 0, SHOWN)                                                     \
	X(INT, has_bias, 0, SHOWN)                                                     \
	X(INT, has_init_state, 0, SHOWN)                                               \
	X(INT, forget_act, 0, SHOWN)                                                   \
	X(INT, input_act, 0, SHOWN)                                                    \
	X(INT, output_act, 0, SHOWN)                                                   \
	X(INT, cellin_act, 0, SHOWN)                                                   \
	X(INT, cellout_act, 0, SHOWN)                                                  \
	X(INT, mxnet_flag, 0, SHOWN)                                                   \
	X(INT, input_forget, 0, RARE)                                                  \
	MSD_PARAMS_RECURRENT(X)

#define MSD_PARAMS_RNN(X)                                                              \
	X(FLOAT, clip, 0, SHOWN)                                                       \
	X(INT, output_len, 1, SHOWN)                                                   \
	X(INT, sequence_len, 1, SHOWN)                                                 \
	X(INT, input_size, 1, SHOWN)                                                   \
	X(INT, hidden_size, 1, SHOWN)                                                  \
	X(INT, has_clip, 0, SHOWN)                                                     \
	X(INT, has_bias, 0, SHOWN)                                                     \
	X(INT, has_init_state, 0, SHOWN)                                               \
	X(INT, activation, 0, SHOWN)                                                   \
	MSD_PARAMS_RECURRENT(X)

#define MSD_PARAMS_GRU(X)                                                              \
	X(FLOAT, clip, 0, SHOWN)                                                       \
	X(INT, output_len, 1, SHOWN)                                                   \
	X(INT, sequence_len, 1, SHOWN)                                                 \
	X(INT, input_size, 1, SHOWN)                                                   \
	X(INT, hidden_size, 1, SHOWN)                                                  \
	X(INT, has_clip, 0, SHOWN)                                                     \
	X(INT, has_gate_bias, 0, SHOWN)                                                \
	X(INT, has_candidate_bias, 0, SHOWN)                                           \
	X(INT, has_init_state, 0, SHOWN)                                               \
	X(INT, mxnet_flag, 0, SHOWN)                                                   \
	X(INT, linear_before_reset, 0, RARE)                                           \
	MSD_PARAMS_RECURRENT(X)

#define MSD_RECURRENT_PARAMS(X)                                                        \
	X(lstm, MSD_PARAMS_LSTM)                                                       \
	X(rnn, MSD_PARAMS_RNN)                                                         \
	X(gru, MSD_PARAMS_GRU)
MSD_RECURRENT_PARAMS(MSD_PARAMS)

#endif
