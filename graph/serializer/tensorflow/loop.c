/*
 * Build a Loop of a subgraph. Normal path: the body is evaluated in a new graph with an
 * input for each carried value. A value that the body returns unchanged is not carried,
 * an extent that changes is open, and a list that gets one element a turn is collected
 * by the Loop. The evaluation shows which these are, so it is done again until nothing
 * changes. Failures are those of nodes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "graph/serializer/tensorflow/scope.h"

#define MAX_TRIES 8u

/* ---- Carried values ---- */

enum mode {
	KEPT,  /* the body returns it unchanged */
	STATE, /* a tensor */
	SCAN,  /* a list that gets one element a turn */
	TABLE  /* a list, as a tensor of all its elements */
};

struct carried {
	enum mode mode;
	struct tf_value *init;
	const char *dtype;
	int ndim;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	modser_sg_tensor *start; /* the tensor that it begins with */
};

struct build {
	struct tf_layer *x;
	const struct tf_loop *loop;
	struct tf_scope scope;
	struct carried *all;
	struct tf_value **args;
	struct tf_value **rets;
	struct tf_value *cond;
};

static bool known_size(struct tf_load *l, const struct tf_value *v, int64_t *ret)
{
	size_t n;
	const int64_t *ints = v->size != NULL ? tf_ints(l, v->size, &n) : NULL;

	if (v->size == NULL && v->t != NULL && v->t->ndim > 0) {
		*ret = v->t->dims[0];
	} else if (ints != NULL && n == 1) {
		*ret = ints[0];
	} else {
		return false;
	}
	return *ret >= 0;
}

/* A list of zeros, in the graph around the loop. */
static modser_sg_tensor *zeros(struct tf_layer *x, const struct tf_value *v,
			       struct carried *c)
{
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t size = -1;
	const bool is_known = known_size(x->f->l, v, &size);

	if (v->element_ndim < 0 || v->element_ndim + 1 > (int)MODSER_GRAPH_MAX_NDIM) {
		return tf_fail(x,
			       "it writes a list whose elements have no known shape");
	}
	c->ndim = v->element_ndim + 1;
	c->dims[0] = is_known ? size : -1;
	dims[0] = size;
	for (int i = 0; i < v->element_ndim; i++) {
		c->dims[i + 1] = v->element[i];
		/* One element that is always replaced may begin empty. */
		dims[i + 1] = v->element[i] < 0 ? 0 : v->element[i];
		if (v->element[i] < 0 && size != 1) {
			return tf_fail(x, "it writes places of a list whose elements "
					  "have no known shape");
		}
	}
	modser_sg_tensor *shape = msd_build_ints(&x->b, dims, (size_t)c->ndim);
	if (!is_known) {
		const int64_t one[] = {1};
		modser_sg_tensor *const parts[] = {
			tf_reshape(x, tf_cast(x, v->size->t, "int64"), one, 1),
			msd_build_ints(&x->b, dims + 1, (size_t)v->element_ndim)};

		shape = tf_concat(x, parts, 2, 0);
	}
	return tf_two(x, "Expand", tf_number(x, 0, v->element_dtype), shape);
}

static int begin(struct build *b, size_t k)
{
	struct carried *c = &b->all[k];
	struct tf_value *v = b->loop->init[k];

	c->init = v;
	c->mode = v->kind == TF_TENSOR                 ? STATE
		  : v->kind == TF_LIST && v->t == NULL ? SCAN
						       : KEPT;
	if (v->kind != TF_TENSOR)
		return 0;
	c->start = v->t;
	c->dtype = v->t->dtype_name;
	c->ndim = v->t->ndim;
	memcpy(c->dims, v->t->dims, sizeof(c->dims));
	return 0;
}

static struct tf_value *argument(struct build *b, size_t k)
{
	struct tf_load *l = b->x->f->l;
	const struct carried *c = &b->all[k];
	struct tf_value *v;

	if (c->mode == KEPT)
		return tf_import(l, &b->scope, b->x->node->name, c->init);
	v = tf_value_new(l);
	if (v == NULL)
		return NULL;
	if (c->mode != STATE) {
		v->kind = TF_LIST;
		v->element = c->init->element;
		v->element_ndim = c->init->element_ndim;
		v->element_dtype = c->init->element_dtype;
	} else {
		v->counter = k + 1;
	}
	v->is_slot = c->mode == SCAN;
	if (c->mode == SCAN)
		return v;
	v->t = tf_scope_input(&b->scope, b->x->node->name, k, c->dtype, c->dims,
			      c->ndim);
	return v->t != NULL ? v : NULL;
}

