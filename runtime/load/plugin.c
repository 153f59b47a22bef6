#include "runtime/load/plugin.h"

#include "graph/plugin/plugin.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"

msd_err msd_load_plugin(const char *path, struct msd_diag *d)
{
	static const modserd_host host = {.abi = MODSERD_PLUGIN_ABI,
					  .bytes = sizeof(host),
					  .program = "modserd-worker",
					  .version = MSD_VERSION,
					  .add_kernel = msd_kernel_register,
					  .add_engine = msd_engine_register,
					  .parallel = msd_kernel_each};

	return msd_plugin_open(path, &host, d);
}
