/*
 * Write a graph as an ONNX model: inputs and outputs first, then its constants and
 * nodes (out.h) in an order where producers precede readers; protobuf-c packs the
 * result.
 */
#include "graph/serializer/onnx/store.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/defaults.h"
#include "graph/ir/graph.h"
#include "graph/ir/order.h"
#include "graph/ir/shapes.h"
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/emit.h"
#include "graph/serializer/onnx/facts.h"
#include "graph/serializer/onnx/format.h"
#include "graph/serializer/onnx/out.h"

static int put_constant(struct onnx_emit *e, const modser_sg_tensor *t)
{
	const int32_t type = onnx_dtype_number(t->dtype_name);
	Onnx__TensorProto *p = onnx_emit_alloc(e, sizeof(*p));

	if (type == 0) {
		return msd_sg_fail(e->g, MSD_UNSUPPORTED,
				   "tensor %zu \"%s\": opset 17 has no %s", t->index,
				   t->name, t->dtype_name);
	}
	if (t->data == NULL && t->bytes > 0) {
		return msd_sg_fail(e->g, MSD_UNSUPPORTED,
				   "tensor %zu \"%s\": its bytes were not loaded, or "
				   "removed from the file",
				   t->index, t->name);
	}
	if (p == NULL)
		return 0; /* checked at the end */
	onnx__tensor_proto__init(p);
	p->name = e->names[t->index];
	p->has_data_type = true;
	p->data_type = type;
	p->n_dims = (size_t)t->ndim;
	p->dims = (int64_t *)(uintptr_t)t->dims;
	p->has_raw_data = true;
	p->raw_data =
		(ProtobufCBinaryData){(size_t)t->bytes, (uint8_t *)(uintptr_t)t->data};
	onnx_emit_push(e, &e->initializers, p);
	return 0;
}

static Onnx__TensorShapeProto *shape_of(struct onnx_emit *e, const modser_sg_tensor *t)
{
	Onnx__TensorShapeProto *shape = onnx_emit_alloc(e, sizeof(*shape));
	const size_t n = (size_t)t->ndim;

	if (shape == NULL)
		return NULL;
	onnx__tensor_shape_proto__init(shape);
	shape->dim = onnx_emit_alloc(e, n * sizeof(*shape->dim));
	for (size_t i = 0; shape->dim != NULL && i < n; i++) {
		Onnx__TensorShapeProto__Dimension *dim =
			onnx_emit_alloc(e, sizeof(*dim));
		const char *name = modser_sg_tensor_dim_name(t, i);

		if (dim == NULL)
			return shape;
		onnx__tensor_shape_proto__dimension__init(dim);
		dim->has_dim_value = t->dims[i] >= 0;
		dim->dim_value = t->dims[i];
		if (!dim->has_dim_value && name[0] != '\0')
			dim->dim_param = onnx_emit_text(e, name);
		shape->dim[shape->n_dim++] = dim;
	}
	return shape;
}

static int put_end(struct onnx_emit *e, struct onnx_list *list, char *name,
		   const modser_sg_tensor *t)
{
	Onnx__ValueInfoProto *v = onnx_emit_alloc(e, sizeof(*v));
	Onnx__TypeProto *type = onnx_emit_alloc(e, sizeof(*type));
	Onnx__TypeProto__Tensor *tensor = onnx_emit_alloc(e, sizeof(*tensor));
	const int32_t number = onnx_dtype_number(t->dtype_name);

	if (number == 0) {
		return msd_sg_fail(e->g, MSD_UNSUPPORTED,
				   "tensor %zu \"%s\": opset 17 has no %s", t->index,
				   t->name, t->dtype_name);
	}
	if (v == NULL || type == NULL || tensor == NULL)
		return 0;
	onnx__value_info_proto__init(v);
	onnx__type_proto__init(type);
	onnx__type_proto__tensor__init(tensor);
	v->name = name;
	/* The type is optional in a subgraph; omit it rather than guess. */
	if (e->outer != NULL && !t->has_dtype) {
		onnx_emit_push(e, list, v);
		return 0;
	}
	v->type = type;
	type->tensor_type = tensor;
	tensor->has_elem_type = true;
	tensor->elem_type = number;
	if (t->ndim >= 0)
		tensor->shape = shape_of(e, t);
	onnx_emit_push(e, list, v);
	return 0;
}

/* Keep names that are unique, because ONNX has no other identity. Names in a subgraph
 * must also differ from those of enclosing graphs, except for captured tensors. */
static int name_all(struct onnx_emit *e)
{
	e->names = onnx_emit_alloc(e, (e->g->n_tensors + 1) * sizeof(*e->names));
	if (e->names == NULL)
		return msd_sg_no_memory(e->g);
	for (size_t i = 0; e->given != NULL && i < e->g->n_inputs; i++)
		e->names[e->g->inputs[i]->index] = e->given[i];
	for (size_t i = 0; i < e->g->n_tensors; i++) {
		const char *name = e->g->tensors[i]->name;

		if (e->names[i] == NULL && name[0] != '\0' &&
		    !onnx_emit_is_taken(e, name))
			e->names[i] = onnx_emit_keep(e, name);
	}
	for (size_t i = 0; i < e->g->n_tensors; i++) {
		if (e->names[i] == NULL)
			e->names[i] = onnx_emit_name(e, e->g->tensors[i]->name);
	}
	return e->bad ? msd_sg_no_memory(e->g) : 0;
}

