/* Layers of old files (V1), whose types are numbers, and the rules that leave layers
 * out. */
#include <string.h>

#include "graph/serializer/caffe/read.h"

const char *caffe_type_of(Caffe__V1LayerParameter__LayerType type)
{
	static const char *const types[] = {
		[1] = "Accuracy",
		[2] = "BNLL",
		[3] = "Concat",
		[4] = "Convolution",
		[5] = "Data",
		[6] = "Dropout",
		[7] = "EuclideanLoss",
		[8] = "Flatten",
		[9] = "HDF5Data",
		[10] = "HDF5Output",
		[11] = "Im2col",
		[12] = "ImageData",
		[13] = "InfogainLoss",
		[14] = "InnerProduct",
		[15] = "LRN",
		[16] = "MultinomialLogisticLoss",
		[17] = "Pooling",
		[18] = "ReLU",
		[19] = "Sigmoid",
		[20] = "Softmax",
		[21] = "SoftmaxWithLoss",
		[22] = "Split",
		[23] = "TanH",
		[24] = "WindowData",
		[25] = "Eltwise",
		[26] = "Power",
		[27] = "SigmoidCrossEntropyLoss",
		[28] = "HingeLoss",
		[29] = "MemoryData",
		[30] = "ArgMax",
		[31] = "Threshold",
		[32] = "DummyData",
		[33] = "Slice",
		[34] = "MVN",
		[35] = "AbsVal",
		[36] = "Silence",
		[37] = "ContrastiveLoss",
		[38] = "Exp",
		[39] = "Deconvolution",
	};

	return (size_t)type < sizeof(types) / sizeof(types[0]) ? types[type] : NULL;
}

void caffe_layer_of(const Caffe__V1LayerParameter *p, Caffe__LayerParameter *ret)
{
	caffe__layer_parameter__init(ret);
	ret->name = p->name;
	ret->type = (char *)(uintptr_t)caffe_type_of(p->type);
	ret->n_bottom = p->n_bottom;
	ret->bottom = p->bottom;
	ret->n_top = p->n_top;
	ret->top = p->top;
	ret->n_blobs = p->n_blobs;
	ret->blobs = p->blobs;
	ret->n_include = p->n_include;
	ret->include = p->include;
	ret->n_exclude = p->n_exclude;
	ret->exclude = p->exclude;
	ret->argmax_param = p->argmax_param;
	ret->concat_param = p->concat_param;
	ret->convolution_param = p->convolution_param;
	ret->dummy_data_param = p->dummy_data_param;
	ret->eltwise_param = p->eltwise_param;
	ret->exp_param = p->exp_param;
	ret->inner_product_param = p->inner_product_param;
	ret->lrn_param = p->lrn_param;
	ret->memory_data_param = p->memory_data_param;
	ret->mvn_param = p->mvn_param;
	ret->pooling_param = p->pooling_param;
	ret->power_param = p->power_param;
	ret->relu_param = p->relu_param;
	ret->sigmoid_param = p->sigmoid_param;
	ret->slice_param = p->slice_param;
	ret->softmax_param = p->softmax_param;
	ret->tanh_param = p->tanh_param;
	ret->threshold_param = p->threshold_param;
}

static bool has_stage(const Caffe__NetParameter *net, const char *stage)
{
	for (size_t i = 0; net->state != NULL && i < net->state->n_stage; i++) {
		if (strcmp(net->state->stage[i], stage) == 0)
			return true;
	}
	return false;
}

/* True if the network without training fulfils the rule. */
static bool is_met(const Caffe__NetStateRule *rule, const Caffe__NetParameter *net)
{
	const int32_t level = net->state != NULL ? net->state->level : 0;

	if (rule->has_phase && rule->phase != CAFFE__PHASE__TEST)
		return false;
	if ((rule->has_min_level && level < rule->min_level) ||
	    (rule->has_max_level && level > rule->max_level))
		return false;
	for (size_t i = 0; i < rule->n_stage; i++) {
		if (!has_stage(net, rule->stage[i]))
			return false;
	}
	for (size_t i = 0; i < rule->n_not_stage; i++) {
		if (has_stage(net, rule->not_stage[i]))
			return false;
	}
	return true;
}

bool caffe_is_included(const Caffe__LayerParameter *p, const Caffe__NetParameter *net)
{
	bool is_included = p->n_include == 0;

	for (size_t i = 0; i < p->n_include && !is_included; i++)
		is_included = is_met(p->include[i], net);
	for (size_t i = 0; i < p->n_exclude && is_included; i++)
		is_included = !is_met(p->exclude[i], net);
	return is_included;
}
