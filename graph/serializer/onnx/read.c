/*
 * Read an ONNX model into a graph: the file is scanned (wire.c), protobuf-c unpacks
 * the reduced message, initializers become constants, then nodes are read in the
 * order of the file (node.c).
 */
#include "graph/serializer/onnx/read.h"

#include "graph/ir/defaults.h"
#include "graph/ir/graph.h"
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/external.h"
#include "graph/serializer/onnx/facts.h"
#include "graph/serializer/onnx/format.h"
#include "graph/serializer/onnx/function.h"
#include "graph/serializer/onnx/node.h"
#include "graph/serializer/onnx/sparse.h"
#include "graph/serializer/onnx/tensor.h"
#include "graph/serializer/onnx/wire.h"
#include "proto/base/grow.h"

int onnx_remember(struct onnx_load *l, modser_sg_tensor *t)
{
	return msd_names_add(&l->names, t->name, t) ? 0 : msd_sg_no_memory(l->g);
}

int onnx_check_name(struct onnx_load *l, const char *name, const char *what)
{
	if (name == NULL || name[0] == '\0')
		return msd_sg_fail(l->g, MSD_BAD_ARTIFACT, "%s without a name", what);
	if (msd_names_find(&l->names, name) != NULL) {
		return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
				   "two tensors are called \"%s\"", name);
	}
	return 0;
}

static int read_initializers(struct onnx_load *l, const Onnx__GraphProto *p)
{
	for (size_t i = 0; i < p->n_initializer; i++) {
		const Onnx__TensorProto *from = p->initializer[i];

		if (onnx_check_name(l, from->name, "an initializer") != 0)
			return -1;
		modser_sg_tensor *t = onnx_tensor_read(l, from, from->name);
		if (t == NULL || onnx_remember(l, t) != 0)
			return -1;
	}
	for (size_t i = 0; i < p->n_sparse_initializer; i++) {
		const Onnx__SparseTensorProto *from = p->sparse_initializer[i];
		const char *name = from->values != NULL ? from->values->name : NULL;

		if (onnx_check_name(l, name, "a sparse initializer") != 0)
			return -1;
		modser_sg_tensor *t = onnx_sparse_read(l, from, name);
		if (t == NULL || onnx_remember(l, t) != 0)
			return -1;
	}
	return 0;
}

static int read_shape(modser_sg_tensor *t, const Onnx__TensorShapeProto *p)
{
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (p->n_dim > MODSER_GRAPH_MAX_NDIM) {
		return msd_sg_fail(t->graph, MSD_UNSUPPORTED,
				   "tensor \"%s\": it has more than 32 dimensions",
				   t->name);
	}
	for (size_t i = 0; i < p->n_dim; i++) {
		const Onnx__TensorShapeProto__Dimension *d = p->dim[i];

		/* Negative extents mean unknown. */
		dims[i] = d->has_dim_value && d->dim_value >= 0 ? d->dim_value : -1;
	}
	if (modser_sg_tensor_set_dims(t, dims, p->n_dim) != 0)
		return -1;
	for (size_t i = 0; i < p->n_dim; i++) {
		if (dims[i] < 0 && p->dim[i]->dim_param != NULL &&
		    modser_sg_tensor_set_dim_name(t, i, p->dim[i]->dim_param) != 0)
			return -1;
	}
	return 0;
}

/* Read the type of an input or output. An output's type is optional: it follows from
 * its node, which makes a tensor, even if the file says that it is a sequence of maps
 * (ZipMap). In a subgraph the types of inputs are optional, too. */
static int read_type(const struct onnx_load *l, modser_sg_tensor *t,
		     const Onnx__TypeProto *p)
{
	const bool is_known = l->outer != NULL || t->type == MODSER_TENSOR_VAR;
	const Onnx__TypeProto__Tensor *tensor = p != NULL ? p->tensor_type : NULL;
	const char *dtype = tensor != NULL ? onnx_dtype_name(tensor->elem_type) : NULL;

	if (is_known && (tensor == NULL || tensor->elem_type == 0) &&
	    (l->outer == NULL || p == NULL || p->base.n_unknown_fields == 0))
		return 0;
	if (tensor == NULL) {
		return msd_sg_fail(t->graph, MSD_UNSUPPORTED,
				   "\"%s\" is no tensor; sequences, maps and the like "
				   "cannot be read",
				   t->name);
	}
	if (dtype == NULL) {
		return msd_sg_fail(t->graph, MSD_UNSUPPORTED,
				   "tensor \"%s\": element type %d cannot be read",
				   t->name, (int)tensor->elem_type);
	}
	if (modser_sg_tensor_set_dtype(t, dtype) != 0)
		return -1;
	return tensor->shape != NULL ? read_shape(t, tensor->shape) : 0;
}

