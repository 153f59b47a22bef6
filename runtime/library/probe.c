/* Learn signatures from the functions themselves: code of tvm-ffi called with -1
 * arguments fails with its whole signature in the text, and runs nothing. */
#include "runtime/library/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/library/getters.h"
#include "runtime/module/signature.h"
#include "runtime/value/error.h"

/* A function that cannot report an error has no checks that could reveal its
 * signature. */
static bool has_error_hook(const struct msd_elf *elf)
{
	static const char *const hooks[] = {
		"__TVMAPISetLastError",
		"TVMAPISetLastError",
		"__TVMFFIErrorSetRaisedFromCStr",
		"TVMFFIErrorSetRaisedFromCStr",
		"TVMFFIErrorSetRaisedFromCStrParts",
	};

	for (size_t i = 0; i < elf->n_syms; i++) {
		for (size_t k = 0; k < sizeof(hooks) / sizeof(hooks[0]); k++) {
			if (strcmp(elf->syms[i].name, hooks[k]) == 0)
				return true;
		}
	}
	return false;
}

static struct msd_probe_texts texts_of(const struct msd_lib *lib)
{
	const struct msd_elf_sym *blob =
		msd_elf_find(lib->elf, msd_era_names(lib->era)->blob);
	const struct msd_span all = lib->elf->image;
	struct msd_probe_texts texts = {.part = {all}};
	struct msd_span bytes;

	if (blob == NULL || !blob->defined ||
	    !msd_elf_at(lib->elf, blob->value, blob->size, &bytes))
		return texts;
	const size_t before = (size_t)(bytes.p - all.p);
	texts.part[0].n = before;
	texts.part[1] = (struct msd_span){bytes.p + bytes.n, all.n - before - bytes.n};
	return texts;
}

/* memmem() of the C library takes ten times as long if few bytes look like @key. */
static const uint8_t *find_key(struct msd_span s, const char *key, size_t n)
{
	while (s.n >= n) {
		const uint8_t *at = memchr(s.p, key[0], s.n - n + 1);

		if (at == NULL || memcmp(at, key, n) == 0)
			return at;
		s.n -= (size_t)(at + 1 - s.p);
		s.p = at + 1;
	}
	return NULL;
}

static struct msd_span find_in(struct msd_span s, const char *key)
{
	const size_t n = strlen(key);

	while (s.n >= n) {
		const uint8_t *at = find_key(s, key, n);
		if (at == NULL)
			break;
		const uint8_t before = at > s.p ? at[-1] : '\0';
		const size_t skip = (size_t)(at - s.p) + n;
		s.p += skip;
		s.n -= skip;
		if (before == '\0' || before == ' ' || before == '`')
			return s;
	}
	return (struct msd_span){NULL, 0};
}

struct msd_span msd_probe_find_text(const struct msd_probe_texts *texts,
				    const char *name, const char *tail)
{
	struct msd_span found = {NULL, 0};
	char *key;

	if (asprintf(&key, "%s%s", name, tail) < 0)
		return found;
	for (size_t i = 0; found.p == NULL && i < 2; i++)
		found = find_in(texts->part[i], key);
	free(key);
	return found;
}

/* True for bytes that may be part of a function name in the texts. */
static bool is_name_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

/* The listed function with a name that ends before @end and is not the tail of a
 * longer name. */
