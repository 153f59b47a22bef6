/* Functions of a model, read where they are called. */
#include "graph/serializer/onnx/function.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/format.h"
#include "graph/serializer/onnx/node.h"
#include "graph/serializer/onnx/read.h"
#include "graph/serializer/onnx/row.h"

static const char *text_of(const char *text)
{
	return text != NULL ? text : "";
}

const Onnx__FunctionProto *onnx_function_of(const struct onnx_load *l,
					    const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < l->model->n_functions; i++) {
		const Onnx__FunctionProto *f = l->model->functions[i];

		if (strcmp(text_of(f->name), text_of(p->op_type)) == 0 &&
		    strcmp(text_of(f->domain), text_of(p->domain)) == 0 &&
		    strcmp(text_of(f->overload), text_of(p->overload)) == 0)
			return f;
	}
	return NULL;
}

/* The call whose body @l is within; NULL: none. */
static const struct onnx_call *call_of(const struct onnx_load *l)
{
	while (l != NULL && l->call == NULL)
		l = l->outer;
	return l != NULL ? l->call : NULL;
}

bool onnx_function_lacks(const struct onnx_load *l, const char *name)
{
	const struct onnx_call *call = call_of(l);

	for (size_t i = 0; call != NULL && i < call->function->n_input; i++) {
		if (strcmp(text_of(call->function->input[i]), name) == 0)
			return true;
	}
	return false;
}

static Onnx__AttributeProto *named(Onnx__AttributeProto **list, size_t n,
				   const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(text_of(list[i]->name), name) == 0)
			return list[i];
	}
	return NULL;
}

/* What the call says of attribute @name, or its default; NULL: neither is there. */
static const Onnx__AttributeProto *value_of(const struct onnx_call *call,
					    const char *name)
{
	const Onnx__AttributeProto *said =
		named(call->node->attribute, call->node->n_attribute, name);

	return said != NULL ? said
			    : named(call->function->attribute_proto,
				    call->function->n_attribute_proto, name);
}

static bool refers(const Onnx__AttributeProto *a)
{
	return text_of(a->ref_attr_name)[0] != '\0';
}

int onnx_function_resolve(const struct onnx_load *l, const Onnx__NodeProto *p,
			  struct onnx_resolved *ret)
{
	const struct onnx_call *call = call_of(l);
	size_t n = 0;

	*ret = (struct onnx_resolved){.node = *p};
	for (size_t i = 0; call != NULL && i < p->n_attribute; i++)
		n += refers(p->attribute[i]);
	if (n == 0)
		return 0;
	ret->list = calloc(p->n_attribute, sizeof(Onnx__AttributeProto *));
	ret->made = calloc(n, sizeof(*ret->made));
	if (ret->list == NULL || ret->made == NULL)
		return msd_sg_no_memory(l->g);
	ret->node.attribute = ret->list;
	ret->node.n_attribute = 0;
	for (size_t i = 0, k = 0; i < p->n_attribute; i++) {
		Onnx__AttributeProto *a = p->attribute[i];

		if (refers(a)) {
			const Onnx__AttributeProto *v =
				value_of(call, a->ref_attr_name);

			if (v == NULL)
				continue; /* the operator's default holds */
			ret->made[k] = *v;
			ret->made[k].name = a->name;
			ret->made[k].ref_attr_name = NULL;
			a = &ret->made[k++];
		}
		ret->list[ret->node.n_attribute++] = a;
	}
	return 0;
}

void onnx_resolved_finish(struct onnx_resolved *r)
{
	free(r->list);
	free(r->made);
}

/* Say why the call @p cannot be read. */
static int fail(struct onnx_load *l, const Onnx__NodeProto *p, size_t i,
		const char *what, const char *name)
{
	return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
			   "node %zu \"%s\", function %s: %s%s%s", i, text_of(p->name),
			   text_of(p->op_type), what, name,
			   name[0] != '\0' ? "\"" : "");
}

static int take_inputs(struct onnx_load *l, struct onnx_load *within,
		       const Onnx__NodeProto *p, size_t i)
{
	const Onnx__FunctionProto *f = within->call->function;

	if (p->n_input > f->n_input)
		return fail(l, p, i, "it has more inputs than the function", "");
	for (size_t k = 0; k < p->n_input; k++) {
		const char *name = text_of(p->input[k]);
		modser_sg_tensor *t = NULL;

		if (name[0] == '\0')
			continue;
		if (onnx_find(l, name, &t) != 0)
			return -1;
		if (t == NULL && onnx_function_lacks(l, name))
			continue;
		if (t == NULL) {
			return fail(l, p, i, "nothing before it makes its input \"",
				    name);
		}
		if (onnx_names_find(&within->names, text_of(f->input[k])) != NULL) {
			return fail(l, p, i, "two of its inputs are called \"",
				    text_of(f->input[k]));
		}
		if (!onnx_names_add(&within->names, text_of(f->input[k]), t))
			return msd_sg_no_memory(l->g);
	}
	return 0;
}

