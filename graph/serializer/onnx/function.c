/* Read the functions of a model at their calls. */
#include "graph/serializer/onnx/function.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/format.h"
#include "graph/serializer/onnx/node.h"
#include "graph/serializer/onnx/read.h"

/* The call whose body contains @l; NULL if none. */
static const struct onnx_call *call_of(const struct onnx_load *l)
{
	while (l != NULL && l->call == NULL)
		l = l->outer;
	return l != NULL ? l->call : NULL;
}

bool onnx_function_lacks(const struct onnx_load *l, const char *name)
{
	const struct onnx_call *call = call_of(l);

	return call != NULL && msd_names_find(&call->left_out, name) != NULL;
}

static Onnx__AttributeProto *named(Onnx__AttributeProto **list, size_t n,
				   const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(onnx_text(list[i]->name), name) == 0)
			return list[i];
	}
	return NULL;
}

/* The call's value of attribute @name, or its default; NULL if neither exists. */
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
	return onnx_text(a->ref_attr_name)[0] != '\0';
}

/* Reserve @bytes for calls. True if the limit allows it. */
static bool charge(const struct onnx_load *l, size_t bytes)
{
	if (bytes > *l->left)
		return false;
	*l->left -= bytes;
	return true;
}

int onnx_function_resolve(const struct onnx_load *l, const Onnx__NodeProto *p, size_t i,
			  struct onnx_resolved *ret)
{
	const struct onnx_call *call = call_of(l);
	size_t n = 0;

