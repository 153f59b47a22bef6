/*
 * The grammar: NAME: VALUE, NAME: [VALUE, ...], NAME { ... }, NAME < ... >, each with
 * an optional comma or semicolon behind it. Normal path: read_message() reads fields
 * until its end, and each field writes itself. Failures name the line and the field.
 */
#include "graph/serializer/text/text.h"

#include <stdio.h>

#include "graph/ir/graph.h"
#include "graph/serializer/text/token.h"
#include "graph/serializer/text/value.h"
#include "graph/serializer/wire/wire.h"

#define MAX_TRACKED 256u /* fields of a message that must not come twice */

struct text {
	modser_graph *g;
	struct msd_tokens t;
	struct msd_buf *out;
	size_t left; /* fields still allowed */
};

static int fail(const struct text *x, const char *what)
{
	const struct msd_tokens *t = &x->t;

	if (t->kind == MSD_TOKEN_END) {
		return msd_sg_fail(x->g, MSD_BAD_ARTIFACT,
				   "line %zu: the text ends, expected %s", t->line,
				   what);
	}
	return msd_sg_fail(x->g, MSD_BAD_ARTIFACT,
			   "line %zu: expected %s before \"%.*s\"", t->line, what,
			   (int)(t->text.n < 32 ? t->text.n : 32),
			   (const char *)t->text.p);
}

/* The character that closes what the current one opens; 0: it opens nothing. */
static char closing(const struct msd_tokens *t)
{
	if (msd_tokens_at(t, '{'))
		return '}';
	if (msd_tokens_at(t, '<'))
		return '>';
	return '\0';
}

static void skip_separator(struct text *x)
{
	if (!msd_tokens_skip(&x->t, ','))
		(void)msd_tokens_skip(&x->t, ';');
}

static int skip_fields(struct text *x, char end, unsigned depth);

/* Skip any value. */
static int skip_value(struct text *x, unsigned depth)
{
	const char end = closing(&x->t);

	if (end != '\0') {
		msd_tokens_next(&x->t);
		return skip_fields(x, end, depth + 1);
	}
	(void)msd_tokens_skip(&x->t, '-');
	if (x->t.kind == MSD_TOKEN_STRING) {
		while (x->t.kind == MSD_TOKEN_STRING)
			msd_tokens_next(&x->t);
		return 0;
	}
	if (x->t.kind != MSD_TOKEN_NAME && x->t.kind != MSD_TOKEN_NUMBER)
		return fail(x, "a value");
	msd_tokens_next(&x->t);
	return 0;
}

static int skip_list(struct text *x, unsigned depth)
{
	while (!msd_tokens_skip(&x->t, ']')) {
		if (skip_value(x, depth) != 0)
			return -1;
		if (!msd_tokens_at(&x->t, ']') && !msd_tokens_skip(&x->t, ','))
			return fail(x, "a comma or ]");
	}
	return 0;
}

/* Count a field, and check how deep it is. */
static int enter(struct text *x, unsigned depth)
{
	if (depth > MSD_TEXT_MAX_DEPTH) {
		return msd_sg_fail(x->g, MSD_BAD_ARTIFACT,
				   "line %zu: messages are nested deeper than %u",
				   x->t.line, MSD_TEXT_MAX_DEPTH);
	}
	if (x->left-- == 0) {
		return msd_sg_fail(x->g, MSD_BAD_ARTIFACT,
				   "line %zu: there are too many fields", x->t.line);
	}
	return 0;
}

static int skip_fields(struct text *x, char end, unsigned depth)
{
	while (!msd_tokens_skip(&x->t, end)) {
		if (enter(x, depth) != 0)
			return -1;
		if (x->t.kind != MSD_TOKEN_NAME)
			return fail(x, "the name of a field");
		msd_tokens_next(&x->t);
		const bool has_colon = msd_tokens_skip(&x->t, ':');
		if (!has_colon && closing(&x->t) == '\0')
			return fail(x, "a colon");
		if ((msd_tokens_skip(&x->t, '[') ? skip_list(x, depth)
						 : skip_value(x, depth)) != 0)
			return -1;
		skip_separator(x);
	}
	return 0;
}

static int read_message(struct text *x, const ProtobufCMessageDescriptor *is, char end,
			unsigned depth);

static int read_one(struct text *x, const ProtobufCFieldDescriptor *f, unsigned depth)
{
	const char end = closing(&x->t);

	if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
		const char *expected = msd_text_put_value(&x->t, f, x->out);
		char text[128];

		if (expected == NULL)
			return 0;
		(void)snprintf(text, sizeof(text), "%s for %s", expected, f->name);
		return fail(x, text);
	}
	if (end == '\0')
		return fail(x, "{");
	msd_tokens_next(&x->t);
	msd_wire_put_tag(x->out, f->id, MSD_WIRE_BYTES);
	const size_t at = msd_wire_begin(x->out, MSD_WIRE_SHORT_LENGTHS);
	if (read_message(x, f->descriptor, end, depth + 1) != 0)
		return -1;
	return msd_wire_end(x->out, MSD_WIRE_SHORT_LENGTHS, at)
		       ? 0
		       : fail(x, "a smaller message");
}

