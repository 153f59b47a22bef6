/* Reductions, and searches for extrema along an axis. */
#include "graph/serializer/onnx/rows/row.h"

/* The axes are an attribute in older versions and an input in newer ones. */
#define ATTR "axes keepdims=keepdim:1 "
#define INPUT "keepdims=keepdim:1 noop_with_empty_axes:0 "
#define REDUCE(name, since, type)                                                      \
	{(name), 1, "Reduction", ATTR type, NULL},                                     \
	{                                                                              \
		(name), (since), "Reduction", INPUT type, NULL                         \
	}

const struct onnx_row onnx_rows_reduce[] = {
	REDUCE("ReduceSum", 13, "type:=0"),
	REDUCE("ReduceMean", 18, "type:=1"),
	REDUCE("ReduceL1", 18, "type:=2"),
	REDUCE("ReduceSumSquare", 18, "type:=3"),
	REDUCE("ReduceMax", 18, "type:=4"),
	REDUCE("ReduceMin", 18, "type:=5"),
	REDUCE("ReduceProd", 18, "type:=6"),
	REDUCE("ReduceL2", 18, "type:=7"),
	REDUCE("ReduceLogSum", 18, "type:=9"),
	REDUCE("ReduceLogSumExp", 18, "type:=10"),
	{"ArgMax", 1, "ArgMax", "axis:0 keepdims:1 select_last_index:0", NULL},
	{"ArgMin", 1, "ArgMin", "axis:0 keepdims:1 select_last_index:0", NULL},
	{"TopK", 1, "TopKV2", "axis:-1 k! sorted:=1", NULL},
	{"TopK", 10, "TopKV2", "axis:-1 sorted:=1", NULL},
	{"TopK", 11, "TopKV2", "axis:-1 largest:1 sorted:1", NULL},
	{0},
};
