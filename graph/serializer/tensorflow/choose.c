/*
 * The inputs and outputs of a model. Those of a signature have its names; inputs of a
 * GraphDef are the placeholders that an output needs, its outputs the nodes that no
 * other one names. Failures name what was looked for.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "proto/base/grow.h"

#define DEFAULT_SIGNATURE "serving_default"

static int set_cell(struct tf_frame *f, const struct tf_link *link, struct tf_value *v)
{
	struct tf_cell *cell = &f->cells[link->at];

	if (cell->out == NULL) {
		cell->out = calloc(link->out + 2, sizeof(struct tf_value *));
		if (cell->out == NULL)
			return msd_sg_no_memory(f->l->g);
		cell->n_out = link->out + 1;
	}
	if (link->out >= cell->n_out) {
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "node \"%.200s\" makes several inputs",
				    f->body->nodes[link->at]->name);
	}
	cell->out[link->out] = v;
	cell->state = TF_DONE;
	return 0;
}

static int add_input(struct tf_frame *f, const struct tf_link *link, const char *name,
		     int32_t type, const Tensorflow__TensorShapeProto *shape)
{
	const char *dtype = tf_dtype(type);
	const size_t n = shape != NULL ? shape->n_dim : 0;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (dtype == NULL) {
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "input \"%.200s\" has element type %d of "
				    "TensorFlow%s",
				    name, type,
				    type == 7 ? " (texts; compute them outside of the "
						"model)"
					      : "");
	}
	if (shape != NULL && shape->unknown_rank) {
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "input \"%.200s\" has no number of dimensions; "
				    "export the model with a shape",
				    name);
	}
	if (n > MODSER_GRAPH_MAX_NDIM) {
		return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
				    "input \"%.200s\" has %zu dimensions", name, n);
	}
	for (size_t i = 0; i < n; i++) {
		dims[i] = shape->dim[i]->size;
		if (dims[i] < -1) {
			return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
					    "input \"%.200s\" has an extent that "
					    "cannot be",
					    name);
		}
	}
	modser_sg_tensor *t = modser_graph_create_input(f->l->g, name, dtype, dims, n);
	struct tf_value *v = tf_value_of(f->l, t);
	return v != NULL ? set_cell(f, link, v) : -1;
}

static const Tensorflow__AttrValue *attr(const tf_node *node, const char *name)
{
	for (size_t i = 0; i < node->n_attr; i++) {
		if (node->attr[i]->key != NULL && strcmp(node->attr[i]->key, name) == 0)
			return node->attr[i]->value;
	}
	return NULL;
}

/* A placeholder that an output needs. */
static int add_placeholder(struct tf_frame *f, size_t i)
{
	const tf_node *node = f->body->nodes[i];
	const Tensorflow__AttrValue *type = attr(node, "dtype");
	const Tensorflow__AttrValue *shape = attr(node, "shape");
	const struct tf_link link = {.at = i};

	if (type == NULL || !type->has_type) {
		return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
				    "placeholder \"%.200s\" has no type", node->name);
	}
	if (shape == NULL || shape->shape == NULL) {
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "input \"%.200s\" has no shape; export the model "
				    "with one",
				    node->name);
	}
	return add_input(f, &link, node->name, type->type, shape->shape);
}

/* Node @at's input @k; a constant of a side of a condition has only control inputs. */
static bool needs(const struct tf_body *b, size_t at, size_t k, struct tf_link *ret)
{
	const tf_node *node = b->nodes[at];
	bool is_control;

	return tf_input_of(b, at, k, ret) ||
	       (b->has_switch && k < node->n_input && node->input[0][0] == '^' &&
		tf_link_read(b, node->input[k] + 1, ret, &is_control));
}

