/* Constants, and operators that move elements or return shapes. */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/rows/row.h"
#include "graph/serializer/onnx/sparse.h"
#include "graph/serializer/onnx/tensor.h"

static const struct {
	const char *attr;
	const char *dtype;
	bool is_list;
} numbers[] = {
	{"value_float", "float32", false},
	{"value_floats", "float32", true},
	{"value_int", "int64", false},
	{"value_ints", "int64", true},
};

/* Create a constant of @count elements of @size bytes, a scalar or with one
 * dimension. */
static modser_sg_tensor *copy_of(const struct onnx_node *n, const char *name,
				 size_t row, const void *from, size_t count)
{
	const size_t size =
		numbers[row].dtype[0] == 'f' ? sizeof(float) : sizeof(int64_t);
	const int64_t dims[] = {(int64_t)count};
	void *copy = calloc(count + 1, size);

	if (copy == NULL) {
		(void)msd_sg_no_memory(n->l->g);
		return NULL;
	}
	if (count > 0)
		memcpy(copy, from, count * size);
	modser_sg_tensor *t =
		onnx_tensor_create(n->l->g, name, numbers[row].dtype, dims,
				   numbers[row].is_list ? 1 : 0, copy, free);
	if (t == NULL)
		free(copy);
	return t;
}

/* Create a Constant from a number or a list. */
static modser_sg_tensor *constant_of(const struct onnx_node *n, const char *name)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const Onnx__AttributeProto *a = onnx_attr(n, numbers[i].attr);
		const bool is_float = numbers[i].dtype[0] == 'f';

		if (a == NULL)
			continue;
		if (!numbers[i].is_list) {
			return copy_of(n, name, i,
				       is_float ? (const void *)&a->f : &a->i, 1);
		}
		return copy_of(n, name, i, is_float ? (const void *)a->floats : a->ints,
			       is_float ? a->n_floats : a->n_ints);
	}
	(void)onnx_fail(n, "it has no value that can be read");
	return NULL;
}

static int load_constant(struct onnx_node *n)
{
	const Onnx__AttributeProto *value = onnx_attr(n, "value");
	const Onnx__AttributeProto *sparse = onnx_attr(n, "sparse_value");
	const char *name = n->proto->n_output == 1 ? n->proto->output[0] : "";
	modser_sg_tensor *t;

	if (name[0] == '\0')
		return onnx_fail(n, "it has no output");
	if (msd_names_find(&n->l->names, name) != NULL)
		return onnx_fail(n, "two tensors are called \"%s\"", name);
	if (value != NULL && value->t != NULL) {
		t = onnx_tensor_read(n->l, value->t, name);
	} else if (sparse != NULL && sparse->sparse_tensor != NULL) {
		t = onnx_sparse_read(n->l, sparse->sparse_tensor, name);
	} else {
		t = constant_of(n, name);
	}
	if (t == NULL)
		return -1;
	return msd_names_add(&n->l->names, t->name, t) ? 0 : msd_sg_no_memory(n->l->g);
}

/* Expand a scalar. */
static int load_constant_of_shape(struct onnx_node *n)
{
	const Onnx__AttributeProto *value = onnx_attr(n, "value");
	static const float zero;

	if (n->node->n_inputs != 1 || n->node->inputs[0] == NULL)
		return onnx_fail(n, "it has no shape");
	if (modser_sg_node_add_input(n->node, n->node->inputs[0]) < 0)
		return -1;
	if (value == NULL || value->t == NULL)
		return onnx_add_constant(n, 0, "float32", NULL, 0, &zero);
	modser_sg_tensor *t = onnx_tensor_read(n->l, value->t, "value");
	if (t == NULL)
		return -1;
	if (t->bytes != t->dtype.bits / 8u)
		return onnx_fail(n, "its value is not one element");
	n->node->inputs[0] = t;
	return modser_sg_tensor_set_dims(t, NULL, 0);
}

/* Attribute @attr of the node becomes constant input @k. */
static int add_list(const struct onnx_node *n, const char *attr, size_t k)
{
	const Onnx__AttributeProto *a = onnx_attr(n, attr);

	return a != NULL ? onnx_add_ints(n, k, a->ints, a->n_ints) : 0;
}

static int load_slice(struct onnx_node *n)
{
	if (add_list(n, "starts", 1) != 0 || add_list(n, "ends", 2) != 0)
		return -1;
	return add_list(n, "axes", 3);
}

static int load_pad_mode(struct onnx_node *n)
{
	static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
	const Onnx__AttributeProto *mode = onnx_attr(n, "mode");

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (onnx_attr_is(n, "mode", modes[i]))
			return onnx_set_int(n, "mode", (int64_t)i);
	}
	return mode == NULL ? 0 : onnx_fail(n, "its mode is not known");
}

/* Up to opset 10 the value is a float for every dtype: other dtypes can only be
 * padded with zeros. */
