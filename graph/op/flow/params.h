#ifndef MSD_GRAPH_OP_FLOW_PARAMS_H
#define MSD_GRAPH_OP_FLOW_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_LOOP(X) X(INT, captured, 0, RARE)

#define MSD_PARAMS_SCAN(X)                                                             \
	MSD_PARAMS_LOOP(X)                                                             \
	X(INT, num_scan_inputs, 1, RARE)                                               \
	X(INTS, scan_input_axes, NULL, RARE)                                           \
	X(INTS, scan_input_directions, NULL, RARE)                                     \
	X(INTS, scan_output_axes, NULL, RARE)                                          \
	X(INTS, scan_output_directions, NULL, RARE)

#define MSD_FLOW_PARAMS(X)                                                             \
	X(loop, MSD_PARAMS_LOOP)                                                       \
	X(scan, MSD_PARAMS_SCAN)
MSD_FLOW_PARAMS(MSD_PARAMS)

#endif
