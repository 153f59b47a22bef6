/*
 * Read a file: a GraphDef, or a SavedModel, which is a GraphDef with signatures.
 * Normal path: the message without its weights is unpacked, inputs and outputs are
 * chosen, and each output is evaluated (frame.c). Inputs of a signature have its names;
 * those of a GraphDef are its placeholders. Failures name what was looked for.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/serializer/model_files.h"
#include "graph/serializer/tensorflow/layer.h"
#include "graph/serializer/wire/wire.h"
#include "proto/base/diag.h"

#define MAX_VISITS (1u << 24)
#define DEFAULT_SIGNATURE "serving_default"

static const struct msd_wire_weight weights[] = {
	{&tensorflow__tensor_proto__descriptor, 4},
	{&tensorflow__tensor_proto__descriptor, 5},
};
static const struct msd_wire_format graph_format = {
	"TensorFlow", &tensorflow__graph_def__descriptor, weights, 2};
static const struct msd_wire_format saved_format = {
	"TensorFlow", &tensorflow__saved_model__descriptor, weights, 2};

/* A SavedModel begins with its version, a number; a GraphDef has none. */
static bool is_saved(struct msd_span file)
{
	return file.n > 0 && file.p[0] == (1 << 3 | MSD_WIRE_VARINT);
}

/* ---- The message ---- */

static bool has_tag(const Tensorflow__MetaGraphDef *m, const char *tag)
{
	const Tensorflow__MetaInfoDef *info = m->meta_info_def;

	for (size_t i = 0; info != NULL && i < info->n_tags; i++) {
		if (strcmp(info->tags[i], tag) == 0)
			return true;
	}
	return false;
}

static int choose_meta(struct tf_load *l)
{
	const Tensorflow__SavedModel *s = l->saved;

	for (size_t i = 0; i < s->n_meta_graphs && l->meta == NULL; i++) {
		if (has_tag(s->meta_graphs[i], "serve"))
			l->meta = s->meta_graphs[i];
	}
	if (l->meta == NULL && s->n_meta_graphs > 0)
		l->meta = s->meta_graphs[0];
	if (l->meta == NULL || l->meta->graph_def == NULL)
		return tf_load_fail(l, MSD_BAD_ARTIFACT, "the SavedModel has no graph");
	l->graph = l->meta->graph_def;
	return 0;
}

static int unpack(struct tf_load *l)
{
	struct msd_buf small = {0};
	const bool saved = is_saved(l->file);

	if (msd_wire_trim(l->g, saved ? &saved_format : &graph_format, l->file,
			  &small) != 0) {
		msd_buf_finish(&small);
		return -1;
	}
	if (saved)
		l->saved = tensorflow__saved_model__unpack(NULL, small.n, small.p);
	else
		l->frozen = tensorflow__graph_def__unpack(NULL, small.n, small.p);
	msd_buf_finish(&small);
	if (l->saved == NULL && l->frozen == NULL)
		return tf_load_fail(l, MSD_BAD_ARTIFACT, "it is no %s of TensorFlow",
				    saved ? "SavedModel" : "GraphDef");
	l->graph = l->frozen;
	return l->saved != NULL ? choose_meta(l) : 0;
}

static int list_functions(struct tf_load *l)
{
	const Tensorflow__FunctionDefLibrary *library = l->graph->library;
	const size_t n = library != NULL ? library->n_function : 0;

	l->functions = calloc(n + 1, sizeof(*l->functions));
	if (l->functions == NULL)
		return msd_sg_no_memory(l->g);
	l->n_functions = n;
	for (size_t i = 0; i < n; i++) {
		const Tensorflow__FunctionDef *p = library->function[i];
		struct tf_body *b = &l->functions[i];

		if (p->signature == NULL || p->signature->name == NULL ||
		    msd_names_find(&l->function_names, p->signature->name) != NULL)
			return tf_load_fail(l, MSD_BAD_ARTIFACT,
					    "function %zu has no name of its own", i);
		*b = (struct tf_body){.name = p->signature->name,
				      .nodes = p->node_def,
				      .n = p->n_node_def,
				      .function = p};
		if (!msd_names_add(&l->function_names, b->name, b))
			return msd_sg_no_memory(l->g);
	}
	return 0;
}

/* ---- Inputs ---- */

