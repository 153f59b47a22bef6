/* Read a node of a file: by the row of its operator, or as a call of a function of
 * the model. */
#include "graph/serializer/onnx/node.h"

#include <stdio.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/function.h"
#include "graph/serializer/onnx/read.h"
#include "graph/serializer/onnx/rows/row.h"
#include "graph/serializer/operators.h"
#include "graph/serializer/serializer.h"

static int add_inputs(const struct onnx_node *n)
{
	for (size_t i = 0; i < n->proto->n_input; i++) {
		const char *name = onnx_text(n->proto->input[i]);
		modser_sg_tensor *t = NULL;

		if (name[0] != '\0' && onnx_find(n->l, name, &t) != 0)
			return -1;
		if (t == NULL && name[0] != '\0' && !onnx_function_lacks(n->l, name)) {
			return msd_sg_fail(n->l->g, MSD_BAD_ARTIFACT,
					   "node %zu \"%s\", %s: nothing before it "
					   "makes its input \"%s\"",
					   n->index, onnx_text(n->proto->name),
					   n->proto->op_type, name);
		}
		if (modser_sg_node_add_input(n->node, t) < 0)
			return -1;
	}
	return 0;
}

static int add_outputs(const struct onnx_node *n)
{
	for (size_t i = 0; i < n->n_outputs; i++) {
		const char *name = onnx_text(n->proto->output[i]);
		modser_sg_tensor *t = NULL;

		if (name[0] != '\0') {
			if (onnx_check_name(n->l, name, "an output") != 0)
				return -1;
			t = modser_sg_tensor_create(n->l->g, name);
			if (t == NULL || onnx_remember(n->l, t) != 0)
				return -1;
		}
		if (modser_sg_node_add_output(n->node, t) < 0)
			return -1;
	}
	return 0;
}

const Onnx__OperatorSetIdProto *onnx_import_of(const struct onnx_imports *imports,
					       const char *domain)
{
	for (; imports != NULL; imports = imports->around) {
		for (size_t i = 0; i < imports->n; i++) {
			if (onnx_domain_is(imports->list[i]->domain, domain))
				return imports->list[i];
		}
	}
	return NULL;
}

/* The version of @domain that is valid here; 0 if no import names the domain. */
static int64_t opset_of(const struct onnx_load *l, const char *domain)
{
	if (onnx_domain_is_own(domain))
		return l->opset;
	const Onnx__OperatorSetIdProto *p = onnx_import_of(l->imports, domain);
	return p != NULL ? p->version : 0;
}

static const struct onnx_row *find_row(struct onnx_load *l, const Onnx__NodeProto *p,
				       size_t i)
{
	const char *type = onnx_text(p->op_type);
	const char *name = onnx_text(p->name);
	const bool is_own = onnx_domain_is_own(p->domain);
	const int64_t opset = opset_of(l, p->domain);
	int64_t first;

	const struct onnx_row *row = onnx_row_find(p->domain, type, opset, &first);
	if (row == NULL && first != 0) {
		(void)msd_sg_fail(
			l->g, MSD_UNSUPPORTED,
			"node %zu \"%s\": opset %lld%s%s has no operator %s; %lld "
			"has",
			i, name, (long long)opset, is_own ? "" : " of ",
			is_own ? "" : p->domain, type, (long long)first);
	} else if (row == NULL && !is_own) {
		(void)msd_sg_fail(
			l->g, MSD_UNSUPPORTED,
			"node %zu \"%s\": operator %s is of domain %s, which is "
			"not known",
			i, name, type, p->domain);
	} else if (row == NULL) {
		(void)msd_sg_fail(l->g, MSD_UNSUPPORTED,
				  "node %zu \"%s\": no operator %s is known", i, name,
				  type);
	}
	return row;
}

/* The method that was registered for an operator without a row; NULL: none. */
static modser_onnx_load_fn *find_method(const struct onnx_load *l,
					const Onnx__NodeProto *p)
{
	const bool is_own = onnx_domain_is_own(p->domain);
	char name[256];

	if (l->functions->methods == NULL)
		return NULL;
	(void)snprintf(name, sizeof(name), "%s%s%s", is_own ? "" : p->domain,
		       is_own ? "" : ".", onnx_text(p->op_type));
	return (modser_onnx_load_fn *)msd_serializer_method(l->functions->methods,
							    name);
}

