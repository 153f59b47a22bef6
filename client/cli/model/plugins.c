#include "client/cli/model/plugins.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/kind/payload.h"
#include "artifact/provides/provides.h"
#include "client/cli/verbs/report.h"
#include "graph/ir/refuse.h"
#include "graph/plugin/plugin.h"

/* This program runs no kernels. */
static int forget_kernel(const modserd_kernel *kernel)
{
	return msd_plugin_check_kernel(kernel) &&
			       modser_sg_op_schema_find(kernel->op) != NULL
		       ? 0
		       : -1;
}

static int forget_engine(const modserd_engine *engine)
{
	return msd_plugin_check_engine(engine) ? 0 : -1;
}

/* It runs no modules either, but knows what a worker with the plugin provides. */
static int note(enum msd_provided what, const char *name)
{
	if (msd_provides_name(what, name))
		return msd_refuse("%s is taken", name);
	return msd_provides_add(what, name) ? 0 : msd_refuse("%s: out of memory", name);
}

static int note_function(void *ctx)
{
	return note(MSD_PROVIDED_PACKED, ((const modserd_function *)ctx)->name);
}

static int add_function(const modserd_function *function)
{
	if (!msd_plugin_check_function(function))
		return -1;
	return msd_plugin_add_listed(MSD_PLUGIN_FUNCTION, function->name, note_function,
				     (void *)(uintptr_t)function);
}

static int note_kind(void *ctx)
{
	const modserd_module_kind *kind = ctx;

	if (!msd_payload_kind_add(kind->kind, kind->measure))
		return msd_refuse("%s: out of memory", kind->kind);
	return note(MSD_PROVIDED_KINDS, kind->kind);
}

static int add_module_kind(const modserd_module_kind *kind)
{
	if (!msd_plugin_check_module_kind(kind))
		return -1;
	return msd_plugin_add_listed(MSD_PLUGIN_KIND, kind->kind, note_kind,
				     (void *)(uintptr_t)kind);
}

static int note_symbol(void *ctx)
{
	return note(MSD_PROVIDED_SLOTS, ctx);
}

static int add_symbol(const char *name, void *address)
{
	(void)address;
	return msd_plugin_add_listed(MSD_PLUGIN_SYMBOL, name, note_symbol,
				     (void *)(uintptr_t)name);
}

static void run_here(size_t n, size_t chunk_ns, modserd_chunk *chunk, const void *ctx)
{
	(void)chunk_ns;
	for (size_t i = 0; i < n; i++)
		chunk(ctx, i);
}

static const modserd_host host = {.abi = MODSERD_PLUGIN_ABI,
				  .bytes = sizeof(host),
				  .program = "modser",
				  .version = MSD_VERSION,
				  .add_kernel = forget_kernel,
				  .add_engine = forget_engine,
				  .parallel = run_here,
				  .add_function = add_function,
				  .add_module_kind = add_module_kind,
				  .add_symbol = add_symbol};

/* For a name without a slash, the dynamic linker searches other folders. */
static enum msd_exit open_one(const char *path)
{
	char whole[PATH_MAX];
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;

	if (realpath(path, whole) == NULL) {
		(void)msd_diag_set(&d, MSD_NOT_FOUND, "--plugin %s: %s", path,
				   strerror(errno));
		code = msd_report_diag(MSD_EXIT_NOT_FOUND, NULL, &d);
	} else if (msd_plugin_open(whole, &host, &d) != MSD_OK) {
		code = msd_report_diag(MSD_EXIT_BAD_FILE, NULL, &d);
	}
	msd_diag_finish(&d);
	return code;
}

enum msd_exit msd_plugins_open(const struct msd_cli *cli)
{
	enum msd_exit code = MSD_EXIT_OK;

	for (size_t i = 0; code == MSD_EXIT_OK && i < cli->n_plugins; i++)
		code = open_one(cli->plugins[i]);
	return code;
}