/* Mark the nodes that @want needs. */
static int mark(struct tf_frame *f, bool *marks, const struct tf_link *want, size_t n)
{
	const struct tf_body *b = f->body;
	size_t *stack = calloc(b->n + 1, sizeof(*stack));
	size_t depth = 0;

	if (stack == NULL)
		return msd_sg_no_memory(f->l->g);
	for (size_t i = 0; i < n; i++) {
		if (!marks[want[i].at]) {
			marks[want[i].at] = true;
			stack[depth++] = want[i].at;
		}
	}
	while (depth > 0) {
		const size_t at = stack[--depth];
		struct tf_link link;

		for (size_t k = 0; needs(b, at, k, &link); k++) {
			if (marks[link.at])
				continue;
			marks[link.at] = true;
			stack[depth++] = link.at;
		}
	}
	free(stack);
	return 0;
}

static int add_placeholders(struct tf_frame *f, const struct tf_link *want, size_t n)
{
	bool *marks = calloc(f->body->n + 1, sizeof(*marks));

	if (marks == NULL)
		return msd_sg_no_memory(f->l->g);
	int result = mark(f, marks, want, n);
	for (size_t i = 0; result == 0 && i < f->body->n; i++) {
		const char *op = f->body->nodes[i]->op;

		if (marks[i] && f->cells[i].state == TF_NEW &&
		    (strcmp(op, "Placeholder") == 0 ||
		     strcmp(op, "PlaceholderV2") == 0))
			result = add_placeholder(f, i);
	}
	free(marks);
	return result;
}

/* ---- Outputs ---- */

struct output {
	char *name;
	struct tf_link link;
};
struct outputs {
	struct output *items;
	size_t n;
};

static void outputs_finish(struct outputs *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->items[i].name);
	free(o->items);
}

static int push_output(struct tf_load *l, struct outputs *o, const char *name,
		       size_t bytes, const char *tensor)
{
	bool is_control;
	struct output one = {0};

	if (!tf_link_read(&l->top, tensor, &one.link, &is_control)) {
		return tf_load_fail(l, MSD_NOT_FOUND,
				    "output \"%.200s\" is no node of the graph",
				    tensor);
	}
	if (!msd_grow(&o->items, o->n, sizeof(*o->items)))
		return msd_sg_no_memory(l->g);
	one.name = msd_sg_copy(name, bytes);
	if (one.name == NULL)
		return msd_sg_no_memory(l->g);
	o->items[o->n++] = one;
	l->top.uses[one.link.at]++;
	return 0;
}

/* Names between commas; ":0" may be left out. */
static int list_given(struct tf_load *l, const char *text, struct outputs *o)
{
	while (*text != '\0') {
		const size_t n = strcspn(text, ",");
		char *word = msd_sg_copy(text, n);
		int result = 0;

		if (word == NULL)
			return msd_sg_no_memory(l->g);
		const size_t bytes =
			n > 2 && strcmp(word + n - 2, ":0") == 0 ? n - 2 : n;
		if (n > 0)
			result = push_output(l, o, word, bytes, word);
		free(word);
		if (result != 0)
			return -1;
		text += n + (text[n] == ',');
	}
	return o->n > 0 ? 0
			: tf_load_fail(l, MSD_BAD_ARGUMENT, "--outputs names nothing");
}

/* Operators whose outputs are no result, though no node reads them. */
static bool is_silent(const char *op)
{
	static const char *const ops[] = {"NoOp",
					  "Assert",
					  "Const",
					  "Placeholder",
					  "PlaceholderV2",
					  "PlaceholderWithDefault",
					  "VarHandleOp",
					  "Variable",
					  "VariableV2",
					  "SaveV2",
					  "MergeV2Checkpoints",
					  "VarIsInitializedOp",
					  "Print",
					  "PrintV2"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i], op) == 0)
			return true;
	}
	return strstr(op, "Assign") != NULL || strstr(op, "Summary") != NULL;
}

/* True if node @i is inside of a loop of TensorFlow 1: it needs an Enter, and no Exit
 * is between. */