static modser_sg_node *create_node(const struct onnx_node *n)
{
	const char *name = onnx_text(n->proto->name);

	return modser_sg_node_create(n->l->g,
				     name[0] != '\0' ? name : n->proto->op_type);
}

static int read_by_method(struct onnx_node *n, modser_onnx_load_fn *method)
{
	n->node = create_node(n);
	if (n->node == NULL || add_inputs(n) != 0 || add_outputs(n) != 0 ||
	    method(n->node, (const modser_onnx_node *)n) != 0)
		return -1;
	if (n->node->op == NULL)
		return onnx_fail(n, "its method gave it no operator");
	return msd_sg_check_ends(n->node);
}

static int read_by_row(struct onnx_node *n, const struct onnx_row *row)
{
	n->op = modser_sg_op_create(n->l->g, row->op);
	if (n->op == NULL)
		return -1;
	msd_sg_node_take_op(n->node, n->op);
	if (onnx_params_read(n, row) != 0)
		return -1;
	return row->load != NULL ? row->load(n) : 0;
}

int msd_onnx_load_known(modser_sg_node *node, const modser_onnx_node *from)
{
	struct onnx_node n = *(const struct onnx_node *)from;
	const struct onnx_row *row = find_row(n.l, n.proto, n.index);

	n.node = node;
	if (row == NULL)
		return -1;
	if (row->op == NULL)
		return onnx_fail(&n, "it makes no node of its own");
	return read_by_row(&n, row);
}

int modser_onnx_node_param(const modser_onnx_node *from, modser_sg_node *node,
			   const char *attr, const char *param)
{
	struct onnx_node n;

	if (from == NULL || node == NULL || attr == NULL || param == NULL) {
		return msd_sg_null(node != NULL ? node->graph : NULL,
				   "from, node, attr or param");
	}
	n = *(const struct onnx_node *)from;
	n.node = node;
	n.op = node->op;
	if (n.op == NULL || modser_sg_op_param(n.op, param) == NULL)
		return onnx_fail(&n, "the operator has no parameter %s", param);
	return onnx_param_read(&n, attr, param);
}

static int read_operator(struct onnx_load *l, const Onnx__NodeProto *p, size_t i)
{
	struct onnx_node n = {.l = l, .proto = p, .index = i, .n_outputs = p->n_output};
	int64_t first;
	const struct onnx_row *row = onnx_row_find(p->domain, onnx_text(p->op_type),
						   opset_of(l, p->domain), &first);
	modser_onnx_load_fn *method = row == NULL ? find_method(l, p) : NULL;

	if (method != NULL)
		return read_by_method(&n, method);
	if (row == NULL) {
		(void)find_row(l, p, i); /* the error says why */
		return -1;
	}
	if (row->op == NULL)
		return row->load(&n);
	n.node = create_node(&n);
	if (n.node == NULL || add_inputs(&n) != 0 || read_by_row(&n, row) != 0)
		return -1;
	return add_outputs(&n) == 0 ? msd_sg_check_ends(n.node) : -1;
}

/* Count @p, which was read, for the model's graph; a call counts, not its body. */
static int count(const struct onnx_load *l, const Onnx__NodeProto *p)
{
	const bool is_own = onnx_domain_is_own(p->domain);

	while (l->call == NULL && l->outer != NULL)
		l = l->outer;
	return l->call != NULL ? 0
			       : msd_sg_count_source(l->g, is_own ? "" : p->domain,
						     onnx_text(p->op_type));
}

int onnx_read_node(struct onnx_load *l, const Onnx__NodeProto *p, size_t i)
{
	struct onnx_function *f = onnx_functions_find(l->functions, p);
	struct onnx_resolved r;
	int result = onnx_function_resolve(l, p, i, &r);

	if (result == 0) {
		result = f != NULL ? onnx_function_read(l, f, &r.node, i)
				   : read_operator(l, &r.node, i);
	}
	if (result == 0)
		result = count(l, p);
	onnx_resolved_finish(&r);
	return result;
}