static int set_cell(struct tf_frame *f, const struct tf_link *link, struct tf_value *v)
{
	struct tf_cell *cell = &f->cells[link->at];

	if (cell->out == NULL) {
		cell->out = calloc(link->out + 2, sizeof(struct tf_value *));
		if (cell->out == NULL)
			return msd_sg_no_memory(f->l->g);
		cell->n_out = link->out + 1;
	}
	if (link->out >= cell->n_out)
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "node \"%.200s\" makes several inputs",
				    f->body->nodes[link->at]->name);
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

	if (dtype == NULL)
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "input \"%.200s\" has element type %d of "
				    "TensorFlow%s",
				    name, type,
				    type == 7 ? " (texts; compute them outside of the "
						"model)"
					      : "");
	if (shape != NULL && shape->unknown_rank)
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "input \"%.200s\" has no number of dimensions; "
				    "export the model with a shape",
				    name);
	if (n > MODSER_GRAPH_MAX_NDIM)
		return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
				    "input \"%.200s\" has %zu dimensions", name, n);
	for (size_t i = 0; i < n; i++) {
		dims[i] = shape->dim[i]->size;
		if (dims[i] < -1)
			return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
					    "input \"%.200s\" has an extent that "
					    "cannot be",
					    name);
	}
	modser_sg_tensor *t = modser_graph_create_input(f->l->g, name, dtype, dims, n);
	struct tf_value *v = tf_value_of(f->l, t);
	return v != NULL ? set_cell(f, link, v) : -1;
}

static const Tensorflow__AttrValue *attr(const tf_node *node, const char *name)
{
	for (size_t i = 0; i < node->n_attr; i++) {
		if (node->attr[i]->key != NULL &&
		    strcmp(node->attr[i]->key, name) == 0)
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

	if (type == NULL || !type->has_type)
		return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
				    "placeholder \"%.200s\" has no type", node->name);
	if (shape == NULL || shape->shape == NULL)
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "input \"%.200s\" has no shape; export the model "
				    "with one",
				    node->name);
	return add_input(f, &link, node->name, type->type, shape->shape);
}

/* Mark the nodes that @want needs, and control inputs of none. */
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

		for (size_t k = 0; tf_input_of(b, at, k, &link); k++) {
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
	int result = marks != NULL ? mark(f, marks, want, n)
				   : msd_sg_no_memory(f->l->g);

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

	if (!tf_link_read(&l->top, tensor, &one.link, &is_control))
		return tf_load_fail(l, MSD_NOT_FOUND,
				    "output \"%.200s\" is no node of the graph",
				    tensor);
	if (!msd_sg_grow(&o->items, o->n, sizeof(*o->items)))
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
	static const char *const ops[] = {"NoOp", "Assert", "Const", "Placeholder",
					  "PlaceholderV2", "PlaceholderWithDefault",
					  "VarHandleOp", "Variable", "VariableV2",
					  "SaveV2", "MergeV2Checkpoints",
					  "VarIsInitializedOp", "Print", "PrintV2"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i], op) == 0)
			return true;
	}
	return strstr(op, "Assign") != NULL || strstr(op, "Summary") != NULL;
}

/* True if node @i is inside of a loop of TensorFlow 1: it needs an Enter, and no Exit is
 * between. */
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
		    e[i]->value->name == NULL)
			return tf_load_fail(l, MSD_UNSUPPORTED,
					    "%s %zu of the signature has no name, or is "
					    "sparse",
					    what, i);
	}
	if (n > 1)
		qsort((void *)e, n, sizeof(*e), by_key);
	return 0;
}

static const Tensorflow__SignatureDef *find_signature(struct tf_load *l)
{
	const char *wanted = l->options->signature != NULL &&
					     l->options->signature[0] != '\0'
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
		if (e->value->n_outputs > 0 && names.n < 400 && e->key[0] != '_')
			msd_buf_printf(&names, "%s%.100s", names.n > 0 ? ", " : "",
				       e->key);
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

		if (!tf_link_read(f->body, info->name, &link, &is_control))
			return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
					    "input \"%.200s\" of the signature is no "
					    "tensor of the graph",
					    s->inputs[i]->key);
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
	if (v->kind != TF_TENSOR)
		return tf_load_fail(f->l, MSD_UNSUPPORTED,
				    "output \"%.200s\" is no tensor of numbers",
				    o->name);
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

/* ---- The whole ---- */

/* Remove nodes whose results are never read. */
static int remove_unread(modser_graph *g)
{
	size_t *readers = calloc(g->n_tensors + 1, sizeof(*readers));

	if (readers == NULL)
		return msd_sg_no_memory(g);
	for (size_t i = 0; i < g->n_outputs; i++)
		readers[g->outputs[i]->index]++;
	for (size_t i = g->n_nodes; i-- > 0;) {
		modser_sg_node *node = g->nodes[i];
		bool is_read = node->n_outputs == 1 &&
			       node->outputs[0]->type == MODSER_TENSOR_INPUT;

		for (size_t k = 0; k < node->n_outputs; k++)
			is_read = is_read || readers[node->outputs[k]->index] > 0;
		for (size_t k = 0; is_read && k < node->n_inputs; k++) {
			if (node->inputs[k] != NULL)
				readers[node->inputs[k]->index]++;
		}
		if (!is_read)
			msd_sg_take_out(node);
	}
	free(readers);
	return msd_sg_sweep(g);
}

