/* ONNX messages in creation order, and the memory that holds them. */
#include "graph/serializer/onnx/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/grow.h"

enum {
	FLOAT = 1,
	INT,
	STRING,
	GRAPH = 5,
	FLOATS,
	INTS,
	STRINGS
}; /* attributes' types */

void *onnx_emit_alloc(struct onnx_emit *e, size_t n)
{
	void *p = calloc(n > 0 ? n : 1, 1);

	if (p == NULL ||
	    !msd_grow(&e->blocks.items, e->blocks.n, sizeof(*e->blocks.items))) {
		free(p);
		e->bad = true;
		return NULL;
	}
	e->blocks.items[e->blocks.n++] = p;
	return p;
}

char *onnx_emit_text(struct onnx_emit *e, const char *text)
{
	const size_t n = strlen(text) + 1;
	char *copy = onnx_emit_alloc(e, n);

	if (copy != NULL)
		memcpy(copy, text, n);
	return copy;
}

void onnx_emit_push(struct onnx_emit *e, struct onnx_list *list, void *item)
{
	if (item == NULL || !msd_grow(&list->items, list->n, sizeof(*list->items))) {
		e->bad = true;
		return;
	}
	list->items[list->n++] = item;
}

static struct onnx_emit *outermost(struct onnx_emit *e)
{
	while (e->outer != NULL)
		e = e->outer;
	return e;
}

char *onnx_emit_keep(struct onnx_emit *e, const char *name)
{
	struct onnx_emit *all = outermost(e);
	char *copy = onnx_emit_text(e, name);

	if (copy == NULL || !msd_names_add(&all->taken, copy, copy)) {
		e->bad = true;
		return NULL;
	}
	return copy;
}

bool onnx_emit_is_taken(struct onnx_emit *e, const char *name)
{
	return msd_names_find(&outermost(e)->taken, name) != NULL;
}

char *onnx_emit_name(struct onnx_emit *e, const char *stem)
{
	char name[280];

	do {
		(void)snprintf(name, sizeof(name), "%.200s//%zu", stem,
			       outermost(e)->n_made++);
	} while (onnx_emit_is_taken(e, name));
	return onnx_emit_keep(e, name);
}

struct onnx_emit *onnx_emit_within(struct onnx_emit *e, modser_graph *g)
{
	struct onnx_emit *within = onnx_emit_alloc(e, sizeof(*within));

	if (within == NULL)
		return NULL;
	within->g = g;
	within->outer = e;
	onnx_emit_push(e, &e->within, within);
	return e->bad ? NULL : within; /* else its contents would leak */
}

void onnx_emit_finish(struct onnx_emit *e)
{
	for (size_t i = 0; i < e->within.n; i++)
		onnx_emit_finish(e->within.items[i]);
	free(e->within.items);
	for (size_t i = 0; i < e->blocks.n; i++)
		free(e->blocks.items[i]);
	free(e->blocks.items);
	msd_names_finish(&e->called);
	msd_names_finish(&e->taken);
	free(e->nodes.items);
	free(e->initializers.items);
	free(e->inputs.items);
	free(e->outputs.items);
	free(e->opsets.items);
	free(e->props.items);
}

void onnx_emit_domain(struct onnx_emit *e, const char *domain, int64_t version)
{
	e = outermost(e);
	for (size_t i = 0; i < e->opsets.n; i++) {
		const Onnx__OperatorSetIdProto *there = e->opsets.items[i];

		if (strcmp(there->domain, domain) == 0)
			return;
	}
	Onnx__OperatorSetIdProto *p = onnx_emit_alloc(e, sizeof(*p));
	if (p == NULL)
		return;
	onnx__operator_set_id_proto__init(p);
	p->domain = (char *)(uintptr_t)domain;
	p->has_version = true;
	p->version = version;
	onnx_emit_push(e, &e->opsets, p);
}

/* Append a pointer to a message's list, which grows by doubling in new memory. */
static void **grown(struct onnx_emit *e, void **list, size_t n)
{
	if (n > 0 && (n & (n - 1)) != 0)
		return list;
	void **more = onnx_emit_alloc(e, (n > 0 ? 2 * n : 1) * sizeof(*more));
	if (more != NULL && n > 0)
		memcpy(more, list, n * sizeof(*more));
	return more;
}

Onnx__NodeProto *onnx_emit_node(struct onnx_emit *e, const char *op, const char *name)
{
	Onnx__NodeProto *node = onnx_emit_alloc(e, sizeof(*node));

	if (node == NULL)
		return NULL;
	onnx__node_proto__init(node);
	node->op_type = onnx_emit_text(e, op);
	const bool is_taken =
		name[0] == '\0' || msd_names_find(&e->called, name) != NULL;
	node->name = is_taken ? onnx_emit_name(e, name) : onnx_emit_text(e, name);
	if (node->name == NULL || !msd_names_add(&e->called, node->name, node))
		e->bad = true;
	onnx_emit_push(e, &e->nodes, node);
	return node;
}

static void put_end(struct onnx_emit *e, char ***list, size_t *n, char *name)
{
	char **more = (char **)grown(e, (void **)*list, *n);

	if (more == NULL || name == NULL) {
		e->bad = true;
		return;
	}
	*list = more;
	more[(*n)++] = name;
}

void onnx_emit_in(struct onnx_emit *e, Onnx__NodeProto *node, char *name)
{
	if (node != NULL)
		put_end(e, &node->input, &node->n_input, name);
}

void onnx_emit_out(struct onnx_emit *e, Onnx__NodeProto *node, char *name)
{
	if (node != NULL)
		put_end(e, &node->output, &node->n_output, name);
}