	*ret = (struct onnx_resolved){.node = *p};
	for (size_t k = 0; call != NULL && k < p->n_attribute; k++)
		n += refers(p->attribute[k]);
	if (n == 0)
		return 0;
	ret->list = calloc(p->n_attribute, sizeof(Onnx__AttributeProto *));
	ret->made = calloc(n, sizeof(*ret->made));
	if (ret->list == NULL || ret->made == NULL)
		return msd_sg_no_memory(l->g);
	ret->node.attribute = ret->list;
	ret->node.n_attribute = 0;
	for (size_t k = 0, made = 0; k < p->n_attribute; k++) {
		Onnx__AttributeProto *a = p->attribute[k];

		if (refers(a)) {
			const Onnx__AttributeProto *v =
				value_of(call, a->ref_attr_name);

			if (v == NULL)
				continue; /* the operator's default applies */
			if (!charge(l, protobuf_c_message_get_packed_size(&v->base))) {
				return msd_sg_fail(l->g, MSD_TOO_LARGE,
						   "node %zu \"%s\", %s: functions "
						   "refer to attributes too often",
						   i, onnx_text(p->name),
						   onnx_text(p->op_type));
			}
			ret->made[made] = *v;
			ret->made[made].name = a->name;
			ret->made[made].ref_attr_name = NULL;
			a = &ret->made[made++];
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

/* Record why the call @p cannot be read. */
static int fail(struct onnx_load *l, const Onnx__NodeProto *p, size_t i,
		const char *what, const char *name)
{
	return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
			   "node %zu \"%s\", function %s: %s%s%s", i,
			   onnx_text(p->name), onnx_text(p->op_type), what, name,
			   name[0] != '\0' ? "\"" : "");
}

/* The call's argument for input @k; *@ret is NULL if it is omitted. */
static int find_input(struct onnx_load *l, const Onnx__NodeProto *p, size_t i, size_t k,
		      modser_sg_tensor **ret)
{
	const char *name = k < p->n_input ? onnx_text(p->input[k]) : "";

	*ret = NULL;
	if (name[0] == '\0')
		return 0;
	if (onnx_find(l, name, ret) != 0)
		return -1;
	if (*ret == NULL && !onnx_function_lacks(l, name))
		return fail(l, p, i, "nothing before it makes its input \"", name);
	return 0;
}

static int take_inputs(struct onnx_load *l, struct onnx_load *within,
		       struct onnx_call *call, size_t i)
{
	const Onnx__FunctionProto *f = call->function;
	const Onnx__NodeProto *p = call->node;

	if (p->n_input > f->n_input)
		return fail(l, p, i, "it has more inputs than the function", "");
	for (size_t k = 0; k < f->n_input; k++) {
		const char *name = onnx_text(f->input[k]);
		modser_sg_tensor *t;

		if (find_input(l, p, i, k, &t) != 0)
			return -1;
		if (msd_names_find(&within->names, name) != NULL ||
		    msd_names_find(&call->left_out, name) != NULL)
			return fail(l, p, i, "two of its inputs are called \"", name);
		if (!msd_names_add(t != NULL ? &within->names : &call->left_out, name,
				   t != NULL ? (void *)t : (void *)call))
			return msd_sg_no_memory(l->g);
	}
	return 0;
}

static int read_body(struct onnx_load *l, struct onnx_load *within,
		     const Onnx__NodeProto *p, size_t i)
{
	const Onnx__FunctionProto *f = within->call->function;

	for (size_t k = 0; k < f->n_node; k++) {
		if (onnx_read_node(within, f->node[k], k) == 0)
			continue;
		if (l->call != NULL) /* only the outermost call reports it */
			return -1;
		return msd_sg_fail(l->g, l->g->diag.code,
				   "node %zu \"%s\", function %s: %s", i,
				   onnx_text(p->name), onnx_text(p->op_type),
				   modser_graph_error(l->g));
	}
	return 0;
}

/* Create a tensor called @name equal to @t, which has a name already. */
static modser_sg_tensor *same_as(struct onnx_load *l, modser_sg_tensor *t,
				 const char *name)
{
	modser_sg_node *node = modser_sg_node_create(l->g, name);
	modser_sg_op *op = node != NULL ? modser_sg_op_create(l->g, "Noop") : NULL;
	modser_sg_tensor *out = op != NULL ? modser_sg_tensor_create(l->g, name) : NULL;

	if (out == NULL || modser_sg_node_add_input(node, t) < 0 ||
	    modser_sg_node_add_output(node, out) < 0)
		return NULL;
	msd_sg_node_take_op(node, op);
	return out;
}

/* Name the body's outputs as the call does. */
static int give_outputs(struct onnx_load *l, struct onnx_load *within,
			const Onnx__NodeProto *p, size_t i)
{
	const Onnx__FunctionProto *f = within->call->function;

	if (p->n_output > f->n_output)
		return fail(l, p, i, "it has more outputs than the function", "");
	for (size_t k = 0; k < p->n_output; k++) {
		const char *name = onnx_text(p->output[k]);
		modser_sg_tensor *t =
			msd_names_find(&within->names, onnx_text(f->output[k]));

		if (name[0] == '\0')
			continue;
		if (t == NULL) {
			return fail(l, p, i, "no node of it makes its output \"",
				    onnx_text(f->output[k]));
		}
		if (onnx_check_name(l, name, "an output") != 0)
			return -1;
		t = same_as(l, t, name);
		if (t == NULL || onnx_remember(l, t) != 0)
			return -1;
	}
	return 0;
}

/* The version of ONNX's operators that a body uses. */
static int64_t opset_of(const struct onnx_load *l, const struct onnx_imports *imports)
{
	const Onnx__OperatorSetIdProto *p = onnx_import_of(imports, NULL);

	return p != NULL ? p->version : l->opset;
}

int onnx_function_read(struct onnx_load *l, struct onnx_function *f,
		       const Onnx__NodeProto *p, size_t i)
{
	struct onnx_call call = {.function = f->proto, .node = p, .outer = call_of(l)};
	const struct onnx_imports imports = {f->proto->opset_import,
					     f->proto->n_opset_import, l->imports};
	struct onnx_load within = {.g = l->g,
				   .functions = l->functions,
				   .file = l->file,
				   .external = l->external,
				   .imports = &imports,
				   .opset = opset_of(l, &imports),
				   .n_inferred = l->n_inferred,
				   .call = &call,
				   .left = l->left,
				   .depth = l->depth + 1};

	for (const struct onnx_call *c = call.outer; c != NULL; c = c->outer) {
		if (c->function == f->proto)
			return fail(l, p, i, "it calls itself", "");
	}
	if (within.depth > ONNX_MAX_CALLS)
		return fail(l, p, i, "functions call each other too deep", "");
	if (within.opset < 1 || within.opset > ONNX_MAX_OPSET)
		return fail(l, p, i, "its opset cannot be read", "");
	if (imports.n > ONNX_MAX_IMPORTS)
		return fail(l, p, i, "it names too many domains", "");
	if (p->n_attribute > ONNX_MAX_CALL_ATTRIBUTES ||
	    f->proto->n_attribute_proto > ONNX_MAX_CALL_ATTRIBUTES)
		return fail(l, p, i, "it has too many attributes", "");
	if (!charge(l, f->was_read ? f->bytes : 0))
		return fail(l, p, i, "functions call each other too often", "");
	f->was_read = true;
	int result = take_inputs(l, &within, &call, i);
	if (result == 0)
		result = read_body(l, &within, p, i);
	if (result == 0)
		result = give_outputs(l, &within, p, i);
	l->n_inferred = within.n_inferred;
	msd_names_finish(&within.names);
	msd_names_finish(&call.left_out);
	return result;
}
