#include "daemon/worker/calls/funcs.h"

#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"
#include "runtime/module/check.h"
#include "runtime/module/signature.h"

void msd_funcs_init(struct msd_funcs *f, struct msd_loaded *module)
{
	*f = (struct msd_funcs){.module = module};
}

/* FNV-1a: names are short, and come from clients that may run code here anyway. */
static uint32_t hash_of(struct msd_span name)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ name.p[i]) * 16777619u;
	return h;
}

/* Index of @name, or its free entry. The table is never full. */
static size_t place_of(const struct msd_funcs *f, struct msd_span name, uint32_t hash)
{
	size_t i = hash & (f->n_table - 1);

	while (f->table[i] != NULL &&
	       !(f->table[i]->hash == hash && msd_span_is(name, f->table[i]->name)))
		i = (i + 1) & (f->n_table - 1);
	return i;
}

struct msd_func *msd_funcs_peek(const struct msd_funcs *f, struct msd_span name)
{
	return f->n_table > 0 ? f->table[place_of(f, name, hash_of(name))] : NULL;
}

static bool grow(struct msd_funcs *f)
{
	size_t n = f->n_table > 0 ? 2 * f->n_table : 64;
	struct msd_func **old = f->table;
	size_t n_old = f->n_table;

	f->table = calloc(n, sizeof(struct msd_func *));
	if (f->table == NULL) {
		f->table = old;
		return false;
	}
	f->n_table = n;
	for (size_t i = 0; i < n_old; i++) {
		if (old[i] == NULL)
			continue;
		struct msd_span name = {(const uint8_t *)old[i]->name,
					strlen(old[i]->name)};
		f->table[place_of(f, name, old[i]->hash)] = old[i];
	}
	free(old);
	return true;
}

msd_err msd_funcs_find(struct msd_funcs *f, struct msd_span name, struct msd_func **ret,
		       struct msd_diag *d)
{
	char text[MSD_MAX_FUNC_NAME_BYTES + 1];
	const struct msd_func_info *info;
	struct msd_function *fn;

	*ret = msd_funcs_peek(f, name);
	if (*ret != NULL)
		return MSD_OK;
	if (name.n >= sizeof(text) || memchr(name.p, '\0', name.n) != NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "a function's name is text of at most "
				    "%u bytes",
				    MSD_MAX_FUNC_NAME_BYTES);
	}
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	msd_err err = msd_loaded_find(f->module, text, &info, &fn, d);
	if (err != MSD_OK)
		return err;
	struct msd_func *func = calloc(1, sizeof(*func) + name.n + 1);
	if (func == NULL || (2 * f->n_used >= f->n_table && !grow(f))) {
		free(func);
		return msd_diag_no_memory(d);
	}
	func->style = info->style;
	func->has_batch = info->style == MSD_FUNC_MODEL &&
			  msd_signature_has_batch(info->signature);
	func->n_needed =
		(uint32_t)(info->signature->n_params - info->signature->n_optional);
	func->fn = fn;
	func->is_typed = fn->rules != NULL ? fn->rules->is_typed : info->is_runtimes;
	func->hash = hash_of(name);
	memcpy(func->name, text, name.n + 1);
	f->table[place_of(f, name, func->hash)] = func;
	f->n_used++;
	*ret = func;
	return MSD_OK;
}

void msd_funcs_forget_rows(struct msd_funcs *f)
{
	for (size_t i = 0; i < f->n_table; i++) {
		if (f->table[i] != NULL)
			f->table[i]->ledger_row = 0;
	}
}

void msd_func_learn(struct msd_func *func, uint64_t ns)
{
	uint64_t faded = func->peak_ns - func->peak_ns / 8;

	func->peak_ns = ns > faded ? ns : faded;
}