static Onnx__AttributeProto *attribute(struct onnx_emit *e, Onnx__NodeProto *node,
				       const char *name, int32_t type)
{
	Onnx__AttributeProto *a = node != NULL ? onnx_emit_alloc(e, sizeof(*a)) : NULL;
	void **list = a != NULL ? grown(e, (void **)node->attribute, node->n_attribute)
				: NULL;

	if (list == NULL)
		return NULL;
	onnx__attribute_proto__init(a);
	a->name = onnx_emit_text(e, name);
	a->has_type = true;
	a->type = type;
	node->attribute = (Onnx__AttributeProto **)list;
	node->attribute[node->n_attribute++] = a;
	return a;
}

void onnx_emit_int(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		   int64_t value)
{
	Onnx__AttributeProto *a = attribute(e, node, name, INT);

	if (a != NULL) {
		a->has_i = true;
		a->i = value;
	}
}

void onnx_emit_float(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		     float value)
{
	Onnx__AttributeProto *a = attribute(e, node, name, FLOAT);

	if (a != NULL) {
		a->has_f = true;
		a->f = value;
	}
}

void onnx_emit_graph(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		     Onnx__GraphProto *value)
{
	Onnx__AttributeProto *a = attribute(e, node, name, GRAPH);

	if (a != NULL)
		a->g = value;
}

static void put_words(struct onnx_emit *e, Onnx__AttributeProto *a, char *text)
{
	size_t n = 0;

	a->strings = onnx_emit_alloc(e, (strlen(text) + 1) * sizeof(*a->strings));
	while (a->strings != NULL && *text != '\0') {
		const size_t length = strcspn(text, " ");

		a->strings[n++] = (ProtobufCBinaryData){length, (uint8_t *)text};
		text += length;
		text += strspn(text, " ");
	}
	a->n_strings = n;
}

void onnx_emit_string(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		      const char *value, bool is_list)
{
	Onnx__AttributeProto *a = attribute(e, node, name, is_list ? STRINGS : STRING);
	char *copy = onnx_emit_text(e, value);

	if (a == NULL || copy == NULL)
		return;
	if (is_list) {
		put_words(e, a, copy);
		return;
	}
	a->has_s = true;
	a->s = (ProtobufCBinaryData){strlen(value), (uint8_t *)copy};
}

void onnx_emit_ints(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		    const int64_t *values, size_t n)
{
	Onnx__AttributeProto *a = attribute(e, node, name, INTS);
	int64_t *copy = onnx_emit_alloc(e, n * sizeof(*copy));

	if (a == NULL || copy == NULL)
		return;
	if (n > 0)
		memcpy(copy, values, n * sizeof(*copy));
	a->ints = copy;
	a->n_ints = n;
}

void onnx_emit_floats(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		      const float *values, size_t n)
{
	Onnx__AttributeProto *a = attribute(e, node, name, FLOATS);
	float *copy = onnx_emit_alloc(e, n * sizeof(*copy));

	if (a == NULL || copy == NULL)
		return;
	if (n > 0)
		memcpy(copy, values, n * sizeof(*copy));
	a->floats = copy;
	a->n_floats = n;
}

/* Add an initializer and return its name; @bytes are borrowed until the end. */
static char *emit_constant(struct onnx_emit *e, const char *stem, int32_t type,
			   const int64_t *dims, size_t n_dims, const void *bytes,
			   size_t size)
{
	Onnx__TensorProto *t = onnx_emit_alloc(e, sizeof(*t));
	int64_t *extents = onnx_emit_alloc(e, n_dims * sizeof(*extents));

	if (t == NULL || extents == NULL)
		return NULL;
	if (n_dims > 0)
		memcpy(extents, dims, n_dims * sizeof(*extents));
	onnx__tensor_proto__init(t);
	t->name = onnx_emit_name(e, stem);
	t->has_data_type = true;
	t->data_type = type;
	t->dims = extents;
	t->n_dims = n_dims;
	t->has_raw_data = true;
	t->raw_data = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)bytes};
	onnx_emit_push(e, &e->initializers, t);
	return t->name;
}

char *onnx_emit_list(struct onnx_emit *e, const int64_t *values, size_t n)
{
	const int64_t dims[] = {(int64_t)n};
	int64_t *copy = onnx_emit_alloc(e, n * sizeof(*copy));

	if (copy == NULL)
		return NULL;
	if (n > 0)
		memcpy(copy, values, n * sizeof(*copy));
	return emit_constant(e, "list", 7, dims, 1, copy, n * sizeof(*copy));
}

char *onnx_emit_scalar(struct onnx_emit *e, float value)
{
	float *copy = onnx_emit_alloc(e, sizeof(*copy));

	if (copy == NULL)
		return NULL;
	*copy = value;
	return emit_constant(e, "scalar", 1, NULL, 0, copy, sizeof(*copy));
}

char *onnx_emit_scalar_int(struct onnx_emit *e, int64_t value)
{
	int64_t *copy = onnx_emit_alloc(e, sizeof(*copy));

	if (copy == NULL)
		return NULL;
	*copy = value;
	return emit_constant(e, "scalar", 7, NULL, 0, copy, sizeof(*copy));
}

char *onnx_emit_singles(struct onnx_emit *e, const float *values, const int64_t *dims,
			size_t n)
{
	size_t count = 1;

	for (size_t i = 0; i < n; i++)
		count *= (size_t)dims[i]; /* @values has as many */
	float *copy = onnx_emit_alloc(e, count * sizeof(*copy));
	if (copy == NULL)
		return NULL;
	memcpy(copy, values, count * sizeof(*copy));
	return emit_constant(e, "list", 1, dims, n, copy, count * sizeof(*copy));
}
