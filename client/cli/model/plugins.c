#include "client/cli/model/plugins.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/verbs/report.h"
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
				  .parallel = run_here};

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
