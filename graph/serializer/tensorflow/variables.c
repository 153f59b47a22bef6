/*
 * Variables of a SavedModel. Normal path: assignments of the graph, and of the function
 * that restores it, say which key of the bundle each variable gets. A variable that
 * another one initializes has its value. Failures name the variable.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "proto/base/diag.h"

#define MAX_DEPTH 8u
#define MAX_STEPS 16u /* identities between a restored tensor and its assignment */

/* A body, and the variables that are its arguments. */
struct walk {
	struct tf_load *l;
	const struct tf_body *body;
	const tf_node *const *args; /* NULL: not a variable */
	size_t n_args;
	unsigned depth;
};

/* The node that @link reads, behind identities; NULL: an argument. */
static const tf_node *source_of(const struct walk *w, struct tf_link *link)
{
	for (unsigned i = 0; i < MAX_STEPS && !link->is_arg; i++) {
		const tf_node *node = w->body->nodes[link->at];

		if (strcmp(node->op, "Identity") != 0 ||
		    !tf_input_of(w->body, link->at, 0, link))
			return node;
	}
	return NULL;
}

static const tf_node *variable_of(const struct walk *w, struct tf_link *link)
{
	const tf_node *node = source_of(w, link);

	if (link->is_arg)
		return link->at < w->n_args ? w->args[link->at] : NULL;
	return node != NULL && (strcmp(node->op, "VarHandleOp") == 0 ||
				strstr(node->op, "Variable") == node->op)
		       ? node
		       : NULL;
}

/* Text @i of the constant at @link; NULL: none. The caller frees it. */
static char *text_of(const struct walk *w, struct tf_link *link, size_t i)
{
	const tf_node *node = source_of(w, link);

	for (size_t k = 0; node != NULL && k < node->n_attr; k++) {
		const Tensorflow__AttrEntry *e = node->attr[k];

		if (e->key == NULL || strcmp(e->key, "value") != 0 ||
		    e->value == NULL || e->value->tensor == NULL ||
		    i >= e->value->tensor->n_string_val)
			continue;
		const ProtobufCBinaryData *s = &e->value->tensor->string_val[i];
		return s->len > 0 && memchr(s->data, 0, s->len) == NULL
			       ? msd_sg_copy((const char *)s->data, s->len)
			       : NULL;
	}
	return NULL;
}

static int add(struct tf_load *l, struct msd_names *names, const char *name,
	       const void *thing)
{
	if (msd_names_find(names, name) != NULL)
		return 0;
	return msd_names_add(names, name, (void *)(uintptr_t)thing)
		       ? 0
		       : msd_sg_no_memory(l->g);
}

/* An assignment of what a RestoreV2 reads, or of another variable's value. */
static int take_assignment(const struct walk *w, size_t i)
{
	struct tf_link target;
	struct tf_link value;
	struct tf_link keys;

	if (!tf_input_of(w->body, i, 0, &target) || !tf_input_of(w->body, i, 1, &value))
		return 0;
	const tf_node *variable = variable_of(w, &target);
	const tf_node *from = source_of(w, &value);
	if (variable == NULL || from == NULL)
		return 0;
	if (strcmp(from->op, "ReadVariableOp") == 0 &&
	    tf_input_of(w->body, value.at, 0, &target)) {
		const tf_node *other = variable_of(w, &target);

		if (other == NULL || other == variable)
			return 0;
		/* Keras restores the copies, and its functions read the originals. */
		if (add(w->l, &w->l->aliases, variable->name, other) != 0)
			return -1;
		return add(w->l, &w->l->aliases, other->name, variable);
	}
	if (strcmp(from->op, "RestoreV2") != 0 ||
	    !tf_input_of(w->body, value.at, 1, &keys))
		return 0;
	char *key = text_of(w, &keys, value.out);
	const struct tf_bundle_entry *e =
		key != NULL ? tf_bundle_find(&w->l->bundle, key) : NULL;
	free(key);
	return e != NULL ? add(w->l, &w->l->restored, variable->name, e) : 0;
}

static int walk(const struct walk *w);

static int enter(const struct walk *w, size_t i, const char *function)
{
	const tf_node *node = w->body->nodes[i];
	struct tf_body *body = NULL;
	struct tf_link link;

	if (w->depth == MAX_DEPTH || function == NULL ||
	    tf_body_find(w->l, function, &body) != 0 || body == NULL)
		return w->l->g->diag.code == MSD_OK ? 0 : -1;
	const tf_node **args = calloc(node->n_input + 1, sizeof(tf_node *));
	if (args == NULL)
		return msd_sg_no_memory(w->l->g);
	size_t n = 0;
	for (; tf_input_of(w->body, i, n, &link); n++)
		args[n] = variable_of(w, &link);
	const struct walk within = {w->l, body, args, n, w->depth + 1};
	const int result = walk(&within);
	free((void *)args);
	return result;
}

/* The function that node @i calls; NULL: none. */
static const char *called(const struct walk *w, size_t i)
{
	const tf_node *node = w->body->nodes[i];

	if (strstr(node->op, "PartitionedCall") == NULL)
		return NULL;
	for (size_t k = 0; k < node->n_attr; k++) {
		const Tensorflow__AttrEntry *e = node->attr[k];

		if (e->key != NULL && strcmp(e->key, "f") == 0 && e->value != NULL &&
		    e->value->func != NULL)
			return e->value->func->name;
	}
	return NULL;
}