static int evaluate(struct build *b)
{
	static const char *const names[] = {"turn", "go"};
	static const char *const dtypes[] = {"int64", "bool"};
	struct tf_layer *x = b->x;

	b->scope.g = modser_graph_create(x->node->name);
	if (b->scope.g == NULL)
		return msd_sg_no_memory(x->f->l->g);
	for (size_t i = 0; i < 2; i++) {
		char text[512];

		(void)snprintf(text, sizeof(text), "%.400s/%s", x->node->name,
			       names[i]);
		if (modser_graph_create_input(b->scope.g, text, dtypes[i], NULL, 0) ==
		    NULL)
			return -1;
	}
	/* Carried values come before captured ones. */
	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t k = 0; k < b->loop->n; k++) {
			if ((b->all[k].mode == KEPT) != (pass == 1))
				continue;
			b->args[k] = argument(b, k);
			if (b->args[k] == NULL)
				return -1;
		}
	}
	if (b->loop->body(x, b->loop->ctx, &b->scope, b->args, b->rets) != 0)
		return -1;
	return b->loop->cond(x, b->loop->ctx, &b->scope, b->rets, &b->cond);
}

/* True if list @ret gets the element whose number is that of the turn. */
static bool is_in_turn(struct build *b, const struct tf_value *ret)
{
	const size_t counter = ret->index->counter;
	size_t n;

	if (counter == 0 || ret->index->plus != 0)
		return false;
	const struct tf_value *next = b->rets[counter - 1];
	const int64_t *first = tf_ints(b->x->f->l, b->all[counter - 1].init, &n);
	return next->counter == counter && next->plus == 1 && first != NULL && n == 1 &&
	       first[0] == 0;
}

static int use_table(struct build *b, struct carried *c)
{
	c->mode = TABLE;
	c->dtype = c->init->element_dtype;
	c->start = c->init->t != NULL ? c->init->t : zeros(b->x, c->init, c);
	if (c->start == NULL)
		return -1;
	if (c->init->t != NULL) {
		c->dtype = c->start->dtype_name;
		c->ndim = c->start->ndim;
		memcpy(c->dims, c->start->dims, sizeof(c->dims));
	}
	return 0;
}

/* 1: the value is carried otherwise now; 0: it is not; -1: an error. */
static int refine(struct build *b, size_t k)
{
	struct carried *c = &b->all[k];
	struct tf_value *ret = b->rets[k];
	const enum mode mode = c->mode;

	if (ret == b->args[k]) {
		c->mode = KEPT;
		return mode != KEPT;
	}
	switch (mode) {
	case STATE:
		if (ret->kind != TF_TENSOR)
			break;
		return tf_scope_widen(&c->ndim, c->dims, ret->t);
	case TABLE:
		if (ret->kind != TF_LIST || ret->t == NULL)
			break;
		return tf_scope_widen(&c->ndim, c->dims, ret->t);
	case SCAN:
		if (ret->kind == TF_LIST && ret->base == b->args[k] &&
		    is_in_turn(b, ret))
			return 0;
		if (ret->kind != TF_LIST)
			break;
		return use_table(b, c) == 0 ? 1 : -1;
	case KEPT:
		if (c->init->kind == TF_LIST && ret->kind == TF_LIST)
			return use_table(b, c) == 0 ? 1 : -1;
		break;
	}
	return tf_load_fail(b->x->f->l, MSD_UNSUPPORTED,
			    "value %zu of the loop changes its kind", k);
}

static void drop(struct build *b)
{
	modser_graph_destroy(b->scope.g);
	free(b->scope.captures);
	b->scope = (struct tf_scope){0};
}

static int refine_all(struct build *b, bool is_scan, bool *ret_changes)
{
	for (size_t k = 0; k < b->loop->n; k++) {
		if ((b->all[k].mode == SCAN) != is_scan)
			continue;
		const int result = refine(b, k);

		if (result < 0)
			return -1;
		*ret_changes = *ret_changes || result > 0;
	}
	return 0;
}

