#include "runtime/plan/operations.h"

#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/layer/params.h"
#include "graph/op/quantized/quantize.h"
#include "graph/op/window/window.h"

#define MOST 9e18 /* fits into 63 bits */

/* Counts are doubles: they may exceed 64 bits, and need not be exact then. */
static double elements(const modser_sg_tensor *t)
{
	double n = t != NULL ? 1 : 0;

	for (int i = 0; t != NULL && i < t->ndim; i++)
		n *= (double)t->dims[i];
	return n;
}

static double extent(const modser_sg_tensor *t, int axis)
{
	const int i = axis < 0 && t != NULL ? t->ndim + axis : axis;

	return t != NULL && i >= 0 && i < t->ndim ? (double)t->dims[i] : 1;
}

static const modser_sg_tensor *input(const modser_sg_node *node, size_t i)
{
	return i < node->n_inputs ? node->inputs[i] : NULL;
}

/* A product for each tap of a kernel and each element of @t. */
static double windows(const modser_sg_tensor *t, const modser_sg_tensor *weights)
{
	const double kernels = extent(weights, 0);

	return kernels > 0 ? elements(t) * elements(weights) / kernels : 0;
}

static double convolution(const modser_sg_node *node)
{
	return windows(node->outputs[0], input(node, msd_op_conv_weights(node)));
}

/* Each element of the input meets the kernels of its channel. */
static double deconvolution(const modser_sg_node *node)
{
	return windows(input(node, 0), input(node, 1));
}

static double product(const modser_sg_node *node)
{
	return elements(node->outputs[0]) * extent(input(node, 0), -1);
}

static double gemm(const modser_sg_node *node)
{
	const bool is_turned = msd_params_gemm(node).transA != 0;

	return elements(node->outputs[0]) * extent(input(node, 0), is_turned ? 0 : 1);
}

static double fully_connected(const modser_sg_node *node)
{
	const double columns = extent(node->outputs[0], -1);

	return columns > 0
		       ? elements(node->outputs[0]) * elements(input(node, 1)) / columns
		       : 0;
}

/* Inputs X, W and R; layout 1 only exchanges the first two axes of X. */
static double recurrent(const modser_sg_node *node)
{
	return extent(input(node, 0), 0) * extent(input(node, 0), 1) *
	       (elements(input(node, 1)) + elements(input(node, 2)));
}

static const struct {
	const char *op;
	double (*products)(const modser_sg_node *node);
} rows[] = {
	{"Convolution", convolution},
	{"ScaledConvolution", convolution},
	{MSD_FUSED_CONVOLUTION, convolution},
	{"ConvInteger", convolution},
	{"QLinearConv", convolution},
	{MSD_QUANTIZED_CONVOLUTION, convolution},
	{"Deconvolution", deconvolution},
	{"MatMul", product},
	{"FusedProduct", product},
	{"MatMulInteger", product},
	{"QLinearMatMul", product},
	{MSD_QUANTIZED_MAT_MUL, product},
	{"Gemm", gemm},
	{"FullyConnected", fully_connected},
	{"LSTM", recurrent},
	{"GRU", recurrent},
	{"RNN", recurrent},
};

uint64_t msd_plan_operations(const modser_sg_node *node)
{
	const char *op = modser_sg_op_name(node->op);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].op, op) == 0 && node->n_outputs > 0) {
			const double n = 2 * rows[i].products(node);

			return n < MOST ? (uint64_t)n : (uint64_t)MOST;
		}
	}
	return 0;
}
