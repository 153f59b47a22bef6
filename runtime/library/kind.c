/* The kind `_lib`: the library of the artifact as a node of its own tree; also
 * further nodes for the same library, which TVM 0.7 wrote. */
#include <stdlib.h>
#include <string.h>

#include "runtime/kind/kinds.h"
#include "runtime/library/library.h"
#include "runtime/library/needed.h"
#include "runtime/library/probe.h"
#include "runtime/module/signature.h"

static msd_err library_open(struct msd_node *node, const struct msd_node_context *ctx,
			    struct msd_diag *d)
{
	struct msd_lib *lib = calloc(1, sizeof(*lib));
	msd_err err;

	node->state = lib;
	if (lib == NULL)
		return msd_diag_no_memory(d);
	lib->fd = -1;
	lib->era = ctx->era;
	lib->elf = ctx->elf;
	err = msd_library_check_symbols(ctx->elf, d);
	if (err == MSD_OK)
		err = msd_library_map(lib, ctx->fd, ctx->file, d);
	if (err == MSD_OK)
		err = msd_library_bind(lib, node, d);
	if (err == MSD_OK)
		err = msd_library_list_functions(lib, d);
	if (err == MSD_OK && ctx->options->probe_signatures)
		err = msd_probe_library(lib, NULL, 0, d);
	return err;
}

/* Tensors on the device of the imports' code pass the checks; kernels run on
 * whichever device of that type holds them. */
static msd_err library_place(struct msd_node *node, struct msd_device device,
			     struct msd_diag *d)
{
	struct msd_lib *lib = node->state;

	(void)d;
	for (size_t i = 0; i < lib->n_funcs; i++) {
		lib->funcs[i].rules.device = device;
		lib->funcs[i].rules.is_any_ordinal = true;
	}
	return MSD_OK;
}

static struct msd_lib_func *find_exact(const struct msd_lib *lib, const char *name)
{
	size_t low = 0;
	size_t high = lib->n_funcs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(name, lib->funcs[middle].rules.info.name);
		if (c == 0)
			return &lib->funcs[middle];
		if (c < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return NULL;
}

/* The entry function has two names in each ABI: "main" and "__tvm_main__". */
static struct msd_lib_func *find_entry(const struct msd_lib *lib, const char *name)
{
	struct msd_lib_func *f = NULL;

	if (strcmp(name, "main") != 0 && strcmp(name, "__tvm_main__") != 0)
		return NULL;
	if (lib->entry != NULL)
		f = find_exact(lib, lib->entry);
	if (f == NULL)
		f = find_exact(lib, "__tvm_main__");
	return f != NULL ? f : find_exact(lib, "main");
}

static struct msd_function *library_find(struct msd_node *node, const char *name)
{
	struct msd_lib *lib = node->state;
	struct msd_lib_func *f = find_exact(lib, name);

	if (f == NULL)
		f = find_entry(lib, name);
	return f != NULL ? &f->thunk.fn : msd_needed_find(lib, name);
}

static msd_err
library_list(struct msd_node *node,
	     msd_err (*each)(void *ctx, const struct msd_func_info *info), void *ctx)
{
	const struct msd_lib *lib = node->state;
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < lib->n_funcs; i++) {
		if (!lib->funcs[i].is_hidden)
			err = each(ctx, &lib->funcs[i].rules.info);
	}
	return err;
}

static msd_err library_probe(struct msd_node *node, const struct msd_probe_gate *gate,
			     size_t *place, struct msd_diag *d)
{
	struct msd_lib *lib = node->state;
	const size_t first = *place;

	*place += lib->n_funcs + 1;
	return msd_probe_library(lib, gate, first, d);
}

static void library_close(struct msd_node *node)
{
	struct msd_lib *lib = node->state;

	if (lib == NULL)
		return;
	msd_library_unmap(lib);
	msd_needed_finish(lib);
	for (size_t i = 0; i < lib->n_funcs; i++) {
		msd_signature_finish(&lib->funcs[i].signature);
		free(lib->funcs[i].doc);
	}
	free(lib->funcs);
	free(lib);
	node->state = NULL;
}

const struct msd_node_ops msd_kind_library = {
	.open = library_open,
	.place = library_place,
	.find = library_find,
	.list = library_list,
	.probe = library_probe,
	.close = library_close,
};

static msd_err again_open(struct msd_node *node, const struct msd_node_context *ctx,
			  struct msd_diag *d)
{
	(void)node;
	(void)ctx;
	(void)d;
	return MSD_OK;
}

static struct msd_function *again_find(struct msd_node *node, const char *name)
{
	(void)node;
	(void)name;
	return NULL;
}

static void again_close(struct msd_node *node)
{
	(void)node;
}

const struct msd_node_ops msd_kind_library_again = {
	.open = again_open,
	.find = again_find,
	.close = again_close,
};