static int is_inside(struct tf_load *l, size_t i, bool *ret)
{
	const struct tf_body *b = &l->top;
	bool *marks = calloc(b->n + 1, sizeof(*marks));
	size_t *stack = calloc(b->n + 1, sizeof(*stack));
	size_t depth = 0;

	if (marks != NULL && stack != NULL) {
		stack[depth++] = i;
		marks[i] = true;
	}
	*ret = false;
	while (depth > 0 && !*ret && l->left > 0) {
		const size_t at = stack[--depth];
		const char *op = b->nodes[at]->op;
		struct tf_link link;

		l->left--;
		*ret = strcmp(op, "Enter") == 0;
		for (size_t k = 0;
		     strcmp(op, "Exit") != 0 && tf_input_of(b, at, k, &link); k++) {
			if (!marks[link.at])
				stack[depth++] = link.at;
			marks[link.at] = true;
		}
	}
	const bool is_short = marks == NULL || stack == NULL;
	free(marks);
	free(stack);
	return is_short ? msd_sg_no_memory(l->g) : 0;
}

/* The first outputs of nodes that no node reads. */
static int list_unread(struct tf_load *l, struct outputs *o)
{
	bool inside = false;

	for (size_t i = 0; i < l->top.n; i++) {
		const tf_node *node = l->top.nodes[i];

		if (l->top.uses[i] > 0 || is_silent(node->op))
			continue;
		if (l->top.has_switch && is_inside(l, i, &inside) != 0)
			return -1;
		if (!inside &&
		    push_output(l, o, node->name, strlen(node->name), node->name) != 0)
			return -1;
	}
	return o->n > 0 ? 0
			: tf_load_fail(l, MSD_BAD_ARTIFACT,
				       "it has no output that no node reads; name some "
				       "with --outputs");
}

static int by_key(const void *a, const void *b)
{
	const Tensorflow__TensorInfoEntry *const *x = a;
	const Tensorflow__TensorInfoEntry *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

/* Entries of a signature, by their names. */
static int sort_entries(struct tf_load *l, Tensorflow__TensorInfoEntry **e, size_t n,
			const char *what)
{
	for (size_t i = 0; i < n; i++) {
		if (e[i]->key == NULL || e[i]->value == NULL ||
		    e[i]->value->name == NULL) {
			return tf_load_fail(
				l, MSD_UNSUPPORTED,
				"%s %zu of the signature has no name, or is "
				"sparse",
				what, i);
		}
	}
	if (n > 1)
		qsort((void *)e, n, sizeof(*e), by_key);
	return 0;
}

static const Tensorflow__SignatureDef *find_signature(struct tf_load *l)
{
	const char *wanted =
		l->options->signature != NULL && l->options->signature[0] != '\0'
			? l->options->signature
			: DEFAULT_SIGNATURE;
	struct msd_buf names = {0};

	for (size_t i = 0; i < l->meta->n_signature_def; i++) {
		const Tensorflow__SignatureEntry *e = l->meta->signature_def[i];

		if (e->key == NULL || e->value == NULL)
			continue;
		if (strcmp(e->key, wanted) == 0) {
			msd_buf_finish(&names);
			return e->value;
		}
		if (e->value->n_outputs > 0 && names.n < 400 && e->key[0] != '_') {
			msd_buf_printf(&names, "%s%.100s", names.n > 0 ? ", " : "",
				       e->key);
		}
	}
	(void)tf_load_fail(l, MSD_NOT_FOUND,
			   names.n > 0 ? "it has no signature \"%.100s\"; it has %.*s"
				       : "it has no signature \"%.100s\"%.*s; save the "
					 "model with signatures=, or name --outputs",
			   wanted, (int)names.n,
			   names.n > 0 ? (const char *)names.p : "");
	msd_buf_finish(&names);
	return NULL;
}

static int add_signed_inputs(struct tf_frame *f, const Tensorflow__SignatureDef *s)
{
	if (sort_entries(f->l, s->inputs, s->n_inputs, "input") != 0)
		return -1;
	for (size_t i = 0; i < s->n_inputs; i++) {
		const Tensorflow__TensorInfo *info = s->inputs[i]->value;
		struct tf_link link;
		bool is_control;

		if (!tf_link_read(f->body, info->name, &link, &is_control)) {
			return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
					    "input \"%.200s\" of the signature is no "
					    "tensor of the graph",
					    s->inputs[i]->key);
		}
		if (add_input(f, &link, s->inputs[i]->key, info->dtype,
			      info->tensor_shape) != 0)
			return -1;
	}
	return 0;
}

