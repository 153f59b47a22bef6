/* Matrix products, normalizations, Softmax and other layers. */
#include "graph/serializer/onnx/rows/row.h"

static int load_batch_norm(struct onnx_node *n)
{
	if (onnx_attr_int(n, "spatial", 1) == 0) {
		return onnx_fail(n,
				 "one number for each place (spatial=0) cannot be run");
	}
	for (size_t i = 1; i < n->proto->n_output; i++) {
		if (n->proto->output[i] != NULL && n->proto->output[i][0] != '\0')
			return onnx_fail(n, "it has outputs for training");
	}
	return 0;
}

/* Momentum matters only in training mode. */
static int load_trained_norm(struct onnx_node *n)
{
	const Onnx__AttributeProto *momentum = onnx_attr(n, "momentum");
	const modser_sg_attr value = {.kind = MODSER_ATTR_FLOAT,
				      .as.f = momentum != NULL ? momentum->f : 0.9f};

	if (onnx_attr_int(n, "training_mode", 0) == 0)
		return load_batch_norm(n);
	return modser_sg_op_set_param(n->op, "momentum", &value);
}

/* Default axes: those of the images and their planes. */
static int load_mean_variance(struct onnx_node *n)
{
	static const int64_t axes[] = {0, 2, 3};

	return onnx_attr(n, "axes") == NULL ? onnx_set_ints(n, "axes", axes, 3) : 0;
}

#define BATCH_NORM "epsilon=eps:1e-5 -momentum"
#define LOSS "reduction ignore_index"
const struct onnx_row onnx_rows_layer[] = {
	{"Attention", 23, "Attention",
	 "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap "
	 "-softmax_precision",
	 NULL},
	{"Attention", 25, "Attention",
	 "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap "
	 "-softmax_precision left_window_size right_window_size",
	 NULL},
	{"BatchNormalization", 1, "BatchNormalization", BATCH_NORM " -spatial -is_test",
	 load_batch_norm},
	{"BatchNormalization", 14, "BatchNormalization", BATCH_NORM " training_mode",
	 load_trained_norm},
	{"CausalConvWithState", 27, "CausalConvWithState", "activation", NULL},
	{"Dropout", 1, "Dropout", "-ratio -is_test", NULL},
	{"Dropout", 12, "Dropout", "-seed", NULL},
	{"Einsum", 12, "Einsum", "equation!", NULL},
	{"Gemm", 1, "Gemm", "alpha:1 beta:1 transA:0 transB:0 -broadcast", NULL},
	{"GroupNormalization", 18, "GroupNorm",
	 "num_groups! epsilon=eps:1e-5 -stash_type", NULL},
	{"Hardmax", 1, "Hardmax", "axis:1 flattens:=1", NULL},
	{"Hardmax", 13, "Hardmax", "axis:-1 flattens:=0", NULL},
	{"InstanceNormalization", 1, "InstanceNorm", "epsilon=eps:1e-5", NULL},
	{"LRN", 1, "LRN", "size=local_size! alpha:1e-4 beta:0.75 bias=k:1 is_onnx:=1",
	 NULL},
	{"LayerNormalization", 17, "LayerNorm", "axis:-1 epsilon=eps:1e-5 -stash_type",
	 NULL},
	{"LinearAttention", 27, "LinearAttention",
	 "kv_num_heads! q_num_heads! scale update_rule -chunk_size", NULL},
	{"LogSoftmax", 1, "LogSoftmax", "axis:1 flattens:=1", NULL},
	{"LogSoftmax", 13, "LogSoftmax", "axis:-1 flattens:=0", NULL},
	{"LpNormalization", 1, "LpNorm", "axis p", NULL},
	{"MatMul", 1, "MatMul", "", NULL},
	{"Det", 11, "Det", "", NULL},
	{"MeanVarianceNormalization", 9, "MeanVarianceNormalization", "axes",
	 load_mean_variance},
	{"NegativeLogLikelihoodLoss", 12, "NegativeLogLikelihoodLoss", LOSS, NULL},
	{"RMSNormalization", 23, "RMSNorm", "axis:-1 epsilon=eps:1e-5 -stash_type",
	 NULL},
	{"RotaryEmbedding", 23, "RotaryEmbedding",
	 "interleaved num_heads rotary_embedding_dim", NULL},
	{"Softmax", 1, "Softmax", "axis:1 flattens:=1", NULL},
	{"Softmax", 13, "Softmax", "axis:-1 flattens:=0", NULL},
	{"SoftmaxCrossEntropyLoss", 12, "SoftmaxCrossEntropyLoss", LOSS, NULL},
	{0},
};
