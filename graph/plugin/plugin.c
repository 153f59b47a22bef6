#include "graph/plugin/plugin.h"

#include <dlfcn.h>
#include <stddef.h>

#include "graph/ir/refuse.h"

#define ENTRY "modserd_plugin_entry"

/* dlerror() begins with the path, which every text has already. */
static msd_err fail_open(const char *path, struct msd_diag *d)
{
	const char *why = dlerror();

	return msd_diag_set(d, MSD_UNSUPPORTED, "plugin %s: it cannot be opened: %s",
			    path, why != NULL ? why : "dlopen failed");
}

static msd_err check(const char *path, const modserd_plugin *plugin, struct msd_diag *d)
{
	if (plugin == NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "plugin %s: it has no " ENTRY
				    ", so it is no plugin of modserd",
				    path);
	}
	if (plugin->abi != MODSERD_PLUGIN_ABI) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "plugin %s: it was built for version %u of the "
				    "plugin interface, this is version %u",
				    path, (unsigned)plugin->abi, MODSERD_PLUGIN_ABI);
	}
	if (plugin->size != sizeof(*plugin)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "plugin %s: modserd_plugin.size is %u, expected "
				    "%zu: set it to sizeof(modserd_plugin)",
				    path, (unsigned)plugin->size, sizeof(*plugin));
	}
	const char *missing = plugin->name == NULL      ? "name"
			      : plugin->version == NULL ? "version"
			      : plugin->add == NULL     ? "add"
							: NULL;
	if (missing != NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "plugin %s: modserd_plugin.%s is NULL", path,
				    missing);
	}
	return MSD_OK;
}

bool msd_plugin_check_kernel(const modserd_kernel *kernel)
{
	static const struct msd_struct_field fields[] = {
		MSD_FIELD(modserd_kernel, op), MSD_FIELD(modserd_kernel, run)};
	static const struct msd_struct kind = MSD_STRUCT(modserd_kernel, fields);

	return msd_struct_check(&kind, kernel);
}

bool msd_plugin_check_engine(const modserd_engine *engine)
{
	static const struct msd_struct_field fields[] = {
		MSD_FIELD(modserd_engine, name), MSD_FIELD(modserd_engine, take),
		MSD_FIELD(modserd_engine, run)};
	static const struct msd_struct kind = MSD_STRUCT(modserd_engine, fields);

	return msd_struct_check(&kind, engine);
}

/* The libraries whose add function was called, successful or not. A failed one stays
 * open: parts of it may be in use. */
struct opened {
	void *library;
	bool is_added;
};

static struct opened opened[MSD_PLUGINS_MAX];
static size_t n_opened;

static const struct opened *find_opened(const void *library)
{
	for (size_t i = 0; i < n_opened; i++) {
		if (opened[i].library == library)
			return &opened[i];
	}
	return NULL;
}

static msd_err add(const char *path, const modserd_plugin *plugin,
		   const modserd_host *host, struct msd_diag *d)
{
	char why[256] = "";

	msd_refuse_nothing(); /* the error of an earlier plugin */
	if (plugin->add(host, why, sizeof(why)) == 0)
		return MSD_OK;
	why[sizeof(why) - 1] = '\0';
	const char *refused = modser_registration_error();
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "plugin %s: %s %s cannot be added%s%s%s%s", path,
			    plugin->name, plugin->version, why[0] != '\0' ? ": " : "",
			    why, refused[0] != '\0' ? ": " : "", refused);
}

/* The dynamic linker returns one handle for one file, whatever the path. */
msd_err msd_plugin_open(const char *path, const modserd_host *host, struct msd_diag *d)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return fail_open(path, d);
	const struct opened *before = find_opened(library);
	const modserd_plugin *plugin = dlsym(library, ENTRY);
	msd_err err = check(path, plugin, d);
	if (err == MSD_OK && before == NULL && n_opened == MSD_PLUGINS_MAX) {
		err = msd_diag_set(d, MSD_BUSY, "plugin %s: %d are open, the most",
				   path, MSD_PLUGINS_MAX);
	}
	if (err != MSD_OK || before != NULL)
		(void)dlclose(library); /* the first reference stays */
	if (err == MSD_OK && before != NULL && !before->is_added) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "plugin %s: it could not be added before", path);
	}
	if (err != MSD_OK || before != NULL)
		return err;
	err = add(path, plugin, host, d);
	opened[n_opened++] = (struct opened){library, err == MSD_OK};
	return err;
}