static int load_pad(struct onnx_node *n)
{
	const Onnx__AttributeProto *value = onnx_attr(n, "value");

	if (add_list(n, onnx_attr(n, "paddings") != NULL ? "paddings" : "pads", 1) != 0)
		return -1;
	if (value != NULL && value->f != 0 &&
	    onnx_add_constant(n, 2, "float32", NULL, 0, &value->f) != 0)
		return -1;
	return load_pad_mode(n);
}

/* Resize up to opset 10: asymmetric coordinates, rounded down. */
static int set_asymmetric(const struct onnx_node *n)
{
	const Onnx__AttributeProto *mode = onnx_attr(n, "mode");

	if (onnx_set_text(n, "coordinate_transformation_mode", "asymmetric") != 0 ||
	    onnx_set_text(n, "nearest_mode", "floor") != 0)
		return -1;
	if (mode == NULL || onnx_attr_is(n, "mode", "nearest"))
		return 0;
	if (!onnx_attr_is(n, "mode", "linear") && !onnx_attr_is(n, "mode", "bilinear"))
		return onnx_fail(n, "its mode is not known");
	return onnx_set_text(n, "mode", "linear");
}

/* Input 1 has the scales. */
static int load_scaled(struct onnx_node *n)
{
	if (n->node->n_inputs != 2)
		return onnx_fail(n, "it has no scales");
	if (modser_sg_node_add_input(n->node, n->node->inputs[1]) < 0)
		return -1;
	n->node->inputs[1] = NULL;
	return set_asymmetric(n);
}

static int load_upsample(struct onnx_node *n)
{
	const Onnx__AttributeProto *scales = onnx_attr(n, "scales");
	const Onnx__AttributeProto *h = onnx_attr(n, "height_scale");
	const Onnx__AttributeProto *w = onnx_attr(n, "width_scale");
	const float planes[4] = {1, 1, h != NULL ? h->f : 1, w != NULL ? w->f : 1};
	const int64_t dims[] = {scales != NULL ? (int64_t)scales->n_floats : 4};

	if (onnx_add_constant(n, 2, "float32", dims, 1,
			      scales != NULL ? scales->floats : planes) != 0)
		return -1;
	return set_asymmetric(n);
}

/* The node's outputs give the number of pieces. */
static int load_split(struct onnx_node *n)
{
	const int64_t wanted = onnx_attr_int(n, "num_outputs", -1);

	if (wanted >= 0 && wanted != (int64_t)n->proto->n_output) {
		return onnx_fail(n, "num_outputs is %lld, and it has %zu",
				 (long long)wanted, n->proto->n_output);
	}
	return 0;
}

#define RESIZE                                                                         \
	"mode coordinate_transformation_mode nearest_mode cubic_coeff_a "              \
	"exclude_outside extrapolation_value "
const struct onnx_row onnx_rows_move[] = {
	{"Concat", 1, "Concat", "axis:1", NULL},
	{"Concat", 4, "Concat", "axis!", NULL},
	{"Constant", 1, NULL, "", load_constant},
	{"ConstantOfShape", 9, "Expand", "-value", load_constant_of_shape},
	{"DepthToSpace", 1, "DepthToSpace", "blocksize=block_size! mode", NULL},
	{"Expand", 8, "Expand", "", NULL},
	{"Flatten", 1, "Flatten", "axis:1 end_axis:=-1", NULL},
	{"Gather", 1, "Gather", "axis:0 is_onnx:=1", NULL},
	{"Pad", 1, "Pad", "-pads -paddings -value -mode", load_pad},
	{"Pad", 11, "Pad", "-mode", load_pad_mode},
	{"Reshape", 1, "Reshape", "shape=re_shape is_onnx:=1", NULL},
	{"Reshape", 5, "Reshape", "allowzero:0 is_onnx:=1", NULL},
	{"Resize", 10, "Resize", "-mode", load_scaled},
	{"Resize", 11, "Resize", RESIZE, NULL},
	{"Resize", 18, "Resize", RESIZE "antialias axes keep_aspect_ratio_policy",
	 NULL},
	{"Shape", 1, "Shape", "start end", NULL},
	{"Slice", 1, "Slice", "-starts! -ends! -axes isonnx:=1", load_slice},
	{"Slice", 10, "Slice", "isonnx:=1", NULL},
	{"SpaceToDepth", 1, "SpaceToDepth", "blocksize=block_size!", NULL},
	{"SpaceToDepth", 28, "SpaceToDepth", "blocksize=block_size! mode", NULL},
	{"Split", 1, "Split", "axis:0 split=sizes is_onnx:=1", NULL},
	{"Split", 13, "Split", "axis:0 is_onnx:=1 -num_outputs", load_split},
	{"Squeeze", 1, "Squeeze", "axes", NULL},
	{"Squeeze", 13, "Squeeze", "", NULL},
	{"Tile", 6, "Tile", "", NULL},
	{"Transpose", 1, "Transpose", "perm", NULL},
	{"Unsqueeze", 1, "Unsqueeze", "axes!", NULL},
	{"Unsqueeze", 13, "Unsqueeze", "", NULL},
	{"Upsample", 1, "Resize", "-mode -scales -height_scale -width_scale",
	 load_upsample},
	{"Upsample", 9, "Resize", "-mode", load_scaled},
	{0},
};