/* A default is an initializer that is an input, too. */
static int put_ends(struct onnx_emit *e)
{
	for (size_t i = 0; i < e->g->n_inputs; i++) {
		modser_sg_tensor *t = e->g->inputs[i];

		if (e->given != NULL && e->given[i] != NULL)
			continue;
		if (put_end(e, &e->inputs, e->names[t->index], t) != 0)
			return -1;
	}
	for (size_t i = 0; i < msd_sg_default_count(e->g); i++) {
		const struct msd_sg_default *f = msd_sg_default_at(e->g, i);

		if (put_end(e, &e->inputs, e->names[f->value->index], f->declared) != 0)
			return -1;
	}
	for (size_t i = 0; i < e->g->n_outputs; i++) {
		modser_sg_tensor *t = e->g->outputs[i];

		if (put_end(e, &e->outputs, e->names[t->index], t) != 0)
			return -1;
	}
	return 0;
}

static int put_all(struct onnx_emit *e, const size_t *order)
{
	if (name_all(e) != 0)
		return -1;
	onnx_emit_domain(e, "", ONNX_OPSET);
	if (put_ends(e) != 0)
		return -1;
	for (size_t i = 0; i < e->g->n_nodes; i++) {
		const modser_sg_node *node = e->g->nodes[order[i]];
		const struct onnx_out o = {e, node, node->op};
		const char *op = node->op->schema->name;
		int result = 0;

		if (strcmp(op, "Const") == 0) {
			result = put_constant(e, node->outputs[0]);
		} else if (strcmp(op, "InputOp") != 0) {
			result = onnx_out_put(&o);
		}
		if (result != 0)
			return -1;
	}
	return e->bad ? msd_sg_no_memory(e->g) : 0;
}

static void fill(struct onnx_emit *e, Onnx__GraphProto *ret)
{
	static char unnamed[] = "graph";
	const char *name = modser_graph_text(e->g, MODSER_GRAPH_NAME);

	onnx__graph_proto__init(ret);
	ret->name = name[0] != '\0' ? (char *)(uintptr_t)name : unnamed;
	ret->node = (Onnx__NodeProto **)e->nodes.items;
	ret->n_node = e->nodes.n;
	ret->initializer = (Onnx__TensorProto **)e->initializers.items;
	ret->n_initializer = e->initializers.n;
	ret->input = (Onnx__ValueInfoProto **)e->inputs.items;
	ret->n_input = e->inputs.n;
	ret->output = (Onnx__ValueInfoProto **)e->outputs.items;
	ret->n_output = e->outputs.n;
}

int onnx_store_graph(struct onnx_emit *e, Onnx__GraphProto *ret)
{
	size_t *order = calloc(e->g->n_nodes + 1, sizeof(*order));
	int result = -1;

	if (order == NULL) {
		result = msd_sg_no_memory(e->g);
	} else {
		e->has_shapes = modser_graph_infer(e->g) == 0;
		/* On failure some shapes are unknown, which is allowed. */
		if ((e->has_shapes || e->g->diag.code != MSD_NOMEM) &&
		    msd_sg_order(e->g, order) == 0)
			result = put_all(e, order);
	}
	fill(e, ret);
	free(order);
	return result;
}

static int pack(struct onnx_emit *e, Onnx__GraphProto *graph, modser_part *ret)
{
	Onnx__ModelProto m = ONNX__MODEL_PROTO__INIT;
	static char producer[] = "modserd";
	static char version[] = MSD_VERSION;

	m.has_ir_version = true;
	m.ir_version = ONNX_IR_VERSION;
	m.producer_name = producer;
	m.producer_version = version;
	m.graph = graph;
	m.n_opset_import = e->opsets.n;
	m.opset_import = (Onnx__OperatorSetIdProto **)e->opsets.items;
	if (onnx_facts_write(e, &m) != 0)
		return -1;
	if (e->bad)
		return msd_sg_no_memory(e->g);
	const size_t n = onnx__model_proto__get_packed_size(&m);
	if (n > INT32_MAX)
		return msd_sg_fail(e->g, MSD_TOO_LARGE, "an ONNX file holds 2 GiB");
	uint8_t *bytes = malloc(n);
	if (bytes == NULL)
		return msd_sg_no_memory(e->g);
	(void)onnx__model_proto__pack(&m, bytes);
	*ret = (modser_part){bytes, n};
	return 0;
}

int onnx_store(const modser_serializer *s, modser_graph *graph, modser_part *ret_parts)
{
	struct onnx_emit e = {.g = graph};
	Onnx__GraphProto message;
	struct msd_sg_shapes shapes;

	(void)s;
	if (!msd_sg_shapes_keep(graph, &shapes))
		return msd_sg_no_memory(graph);
	int result = onnx_store_graph(&e, &message);
	if (result == 0)
		result = pack(&e, &message, ret_parts);
	msd_sg_shapes_restore(&shapes);
	onnx_emit_finish(&e);
	return result;
}
