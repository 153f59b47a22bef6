/* Layers: products, normalizations and Softmax. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/reduce/reduce.h"
#include "graph/serializer/tmfile/plan.h"

/* Without factors, and with weights row by row, it is a FullyConnected. */
static int write_gemm(struct tm_node *n)
{
	const modser_sg_tensor *w = tm_input(n, 1);
	const modser_sg_tensor *bias = tm_input(n, 2);
	const bool is_plain = tm_int(n, "transA") == 0 && tm_int(n, "transB") != 0 &&
			      modser_sg_op_float(n->op, "alpha") == 1 &&
			      (bias == NULL || modser_sg_op_float(n->op, "beta") == 1);

	if (w == NULL || w->ndim != 2 || w->type != MODSER_TENSOR_CONST || !is_plain ||
	    (bias != NULL && (bias->type != MODSER_TENSOR_CONST ||
			      tm_elements(bias) != (uint64_t)w->dims[0])))
		return 0;
	if (bias != NULL)
		n->lengths[bias->index] = w->dims[0];
	return tm_become(n, "FullyConnected") != 0
		       ? -1
		       : tm_set_int(n, "num_output", w->dims[0]);
}

/* Softmax over the axis and all after it is that over the axis, if those are 1. */
static int write_softmax(struct tm_node *n)
{
	const modser_sg_tensor *x = tm_input(n, 0);
	const int ndim = tm_ndim(n);
	int64_t axis = tm_int(n, "axis");

	if (tm_copy(n) != 0 || tm_set_axis(n, "axis", ndim) != 0)
		return -1;
	if (tm_int(n, "flattens") == 0)
		return 0;
	if (ndim < 0)
		return tm_fail(n, "the shape of its input is not known");
	axis = axis < 0 ? axis + ndim : axis;
	for (int64_t i = axis + 1; i < ndim; i++) {
		if (x->dims[i] != 1)
			return tm_fail(n, "it has one axis");
	}
	return tm_set_int(n, "flattens", 0);
}

/* Tengine normalizes the last axis. */
static int write_layer_norm(struct tm_node *n)
{
	const int64_t axis = tm_int(n, "axis");

	if (axis != -1 && axis != tm_ndim(n) - 1)
		return tm_fail(n, "it has the last axis alone");
	if (tm_keep_output(n, "mean and deviation") != 0)
		return -1;
	return tm_copy(n) != 0 ? -1 : tm_set_int(n, "axis", -1);
}

/* The ratio is an input in ONNX. */
static int write_dropout(struct tm_node *n)
{
	n->n_inputs = 1;
	return tm_keep_output(n, "mask");
}

/* The axes of a reduction: an input or a list in ONNX; none are all. */
static int reduced_axes(const struct tm_node *n, int64_t *axes, size_t *ret_n)
{
	const modser_sg_attr *own = modser_sg_op_param(n->from->op, "axes");
	size_t count = own->n <= TM_MAX_INTS ? own->n : TM_MAX_INTS;

	if (count > 0)
		memcpy(axes, own->as.ints, count * sizeof(*axes));
	if (tm_input(n, 1) != NULL && tm_ints(n, 1, axes, &count) != 0)
		return -1;
	if (tm_ndim(n) < 0)
		return tm_fail(n, "the shape of its input is not known");
	if (count == 0 && tm_int(n, "noop_with_empty_axes") != 0)
		return tm_fail(n, "it reduces nothing");
	if (count == 0) {
		for (; count < (size_t)tm_ndim(n) && count < TM_MAX_INTS; count++)
			axes[count] = (int64_t)count;
	}
	*ret_n = count;
	return 0;
}

/* Tengine has a root of squares for an axis and all behind it. */
static int put_length(struct tm_node *n, const int64_t *axes, size_t count)
{
	bool is_in[MODSER_GRAPH_MAX_NDIM] = {false};
	const int ndim = tm_ndim(n);
	int64_t first = ndim;

	for (size_t i = 0; i < count; i++)
		is_in[axes[i] < 0 ? axes[i] + ndim : axes[i]] = true;
	while (first > 0 && is_in[first - 1])
		first--;
	for (int64_t i = 0; i < first; i++) {
		if (is_in[i])
			return tm_fail(n, "a root of squares is over the last axes");
	}
	if (tm_become(n, "ReduceL2") != 0 || tm_set_int(n, "axis", first) != 0)
		return -1;
	return tm_set_int(n, "keepdim", tm_int(n, "keepdim"));
}

/* Tengine has four numbers. */
static int write_reduction(struct tm_node *n)
{
	static const char *const names[] = {"dim_0", "dim_1", "dim_2", "dim_3"};
	const modser_sg_attr *own = modser_sg_op_param(n->op, "axes");
	int64_t axes[TM_MAX_INTS] = {0};
	size_t count = 0;

	if (tm_input(n, 1) == NULL && own->n == 0 && tm_int(n, "dim_0") != -2 &&
	    tm_int(n, "type") != MSD_REDUCE_L2)
		return 0;
	if (reduced_axes(n, axes, &count) != 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (axes[i] < -tm_ndim(n) || axes[i] >= tm_ndim(n))
			return tm_fail(n, "an axis does not exist");
	}
	n->n_inputs = 1;
	if (tm_int(n, "type") == MSD_REDUCE_L2)
		return put_length(n, axes, count);
	if (count > 4)
		return tm_fail(n, "it has four axes at most");
	if (tm_copy(n) != 0 || tm_set_ints(n, "axes", NULL, 0) != 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const int64_t axis = axes[i] < 0 ? axes[i] + tm_ndim(n) : axes[i];

		if (tm_set_int(n, names[i], axis) != 0)
			return -1;
	}
	return 0;
}

const struct tm_form tm_forms_layer[] = {
	{"Dropout", write_dropout},
	{"Gemm", write_gemm},
	{"LayerNorm", write_layer_norm},
	{"LogSoftmax", write_softmax},
	{"Reduction", write_reduction},
	{"Softmax", write_softmax},
	{NULL, NULL},
};
