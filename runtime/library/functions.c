/* The functions of a library: every exported packed function, under the name that
 * callers use, with the calling convention of its ABI. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/mlf/mlf.h"
#include "runtime/abi/ffi021.h"
#include "runtime/library/getters.h"
#include "runtime/library/library.h"
#include "runtime/module/signature.h"

/* Data alignment that compiled code assumes without checking: 128 in 0.7 - 0.9 (the
 * exact classic release of a library is not known), 64 since tvm-ffi. */
#define ALIGN_CLASSIC 128u
#define ALIGN_FFI 64u

static int by_name(const void *a, const void *b)
{
	const struct msd_lib_func *x = a;
	const struct msd_lib_func *y = b;

	return strcmp(x->rules.info.name, y->rules.info.name);
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* True if the symbol has a plain name but is not a packed function. */
static bool is_not_packed(const char *name)
{
	return strcmp(name, "TVMSystemLibEntryPoint") == 0 ||
	       strcmp(name, "get_c_metadata") == 0;
}

void msd_lib_func_init(const struct msd_lib *lib, struct msd_lib_func *f,
		       const char *name, void *code)
{
	msd_safe_call call = msd_classic_thunk;

	if (lib->era == MSD_ERA_FFI) { /* compiled code takes our values unchanged */
		memcpy(&call, &code, sizeof(call));
	} else if (lib->era == MSD_ERA_FFI_021) {
		call = msd_ffi021_thunk;
	}
	msd_function_init(&f->thunk.fn, name, call);
	f->thunk.code = code;
	f->is_hidden = name[0] == '_' && (name[1] == '_' || lib->era != MSD_ERA_FFI);
	f->is_hidden = f->is_hidden || is_not_packed(name);
	f->rules = (struct msd_call_rules){
		.info = {.name = name, .style = MSD_FUNC_PRIM, .module_kind = "_lib"},
		.bool_style =
			lib->era == MSD_ERA_FFI ? MSD_BOOL_UNKNOWN : MSD_BOOL_UINT1,
		.data_align = lib->era == MSD_ERA_CLASSIC ? ALIGN_CLASSIC : ALIGN_FFI,
		.is_typed = lib->is_typed,
	};
}

static void add(struct msd_lib *lib, const char *name, void *code)
{
	msd_lib_func_init(lib, &lib->funcs[lib->n_funcs++], name, code);
}

/* The caller's name for a symbol that is a function of this ABI, or NULL. */
static const char *function_name(const struct msd_lib *lib, const char *symbol)
{
	const char *prefix = msd_era_names(lib->era)->func_prefix;

	if (!has_prefix(symbol, prefix))
		return NULL;
	symbol += strlen(prefix);
	if (lib->era == MSD_ERA_FFI && msd_getters_is(symbol))
		return NULL;
	return symbol[0] != '\0' ? symbol : NULL;
}

/* The table of a system library has functions under the same names, and two data
 * symbols. */
static const char *syslib_name(const struct msd_lib *lib, const char *symbol)
{
	const struct msd_era_names *names = msd_era_names(lib->era);

	if (strstr(symbol, names->ctx) != NULL || strstr(symbol, names->blob) != NULL)
		return NULL;
	const char *at = strstr(symbol, names->func_prefix);
	return at != NULL ? at + strlen(names->func_prefix) : NULL;
}

/* Keep the first of equal names. */
static void drop_duplicates(struct msd_lib *lib)
{
	size_t kept = 0;

	for (size_t i = 0; i < lib->n_funcs; i++) {
		if (kept > 0 && by_name(&lib->funcs[kept - 1], &lib->funcs[i]) == 0)
			continue;
		lib->funcs[kept++] = lib->funcs[i];
	}
	lib->n_funcs = kept;
}

/* `__tvm_main__` is a string that names the entry (LLVM) or a function itself (C
 * target). */
static void find_entry(struct msd_lib *lib)
{
	const struct msd_elf_sym *s = msd_elf_find(lib->elf, "__tvm_main__");
	struct msd_span text;

	if (s == NULL || !s->defined || s->type == MSD_SYM_FUNC || s->size == 0)
		return;
	if (msd_elf_at(lib->elf, s->value, s->size, &text) &&
	    memchr(text.p, '\0', text.n) != NULL)
		lib->entry = (const char *)text.p;
}

static struct msd_lib_func *find_function(struct msd_lib *lib, struct msd_span name)
{
	for (size_t i = 0; i < lib->n_funcs; i++) {
		if (msd_span_is(name, lib->funcs[i].rules.info.name))
			return &lib->funcs[i];
	}
	return NULL;
}

/* Text that is not a signature leaves the function's signature unknown. */
static msd_err read_signature(struct msd_lib *lib, struct msd_span line,
			      struct msd_diag *d)
{
	const uint8_t *bracket = memchr(line.p, '(', line.n);
	struct msd_lib_func *f = NULL;
	struct msd_diag ignored = {0};

	if (bracket != NULL) {
		f = find_function(
			lib, (struct msd_span){line.p, (size_t)(bracket - line.p)});
	}
	if (f == NULL || f->signature.known)
		return MSD_OK;
	msd_err err = msd_signature_parse(line, &f->signature, &ignored);
	msd_diag_finish(&ignored);
	return err == MSD_NOMEM ? msd_diag_no_memory(d) : MSD_OK;
}

/* Read signatures from an archive's description, for code without argument checks. */
static msd_err read_signatures(struct msd_lib *lib, struct msd_diag *d)
{
	const struct msd_elf_sym *s = msd_elf_find(lib->elf, MSD_SIGNATURES_SYMBOL);
	struct msd_span text;
	msd_err err = MSD_OK;

	if (s == NULL || !s->defined || !msd_elf_at(lib->elf, s->value, s->size, &text))
		return MSD_OK;
	while (err == MSD_OK && text.n > 0) {
		const uint8_t *end = memchr(text.p, '\n', text.n);
		const size_t n = end != NULL ? (size_t)(end - text.p) : text.n;

		err = read_signature(lib, (struct msd_span){text.p, n}, d);
		text.p += end != NULL ? n + 1 : n;
		text.n -= end != NULL ? n + 1 : n;
	}
	return err;
}

/* Conversions of arguments in tvm-ffi's headers name the types of others. */
static bool is_typed(const struct msd_lib *lib)
{
	size_t i = 0;

	while (i < lib->elf->n_syms &&
	       strcmp(lib->elf->syms[i].name, "TVMFFIGetTypeInfo") != 0)
		i++;
	return lib->era == MSD_ERA_FFI && i < lib->elf->n_syms;
}

msd_err msd_library_list_functions(struct msd_lib *lib, struct msd_diag *d)
{
	const struct msd_elf *elf = lib->elf;
	const char *name;

	lib->is_typed = is_typed(lib);
	lib->funcs = calloc(elf->n_syms + lib->syslib.n + 1, sizeof(*lib->funcs));
	if (lib->funcs == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < elf->n_syms; i++) {
		const struct msd_elf_sym *s = &elf->syms[i];
		name = function_name(lib, s->name);
		if (!s->defined || s->type != MSD_SYM_FUNC || name == NULL)
			continue;
		void *code = dlsym(lib->handle, s->name);
		if (code != NULL)
			add(lib, name, code);
	}
	for (size_t i = 0; i < lib->syslib.n; i++) {
		name = syslib_name(lib, lib->syslib.symbols[i].name);
		if (name != NULL)
			add(lib, name, lib->syslib.symbols[i].address);
	}
	qsort(lib->funcs, lib->n_funcs, sizeof(*lib->funcs), by_name);
	drop_duplicates(lib);
	for (size_t i = 0; i < lib->n_funcs; i++) /* their final address */
		lib->funcs[i].rules.info.signature = &lib->funcs[i].signature;
	for (size_t i = 0; i < lib->n_funcs; i++)
		lib->funcs[i].thunk.fn.rules = &lib->funcs[i].rules;
	find_entry(lib);
	return read_signatures(lib, d);
}