static int settle(struct build *b)
{
	for (unsigned i = 0; i < MAX_TRIES; i++) {
		bool changes = false;

		if (evaluate(b) != 0)
			return tf_scope_error(b->x->f->l, &b->scope);
		b->x->f->l->counts = false; /* each node counts once */
		/* The places of a list are known when the other values are. */
		for (size_t pass = 0; pass < 2 && !changes; pass++) {
			if (refine_all(b, pass == 1, &changes) != 0)
				return -1;
		}
		if (!changes)
			return 0;
		drop(b);
	}
	return tf_load_fail(b->x->f->l, MSD_UNSUPPORTED,
			    "the shapes of its values do not settle");
}

static int add_outputs(struct build *b)
{
	const char *name = b->x->node->name;

	if (b->cond == NULL || b->cond->kind != TF_TENSOR || b->cond->t == NULL) {
		return tf_load_fail(b->x->f->l, MSD_BAD_ARTIFACT,
				    "its condition is no tensor");
	}
	if (tf_scope_output(&b->scope, name, b->cond->t) != 0)
		return -1;
	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t k = 0; k < b->loop->n; k++) {
			const enum mode mode = b->all[k].mode;

			if (mode == KEPT || (mode == SCAN) != (pass == 1))
				continue;
			if (tf_scope_output(&b->scope, name,
					    mode == SCAN ? b->rets[k]->item
							 : b->rets[k]->t) != 0)
				return -1;
		}
	}
	return 0;
}

static modser_sg_tensor *next_output(const struct build *b, modser_sg_tensor *first,
				     size_t *n, const char *dtype)
{
	modser_sg_tensor *t = *n == 0 ? first : msd_build_output(&b->x->b, first);

	++*n;
	return t != NULL && modser_sg_tensor_set_dtype(t, dtype) == 0 ? t : NULL;
}

/* Elements that no turn wrote are zeros: pad the collected ones to the list's size. */
static modser_sg_tensor *pad(struct build *b, const struct carried *c,
			     modser_sg_tensor *t, const modser_sg_tensor *item)
{
	struct tf_layer *x = b->x;
	const int64_t zero = 0;
	const int64_t one = 1;
	int64_t none[MODSER_GRAPH_MAX_NDIM] = {0};
	const size_t ndim = (size_t)item->ndim + 1;
	int64_t size;

	modser_sg_tensor *has =
		tf_slice(x, tf_one(x, "Shape", t), &zero, &one, &zero, &one, 1);
	modser_sg_tensor *want =
		known_size(x->f->l, c->init, &size)
			? msd_build_ints(&x->b, &size, 1)
			: tf_reshape(x, tf_cast(x, c->init->size->t, "int64"), &one, 1);
	modser_sg_tensor *parts[] = {msd_build_ints(&x->b, none, ndim),
				     tf_two(x, "Sub", want, has),
				     msd_build_ints(&x->b, none, ndim - 1)};
	modser_sg_tensor *pads = tf_concat(x, parts, ndim > 1 ? 3 : 2, 0);
	return tf_two(x, "Pad", t, pads);
}

static struct tf_value *result_of(struct build *b, size_t k, modser_sg_tensor *t)
{
	struct carried *c = &b->all[k];
	struct tf_value *v = tf_value_new(b->x->f->l);

	if (v == NULL || t == NULL)
		return NULL;
	v->kind = c->mode == STATE ? TF_TENSOR : TF_LIST;
	if (c->mode != SCAN) {
		t->ndim = c->ndim;
		memcpy(t->dims, c->dims, sizeof(t->dims));
		v->t = t;
		return v;
	}
	const modser_sg_tensor *item = b->rets[k]->item;
	int64_t size;
	if (item->ndim >= 0 && item->ndim < (int)MODSER_GRAPH_MAX_NDIM) {
		t->ndim = item->ndim + 1;
		t->dims[0] = -1;
		memcpy(t->dims + 1, item->dims, (size_t)item->ndim * sizeof(int64_t));
		const int64_t dims0 =
			known_size(b->x->f->l, c->init, &size) ? size : -1;
		modser_sg_tensor *padded = pad(b, c, t, item);

		if (padded == NULL ||
		    modser_sg_tensor_set_dtype(padded, t->dtype_name) != 0)
			return NULL;
		padded->ndim = t->ndim;
		memcpy(padded->dims, t->dims, sizeof(padded->dims));
		padded->dims[0] = dims0;
		t = padded;
	}
	v->t = t;
	return v;
}