static int choose_and_read(struct tf_frame *f, struct outputs *o)
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
	struct tf_link *want = calloc(o->n, sizeof(*want));
	if (want == NULL)
		return msd_sg_no_memory(l->g);
	for (size_t i = 0; i < o->n; i++)
		want[i] = o->items[i].link;
	int added = s == NULL ? add_placeholders(f, want, o->n) : 0;
	free(want);
	for (size_t i = 0; i < o->n && added == 0; i++)
		added = add_output(f, &o->items[i], is_given || s != NULL);
	if (added == 0 && l->g->n_outputs == 0)
		return tf_load_fail(l, MSD_BAD_ARTIFACT,
				    "all its outputs are constants; name some with "
				    "--outputs");
	return added;
}

static int read_model(struct tf_load *l)
{
	struct tf_scope scope = {.g = l->g};
	struct outputs outputs = {0};

	if (unpack(l) != 0 || list_functions(l) != 0)
		return -1;
	l->top = (struct tf_body){
		.name = "", .nodes = l->graph->node, .n = l->graph->n_node};
	if (tf_body_init(l, &l->top) != 0 || tf_variables_init(l) != 0)
		return -1;
	struct tf_frame f = {.l = l, .body = &l->top, .scope = &scope};
	int result = tf_frame_init(&f);
	if (result == 0)
		result = choose_and_read(&f, &outputs);
	tf_frame_finish(&f);
	outputs_finish(&outputs);
	free(scope.captures);
	return result == 0 ? remove_unread(l->g) : -1;
}

static void finish(struct tf_load *l)
{
	tf_body_finish(&l->top);
	for (size_t i = 0; i < l->n_functions; i++)
		tf_body_finish(&l->functions[i]);
	free(l->functions);
	msd_names_finish(&l->function_names);
	msd_names_finish(&l->restored);
	msd_names_finish(&l->aliases);
	msd_names_finish(&l->variables);
	tf_bundle_finish(&l->bundle);
	tf_values_finish(l);
	if (l->frozen != NULL)
		tensorflow__graph_def__free_unpacked(l->frozen, NULL);
	if (l->saved != NULL)
		tensorflow__saved_model__free_unpacked(l->saved, NULL);
}

int tf_model_load(const modser_serializer *s, const modser_part *parts,
		  const modser_model_options *options, modser_graph *graph)
{
	struct tf_load l = {.g = graph,
			    .file = {parts[0].data, parts[0].bytes},
			    .options = options,
			    .left = MAX_VISITS,
			    .counts = true};

	(void)s;
	const int result = read_model(&l);
	finish(&l);
	return result;
}

/* ---- The files of a SavedModel, in one ---- */

static int read_file(struct msd_model_files *f, const char *name,
		     modser_read_beside *read, void *ctx, modser_graph *g)
{
	modser_part part = {0};

	if (read(ctx, g, name, &part) != 0)
		return -1;
	f->items[f->n++] = (struct msd_model_file){
		msd_span_of(name), {part.data, part.bytes}};
	return 0;
}

static int join_files(struct msd_model_files *f, const struct tf_bundle *b,
		      char (*names)[64], modser_read_beside *read, void *ctx,
		      modser_graph *g, modser_part *ret)
{
	struct msd_buf out = {0};

	for (uint32_t i = 0; i < b->n_shards; i++) {
		tf_bundle_shard_name(b, i, names[i]);
		if (read_file(f, names[i], read, ctx, g) != 0)
			return -1;
	}
	if (msd_model_files_write(f, &out, &g->diag) != MSD_OK) {
		msd_buf_finish(&out);
		return -1;
	}
	*ret = (modser_part){out.p, out.n};
	return 0;
}

int tf_model_join(const modser_part *model, modser_read_beside *read, void *ctx,
		  modser_graph *graph, modser_part *ret)
{
	const struct msd_span file = {model->data, model->bytes};
	struct msd_model_files f = {0};
	struct tf_bundle bundle = {0};
	modser_part index = {0};
	char (*names)[64] = NULL;
	int result = -1;

	if (!is_saved(file))
		return 0;
	if (read(ctx, graph, TF_BUNDLE_INDEX, &index) != 0) {
		msd_diag_finish(&graph->diag); /* it may have no variables */
		return 0;
	}
	if (tf_bundle_read(graph, (struct msd_span){index.data, index.bytes},
			   &bundle) == 0) {
		f.items = calloc(bundle.n_shards + 2, sizeof(*f.items));
		names = calloc(bundle.n_shards + 1, sizeof(*names));
		if (f.items == NULL || names == NULL) {
			(void)msd_sg_no_memory(graph);
		} else {
			f.items[0] = (struct msd_model_file){
				msd_span_of("saved_model.pb"), file};
			f.items[1] = (struct msd_model_file){
				msd_span_of(TF_BUNDLE_INDEX),
				{index.data, index.bytes}};
			f.n = 2;
			result = join_files(&f, &bundle, names, read, ctx, graph, ret);
		}
	}
	free(names);
	msd_model_files_finish(&f);
	tf_bundle_finish(&bundle);
	return result;
}
