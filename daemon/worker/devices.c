/*
 * `modserd-worker --devices`: the abilities of this build and machine.
 *
 * Happy path: the lists of plugins are read, each device backend is asked, and one
 * response body is written. Failures: a backend without devices says why; a plugin that
 * cannot be read adds nothing.
 */
#include "daemon/worker/devices.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "artifact/elf/era.h"
#include "artifact/elf/plugin.h"
#include "artifact/provides/provides.h"
#include "daemon/confine/sandbox_paths.h"
#include "proto/body.h"
#include "proto/value.h"
#include "runtime/device/device.h"

struct lists {
	struct msd_buf devices;
	struct msd_buf absent;
	size_t n_devices;
	size_t n_absent;
};

static void put_device(void *ctx, const struct msd_device_info *info)
{
	struct lists *lists = ctx;
	struct msd_buf *b = &lists->devices;
	char type[MSD_DTYPE_NAME_MAX];
	char device[MSD_DTYPE_NAME_MAX + 16];

	(void)snprintf(device, sizeof(device), "%s:%d",
		       msd_device_type_format(info->device.type, type),
		       info->device.id);
	lists->n_devices++;
	msd_pack_map(b, 7);
	msd_pack_pair_str(b, "device", device);
	msd_pack_pair_str(b, "name", info->name);
	msd_pack_pair_str(b, "platform", info->platform);
	msd_pack_pair_str(b, "capability", info->capability);
	msd_pack_pair_str(b, "driver", info->driver);
	msd_pack_cstr(b, "memory_bytes");
	msd_pack_uint(b, info->memory_bytes);
	msd_pack_cstr(b, "compute_units");
	msd_pack_uint(b, info->compute_units);
}

static void put_absent(void *ctx, const char *backend, const char *why)
{
	struct lists *lists = ctx;
	struct msd_buf text = {0};

	msd_buf_printf(&text, "%s: %s", backend, why);
	if (!text.bad) {
		lists->n_absent++;
		msd_pack_text(&lists->absent, (const char *)text.p, text.n);
	}
	msd_buf_finish(&text);
}

static void put_names(struct msd_buf *out, const char *key, enum msd_provided what)
{
	size_t n;
	const char *const *names = msd_provides(what, &n);

	msd_pack_cstr(out, key);
	msd_pack_array(out, n);
	for (size_t i = 0; i < n; i++)
		msd_pack_cstr(out, names[i]);
}

struct places {
	struct msd_buf paths;
	size_t n;
};

/* Libraries can be in every directory from which a module may execute files. */
static void put_place(void *ctx, const char *path, enum msd_landlock_reach reach)
{
	struct places *places = ctx;

	if (reach != MSD_REACH_RUN)
		return;
	places->n++;
	msd_pack_text(&places->paths, path, strlen(path));
}

/* Sandbox features of the kernel, and directories where sandboxed modules find
 * libraries without daemon options. */
static void put_sandbox(struct msd_buf *out)
{
	const struct msd_sandbox_plan plan = {.profile = MSD_SANDBOX_CPU};
	struct places places = {.n = 0};
	const struct msd_sandbox_paths_visitor visitor = {.visit = put_place,
							  .ctx = &places};
	struct msd_sandbox_kernel kernel;

	msd_sandbox_look(&kernel);
	msd_sandbox_paths_visit(&plan, &visitor);
	msd_pack_map(out, 3);
	msd_pack_pair_uint(out, "landlock", kernel.landlock_abi);
	msd_pack_cstr(out, "seccomp");
	msd_pack_bool(out, kernel.has_seccomp);
	msd_pack_cstr(out, "reads");
	msd_pack_array(out, places.n);
	msd_buf_put(out, places.paths.p, places.paths.n);
	out->bad |= places.paths.bad;
	msd_buf_finish(&places.paths);
}

/* Features of this build, independent of devices. */
static void put_abilities(struct msd_buf *out)
{
	static const enum msd_era eras[] = {MSD_ERA_CLASSIC, MSD_ERA_FFI_021,
					    MSD_ERA_FFI};
	char machine[MSD_MACHINE_NAME_MAX];

	msd_pack_pair_str(out, "machine",
			  msd_elf_machine_format(msd_elf_host_machine(), machine));
	msd_pack_cstr(out, "eras");
	msd_pack_array(out, sizeof(eras) / sizeof(*eras));
	for (size_t i = 0; i < sizeof(eras) / sizeof(*eras); i++)
		msd_pack_cstr(out, msd_era_title(eras[i]));
	msd_pack_cstr(out, "sandbox");
	put_sandbox(out);
	put_names(out, "kinds", MSD_PROVIDED_KINDS);
	put_names(out, "symbols", MSD_PROVIDED_SYMBOLS);
	put_names(out, "slots", MSD_PROVIDED_SLOTS);
	put_names(out, "packed_functions", MSD_PROVIDED_PACKED);
}

/* The plugin is read, not opened. One that cannot be read adds nothing: the start of
 * the daemon names it, and so does each load. */
static void add_plugin(const char *path)
{
	static const enum msd_provided provided[] = {
		[MSD_PLUGIN_FUNCTION] = MSD_PROVIDED_PACKED,
		[MSD_PLUGIN_KIND] = MSD_PROVIDED_KINDS,
		[MSD_PLUGIN_SYMBOL] = MSD_PROVIDED_SLOTS};
	struct msd_plugin_list list = {0};
	struct msd_diag d = {0};
	uint32_t abi;

	if (msd_elf_plugin_read(path, &abi, &list, &d) != MSD_OK) {
		msd_diag_finish(&d);
		return;
	}
	for (size_t i = 0; i < list.n; i++) {
		const struct msd_plugin_item *item = &list.items[i];

		if (item->word <= MSD_PLUGIN_SYMBOL)
			(void)!msd_provides_add(provided[item->word], item->name);
	}
	msd_plugin_list_finish(&list);
}

int msd_devices_print(char *const *plugins, size_t n_plugins)
{
	struct lists lists = {0};
	struct msd_buf out = {0};

	for (size_t i = 0; i < n_plugins; i++)
		add_plugin(plugins[i]);
	msd_devices_list(put_device, put_absent, &lists);
	msd_body_begin_response(&out, 0, false);
	msd_pack_nil(&out);
	msd_pack_map(&out, 9);
	msd_pack_cstr(&out, "devices");
	msd_pack_array(&out, lists.n_devices);
	msd_buf_put(&out, lists.devices.p, lists.devices.n);
	msd_pack_cstr(&out, "absent");
	msd_pack_array(&out, lists.n_absent);
	msd_buf_put(&out, lists.absent.p, lists.absent.n);
	put_abilities(&out);
	bool ok = !out.bad && !lists.devices.bad && !lists.absent.bad &&
		  fwrite(out.p, 1, out.n, stdout) == out.n && fflush(stdout) == 0;
	msd_buf_finish(&out);
	msd_buf_finish(&lists.devices);
	msd_buf_finish(&lists.absent);
	return ok ? 0 : 1;
}