static int read_list(struct text *x, const ProtobufCFieldDescriptor *f, unsigned depth)
{
	while (!msd_tokens_skip(&x->t, ']')) {
		if (enter(x, depth) != 0 || read_one(x, f, depth) != 0)
			return -1;
		if (!msd_tokens_at(&x->t, ']') && !msd_tokens_skip(&x->t, ','))
			return fail(x, "a comma or ]");
	}
	return 0;
}

/* A field whose name protobuf-c uses itself has a '_' behind it. */
static bool is_called(const ProtobufCFieldDescriptor *f, struct msd_span name)
{
	const size_t n = strlen(f->name);

	return msd_span_is(name, f->name) ||
	       (n == name.n + 1 && f->name[n - 1] == '_' &&
		memcmp(f->name, name.p, name.n) == 0);
}

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *is,
						  struct msd_span name)
{
	for (unsigned i = 0; i < is->n_fields; i++) {
		if (is_called(&is->fields[i], name))
			return &is->fields[i];
	}
	return NULL;
}

/* The field's name is the current token. */
static int read_field(struct text *x, const ProtobufCMessageDescriptor *is, bool *seen,
		      unsigned depth)
{
	const ProtobufCFieldDescriptor *f = find_field(is, x->t.text);

	if (f == NULL) {
		return msd_sg_fail(
			x->g, MSD_UNSUPPORTED,
			"line %zu: a field of %s that is not known: \"%.*s\"",
			x->t.line, is->short_name,
			(int)(x->t.text.n < 64 ? x->t.text.n : 64),
			(const char *)x->t.text.p);
	}
	const size_t k = (size_t)(f - is->fields);
	const bool is_list = f->label == PROTOBUF_C_LABEL_REPEATED;
	if (!is_list && k < MAX_TRACKED && seen[k]) {
		return msd_sg_fail(x->g, MSD_BAD_ARTIFACT, "line %zu: %s comes twice",
				   x->t.line, f->name);
	}
	if (k < MAX_TRACKED)
		seen[k] = true;
	msd_tokens_next(&x->t);
	const bool has_colon = msd_tokens_skip(&x->t, ':');
	if (!has_colon &&
	    (f->type != PROTOBUF_C_TYPE_MESSAGE || closing(&x->t) == '\0'))
		return fail(x, "a colon");
	if (is_list && msd_tokens_skip(&x->t, '['))
		return read_list(x, f, depth);
	return read_one(x, f, depth);
}

/* @end closes the message; NUL: the end of the text does. */
static int read_message(struct text *x, const ProtobufCMessageDescriptor *is, char end,
			unsigned depth)
{
	bool seen[MAX_TRACKED] = {false};

	if (is->n_fields == 0)
		return skip_fields(x, end, depth);
	while (end != '\0' ? !msd_tokens_skip(&x->t, end)
			   : x->t.kind != MSD_TOKEN_END) {
		if (enter(x, depth) != 0)
			return -1;
		if (x->t.kind != MSD_TOKEN_NAME)
			return fail(x, "the name of a field");
		if (read_field(x, is, seen, depth) != 0)
			return -1;
		skip_separator(x);
	}
	return 0;
}

int msd_text_read(modser_graph *g, const ProtobufCMessageDescriptor *is,
		  struct msd_span text, struct msd_buf *out)
{
	struct text x = {.g = g, .out = out, .left = MSD_WIRE_MAX_FIELDS};

	msd_tokens_init(&x.t, text);
	if (read_message(&x, is, '\0', 0) != 0)
		return -1;
	if (out->bad)
		return msd_sg_no_memory(g);
	return out->n <= INT32_MAX ? 0 : msd_sg_fail(g, MSD_TOO_LARGE, "it has 2 GiB");
}

bool msd_text_probe(const ProtobufCMessageDescriptor *is, struct msd_span text)
{
	struct msd_tokens t;

	msd_tokens_init(&t, text);
	if (t.kind != MSD_TOKEN_NAME)
		return false;
	const ProtobufCFieldDescriptor *f = find_field(is, t.text);
	msd_tokens_next(&t);
	if (f == NULL)
		return false;
	if (f->type == PROTOBUF_C_TYPE_MESSAGE && closing(&t) != '\0')
		return true;
	if (!msd_tokens_skip(&t, ':'))
		return false;
	/* A name behind a colon is another language's. */
	return f->type != PROTOBUF_C_TYPE_STRING || t.kind == MSD_TOKEN_STRING ||
	       t.kind == MSD_TOKEN_END || msd_tokens_at(&t, '[');
}