static struct msd_lib_func *func_before(const struct msd_lib *lib, const uint8_t *begin,
					const uint8_t *end)
{
	const uint8_t *p = end;
	size_t low = 0;
	size_t high = lib->n_funcs;

	while (p > begin && is_name_byte(p[-1]))
		p--;
	if (p == end || (p > begin && p[-1] != '\0' && p[-1] != ' ' && p[-1] != '`'))
		return NULL;
	const size_t n = (size_t)(end - p);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *name = lib->funcs[middle].rules.info.name;
		int c = strncmp((const char *)p, name, n);
		if (c == 0 && name[n] == '\0')
			return &lib->funcs[middle];
		if (c > 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return NULL;
}

/* For every "NAME@tail" in @s set the answer of NAME, unless a better one is known. */
static void note_answers(struct msd_lib *lib, struct msd_span s, const char *tail,
			 enum msd_lib_answer answer)
{
	const size_t n = strlen(tail);
	const uint8_t *from = s.p;

	while (s.n >= n) {
		const uint8_t *at = find_key(s, tail, n);

		if (at == NULL)
			return;
		struct msd_lib_func *f = func_before(lib, from, at);
		if (f != NULL && f->answer < answer)
			f->answer = answer;
		s.n -= (size_t)(at + n - s.p);
		s.p = at + n;
	}
}

/* One pass over the texts for all functions: there may be thousands of both. */
static void read_answers(struct msd_lib *lib, const struct msd_probe_texts *texts)
{
	if (lib->knows_answers)
		return;
	lib->knows_answers = true;
	for (size_t i = 0; i < 2; i++) {
		note_answers(lib, texts->part[i], ": num_args should be ",
			     MSD_ANSWERS_ASSERTS);
		if (lib->era == MSD_ERA_FFI)
			note_answers(lib, texts->part[i], "(", MSD_ANSWERS_PRINTED);
	}
}

/* "... when calling:\n  `addone(A: ...)`": use the text between the backticks. */
static msd_err probe_printed(struct msd_lib_func *f, struct msd_diag *d)
{
	struct msd_any ret = {0};
	struct msd_diag said = {0};
	msd_err err = MSD_OK;

	msd_abi_clear();
	int rc = f->thunk.fn.call(&f->thunk.fn, NULL, -1, &ret);
	if (rc == 0) {
		msd_any_drop(&ret);
		return MSD_OK;
	}
	(void)msd_abi_fetch_error(&said);
	const char *text = msd_diag_text(&said);
	const char *first = strchr(text, '`');
	const char *last = strrchr(text, '`');
	if (first != NULL && last > first + 1) {
		struct msd_span inner = {(const uint8_t *)first + 1,
					 (size_t)(last - first - 1)};
		err = msd_signature_parse(inner, &f->signature, d);
		if (err != MSD_NOMEM)
			err = MSD_OK; /* an unexpected text: the signature stays unknown
				       */
	}
	msd_diag_finish(&said);
	return err;
}

/* Libraries that print signatures are of 0.24 or later and represent bool as {bool,
 * 8}. */
static void learn_bool_style(struct msd_lib_func *f)
{
	if (f->signature.known)
		f->rules.bool_style = MSD_BOOL_BOOL8;
}

static bool may_ask(const struct msd_probe_gate *gate, size_t place)
{
	return gate == NULL || gate->may(gate->ctx, place);
}

static msd_err probe_bool8(struct msd_lib_func *f, struct msd_diag *d)
{
	msd_err err = probe_printed(f, d);

	learn_bool_style(f);
	return err;
}

/* True if the file does not contain the signature, and the function may be probed. */
static bool is_open_question(const struct msd_lib_func *f,
			     const struct msd_probe_gate *gate, size_t place)
{
	return !f->is_hidden && !f->signature.known && f->answer != MSD_ANSWERS_NOT &&
	       may_ask(gate, place);
}

/* Getters need no call of the functions themselves. */
static msd_err ask_getters(struct msd_lib *lib, const struct msd_probe_gate *gate,
			   size_t first, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < lib->n_funcs; i++) {
		struct msd_lib_func *f = &lib->funcs[i];

		if (!f->is_hidden && msd_getters_have(lib, f) &&
		    may_ask(gate, first + i))
			err = msd_getters_ask(lib, f, d);
	}
	return err;
}

msd_err msd_probe_library(struct msd_lib *lib, const struct msd_probe_gate *gate,
			  size_t first, struct msd_diag *d)
{
	struct msd_lib_func *entry = NULL;
	size_t n_printed = 0;
	msd_err err = ask_getters(lib, gate, first, d);

	if (err != MSD_OK || !has_error_hook(lib->elf))
		return err;
	const struct msd_probe_texts texts = texts_of(lib);
	read_answers(lib, &texts);
	for (size_t i = 0; err == MSD_OK && i < lib->n_funcs; i++) {
		struct msd_lib_func *f = &lib->funcs[i];
		if (!f->is_hidden && lib->era == MSD_ERA_FFI &&
		    strcmp(f->rules.info.name, "main") == 0)
			entry = f;
		if (!is_open_question(f, gate, first + i))
			continue;
		if (f->answer == MSD_ANSWERS_ASSERTS) {
			err = msd_probe_asserts(f, &texts, d);
		} else {
			err = probe_bool8(f, d);
			n_printed += f->signature.known ? 1 : 0;
		}
	}
	/* `main` calls the entry function, and the texts contain that function's
	 * name. */
	if (err == MSD_OK && entry != NULL && !entry->signature.known &&
	    n_printed > 0 && may_ask(gate, first + lib->n_funcs))
		err = probe_bool8(entry, d);
	return err;
}
