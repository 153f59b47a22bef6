/*
 * Read a model: its only subgraph, the tensors, then each operator in turn. Its row
 * (layer.h) makes nodes from its inputs and options. Constants are made when an
 * operator reads them, in place if they are aligned. Names of inputs and outputs are
 * those of the only signature, or of the tensors. Failures name the operator.
 */
#include "graph/serializer/tflite/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/serializer/tflite/layer.h"

#define VERSION 3
#define MAX_TENSORS (1u << 18)
enum { CUSTOM = 32 };
/* Numbers of fields. */
enum {
	MODEL_VERSION,
	MODEL_CODES,
	MODEL_SUBGRAPHS,
	MODEL_BUFFERS = 4,
	MODEL_SIGNATURES = 7
};
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS, GRAPH_NAME };

struct load {
	struct flat f;
	modser_graph *g;
	struct flat_table model;
	struct flat_table subgraph;
	struct flat_vector codes;
	struct flat_vector buffers;
	struct flat_vector inputs;
	struct flat_vector outputs;
	struct tflite_tensor *tensors;
	size_t n_tensors;
};

static int fail(const struct load *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static int fail(const struct load *l, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_sg_fail(l->g, MSD_BAD_ARTIFACT, "%s", text);
}

/* The bytes of buffer @i: in its table, or at an offset behind the tables. */
static int read_buffer(struct load *l, struct tflite_tensor *t, uint32_t i)
{
	if (i >= l->buffers.n)
		return fail(l, "buffer %u of %zu", i, l->buffers.n);
	const struct flat_table buffer = flat_at(&l->f, &l->buffers, i);
	const uint64_t at = flat_u64(&l->f, &buffer, 1);
	const uint64_t bytes = flat_u64(&l->f, &buffer, 2);

	t->data = flat_text(&l->f, &buffer, 0);
	if (at > 1) { /* 1 stands for an empty buffer */
		if (at > l->f.file.n || bytes > l->f.file.n - at) {
			return fail(l, "buffer %u is outside the file", i);
		}
		t->data = (struct msd_span){l->f.file.p + at, (size_t)bytes};
	}
	t->is_constant = t->data.n > 0;
	return l->f.bad ? -1 : 0;
}

static int read_quantization(struct load *l, struct tflite_tensor *t,
			     const struct flat_table *table)
{
	const struct flat_table q = flat_child(&l->f, table, 4);

	t->scales = flat_vector(&l->f, &q, 2, 4);
	t->zeros = flat_vector(&l->f, &q, 3, 8);
	t->axis = flat_i32(&l->f, &q, 6, 0);
	if (!l->f.bad && flat_u8(&l->f, &q, 4, 0) > 1)
		return fail(l, "it is quantized in a custom way");
	return l->f.bad ? -1 : 0;
}

static char *copy_text(struct load *l, struct msd_span text)
{
	const char *from = text.n > 0 ? (const char *)text.p : "";
	char *copy = l->f.bad ? NULL : msd_sg_copy(from, strnlen(from, text.n));

	if (copy == NULL && !l->f.bad)
		(void)msd_sg_no_memory(l->g);
	return copy;
}

static int read_tensor(struct load *l, const struct flat_vector *tables, size_t i)
{
	const struct flat_table table = flat_at(&l->f, tables, i);
	struct tflite_tensor *t = &l->tensors[i];

	t->name = copy_text(l, flat_text(&l->f, &table, 3));
	if (t->name == NULL)
		return -1;
	t->shape = flat_vector(&l->f, &table, 0, 4);
	t->open = flat_vector(&l->f, &table, 7, 4);
	t->type = flat_u8(&l->f, &table, 1, 0);
	t->is_variable = flat_u8(&l->f, &table, 5, 0) != 0;
	if (t->shape.n > MODSER_GRAPH_MAX_NDIM)
		return fail(l, "it has more than 32 dimensions");
	if (read_quantization(l, t, &table) != 0 ||
	    read_buffer(l, t, (uint32_t)flat_i32(&l->f, &table, 2, 0)) != 0)
		return -1;
	const struct flat_table sparsity = flat_child(&l->f, &table, 6);
	if (sparsity.p != NULL)
		return fail(l, "it is sparse; only dense tensors can be read");
	return l->f.bad ? -1 : 0;
}

static int read_tensors(struct load *l)
{
	const struct flat_vector tables =
		flat_vector(&l->f, &l->subgraph, GRAPH_TENSORS, 4);

	if (tables.n > MAX_TENSORS)
		return fail(l, "%zu tensors, at most %u can be", tables.n, MAX_TENSORS);
	l->tensors = calloc(tables.n + 1, sizeof(*l->tensors));
	if (l->tensors == NULL)
		return msd_sg_no_memory(l->g);
	l->n_tensors = tables.n;
	for (size_t i = 0; i < tables.n; i++) {
		if (read_tensor(l, &tables, i) != 0) {
			(void)msd_diag_wrap(&l->g->diag, l->g->diag.code, "tensor %zu",
					    i);
			return -1;
		}
	}
	return l->f.bad ? -1 : 0;
}

/* Every index is of a tensor; -1 leaves one out if @may_miss. */
static int check_indices(const struct load *l, const struct flat_vector *v,
			 bool may_miss, const char *what)
{
	for (size_t i = 0; i < v->n; i++) {
		const int32_t k = flat_at_i32(v, i);

		if ((k < 0 || (size_t)k >= l->n_tensors) && !(may_miss && k == -1)) {
			return fail(l, "%s %zu is tensor %d of %zu", what, i, k,
				    l->n_tensors);
		}
	}
	return 0;
}

/* The name that the only signature gives tensor @k in field @side; NULL: none. */
static char *signed_name(struct load *l, unsigned side, int32_t k)
{
	const struct flat_vector all =
		flat_vector(&l->f, &l->model, MODEL_SIGNATURES, 4);
	const struct flat_table signature =
		all.n == 1 ? flat_at(&l->f, &all, 0) : (struct flat_table){0};
	const struct flat_vector maps = flat_vector(&l->f, &signature, side, 4);

	for (size_t i = 0; i < maps.n; i++) {
		const struct flat_table map = flat_at(&l->f, &maps, i);
		const struct msd_span name = flat_text(&l->f, &map, 0);

		if (!l->f.bad && flat_i32(&l->f, &map, 1, 0) == k && name.n > 0)
			return copy_text(l, name);
	}
	return NULL;
}

static int add_input(struct load *l, struct tflite_tensor *t, const char *name)
{
	const struct flat_vector *shape =
		t->open.n == t->shape.n ? &t->open : &t->shape;
	const char *dtype = tflite_dtype(t->type);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (t->raw != NULL || t->is_constant)
		return fail(l, "input \"%s\" is a constant, or listed twice", name);
	if (dtype == NULL) {
		return msd_sg_fail(l->g, MSD_UNSUPPORTED,
				   "input \"%s\" has element type %u of TFLite", name,
				   t->type);
	}
	for (size_t i = 0; i < shape->n; i++) {
		dims[i] = flat_at_i32(shape, i);
		if (dims[i] < -1) {
			return fail(l, "input \"%s\" has extent %d", name,
				    (int)dims[i]);
		}
	}
	t->raw = modser_graph_create_input(l->g, name, dtype, dims, shape->n);
	return t->raw != NULL ? 0 : -1;
}

static int add_inputs(struct load *l)
{
	for (size_t i = 0; i < l->inputs.n; i++) {
		const int32_t k = flat_at_i32(&l->inputs, i);
		char *name = signed_name(l, 0, k);
		struct tflite_tensor *t = &l->tensors[k];
		const int result =
			l->f.bad ? -1 : add_input(l, t, name != NULL ? name : t->name);

		free(name);
		if (result != 0)
			return -1;
	}
	return 0;
}

static int add_output(struct load *l, struct tflite_tensor *t, const char *name)
{
	const struct msd_build b = {l->g, name};
	const struct tflite_layer x = {
		.b = b, .f = &l->f, .tensors = l->tensors, .n_tensors = l->n_tensors};
	modser_sg_tensor *made =
		t->raw == NULL && t->is_constant ? tflite_constant(&x, t) : t->raw;

	if (made == NULL && t->is_constant)
		return -1;
	if (made == NULL)
		return fail(l, "no operator writes output \"%s\"", name);
	if (made->type != MODSER_TENSOR_VAR)
		made = msd_build_one(&b, "Noop", made);
	if (made == NULL || msd_build_rename(made, name) != 0)
		return -1;
	return modser_graph_add_output(l->g, made);
}

static int add_outputs(struct load *l)
{
	for (size_t i = 0; i < l->outputs.n; i++) {
		const int32_t k = flat_at_i32(&l->outputs, i);
		char *name = signed_name(l, 1, k);
		struct tflite_tensor *t = &l->tensors[k];
		const int result =
			l->f.bad ? -1 : add_output(l, t, name != NULL ? name : t->name);

		free(name);
		if (result != 0)
			return -1;
	}
	return 0;
}

/* Keep the results of an operator. */
static int put(const struct tflite_layer *x, modser_sg_tensor *const *made)
{
	for (size_t i = 0; i < x->out.n; i++) {
		struct tflite_tensor *t = &x->tensors[flat_at_i32(&x->out, i)];

		if (made[i] == NULL)
			return -1;
		t->raw = tflite_is_quantized(t) ? tflite_quantize(x, t, made[i])
						: made[i];
		if (t->raw == NULL)
			return -1;
		/* An inference that waits for a call has not set it. */
		if (!t->raw->has_dtype &&
		    modser_sg_tensor_set_dtype(t->raw, tflite_dtype(t->type)) != 0)
			return -1;
	}
	return 0;
}

static int run_row(struct load *l, const struct tflite_layer *x)
{
	const struct tflite_row *row = x->row;
	modser_sg_tensor **made;
	int result;

	if (x->in.n < row->min_in || x->in.n > row->max_in)
		return fail(l, "it has %zu inputs", x->in.n);
	if (x->out.n < 1 || (row->one != NULL && x->out.n != 1))
		return fail(l, "it has %zu outputs", x->out.n);
	for (size_t i = 0; i < x->out.n; i++) {
		const struct tflite_tensor *t = &x->tensors[flat_at_i32(&x->out, i)];

		if (t->raw != NULL || t->is_constant) {
			return fail(l, "it writes tensor \"%s\", which has a value",
				    t->name);
		}
		if (tflite_dtype(t->type) == NULL) {
			(void)tflite_fail(x,
					  "tensor \"%s\" has element type %u of TFLite",
					  t->name, t->type);
			return -1;
		}
	}
	if (row->one != NULL) {
		modser_sg_tensor *t = row->one(x);

		return put(x, &t);
	}
	made = calloc(x->out.n, sizeof(modser_sg_tensor *));
	if (made == NULL)
		return msd_sg_no_memory(l->g);
	result = row->many(x, made) == 0 ? put(x, made) : -1;
	free(made);
	return result;
}

/* The row of operator @table, or the reason why there is none. */
static const struct tflite_row *find_row(struct load *l, const struct flat_table *table,
					 const char **ret_name)
{
	const uint32_t i = (uint32_t)flat_i32(&l->f, table, 0, 0);
	const struct tflite_row *row;

	*ret_name = "?";
	if (l->f.bad || i >= l->codes.n) {
		if (!l->f.bad)
			(void)fail(l, "its code is %u of %zu", i, l->codes.n);
		return NULL;
	}
	const struct flat_table code = flat_at(&l->f, &l->codes, i);
	const uint8_t old = flat_u8(&l->f, &code, 0, 0); /* at most 127 in real files */
	const int32_t new = flat_i32(&l->f, &code, 3, 0);
	const int32_t builtin = new > old ? new : old;
	if (l->f.bad)
		return NULL;
	if (builtin == CUSTOM) {
		const struct msd_span name = flat_text(&l->f, &code, 1);

		(void)msd_sg_fail(
			l->g, MSD_UNSUPPORTED,
			"custom operator \"%.*s\" cannot be read; convert the "
			"model with builtin operators only",
			(int)(name.n < 100 ? name.n : 100),
			name.n > 0 ? (const char *)name.p : "");
		return NULL;
	}
	for (size_t k = 0; (row = tflite_row_at(k)) != NULL; k++) {
		if (row->code == builtin) {
			*ret_name = row->name;
			return row;
		}
	}
	*ret_name = tflite_builtin_name(builtin);
	(void)msd_sg_fail(l->g, MSD_UNSUPPORTED,
			  "builtin operator %s (%d) cannot be read",
			  *ret_name != NULL ? *ret_name : "?", builtin);
	*ret_name = *ret_name != NULL ? *ret_name : "?";
	return NULL;
}

static int read_operator(struct load *l, const struct flat_table *table,
			 const char **ret_name, const char **ret_output)
{
	struct tflite_layer x = {.f = &l->f,
				 .tensors = l->tensors,
				 .n_tensors = l->n_tensors,
				 .in = flat_vector(&l->f, table, 1, 4),
				 .out = flat_vector(&l->f, table, 2, 4)};

	*ret_name = "?";
	if (l->f.bad || check_indices(l, &x.in, true, "input") != 0 ||
	    check_indices(l, &x.out, false, "output") != 0)
		return -1;
	if (x.out.n > 0)
		*ret_output = l->tensors[flat_at_i32(&x.out, 0)].name;
	x.row = find_row(l, table, ret_name);
	if (x.row == NULL)
		return -1;
	x.options = flat_child(&l->f, table, 4);
	x.b = (struct msd_build){l->g, *ret_output};
	const int result = l->f.bad ? -1 : run_row(l, &x);
	return l->f.bad ? -1 : result;
}

static int read_operators(struct load *l)
{
	const struct flat_vector tables =
		flat_vector(&l->f, &l->subgraph, GRAPH_OPERATORS, 4);

	for (size_t i = 0; i < tables.n; i++) {
		const struct flat_table table = flat_at(&l->f, &tables, i);
		const char *name = "?";
		const char *output = "";

		if (read_operator(l, &table, &name, &output) != 0) {
			(void)msd_diag_wrap(&l->g->diag, l->g->diag.code,
					    "operator %zu (%s, \"%s\")", i, name,
					    output);
			return -1;
		}
	}
	return l->f.bad ? -1 : 0;
}

static int read_model(struct load *l)
{
	const int32_t version = flat_i32(&l->f, &l->model, MODEL_VERSION, 0);
	const struct flat_vector subgraphs =
		flat_vector(&l->f, &l->model, MODEL_SUBGRAPHS, 4);

	if (!l->f.bad && version != VERSION) {
		return msd_sg_fail(
			l->g, MSD_UNSUPPORTED,
			"a TFLite model of version %d; only version 3 can be "
			"read",
			version);
	}
	if (!l->f.bad && subgraphs.n != 1) {
		return msd_sg_fail(l->g, MSD_UNSUPPORTED,
				   "it has %zu subgraphs; only models of one can be "
				   "read (no IF, WHILE or CALL_ONCE)",
				   subgraphs.n);
	}
	l->codes = flat_vector(&l->f, &l->model, MODEL_CODES, 4);
	l->buffers = flat_vector(&l->f, &l->model, MODEL_BUFFERS, 4);
	l->subgraph = l->f.bad ? (struct flat_table){0} : flat_at(&l->f, &subgraphs, 0);
	l->inputs = flat_vector(&l->f, &l->subgraph, GRAPH_INPUTS, 4);
	l->outputs = flat_vector(&l->f, &l->subgraph, GRAPH_OUTPUTS, 4);
	if (l->f.bad || read_tensors(l) != 0 ||
	    check_indices(l, &l->inputs, false, "input of the model") != 0 ||
	    check_indices(l, &l->outputs, false, "output of the model") != 0 ||
	    add_inputs(l) != 0 || read_operators(l) != 0 || add_outputs(l) != 0)
		return -1;
	return msd_sg_drop_unread(l->g);
}

int tflite_load(const modser_serializer *s, const modser_part *parts,
		const modser_model_options *options, modser_graph *graph)
{
	struct load l = {.g = graph};

	(void)s;
	(void)options;
	l.model = flat_begin(&l.f, (struct msd_span){parts[0].data, parts[0].bytes},
			     graph);
	const int result = l.f.bad ? -1 : read_model(&l);
	for (size_t i = 0; i < l.n_tensors; i++)
		free(l.tensors[i].name);
	free(l.tensors);
	return result;
}