/* The inputs of the Loop @node; -1 with the error of the graph. */
static int add_inputs(struct build *b, modser_sg_node *node, modser_sg_tensor *go)
{
	size_t n_captured = 0;

	if (modser_sg_node_add_input(node, NULL) < 0 ||
	    modser_sg_node_add_input(node, go) < 0)
		return -1;
	for (size_t k = 0; k < b->loop->n; k++) {
		const struct carried *c = &b->all[k];

		if ((c->mode == STATE || c->mode == TABLE) &&
		    modser_sg_node_add_input(node, c->start) < 0)
			return -1;
	}
	if (tf_scope_capture(node, &b->scope, &n_captured) != 0 ||
	    tf_scope_give(node, "body", &b->scope) != 0)
		return -1;
	return msd_build_int(node->outputs[0], "captured", (int64_t)n_captured) != NULL
		       ? 0
		       : -1;
}

/* The outputs of the Loop of @first: tensors that it carries, then what it collects.
 * Returns their number. */
static size_t add_loop_outputs(struct build *b, modser_sg_tensor *first,
			       modser_sg_tensor **outs)
{
	size_t n_out = 0;

	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t k = 0; k < b->loop->n; k++) {
			const struct carried *c = &b->all[k];

			if (c->mode == KEPT || (c->mode == SCAN) != (pass == 1))
				continue;
			outs[k] = next_output(b, first, &n_out,
					      c->mode == SCAN
						      ? b->rets[k]->item->dtype_name
						      : c->dtype);
		}
	}
	return n_out;
}

static int make_node(struct build *b, modser_sg_tensor *go, struct tf_value **ret)
{
	struct tf_layer *x = b->x;
	modser_sg_tensor *first = msd_build_node(&x->b, "Loop", NULL, 0);

	if (first == NULL || add_inputs(b, first->producer, go) != 0)
		return -1;
	modser_sg_tensor **outs = calloc(b->loop->n + 1, sizeof(modser_sg_tensor *));
	if (outs == NULL)
		return msd_sg_no_memory(x->f->l->g);
	int result = add_loop_outputs(b, first, outs) > 0 ? 0 : -1;
	for (size_t k = 0; k < b->loop->n && result == 0; k++) {
		ret[k] = b->all[k].mode == KEPT ? b->all[k].init
						: result_of(b, k, outs[k]);
		result = ret[k] != NULL ? 0 : -1;
	}
	free((void *)outs);
	return result;
}

/* A loop that changes nothing does not end, or has no turn. */
static int check_changes(const struct build *b)
{
	for (size_t k = 0; k < b->loop->n; k++) {
		if (b->all[k].mode != KEPT)
			return 0;
	}
	return tf_load_fail(b->x->f->l, MSD_BAD_ARTIFACT, "its loop changes nothing");
}

static int build_loop(struct build *b, struct tf_value **ret)
{
	struct tf_layer *x = b->x;
	struct tf_value *go = NULL;

	for (size_t k = 0; k < b->loop->n; k++) {
		if (begin(b, k) != 0)
			return -1;
	}
	const bool counts = x->f->l->counts;
	x->f->l->counts = false;
	if (b->loop->cond(x, b->loop->ctx, x->f->scope, b->loop->init, &go) != 0)
		return -1;
	x->f->l->counts = counts;
	if (settle(b) != 0 || check_changes(b) != 0)
		return -1;
	if (go->kind != TF_TENSOR) {
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT,
				    "its condition is no tensor");
	}
	if (add_outputs(b) != 0)
		return tf_scope_error(x->f->l, &b->scope);
	return make_node(b, go->t, ret);
}

int tf_loop_build(struct tf_layer *x, const struct tf_loop *loop, struct tf_value **ret)
{
	const bool counts = x->f->l->counts;
	struct carried *all = calloc(loop->n + 1, sizeof(*all));
	struct tf_value **args = calloc(loop->n + 1, sizeof(struct tf_value *));
	struct tf_value **rets = calloc(loop->n + 1, sizeof(struct tf_value *));
	struct build b = {.x = x, .loop = loop, .all = all, .args = args, .rets = rets};
	int result = -1;

	if (all == NULL || args == NULL || rets == NULL) {
		(void)msd_sg_no_memory(x->f->l->g);
	} else {
		result = build_loop(&b, ret);
	}
	x->f->l->counts = counts;
	drop(&b);
	free(all);
	free((void *)args);
	free((void *)rets);
	return result;
}
