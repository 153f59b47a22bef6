/*
 * Signatures of host functions, from the error texts of their own checks. Since 0.24
 * one text has the whole signature, "addone(A: Tensor([n], float32))". Earlier
 * releases have a number and a kind for each argument: "f: num_args should be 2" and
 * "f: Expect arg[0] to be pointer".
 */
#include <stdlib.h>
#include <string.h>

#include "artifact/inspect/private.h"
#include "artifact/printable.h"
#include "artifact/script.h"

#define MAX_TEXT_BYTES 4096u
#define MAX_ARGS 64u

/* Facts collected for a function of earlier releases. */
struct gathered {
	uint32_t n_args;
	bool knows_number;
	const char *kind[MAX_ARGS]; /* static; NULL: unknown */
};

struct reader {
	struct msd_inspect *in;
	struct gathered
		*gathered; /* one for each function; NULL before the first use */
};

static bool is_name_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

/* The function whose name ends at @end as a whole word; *@ret_begin is its start.
 * False if there is none. */
static bool func_before(const struct msd_inspect *in, const uint8_t *from,
			const uint8_t *end, size_t *ret, const uint8_t **ret_begin)
{
	const uint8_t *p = end;
	size_t low = 0;
	size_t high = in->n_functions;

	while (p > from && is_name_byte(p[-1]))
		p--;
	if (p == end || (p > from && p[-1] != '\0' && p[-1] != '`' && p[-1] != ' '))
		return false;
	const size_t n = (size_t)(end - p);
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *name = in->functions[middle];
		const int order = strncmp((const char *)p, name, n);
		if (order == 0 && name[n] == '\0') {
			*ret = middle;
			*ret_begin = p;
			return true;
		}
		if (order > 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return false;
}

/* Take "f(...)" up to the end of its text. False: memory is short. */
static bool take_printed(struct reader *r, struct msd_span all, const uint8_t *at)
{
	const uint8_t *begin;
	size_t i;

	if (!func_before(r->in, all.p, at, &i, &begin) || r->in->signatures[i] != NULL)
		return true;
	struct msd_span s = {begin, all.n - (size_t)(begin - all.p)};
	if (s.n > MAX_TEXT_BYTES)
		s.n = MAX_TEXT_BYTES;
	size_t n = 0;
	while (n < s.n && s.p[n] != '\0' && s.p[n] != '`')
		n++;
	if (n == s.n || s.p[n - 1] != ')')
		return true;
	struct msd_buf plain = {0};
	msd_script_put_plain(&plain, (struct msd_span){s.p, n});
	if (!plain.bad) {
		r->in->signatures[i] =
			msd_printable_copy((struct msd_span){plain.p, plain.n});
	}
	msd_buf_finish(&plain);
	return r->in->signatures[i] != NULL;
}

static bool read_number(const uint8_t **p, const uint8_t *end, uint32_t *ret)
{
	const uint8_t *q = *p;
	uint32_t v = 0;

	while (q < end && q < *p + 4 && *q >= '0' && *q <= '9')
		v = v * 10 + (uint32_t)(*q++ - '0');
	if (q == *p)
		return false;
	*p = q;
	*ret = v;
	return true;
}

static struct gathered *gathered_of(struct reader *r, size_t i)
{
	if (r->gathered == NULL)
		r->gathered = calloc(r->in->n_functions + 1, sizeof(*r->gathered));
	return r->gathered != NULL ? &r->gathered[i] : NULL;
}

/* "f" before @at, which is ": num_args should be ". */
static bool take_number(struct reader *r, struct msd_span all, const uint8_t *at,
			const uint8_t *rest)
{
	const uint8_t *begin;
	uint32_t v;
	size_t i;

	if (!func_before(r->in, all.p, at, &i, &begin) ||
	    !read_number(&rest, all.p + all.n, &v) || v > MAX_ARGS)
		return true;
	struct gathered *g = gathered_of(r, i);
	if (g == NULL)
		return false;
	g->knows_number = true;
	g->n_args = v;
	return true;
}

/* The same for ": Expect arg[", followed by an index and a kind. */
static bool take_kind(struct reader *r, struct msd_span all, const uint8_t *at,
		      const uint8_t *rest)
{
	static const char middle[] = "] to be ";
	static const struct {
		const char *word, *kind;
	} kinds[] = {{"pointer", "Tensor"},
		     {"int", "int"},
		     {"float", "float"},
		     {"bool", "bool"}};
	const uint8_t *end = all.p + all.n;
	const uint8_t *begin;
	uint32_t v;
	size_t i;

	if (!func_before(r->in, all.p, at, &i, &begin) ||
	    !read_number(&rest, end, &v) || v >= MAX_ARGS ||
	    (size_t)(end - rest) < sizeof(middle) - 1 ||
	    memcmp(rest, middle, sizeof(middle) - 1) != 0)
		return true;
	rest += sizeof(middle) - 1;
	struct gathered *g = gathered_of(r, i);
	if (g == NULL)
		return false;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		const size_t n = strlen(kinds[k].word);
		if ((size_t)(end - rest) >= n && memcmp(rest, kinds[k].word, n) == 0)
			g->kind[v] = kinds[k].kind;
	}
	return true;
}

