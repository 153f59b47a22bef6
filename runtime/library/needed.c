#include "runtime/library/needed.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/slots.h"
#include "runtime/library/getters.h"

struct msd_needed {
	struct msd_needed *next;
	char *name;
	struct msd_lib_func func;
};

/* Names are looked up at the first call; then callers cache the result. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fill(const struct msd_lib *lib, const char *name, void *value)
{
	void **slot = NULL;

	if (msd_elf_find(lib->elf, name) == NULL)
		slot = dlsym(lib->handle, name);
	if (slot != NULL && *slot == NULL)
		*slot = value;
}

void msd_needed_bind(struct msd_lib *lib, struct msd_node *env)
{
	const char *name;

	for (size_t i = 0; (name = msd_slot_name(i)) != NULL; i++)
		fill(lib, name, msd_library_slot_value(lib, name));
	fill(lib, msd_era_names(lib->era)->ctx, &env->context);
}

/* A function without a name prefix belongs to TVM only if its library has pointer
 * globals, as all libraries of TVM's LLVM target do. */
static bool is_of_tvm(const char *path, const void *base)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	bool found = false;
	const char *name;
	Dl_info info;

	for (size_t i = 0;
	     handle != NULL && !found && (name = msd_slot_name(i)) != NULL; i++) {
		const void *slot = dlsym(handle, name);

		found = slot != NULL && dladdr(slot, &info) != 0 &&
			info.dli_fbase == base;
	}
	if (handle != NULL)
		(void)dlclose(handle);
	return found;
}

/* The code of the function that callers call @name, or NULL. */
static void *code_of(const struct msd_lib *lib, const char *name)
{
	const char *prefix = msd_era_names(lib->era)->func_prefix;
	const ElfW(Sym) *symbol = NULL;
	void *extra = NULL;
	void *code = NULL;
	Dl_info info;
	char *full;

	if (asprintf(&full, "%s%s", prefix, name) < 0)
		return NULL;
	code = dlsym(lib->handle, full);
	free(full);
	if (code == NULL || dladdr1(code, &info, &extra, RTLD_DL_SYMENT) == 0 ||
	    extra == NULL)
		return NULL;
	symbol = extra;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
		return NULL;
	return prefix[0] != '\0' || is_of_tvm(info.dli_fname, info.dli_fbase) ? code
									      : NULL;
}

static struct msd_needed *make(const struct msd_lib *lib, const char *name, void *code)
{
	struct msd_needed *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->name = strdup(name);
	if (n->name == NULL) {
		free(n);
		return NULL;
	}
	msd_lib_func_init(lib, &n->func, n->name, code);
	n->func.rules.info.signature = &n->func.signature;
	n->func.thunk.fn.rules = &n->func.rules;
	return n;
}

struct msd_function *msd_needed_find(struct msd_lib *lib, const char *name)
{
	struct msd_needed *found;
	void *code;

	if (lib->elf->n_needed == 0 || name[0] == '\0' || msd_getters_is(name))
		return NULL;
	(void)pthread_mutex_lock(&lock);
	found = lib->needed;
	while (found != NULL && strcmp(found->name, name) != 0)
		found = found->next;
	if (found == NULL && (code = code_of(lib, name)) != NULL) {
		found = make(lib, name, code);
		if (found != NULL) {
			found->next = lib->needed;
			lib->needed = found;
		}
	}
	(void)pthread_mutex_unlock(&lock);
	return found != NULL ? &found->func.thunk.fn : NULL;
}

void msd_needed_finish(struct msd_lib *lib)
{
	while (lib->needed != NULL) {
		struct msd_needed *next = lib->needed->next;

		free(lib->needed->name);
		free(lib->needed);
		lib->needed = next;
	}
}
