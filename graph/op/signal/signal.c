/* Weights of signals: windows, and filters of the mel scale. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/signal/params.h"

/* The dtype is known before the values that decide the shape. */
static int infer_dtype(const modser_sg_node *node, const char *name)
{
	struct msd_dtype dtype;

	if (!msd_dtype_parse(name, strlen(name), &dtype)) {
		return msd_infer_fail(node, "no element type is called \"%s\"", name);
	}
	msd_infer_dtype(node, 0, dtype);
	return 0;
}

static int infer_window(modser_sg_node *node)
{
	double size;

	if (infer_dtype(node, msd_params_signal_window(node).dtype) != 0)
		return -1;
	const int result = msd_infer_number(node, 0, &size);
	if (result != 0)
		return result;
	if (!(size >= 0 && size <= (double)INT32_MAX))
		return msd_infer_fail(node, "its size cannot be");
	const int64_t dims[] = {(int64_t)size};
	return msd_infer_set(node, dims, 1);
}

#define WINDOW(id, text)                                                               \
	const modser_sg_op_schema msd_op_##id = {                                      \
		.name = (text),                                                        \
		OP_PARAMS(MSD_PARAMS_SIGNAL_WINDOW),                                   \
		OP_IN(1, 1),                                                           \
		OP_OUT(1, 1),                                                          \
		.infer = infer_window,                                                 \
	}
WINDOW(blackman_window, "BlackmanWindow");
WINDOW(hamming_window, "HammingWindow");
WINDOW(hann_window, "HannWindow");

/* Inputs are the number of filters, the length of the transform, the sample rate, and
 * the lowest and highest frequency. */
static int infer_mel(modser_sg_node *node)
{
	double v[5];

	if (infer_dtype(node, msd_params_mel_weights(node).dtype) != 0)
		return -1;
	for (size_t i = 0; i < 5; i++) {
		const int result = msd_infer_number(node, i, &v[i]);

		if (result != 0)
			return result;
	}
	for (size_t i = 0; i < 3; i++) {
		if (!(v[i] >= 1 && v[i] <= (double)INT32_MAX))
			return msd_infer_fail(node, "input %zu cannot be", i);
	}
	if (!(v[3] >= 0 && v[3] <= v[4] && v[4] <= v[2] / 2))
		return msd_infer_fail(node, "its frequencies cannot be");
	const int64_t dims[] = {(int64_t)v[1] / 2 + 1, (int64_t)v[0]};
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_mel_weights = {
	.name = "MelWeightMatrix",
	OP_PARAMS(MSD_PARAMS_MEL_WEIGHTS),
	OP_IN(5, 5),
	OP_OUT(1, 1),
	.infer = infer_mel,
};
