#include "graph/plugin/plugin.h"

#include <dlfcn.h>
#include <stddef.h>

#define ENTRY "modserd_plugin_entry"

/* dlerror() begins with the path, which every text has in front. */
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
	if (plugin->name == NULL || plugin->version == NULL || plugin->add == NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "plugin %s: a field of " ENTRY " is NULL", path);
	}
	return MSD_OK;
}

msd_err msd_plugin_open(const char *path, const modserd_host *host, struct msd_diag *d)
{
	char why[256] = "";
	void *open_already = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	if (open_already != NULL) {
		(void)dlclose(open_already); /* the other share stays */
		return MSD_OK;
	}
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return fail_open(path, d);
	const modserd_plugin *plugin = dlsym(library, ENTRY);
	const msd_err err = check(path, plugin, d);
	if (err != MSD_OK) {
		(void)dlclose(library);
		return err;
	}
	if (plugin->add(host, why, sizeof(why)) != 0) { /* parts of it may be in use */
		why[sizeof(why) - 1] = '\0';
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "plugin %s: %s %s cannot be added%s%s", path,
				    plugin->name, plugin->version,
				    why[0] != '\0' ? ": " : "", why);
	}
	return MSD_OK;
}