static int list_signed(struct tf_load *l, const Tensorflow__SignatureDef *s,
		       struct outputs *o)
{
	if (sort_entries(l, s->outputs, s->n_outputs, "output") != 0)
		return -1;
	for (size_t i = 0; i < s->n_outputs; i++) {
		const char *key = s->outputs[i]->key;

		if (push_output(l, o, key, strlen(key), s->outputs[i]->value->name) !=
		    0)
			return -1;
	}
	return o->n > 0 ? 0
			: tf_load_fail(l, MSD_BAD_ARTIFACT,
				       "the signature has no outputs");
}

/* A constant that no node reads is a rest, not a result, unless it was named. */
static bool is_rest(const struct tf_value *v)
{
	return v->kind == TF_TENSOR && v->t->type == MODSER_TENSOR_CONST;
}

static int add_output(struct tf_frame *f, const struct output *o, bool is_chosen)
{
	const struct msd_build b = {f->l->g, o->name};
	const struct tf_value *v = tf_frame_get(f, &o->link);

	if (v == NULL)
		return -1;
	if (!is_chosen && is_rest(v))
		return 0;
	if (v->kind != TF_TENSOR) {
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "output \"%.200s\" is no tensor of numbers",
				    o->name);
	}
	modser_sg_tensor *t = v->t;
	bool is_given = t->type != MODSER_TENSOR_VAR;
	for (size_t i = 0; i < f->l->g->n_outputs; i++)
		is_given = is_given || f->l->g->outputs[i] == t;
	if (is_given)
		t = msd_build_one(&b, "Noop", t);
	if (t == NULL || msd_build_rename(t, o->name) != 0)
		return -1;
	return modser_graph_add_output(f->l->g, t);
}

static int choose(struct tf_frame *f, struct outputs *o)
{
	struct tf_load *l = f->l;
	const char *given = l->options->outputs;
	const bool is_given = given != NULL && given[0] != '\0';
	const Tensorflow__SignatureDef *s =
		l->meta != NULL && !(is_given && l->meta->n_signature_def == 0)
			? find_signature(l)
			: NULL;

	if (l->meta != NULL && s == NULL &&
	    !(is_given && l->meta->n_signature_def == 0))
		return -1;
	if (s != NULL && add_signed_inputs(f, s) != 0)
		return -1;
	const int result = is_given    ? list_given(l, given, o)
			   : s != NULL ? list_signed(l, s, o)
				       : list_unread(l, o);
	if (result != 0)
		return -1;
	struct tf_link *want = calloc(o->n + 1, sizeof(*want));
	if (want == NULL)
		return msd_sg_no_memory(l->g);
	for (size_t i = 0; i < o->n; i++)
		want[i] = o->items[i].link;
	int added = s == NULL ? add_placeholders(f, want, o->n) : 0;
	free(want);
	for (size_t i = 0; i < o->n && added == 0; i++)
		added = add_output(f, &o->items[i], is_given || s != NULL);
	if (added == 0 && l->g->n_outputs == 0) {
		return tf_load_fail(l, MSD_BAD_ARTIFACT,
				    "all its outputs are constants; name some with "
				    "--outputs");
	}
	return added;
}

int tf_frame_read(struct tf_frame *f)
{
	struct outputs outputs = {0};
	const int result = choose(f, &outputs);

	outputs_finish(&outputs);
	return result;
}
