#ifndef MSD_GRAPH_OP_INDEX_PARAMS_H
#define MSD_GRAPH_OP_INDEX_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_EYE_LIKE(X)                                                         \
	X(STR, dtype, "", RARE)                                                        \
	X(INT, k, 0, RARE)

#define MSD_PARAMS_TRILU(X) X(INT, upper, 1, RARE)

#define MSD_PARAMS_ONE_HOT(X) X(INT, axis, -1, RARE)

#define MSD_PARAMS_GATHER(X)                                                           \
	X(INT, axis, 0, SHOWN)                                                         \
	X(INT, indices_num, 0, SHOWN)                                                  \
	X(INT, is_onnx, 0, SHOWN)

#define MSD_PARAMS_GATHER_ELEMENTS(X) X(INT, axis, 0, RARE)

#define MSD_PARAMS_GATHER_ND(X) X(INT, batch_dims, 0, RARE)

#define MSD_PARAMS_SCATTER(X)                                                          \
	X(INT, axis, 0, SHOWN)                                                         \
	X(INT, is_onnx, 0, SHOWN)                                                      \
	X(STR, reduction, "none", RARE)

#define MSD_PARAMS_SCATTER_ND(X) X(STR, reduction, "none", RARE)

#define MSD_PARAMS_COMPRESS(X) X(INT, axis, MSD_OP_FLAT, RARE)

#define MSD_PARAMS_CUM_SUM(X)                                                          \
	X(INT, exclusive, 0, RARE)                                                     \
	X(INT, product, 0, RARE)                                                       \
	X(INT, reverse, 0, RARE)

#define MSD_PARAMS_REVERSE_SEQUENCE(X)                                                 \
	X(INT, batch_axis, 1, RARE)                                                    \
	X(INT, time_axis, 0, RARE)

#define MSD_PARAMS_UNIQUE(X)                                                           \
	X(INT, axis, MSD_OP_FLAT, RARE)                                                \
	X(INT, sorted, 1, RARE)

#define MSD_INDEX_PARAMS(X)                                                            \
	X(eye_like, MSD_PARAMS_EYE_LIKE)                                               \
	X(trilu, MSD_PARAMS_TRILU)                                                     \
	X(one_hot, MSD_PARAMS_ONE_HOT)                                                 \
	X(gather, MSD_PARAMS_GATHER)                                                   \
	X(gather_elements, MSD_PARAMS_GATHER_ELEMENTS)                                 \
	X(gather_nd, MSD_PARAMS_GATHER_ND)                                             \
	X(scatter, MSD_PARAMS_SCATTER)                                                 \
	X(scatter_nd, MSD_PARAMS_SCATTER_ND)                                           \
	X(compress, MSD_PARAMS_COMPRESS)                                               \
	X(cum_sum, MSD_PARAMS_CUM_SUM)                                                 \
	X(reverse_sequence, MSD_PARAMS_REVERSE_SEQUENCE)                               \
	X(unique, MSD_PARAMS_UNIQUE)
MSD_INDEX_PARAMS(MSD_PARAMS)

#endif
