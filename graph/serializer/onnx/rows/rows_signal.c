/* Spectra, windows and filters of signals. */
#include <math.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/serializer/onnx/rows/row.h"

static int load_typed(struct onnx_node *n)
{
	return onnx_set_dtype(n, "output_datatype", "dtype");
}

/* From opset 20 on the axis is an input; a constant becomes the parameter. */
static int load_dft(struct onnx_node *n)
{
	const bool is_given = n->node->n_inputs > 2 && n->node->inputs[2] != NULL;
	double axis = -2;

	if (is_given && (n->node->inputs[2]->type != MODSER_TENSOR_CONST ||
			 msd_infer_number(n->node, 2, &axis) != 0 ||
			 !(fabs(axis) <= MODSER_GRAPH_MAX_NDIM)))
		return 0;
	if (is_given)
		n->node->n_inputs = 2;
	return onnx_set_int(n, "axis", (int64_t)axis);
}

#define WINDOW "-output_datatype periodic"
const struct onnx_row onnx_rows_signal[] = {
	{"BlackmanWindow", 17, "BlackmanWindow", WINDOW, load_typed},
	{"DFT", 17, "DFT", "axis inverse onesided", NULL},
	{"DFT", 20, "DFT", "inverse onesided", load_dft},
	{"HammingWindow", 17, "HammingWindow", WINDOW, load_typed},
	{"HannWindow", 17, "HannWindow", WINDOW, load_typed},
	{"MelWeightMatrix", 17, "MelWeightMatrix", "-output_datatype", load_typed},
	{"STFT", 17, "STFT", "onesided", NULL},
	{0},
};
