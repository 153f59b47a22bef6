#ifndef MSD_GRAPH_OP_ATTENTION_PARAMS_H
#define MSD_GRAPH_OP_ATTENTION_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_ATTENTION(X)                                                        \
	X(INT, is_causal, 0, RARE)                                                     \
	X(INT, kv_num_heads, 0, RARE)                                                  \
	X(INT, q_num_heads, 0, RARE)                                                   \
	X(INT, qk_matmul_output_mode, 0, RARE)                                         \
	X(FLOAT, scale, 0, RARE) /* 0: by the size of a head */                        \
	X(FLOAT, softcap, 0, RARE)                                                     \
	X(INT, left_window_size, -1, RARE)                                             \
	X(INT, right_window_size, -1, RARE)

#define MSD_PARAMS_TENSOR_SCATTER(X)                                                   \
	X(INT, axis, -2, RARE)                                                         \
	X(STR, mode, "linear", RARE)

#define MSD_PARAMS_CAUSAL_CONV(X) X(STR, activation, "none", RARE)

#define MSD_PARAMS_LINEAR_ATTENTION(X)                                                 \
	X(INT, kv_num_heads, 0, RARE)                                                  \
	X(INT, q_num_heads, 0, RARE)                                                   \
	X(FLOAT, scale, 0, RARE) /* 0: by the size of a key */                         \
	X(STR, update_rule, "gated_delta", RARE)

#define MSD_PARAMS_ROTARY_EMBEDDING(X)                                                 \
	X(INT, interleaved, 0, RARE)                                                   \
	X(INT, num_heads, 0, RARE)                                                     \
	X(INT, rotary_embedding_dim, 0, RARE)

#define MSD_PARAMS_FUSED_ATTENTION(X)                                                  \
	X(INTS, q_perm, NULL, RARE)                                                    \
	X(INTS, k_perm, NULL, RARE)                                                    \
	X(INTS, v_perm, NULL, RARE)                                                    \
	X(INTS, y_perm, NULL, RARE)                                                    \
	X(FLOAT, scale, 1, RARE)                                                       \
	X(FLOAT, fill, 0, RARE)                                                        \
	X(INT, hides, 0, RARE)   /* the flags; else they show */                       \
	X(INT, is_safe, 0, RARE) /* a row that is not a number gets shares of 0 */

#define MSD_ATTENTION_PARAMS(X)                                                        \
	X(attention, MSD_PARAMS_ATTENTION)                                             \
	X(fused_attention, MSD_PARAMS_FUSED_ATTENTION)                                 \
	X(tensor_scatter, MSD_PARAMS_TENSOR_SCATTER)                                   \
	X(causal_conv, MSD_PARAMS_CAUSAL_CONV)                                         \
	X(linear_attention, MSD_PARAMS_LINEAR_ATTENTION)                               \
	X(rotary_embedding, MSD_PARAMS_ROTARY_EMBEDDING)
MSD_ATTENTION_PARAMS(MSD_PARAMS)

#endif