/* NULL: the graph has the error. */
static modser_sg_tensor *make_input(struct onnx_load *l, const char *name)
{
	modser_sg_tensor *t = modser_sg_tensor_create(l->g, name);
	modser_sg_node *node = t != NULL ? modser_sg_node_create(l->g, name) : NULL;
	modser_sg_op *op = node != NULL ? modser_sg_op_create(l->g, "InputOp") : NULL;

	if (op == NULL || modser_sg_tensor_set_type(t, MODSER_TENSOR_INPUT) != 0 ||
	    modser_sg_node_add_output(node, t) < 0)
		return NULL;
	msd_sg_node_take_op(node, op);
	if (modser_graph_add_input(l->g, t) != 0 || onnx_remember(l, t) != 0)
		return NULL;
	return t;
}

static int add_input(struct onnx_load *l, const Onnx__ValueInfoProto *p)
{
	modser_sg_tensor *t = make_input(l, p->name);

	return t != NULL ? read_type(l, t, p->type) : -1;
}

int onnx_find(struct onnx_load *l, const char *name, modser_sg_tensor **ret)
{
	modser_sg_tensor *outer = NULL;

	*ret = msd_names_find(&l->names, name);
	if (*ret != NULL || l->outer == NULL)
		return 0;
	if (onnx_find(l->outer, name, &outer) != 0) {
		return msd_sg_fail(l->g, l->outer->g->diag.code, "%s",
				   modser_graph_error(l->outer->g));
	}
	if (outer == NULL)
		return 0;
	if (!msd_grow(&l->captured, l->n_captured, sizeof(*l->captured)))
		return msd_sg_no_memory(l->g);
	modser_sg_tensor *t = make_input(l, name);
	if (t == NULL)
		return -1;
	if (outer->has_dtype)
		msd_sg_tensor_take_dtype(t, outer->dtype);
	l->captured[l->n_captured++] = outer;
	*ret = t;
	return 0;
}

/* True if @value could be given for @declared. */
static bool fits(const modser_sg_tensor *declared, const modser_sg_tensor *value)
{
	if (declared->ndim != value->ndim)
		return false;
	for (int i = 0; i < value->ndim; i++) {
		if (declared->dims[i] >= 0 && declared->dims[i] != value->dims[i])
			return false;
	}
	return true;
}

/* A caller gives @t instead of @value: it has the same element type, and the shape that
 * the file has for the input, if the value fits it. */
static int declare(modser_sg_tensor *t, const modser_sg_tensor *value,
		   const Onnx__TypeProto *p)
{
	const Onnx__TypeProto__Tensor *tensor = p != NULL ? p->tensor_type : NULL;

	msd_sg_tensor_take_dtype(t, value->dtype);
	if (tensor != NULL && tensor->shape != NULL &&
	    read_shape(t, tensor->shape) != 0)
		return -1;
	return fits(t, value)
		       ? 0
		       : modser_sg_tensor_set_dims(t, value->dims, (size_t)value->ndim);
}

static int read_default(struct onnx_load *l, const Onnx__ValueInfoProto *p,
			modser_sg_tensor *value)
{
	if (value->is_default)
		return onnx_check_name(l, value->name, "an input");
	modser_sg_tensor *t = msd_sg_add_default(l->g, value);
	if (t == NULL || declare(t, value, p->type) != 0)
		return -1;
	if (!l->g->opens_defaults)
		return 0;
	t = make_input(l, value->name);
	return t != NULL ? declare(t, value, p->type) : -1;
}

/* Inputs without an initializer, then those with one. Before IR version 4, a file lists
 * every initializer as an input: these are constants. */
static int read_inputs(struct onnx_load *l, const Onnx__GraphProto *p)
{
	for (size_t i = 0; i < p->n_input; i++) {
		const char *name = onnx_text(p->input[i]->name);
		const modser_sg_tensor *t = msd_names_find(&l->names, name);

		if (t != NULL && t->type == MODSER_TENSOR_CONST)
			continue;
		if (onnx_check_name(l, name, "an input") != 0 ||
		    add_input(l, p->input[i]) != 0)
			return -1;
	}
	for (size_t i = 0; l->has_defaults && i < p->n_input; i++) {
		modser_sg_tensor *t =
			msd_names_find(&l->names, onnx_text(p->input[i]->name));

		if (t->type == MODSER_TENSOR_CONST &&
		    read_default(l, p->input[i], t) != 0)
			return -1;
	}
	return 0;
}

