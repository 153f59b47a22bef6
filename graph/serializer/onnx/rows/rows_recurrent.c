/* Recurrent layers. */
#include "graph/serializer/onnx/rows/row.h"

static int load(struct onnx_node *n)
{
	if (onnx_attr(n, "direction") == NULL &&
	    onnx_set_text(n, "direction", "forward") != 0)
		return -1;
	return onnx_set_int(n, "has_clip", onnx_attr(n, "clip") != NULL);
}

#define COMMON                                                                         \
	"direction hidden_size activations activation_alpha activation_beta clip "     \
	"-output_sequence layout:0 "
const struct onnx_row onnx_rows_recurrent[] = {
	{"GRU", 1, "GRU", COMMON "linear_before_reset:0", load},
	{"LSTM", 1, "LSTM", COMMON "input_forget:0", load},
	{"RNN", 1, "RNN", COMMON, load},
	{0},
};