/* Call for each occurrence of @mark in @all. */
static bool each_mark(struct reader *r, struct msd_span all, const char *mark,
		      bool (*take)(struct reader *r, struct msd_span all,
				   const uint8_t *at, const uint8_t *rest))
{
	const size_t n = strlen(mark);
	struct msd_span left = all;

	while (left.n >= n) {
		const uint8_t *at = memmem(left.p, left.n, mark, n);
		if (at == NULL)
			return true;
		if (!take(r, all, at, at + n))
			return false;
		left.n -= (size_t)(at + n - left.p);
		left.p = at + n;
	}
	return true;
}

static bool take_mark(struct reader *r, struct msd_span all, const uint8_t *at,
		      const uint8_t *rest)
{
	(void)rest;
	return take_printed(r, all, at);
}

static bool read_texts(struct reader *r, struct msd_span all)
{
	if (all.n == 0)
		return true;
	if (r->in->era == MSD_ERA_FFI && !each_mark(r, all, "(", take_mark))
		return false;
	return each_mark(r, all, ": num_args should be ", take_number) &&
	       each_mark(r, all, ": Expect arg[", take_kind);
}

/* "f(Tensor, int)" */
static bool compose(struct reader *r, size_t i)
{
	const struct gathered *g = &r->gathered[i];
	struct msd_buf text = {0};

	if (!g->knows_number || r->in->signatures[i] != NULL)
		return true;
	msd_buf_printf(&text, "%s(", r->in->functions[i]);
	for (uint32_t k = 0; k < g->n_args; k++) {
		msd_buf_printf(&text, "%s%s", k > 0 ? ", " : "",
			       g->kind[k] != NULL ? g->kind[k] : "?");
	}
	msd_buf_printf(&text, ")");
	msd_buf_put_u8(&text, '\0');
	if (text.bad)
		msd_buf_finish(&text);
	r->in->signatures[i] = (char *)text.p;
	return text.p != NULL;
}

msd_err msd_inspect_signatures(struct msd_inspect *in, const struct msd_elf *elf,
			       struct msd_diag *d)
{
	const struct msd_elf_sym *blob =
		msd_elf_find(elf, msd_era_names(in->era)->blob);
	struct msd_span before = elf->image;
	struct msd_span behind = {NULL, 0};
	struct reader r = {.in = in};
	struct msd_span bytes;

	if (in->n_functions == 0)
		return MSD_OK;
	/* Skip the blob: texts in imported modules do not describe host code. */
	if (blob != NULL && msd_elf_at(elf, blob->value, blob->size, &bytes)) {
		before.n = (size_t)(bytes.p - elf->image.p);
		behind.p = bytes.p + bytes.n;
		behind.n = elf->image.n - before.n - bytes.n;
	}
	bool ok = read_texts(&r, before) && read_texts(&r, behind);
	for (size_t i = 0; ok && r.gathered != NULL && i < in->n_functions; i++)
		ok = compose(&r, i);
	free(r.gathered);
	return ok ? MSD_OK : msd_diag_no_memory(d);
}
