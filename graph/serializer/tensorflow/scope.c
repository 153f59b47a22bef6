/* Graphs of branches and loops: their inputs and outputs, and what they take from the
 * graph around them. */
#include "graph/serializer/tensorflow/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "proto/base/diag.h"
#include "proto/base/grow.h"

#define COPIED_BYTES 4096u

int tf_scope_error(struct tf_load *l, struct tf_scope *s)
{
	if (s->g != NULL && s->g != l->g && s->g->diag.code != MSD_OK) {
		(void)tf_load_fail(l, s->g->diag.code, "%s", modser_graph_error(s->g));
		msd_diag_finish(&s->g->diag);
	}
	return -1;
}

static modser_sg_tensor *copy_const(struct tf_scope *s, const char *name,
				    const modser_sg_tensor *t)
{
	const struct msd_build b = {s->g, name};
	const size_t n = t->ndim > 0 ? (size_t)t->ndim : 0;

	if (t->release == NULL && t->data != NULL)
		return msd_build_constant(&b, t->dtype_name, t->dims, n, t->data, NULL);
	uint8_t *own = malloc((size_t)t->bytes + 1);
	if (own == NULL) {
		(void)msd_sg_no_memory(s->g);
		return NULL;
	}
	if (t->data != NULL && t->bytes > 0)
		memcpy(own, t->data, (size_t)t->bytes);
	modser_sg_tensor *made =
		msd_build_constant(&b, t->dtype_name, t->dims, n, own, free);
	if (made == NULL)
		free(own);
	return made;
}

/* An input of a subgraph. */
modser_sg_tensor *tf_scope_input(struct tf_scope *s, const char *name, size_t number,
				 const char *dtype, const int64_t *dims, int ndim)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%.400s/in_%zu", name, number);
	modser_sg_tensor *t = modser_graph_create_input(s->g, text, dtype, dims,
							ndim > 0 ? (size_t)ndim : 0);
	if (t != NULL)
		t->ndim = ndim;
	return t;
}

static modser_sg_tensor *import_tensor(struct tf_scope *s, const char *name,
				       modser_sg_tensor *t)
{
	for (size_t i = 0; i < s->n_captures; i++) {
		if (s->captures[i].outer == t)
			return s->captures[i].inner;
	}
	if (!msd_grow(&s->captures, s->n_captures, sizeof(*s->captures))) {
		(void)msd_sg_no_memory(s->g);
		return NULL;
	}
	const bool copies =
		tf_is_const(t) && (t->bytes <= COPIED_BYTES || t->release == NULL);
	struct tf_capture *c = &s->captures[s->n_captures];
	*c = (struct tf_capture){.outer = t, .is_input = !copies};
	c->inner = copies ? copy_const(s, name, t)
			  : tf_scope_input(s, name, s->n_captures + 1000, t->dtype_name,
					   t->dims, t->ndim);
	s->n_captures += c->inner != NULL;
	return c->inner;
}

struct tf_value *tf_import(struct tf_load *l, struct tf_scope *scope, const char *name,
			   struct tf_value *v)
{
	struct tf_value *made = tf_value_new(l);

	if (made == NULL)
		return NULL;
	made->kind = v->kind;
	made->ints = v->ints;
	made->n_ints = v->n_ints;
	made->from = v->from;
	made->element = v->element;
	made->element_ndim = v->element_ndim;
	made->element_dtype = v->element_dtype;
	if (v->t != NULL)
		made->t = import_tensor(scope, name, v->t);
	if (v->size != NULL)
		made->size = tf_import(l, scope, name, v->size);
	if ((v->t != NULL && made->t == NULL) ||
	    (v->size != NULL && made->size == NULL)) {
		(void)tf_scope_error(l, scope);
		return NULL;
	}
	return made;
}

/* An output of a subgraph has a tensor of its own. */
int tf_scope_output(struct tf_scope *s, const char *name, modser_sg_tensor *t)
{
	const struct msd_build build = {s->g, name};
	modser_sg_tensor *made = msd_build_node(&build, "Noop", &t, 1);

	if (made == NULL || modser_sg_tensor_set_dtype(made, t->dtype_name) != 0)
		return -1;
	made->ndim = t->ndim;
	memcpy(made->dims, t->dims, sizeof(made->dims));
	return modser_graph_add_output(s->g, made);
}

int tf_scope_capture(modser_sg_node *node, const struct tf_scope *s, size_t *ret_n)
{
	for (size_t i = 0; i < s->n_captures; i++) {
		if (!s->captures[i].is_input)
			continue;
		if (modser_sg_node_add_input(node, s->captures[i].outer) < 0)
			return -1;
		++*ret_n;
	}
	return 0;
}

int tf_scope_give(modser_sg_node *node, const char *name, struct tf_scope *s)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_GRAPH, .as = {.graph = s->g}};

	if (modser_sg_op_add_attr(node->op, name, &a) != 0)
		return -1;
	s->g = NULL;
	return 0;
}

bool tf_scope_widen(int *ndim, int64_t *dims, const modser_sg_tensor *t)
{
	bool changes = false;

	if (*ndim < 0)
		return false;
	if (t->ndim != *ndim) {
		*ndim = -1;
		return true;
	}
	for (int i = 0; i < *ndim; i++) {
		if (dims[i] < 0 || dims[i] == t->dims[i])
			continue;
		dims[i] = -1;
		changes = true;
	}
	return changes;
}