static int read_body(struct onnx_load *l, struct onnx_load *within,
		     const Onnx__NodeProto *p, size_t i)
{
	const Onnx__FunctionProto *f = within->call->function;

	for (size_t k = 0; k < f->n_node; k++) {
		if (*l->left == 0) {
			return fail(l, p, i, "functions call each other too often", "");
		}
		--*l->left;
		if (onnx_read_node(within, f->node[k], k) == 0)
			continue;
		if (l->call != NULL) /* said of the outermost alone */
			return -1;
		return msd_sg_fail(l->g, l->g->diag.code,
				   "node %zu \"%s\", function %s: %s", i,
				   text_of(p->name), text_of(p->op_type),
				   modser_graph_error(l->g));
	}
	return 0;
}

/* A tensor called @name that is what @t is: for one that has a name already. */
static modser_sg_tensor *same_as(struct onnx_load *l, modser_sg_tensor *t,
				 const char *name)
{
	modser_sg_node *node = modser_sg_node_create(l->g, name);
	modser_sg_op *op = node != NULL ? modser_sg_op_create(l->g, "Noop") : NULL;
	modser_sg_tensor *out = op != NULL ? modser_sg_tensor_create(l->g, name) : NULL;

	if (out == NULL || modser_sg_node_add_input(node, t) < 0 ||
	    modser_sg_node_add_output(node, out) < 0)
		return NULL;
	modser_sg_node_set_op(node, op);
	return out;
}

/* Of what the body has made outputs get the names that the call has for them. */
static int give_outputs(struct onnx_load *l, struct onnx_load *within,
			const Onnx__NodeProto *p, size_t i)
{
	const Onnx__FunctionProto *f = within->call->function;

	if (p->n_output > f->n_output)
		return fail(l, p, i, "it has more outputs than the function", "");
	for (size_t k = 0; k < p->n_output; k++) {
		const char *name = text_of(p->output[k]);
		modser_sg_tensor *t =
			onnx_names_find(&within->names, text_of(f->output[k]));

		if (name[0] == '\0')
			continue;
		if (t == NULL) {
			return fail(l, p, i, "no node of it makes its output \"",
				    text_of(f->output[k]));
		}
		if (onnx_check_name(l, name, "an output") != 0)
			return -1;
		t = same_as(l, t, name);
		if (t == NULL || onnx_remember(l, t) != 0)
			return -1;
	}
	return 0;
}

/* The version of ONNX's operators that the body is of. */
static int64_t opset_of(const struct onnx_load *l, const Onnx__FunctionProto *f)
{
	for (size_t i = 0; i < f->n_opset_import; i++) {
		if (onnx_domain_is_own(f->opset_import[i]->domain))
			return f->opset_import[i]->version;
	}
	return l->opset;
}

int onnx_function_read(struct onnx_load *l, const Onnx__FunctionProto *f,
		       const Onnx__NodeProto *p, size_t i)
{
	const struct onnx_call call = {f, p, call_of(l)};
	struct onnx_load within = {.g = l->g,
				   .model = l->model,
				   .file = l->file,
				   .external = l->external,
				   .opset = opset_of(l, f),
				   .n_inferred = l->n_inferred,
				   .call = &call,
				   .left = l->left,
				   .depth = l->depth + 1};

	for (const struct onnx_call *c = call.outer; c != NULL; c = c->outer) {
		if (c->function == f)
			return fail(l, p, i, "it calls itself", "");
	}
	if (within.depth > ONNX_MAX_CALLS)
		return fail(l, p, i, "functions call each other too deep", "");
	if (within.opset < 1 || within.opset > ONNX_MAX_OPSET)
		return fail(l, p, i, "its opset cannot be read", "");
	int result = take_inputs(l, &within, p, i);
	if (result == 0)
		result = read_body(l, &within, p, i);
	if (result == 0)
		result = give_outputs(l, &within, p, i);
	l->n_inferred = within.n_inferred;
	onnx_names_finish(&within.names);
	return result;
}
