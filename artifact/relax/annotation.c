/*
 * A recursive descent parser: put_type() recognizes the start of a type and
 * translates it while reading. An unknown construct marks the text bad. Then the
 * whole annotation is copied unchanged, because half a translation would be wrong.
 */
#include "artifact/relax/annotation.h"

#include <string.h>

#include "artifact/script.h"

#define DEPTH_MAX 16 /* nested types; deeper ones are copied */

/* A text during parsing; @bad after an unexpected token. */
struct text {
	const char *p, *end;
	int depth;
	bool bad;
};

static void skip_spaces(struct text *t)
{
	while (t->p < t->end && *t->p == ' ')
		t->p++;
}

/* Take @word if it is next. */
static bool accept(struct text *t, const char *word)
{
	const size_t n = strlen(word);

	skip_spaces(t);
	if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0)
		return false;
	t->p += n;
	return true;
}

static void expect(struct text *t, const char *word)
{
	if (!accept(t, word))
		t->bad = true;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static struct msd_span take_word(struct text *t)
{
	skip_spaces(t);
	const char *start = t->p;
	while (t->p < t->end && is_word(*t->p))
		t->p++;
	return (struct msd_span){(const uint8_t *)start, (size_t)(t->p - start)};
}

static bool put_constant(struct msd_buf *out, struct text *t)
{
	struct msd_span ahead = {(const uint8_t *)t->p, (size_t)(t->end - t->p)};
	struct msd_span digits;

	if (!msd_script_take_constant(&ahead, &digits))
		return false;
	msd_buf_put(out, digits.p, digits.n);
	t->p = (const char *)ahead.p;
	return true;
}

/* One extent, up to a comma or bracket of its surroundings. */
static void put_extent(struct msd_buf *out, struct text *t)
{
	int open = 0;

	while (t->p < t->end) {
		const char c = *t->p;

		if (open == 0 && (c == ',' || c == ')' || c == ']'))
			return;
		if (c == 'T' && put_constant(out, t))
			continue;
		open += c == '(' || c == '[';
		open -= c == ')' || c == ']';
		msd_buf_put_u8(out, (uint8_t)c);
		t->p++;
	}
	t->bad = true;
}

/* The extents up to @close, in brackets. */
static void put_extents(struct msd_buf *out, struct text *t, const char *close)
{
	msd_buf_put_u8(out, '[');
	for (bool is_first = true; !t->bad && !accept(t, close); is_first = false) {
		if (!is_first) {
			expect(t, ",");
			if (accept(t, close)) /* (n,) */
				break;
			msd_buf_printf(out, ", ");
		}
		skip_spaces(t);
		put_extent(out, t);
	}
	msd_buf_put_u8(out, ']');
}

/* "ndim=2" is [?, ?]. */
static void put_rank(struct msd_buf *out, struct text *t)
{
	const struct msd_span digits = take_word(t);
	const unsigned rank = digits.n == 1 ? (unsigned)(digits.p[0] - '0') : 10;

	t->bad |= rank > 9;
	msd_buf_put_u8(out, '[');
	for (unsigned i = 0; i < rank && !t->bad; i++)
		msd_buf_printf(out, "%s?", i > 0 ? ", " : "");
	msd_buf_put_u8(out, ']');
}

/* "float32" without its quotes. */
static struct msd_span take_quoted(struct text *t)
{
	expect(t, "\"");
	const struct msd_span s = take_word(t);
	expect(t, "\"");
	return s;
}

/* (shape, dtype="float32"), (dtype="float32", ndim=2), or any part */
static void put_tensor(struct msd_buf *out, struct text *t)
{
	struct msd_span dtype = {NULL, 0};
	struct msd_buf shape = {0};

	msd_buf_printf(out, "Tensor");
	if (!accept(t, "("))
		return;
	while (!t->bad && !accept(t, ")")) {
		if (accept(t, "dtype=")) {
			dtype = take_quoted(t);
		} else if (accept(t, "ndim=")) {
			put_rank(&shape, t);
		} else if (accept(t, "(")) {
			put_extents(&shape, t, ")");
		} else {
			t->bad = true;
		}
		(void)accept(t, ",");
	}
	msd_buf_put_u8(out, '(');
	msd_buf_put(out, shape.p, shape.n);
	if (shape.n > 0 && dtype.n > 0)
		msd_buf_printf(out, ", ");
	msd_buf_put(out, dtype.p, dtype.n);
	msd_buf_put_u8(out, ')');
	out->bad |= shape.bad;
	msd_buf_finish(&shape);
}

static void put_type(struct msd_buf *out, struct text *t);

static void put_tuple(struct msd_buf *out, struct text *t)
{
	size_t n = 0;

	expect(t, "(");
	msd_buf_put_u8(out, '(');
	for (; !t->bad && !accept(t, ")"); n++) {
		if (n > 0) {
			expect(t, ",");
			msd_buf_printf(out, ", ");
		}
		put_type(out, t);
	}
	msd_buf_printf(out, n == 1 ? ",)" : ")");
}

static void put_shape(struct msd_buf *out, struct text *t)
{
	msd_buf_printf(out, "Shape");
	if (!accept(t, "("))
		return;
	msd_buf_put_u8(out, '(');
	if (accept(t, "[")) {
		put_extents(out, t, "]");
	} else if (accept(t, "ndim=")) {
		put_rank(out, t);
	} else {
		t->bad = true;
	}
	expect(t, ")");
	msd_buf_put_u8(out, ')');
}

static void put_prim(struct msd_buf *out, struct text *t)
{
	expect(t, "(");
	const struct msd_span dtype = take_quoted(t);
	expect(t, ")");
	msd_buf_put(out, dtype.p, dtype.n);
}

static void put_object(struct msd_buf *out, struct text *t)
{
	(void)t;
	msd_buf_printf(out, "Object");
}

static void put_type(struct msd_buf *out, struct text *t)
{
	static const struct {
		const char *name;
		void (*put)(struct msd_buf *out, struct text *t);
	} types[] = {{"Tensor", put_tensor},
		     {"Tuple", put_tuple},
		     {"Shape", put_shape},
		     {"Prim", put_prim},
		     {"Object", put_object}};

	if (!accept(t, "R."))
		expect(t, "T.");
	const struct msd_span name = take_word(t);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!msd_span_is(name, types[i].name) || t->depth == DEPTH_MAX)
			continue;
		t->depth++;
		types[i].put(out, t);
		t->depth--;
		return;
	}
	t->bad = true;
}

void msd_relax_put_annotation(struct msd_buf *out, struct msd_span annotation)
{
	struct text t = {.p = (const char *)annotation.p,
			 .end = (const char *)annotation.p + annotation.n};
	struct msd_buf made = {0};

	if (annotation.n == 0)
		return;
	put_type(&made, &t);
	skip_spaces(&t);
	out->bad |= made.bad;
	if (t.bad || t.p != t.end) {
		msd_buf_put(out, annotation.p, annotation.n);
	} else {
		msd_buf_put(out, made.p, made.n);
	}
	msd_buf_finish(&made);
}

struct msd_span msd_relax_annotation(const struct msd_span ctx)
{
	static const char key[] = "annotation=";
	const uint8_t *at = memmem(ctx.p, ctx.n, key, sizeof(key) - 1);
	struct msd_span s = {NULL, 0};

	if (at == NULL)
		return s;
	s.p = at + sizeof(key) - 1;
	s.n = ctx.n - (size_t)(s.p - ctx.p);
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	if (s.n > 0 && s.p[s.n - 1] == ')') /* of ErrorContext( */
		s.n--;
	return s;
}
