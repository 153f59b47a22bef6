/*
 * Parse the output of TVM's text printer: "def @main(%NAME: TYPE, ...) -> TYPE {",
 * with types Tensor[(3, 8), float32], float32, and (TYPE, TYPE). Other forms give
 * unknown, never an error: the text is not a stable format.
 */
#include "artifact/mlf/relay_main.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "proto/dtype.h"

#define UNKNOWN UINT64_MAX
#define MAX_DEPTH 16 /* of nested tuples */

struct scan {
	const char *p, *end;
};

/* The wanted result, and the number of results. */
struct results {
	size_t wanted, n;
	uint64_t bytes;
};

struct msd_span msd_mlf_relay_text(const struct msd_mlf *m,
				   const struct msd_mlf_model *model)
{
	char named[512];
	const char *const paths[] = {named, "src/relay.txt", "relay.txt"};

	(void)snprintf(named, sizeof(named), "src/%.256s.relay", model->name);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const struct msd_archive_file *f =
			msd_archive_find(&m->archive, paths[i]);
		if (f != NULL)
			return (struct msd_span){f->data.p, f->data.n};
	}
	return (struct msd_span){0};
}

static bool take(struct scan *s, const char *text)
{
	const size_t n = strlen(text);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0)
		return false;
	s->p += n;
	return true;
}

/* Blanks and comments. */
static void skip_blank(struct scan *s)
{
	while (s->p < s->end) {
		if (isspace((unsigned char)*s->p) != 0) {
			s->p++;
		} else if (take(s, "/*")) {
			const char *stop =
				memmem(s->p, (size_t)(s->end - s->p), "*/", 2);
			s->p = stop != NULL ? stop + 2 : s->end;
		} else {
			return;
		}
	}
}

static bool take_extent(struct scan *s, uint64_t *count)
{
	uint64_t v = 0;

	if (s->p == s->end || isdigit((unsigned char)*s->p) == 0)
		return false;
	for (; s->p < s->end && isdigit((unsigned char)*s->p) != 0; s->p++) {
		v = v * 10 + (uint64_t)(*s->p - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*count = *count <= UINT32_MAX ? *count * v : UNKNOWN;
	return *count <= UINT32_MAX;
}

/* "float32", as bytes of one element. */
static bool take_dtype(struct scan *s, uint64_t *ret)
{
	const char *start = s->p;
	struct msd_dtype dtype;

	while (s->p < s->end && (isalnum((unsigned char)*s->p) != 0 || *s->p == '_'))
		s->p++;
	if (!msd_dtype_parse(start, (size_t)(s->p - start), &dtype))
		return false;
	*ret = ((uint64_t)dtype.bits * dtype.lanes + 7) / 8;
	return true;
}

/* "Tensor[(1, 3), float32]", "Tensor[(16), int8]", "float32" */
static bool take_tensor(struct scan *s, uint64_t *ret)
{
	uint64_t count = 1;
	uint64_t each;

	if (!take(s, "Tensor[("))
		return take_dtype(s, ret);
	while (!take(s, ")")) {
		if (!take_extent(s, &count))
			return false;
		(void)take(s, ",");
		skip_blank(s);
	}
	if (!take(s, ", ") || !take_dtype(s, &each) || !take(s, "]"))
		return false;
	*ret = count * each;
	return true;
}

/* Read a tensor, or a tuple of them, in order. */
static bool take_results(struct scan *s, int depth, struct results *r)
{
	uint64_t bytes;

	if (depth == MAX_DEPTH)
		return false;
	skip_blank(s);
	if (!take(s, "(")) {
		if (!take_tensor(s, &bytes))
			return false;
		if (r->n++ == r->wanted)
			r->bytes = bytes;
		return true;
	}
	do {
		if (!take_results(s, depth + 1, r))
			return false;
		skip_blank(s);
	} while (take(s, ","));
	return take(s, ")");
}

/* Up to the comma or the bracket that ends a parameter or an attribute. */
static void skip_item(struct scan *s)
{
	int depth = 0;

	for (; s->p < s->end; s->p++) {
		if (*s->p == '"') {
			const size_t n = (size_t)(s->end - s->p - 1);
			const char *stop = memchr(s->p + 1, '"', n);
			s->p = stop != NULL ? stop : s->end - 1;
		} else if (strchr("([{", *s->p) != NULL) {
			depth++;
		} else if (depth == 0 && (*s->p == ',' || *s->p == ')')) {
			return;
		} else if (strchr(")]}", *s->p) != NULL) {
			depth--;
		}
	}
}

/* Find the start of the parameters; false: no such function. */
static bool find_main(struct msd_span text, struct scan *ret)
{
	static const char start[] = "def @main(";
	const char *at =
		text.n > 0 ? memmem(text.p, text.n, start, sizeof(start) - 1) : NULL;

	if (at == NULL)
		return false;
	ret->p = at + sizeof(start) - 1;
	ret->end = (const char *)text.p + text.n;
	return true;
}

/* "%NAME: " at the next parameter; empty: an attribute, or no more. */
static struct msd_span take_name(struct scan *s)
{
	struct msd_span name = {0};

	skip_blank(s);
	if (!take(s, "%"))
		return name;
	const char *colon = memmem(s->p, (size_t)(s->end - s->p), ": ", 2);
	if (colon == NULL)
		return name;
	name = (struct msd_span){(const uint8_t *)s->p, (size_t)(colon - s->p)};
	s->p = colon + 2;
	return name;
}

uint64_t msd_mlf_relay_input(struct msd_span text, const char *name)
{
	uint64_t found = UNKNOWN;
	uint64_t bytes;
	struct scan s;

	if (!find_main(text, &s))
		return UNKNOWN;
	do {
		const struct msd_span param = take_name(&s);
		if (param.n > 0 && msd_mlf_is_in_c(param, name)) {
			if (found != UNKNOWN) /* two names become one */
				return UNKNOWN;
			found = take_tensor(&s, &bytes) ? bytes : UNKNOWN;
		}
		skip_item(&s);
	} while (take(&s, ","));
	return found;
}

uint64_t msd_mlf_relay_output(struct msd_span text, size_t i, size_t n)
{
	struct results r = {.wanted = i, .bytes = UNKNOWN};
	struct scan s;

	if (!find_main(text, &s))
		return UNKNOWN;
	do {
		skip_item(&s);
	} while (take(&s, ","));
	if (!take(&s, ")"))
		return UNKNOWN;
	skip_blank(&s);
	if (!take(&s, "->") || !take_results(&s, 0, &r) || r.n != n)
		return UNKNOWN;
	return r.bytes;
}
