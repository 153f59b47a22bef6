#include "runtime/library/getters.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/library/schema.h"
#include "runtime/value/error.h"

#define METADATA "_metadata_"
#define DOC "_doc_"
#define DOC_MAX (16u * 1024u) /* longer texts are cut: a list has many of them */

bool msd_getters_is(const char *name)
{
	return msd_era_is_getter(name);
}

/* The getter of kind @sort for @f, or NULL. */
static msd_safe_call getter_of(const struct msd_lib *lib, const struct msd_lib_func *f,
			       const char *sort)
{
	msd_safe_call call = NULL;
	void *code = NULL;
	char *symbol;

	if (asprintf(&symbol, "%s%s%s", msd_era_names(lib->era)->func_prefix, sort,
		     f->rules.info.name) < 0)
		return NULL;
	if (msd_elf_find(lib->elf, symbol) != NULL)
		code = dlsym(lib->handle, symbol);
	free(symbol);
	memcpy(&call, &code, sizeof(call));
	return call;
}

bool msd_getters_have(const struct msd_lib *lib, const struct msd_lib_func *f)
{
	return lib->era == MSD_ERA_FFI &&
	       (getter_of(lib, f, METADATA) != NULL || getter_of(lib, f, DOC) != NULL);
}

/* The text that @call returns in @value, which owns it; false if it fails. */
static bool text_of(msd_safe_call call, struct msd_any *value, struct msd_span *ret)
{
	struct msd_diag ignored = {0};

	*value = msd_none();
	if (call == NULL)
		return false;
	msd_abi_clear();
	if (call(NULL, NULL, 0, value) == 0 && msd_any_str(value, ret))
		return true;
	(void)msd_abi_fetch_error(&ignored);
	msd_diag_finish(&ignored);
	return false;
}

static msd_err ask_signature(const struct msd_lib *lib, struct msd_lib_func *f,
			     struct msd_diag *d)
{
	struct msd_any value;
	struct msd_span text;
	msd_err err = MSD_OK;

	if (text_of(getter_of(lib, f, METADATA), &value, &text))
		err = msd_schema_read(text, f->rules.info.name, &f->signature, d);
	msd_any_drop(&value);
	return err;
}

static msd_err ask_doc(const struct msd_lib *lib, struct msd_lib_func *f,
		       struct msd_diag *d)
{
	struct msd_any value;
	struct msd_span text;
	msd_err err = MSD_OK;

	if (text_of(getter_of(lib, f, DOC), &value, &text) && text.n > 0) {
		f->doc = strndup((const char *)text.p,
				 text.n < DOC_MAX ? text.n : DOC_MAX);
		err = f->doc != NULL ? MSD_OK : msd_diag_no_memory(d);
		f->rules.info.doc = f->doc;
	}
	msd_any_drop(&value);
	return err;
}

msd_err msd_getters_ask(const struct msd_lib *lib, struct msd_lib_func *f,
			struct msd_diag *d)
{
	msd_err err = MSD_OK;

	if (!f->signature.known)
		err = ask_signature(lib, f, d);
	return err == MSD_OK && f->doc == NULL ? ask_doc(lib, f, d) : err;
}
