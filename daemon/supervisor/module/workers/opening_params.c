#include "daemon/supervisor/module/workers/opening_params.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/worker_group.h"
#include "proto/value.h"

static void put_allowance(struct msd_buf *b, const struct msd_limits *limits)
{
	const uint64_t files = limits->max_worker_files;

	msd_pack_pair_uint(b, "max_data", limits->max_worker_memory);
	msd_pack_pair_uint(b, "max_lent", limits->max_segment_memory);
	msd_pack_pair_uint(b, "max_files",
			   files > MSD_LEAST_WORKER_FILES ? files
							  : MSD_LEAST_WORKER_FILES);
	msd_pack_pair_uint(b, "max_core", limits->max_worker_core);
	msd_pack_pair_uint(b, "spin_us", limits->spin_us);
}

/* Write no key if there are no paths. */
static void put_paths(struct msd_buf *b, const char *key, const char *const *paths)
{
	size_t n = 0;

	while (paths != NULL && paths[n] != NULL)
		n++;
	if (n == 0)
		return;
	msd_pack_cstr(b, key);
	msd_pack_array(b, n);
	for (size_t i = 0; i < n; i++)
		msd_pack_cstr(b, paths[i]);
}

static bool has_any(const char *const *paths)
{
	return paths != NULL && paths[0] != NULL;
}

void msd_opening_write_params(struct msd_buf *b, const struct msd_worker_group *group,
			      uint32_t index)
{
	const struct msd_module_registry *registry = group->registry;
	const struct msd_device device =
		msd_device_list_at(&group->run.device_list, index);

	struct msd_run_options run = group->run;

	if (run.threads == 0)
		run.threads = registry->threads;
	msd_pack_array(b, 1);
	const struct msd_module_registry_sandbox *sandbox = &registry->sandbox;

	msd_pack_map(b, 11u + msd_run_options_count(&run, MSD_RUN_WORKER) +
				(device.type != 0) + 2u * (group->source.files.n > 0) +
				has_any(registry->plugins) + has_any(sandbox->reads) +
				has_any(sandbox->writes));
	msd_run_options_pack(&run, MSD_RUN_WORKER, b);
	put_paths(b, "may_read", sandbox->reads);
	put_paths(b, "may_write", sandbox->writes);
	put_paths(b, "plugins", registry->plugins);
	if (group->source.files.n > 0) {
		msd_pack_pair_uint(b, "model",
				   group->source.part_bytes[MSD_PART_MODEL]);
		msd_pack_cstr(b, "files");
		msd_buf_put(b, group->source.files.p, group->source.files.n);
	}
	if (device.type != 0) {
		msd_pack_cstr(b, "device");
		msd_pack_device(b, device);
	}
	msd_pack_cstr(b, "name");
	msd_pack_cstr(b, group->name);
	msd_pack_cstr(b, "file");
	msd_pack_cstr(b, group->file);
	msd_pack_pair_uint(b, "graph", group->source.part_bytes[MSD_PART_GRAPH]);
	msd_pack_pair_uint(b, "params", group->source.part_bytes[MSD_PART_PARAMS]);
	msd_pack_pair_uint(b, "workers", group->n_replicas);
	msd_pack_pair_uint(b, "max_out", registry->limits->max_memory);
	put_allowance(b, registry->limits);
}
