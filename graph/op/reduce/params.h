#ifndef MSD_GRAPH_OP_REDUCE_PARAMS_H
#define MSD_GRAPH_OP_REDUCE_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_REDUCTION(X)                                                        \
	X(INT, dim_0, -2, SHOWN)                                                       \
	X(INT, dim_1, -2, SHOWN)                                                       \
	X(INT, dim_2, -2, SHOWN)                                                       \
	X(INT, dim_3, -2, SHOWN)                                                       \
	X(INT, type, 0, SHOWN)                                                         \
	X(INT, keepdim, 1, SHOWN)                                                      \
	X(INTS, axes, NULL, RARE)                                                      \
	X(INT, noop_with_empty_axes, 0, RARE)

#define MSD_PARAMS_ARG(X)                                                              \
	X(INT, axis, 0, SHOWN)                                                         \
	X(INT, keepdims, 1, SHOWN)                                                     \
	X(INT, select_last_index, 0, RARE)

#define MSD_PARAMS_TOPK_V2(X)                                                          \
	X(INT, k, 1, SHOWN)                                                            \
	X(INT, sorted, 0, SHOWN)                                                       \
	X(INT, axis, -1, RARE)                                                         \
	X(INT, largest, 1, RARE)

#define MSD_PARAMS_REDUCE_L2(X)                                                        \
	X(INT, axis, 0, SHOWN)                                                         \
	X(INT, keepdim, 1, SHOWN)

#define MSD_REDUCE_PARAMS(X)                                                           \
	X(reduction, MSD_PARAMS_REDUCTION)                                             \
	X(arg, MSD_PARAMS_ARG)                                                         \
	X(topk_v2, MSD_PARAMS_TOPK_V2)                                                 \
	X(reduce_l2, MSD_PARAMS_REDUCE_L2)
MSD_REDUCE_PARAMS(MSD_PARAMS)

#endif
