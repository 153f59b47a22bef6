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
	const struct msd_device device = msd_device_list_at(&group->device_list, index);

	msd_pack_array(b, 1);
	const char *era = msd_abi_word_name(group->era);
	const char *fill = msd_fill_word_name(group->fill);
	const char *format = msd_model_word(group->words.format);
	const char *input = msd_model_word(group->words.input);
	const struct msd_module_registry_sandbox *sandbox = &registry->sandbox;

	const char *word = msd_sandbox_word_name(group->sandbox);
	msd_pack_map(b, 12u + (word != NULL) + (device.type != 0) + (era != NULL) +
				(fill != NULL) + group->tvm_inputs + (format != NULL) +
				(input != NULL) + 2u * (group->batching.rows > 0) +
				2u * (group->source.files.n > 0) +
				has_any(registry->plugins) + has_any(sandbox->reads) +
				has_any(sandbox->writes));
	if (word != NULL)
		msd_pack_pair_str(b, "sandbox", word);
	put_paths(b, "may_read", sandbox->reads);
	put_paths(b, "may_write", sandbox->writes);
	put_paths(b, "plugins", registry->plugins);
	if (group->batching.rows > 0) {
		msd_pack_pair_uint(b, "batch", group->batching.rows);
		msd_pack_pair_uint(b, "within_ms", group->batching.within_ms);
	}
	if (group->source.files.n > 0) {
		msd_pack_pair_uint(b, "model",
				   group->source.part_bytes[MSD_PART_MODEL]);
		msd_pack_cstr(b, "files");
		msd_buf_put(b, group->source.files.p, group->source.files.n);
	}
	if (group->tvm_inputs) {
		msd_pack_cstr(b, "tvm_inputs");
		msd_pack_bool(b, true);
	}
	if (era != NULL) {
		msd_pack_cstr(b, "era");
		msd_pack_cstr(b, era);
	}
	if (fill != NULL) {
		msd_pack_cstr(b, "fill");
		msd_pack_cstr(b, fill);
	}
	if (format != NULL)
		msd_pack_pair_str(b, "format", format);
	if (input != NULL)
		msd_pack_pair_str(b, "input", input);
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
	msd_pack_pair_uint(b, "threads", registry->threads);
	msd_pack_pair_uint(b, "workers", group->n_replicas);
	msd_pack_pair_uint(b, "max_out", registry->limits->max_memory);
	put_allowance(b, registry->limits);
}