static int read_outputs(struct onnx_load *l, const Onnx__GraphProto *p)
{
	for (size_t i = 0; i < p->n_output; i++) {
		const char *name = onnx_text(p->output[i]->name);
		modser_sg_tensor *t;

		if (onnx_find(l, name, &t) != 0)
			return -1;
		if (t == NULL) {
			return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
					   "no node makes the output \"%s\"", name);
		}
		if (t->type == MODSER_TENSOR_VAR &&
		    read_type(l, t, p->output[i]->type) != 0)
			return -1;
		if (modser_graph_add_output(l->g, t) != 0)
			return -1;
	}
	return 0;
}

static int read_opsets(struct onnx_load *l, const Onnx__ModelProto *m)
{
	const Onnx__OperatorSetIdProto *own;

	if (m->n_opset_import > ONNX_MAX_IMPORTS) {
		return msd_sg_fail(l->g, MSD_TOO_LARGE,
				   "it names %zu domains; %u can be read",
				   m->n_opset_import, ONNX_MAX_IMPORTS);
	}
	own = onnx_import_of(l->imports, NULL);
	if (own == NULL) {
		/* The oldest files name no domain; without ONNX's domain a file has
		 * no ONNX operators. */
		l->opset = m->n_opset_import == 0 ? 1 : 0;
		return 0;
	}
	l->opset = own->version;
	if (l->opset < 1 || l->opset > ONNX_MAX_OPSET) {
		return msd_sg_fail(l->g, MSD_UNSUPPORTED,
				   "opset %lld; 1 to %d can be read",
				   (long long)l->opset, ONNX_MAX_OPSET);
	}
	return 0;
}

static int read_facts(struct onnx_load *l, const Onnx__ModelProto *m)
{
	const modser_sg_attr opset = {.kind = MODSER_ATTR_INT, .as.i = l->opset};

	return modser_graph_add_attr(l->g, ONNX_ATTR_OPSET, &opset) == 0
		       ? onnx_facts_read(l->g, m)
		       : -1;
}

int onnx_load_graph(struct onnx_load *l, const Onnx__GraphProto *p)
{
	if (read_initializers(l, p) != 0 || read_inputs(l, p) != 0)
		return -1;
	for (size_t i = 0; i < p->n_node; i++) {
		if (onnx_read_node(l, p->node[i], i) != 0)
			return -1;
	}
	return read_outputs(l, p);
}

/* @functions resolves the calls of @l. */
static int read_model(struct onnx_load *l, const Onnx__ModelProto *m,
		      struct onnx_functions *functions)
{
	if (m->graph == NULL)
		return msd_sg_fail(l->g, MSD_BAD_ARTIFACT, "it has no graph");
	if (!m->has_ir_version) {
		return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
				   "it is an ONNX model without an ir_version; set it "
				   "(model.ir_version = %d) and save the model again",
				   ONNX_IR_VERSION);
	}
	if (m->n_functions > ONNX_MAX_FUNCTIONS) {
		return msd_sg_fail(l->g, MSD_TOO_LARGE,
				   "it has %zu functions; %u can be read",
				   m->n_functions, ONNX_MAX_FUNCTIONS);
	}
	if (read_opsets(l, m) != 0 || read_facts(l, m) != 0 ||
	    onnx_functions_make(m, l->g, functions) != 0)
		return -1;
	l->has_defaults = m->ir_version >= ONNX_IR_DEFAULTS;
	return onnx_load_graph(l, m->graph);
}

int onnx_load(const modser_serializer *s, const modser_part *parts,
	      const modser_model_options *options, modser_graph *graph)
{
	struct onnx_external external = {.read = graph->read_beside,
					 .ctx = graph->beside_ctx};
	struct onnx_functions functions = {.methods = s};
	struct onnx_imports imports = {0};
	size_t left = ONNX_MAX_CALLED_BYTES;
	struct onnx_load l = {.g = graph,
			      .functions = &functions,
			      .file = {parts->data, parts->bytes},
			      .external = &external,
			      .imports = &imports,
			      .left = &left};
	struct msd_buf small = {0};
	Onnx__ModelProto *m = NULL;

	(void)options;
	int result = onnx_wire_trim(graph, l.file, &small);
	if (result == 0) {
		m = onnx__model_proto__unpack(NULL, small.n, small.p);
		if (m == NULL) {
			result = msd_sg_fail(graph, MSD_BAD_ARTIFACT,
					     "no ONNX model, or no memory for it");
		}
	}
	if (result == 0 && m != NULL) {
		imports.list = m->opset_import;
		imports.n = m->n_opset_import;
		result = read_model(&l, m, &functions);
	}
	onnx_functions_finish(&functions);
	onnx__model_proto__free_unpacked(m, NULL);
	msd_buf_finish(&small);
	msd_names_finish(&l.names);
	onnx_external_finish(&external);
	return result;
}