static int walk(const struct walk *w)
{
	const Tensorflow__SaverDef *saver = w->l->meta->saver_def;
	const char *restores = saver != NULL ? saver->restore_op_name : NULL;

	if (w->l->left < w->body->n)
		return tf_load_fail(w->l, MSD_TOO_LARGE, "it has too many nodes");
	w->l->left -= w->body->n;
	for (size_t i = 0; i < w->body->n; i++) {
		const tf_node *node = w->body->nodes[i];
		const bool is_restore =
			w->depth > 0 ||
			(restores != NULL && strcmp(node->name, restores) == 0);
		int result = 0;

		if (strcmp(node->op, "AssignVariableOp") == 0 ||
		    strcmp(node->op, "Assign") == 0) {
			result = take_assignment(w, i);
		} else if (is_restore) {
			result = enter(w, i, called(w, i));
		}
		if (result != 0)
			return -1;
	}
	return 0;
}

int tf_variables_init(struct tf_load *l)
{
	const struct walk top = {.l = l, .body = &l->top};
	modser_part index = {0};

	if (l->meta == NULL || l->g->read_beside == NULL)
		return 0;
	if (l->g->read_beside(l->g->beside_ctx, l->g, TF_BUNDLE_INDEX, &index) != 0) {
		msd_diag_finish(&l->g->diag); /* a model may have no variables */
		return 0;
	}
	if (tf_bundle_read(l->g, (struct msd_span){index.data, index.bytes},
			   &l->bundle) != 0)
		return -1;
	l->has_bundle = true;
	return walk(&top);
}

/* The entry of a variable: the one that was restored, or the one with its name. */
static const struct tf_bundle_entry *entry_of(const struct tf_load *l,
					      const tf_node *node)
{
	for (unsigned i = 0; i < MAX_STEPS && node != NULL; i++) {
		const struct tf_bundle_entry *e =
			msd_names_find(&l->restored, node->name);

		if (e == NULL)
			e = tf_bundle_find(&l->bundle, node->name);
		if (e != NULL)
			return e;
		node = msd_names_find(&l->aliases, node->name);
	}
	return NULL;
}

static int check_entry(const struct tf_load *l, const struct tf_bundle_entry *e,
		       const tf_node *node)
{
	const char *dtype = tf_dtype(e->dtype);
	struct msd_dtype parsed;
	uint64_t bytes;
	uint64_t n = 1;

	if (e->is_sliced) {
		return tf_load_fail(l, MSD_UNSUPPORTED,
				    "variable \"%.200s\" is stored in slices; save the "
				    "model on one device",
				    node->name);
	}
	if (dtype == NULL || !msd_dtype_parse(dtype, strlen(dtype), &parsed)) {
		return tf_load_fail(l, MSD_UNSUPPORTED,
				    "variable \"%.200s\" has element type %d of "
				    "TensorFlow",
				    node->name, e->dtype);
	}
	for (size_t i = 0; i < e->ndim; i++) {
		if (e->dims[i] < 0 ||
		    __builtin_mul_overflow(n, (uint64_t)e->dims[i], &n)) {
			return tf_load_fail(l, MSD_BAD_ARTIFACT,
					    "variable \"%.200s\" has a shape that "
					    "cannot be",
					    node->name);
		}
	}
	if (!msd_dtype_bytes(parsed, n, &bytes) || bytes != e->bytes) {
		return tf_load_fail(l, MSD_BAD_ARTIFACT,
				    "variable \"%.200s\" has %llu bytes, and its shape "
				    "others",
				    node->name, (unsigned long long)e->bytes);
	}
	return 0;
}

static modser_sg_tensor *read_entry(struct tf_load *l, modser_graph *g,
				    const struct tf_bundle_entry *e,
				    const tf_node *node)
{
	const struct msd_build b = {g, node->name};
	modser_part part = {0};
	char name[64];

	if (check_entry(l, e, node) != 0)
		return NULL;
	tf_bundle_shard_name(&l->bundle, e->shard, name);
	if (l->g->read_beside(l->g->beside_ctx, l->g, name, &part) != 0)
		return NULL;
	if (e->shard >= l->bundle.n_shards || e->offset > part.bytes ||
	    e->bytes > part.bytes - e->offset) {
		(void)tf_load_fail(l, MSD_BAD_ARTIFACT,
				   "variable \"%.200s\" is outside of %s", node->name,
				   name);
		return NULL;
	}
	const uint8_t *p = (const uint8_t *)part.data + e->offset;
	return tf_stored(l, &b, tf_dtype(e->dtype), e->dims, e->ndim,
			 (struct msd_span){p, (size_t)e->bytes}, false);
}

struct tf_value *tf_variable_read(const struct tf_frame *f, const tf_node *handle)
{
	struct tf_load *l = f->l;
	const bool is_top = f->scope->g == l->g;
	struct tf_value *v =
		is_top ? msd_names_find(&l->variables, handle->name) : NULL;

	if (v != NULL)
		return v;
	if (!l->has_bundle) {
		(void)tf_load_fail(
			l, MSD_UNSUPPORTED,
			l->meta == NULL
				? "variable \"%.200s\" is not in the file; freeze the "
				  "graph (convert_variables_to_constants_v2), or give "
				  "the whole folder of a SavedModel"
				: "variable \"%.200s\" is in variables/, which did not "
				  "come with the model; give the whole folder",
			handle->name);
		return NULL;
	}
	const struct tf_bundle_entry *e = entry_of(l, handle);
	if (e == NULL) {
		(void)tf_load_fail(l, MSD_BAD_ARTIFACT,
				   "variable \"%.200s\" is not in variables.index",
				   handle->name);
		return NULL;
	}
	v = tf_value_of(l, read_entry(l, f->scope->g, e, handle));
	if (v != NULL && is_top && !msd_names_add(&l->variables, handle->name, v)) {
		(void)msd_sg_no_memory(l->g);
		return NULL;
	}
	return v;
}
