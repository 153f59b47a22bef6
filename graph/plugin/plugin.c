/*
 * Open plugins.
 *
 * Happy path: dlopen, the entry and the list are checked, and the plugin's add function
 * registers. Functions of the host compare each name with the list. Failures: a plugin
 * of another version, without an entry, with an incomplete struct, or whose list is
 * not what it adds is refused by its path; it stays open.
 */
#include "graph/plugin/plugin.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "graph/ir/refuse.h"
#include "proto/words/plugin_list.h"

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
				    "plugin interface, this is version %u: build it "
				    "with this version's headers",
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

modserd_engine msd_plugin_engine(const modserd_engine *engine)
{
	modserd_engine whole = {0};

	memcpy(&whole, engine, engine->size);
	whole.size = sizeof(whole);
	return whole;
}

bool msd_plugin_check_engine(const modserd_engine *engine)
{
	static const struct msd_struct_field fields[] = {
		MSD_FIELD(modserd_engine, name), MSD_FIELD(modserd_engine, take),
		MSD_FIELD(modserd_engine, run)};
	static const struct msd_struct kind =
		MSD_GROWN_STRUCT(modserd_engine, fields, MODSERD_ENGINE_LEAST);

	if (!msd_struct_check(&kind, engine))
		return false;
	const modserd_engine whole = msd_plugin_engine(engine);
	return whole.join == NULL || whole.run_group != NULL ||
	       msd_refuse("modserd_engine.run_group is NULL, but join is not") == 0;
}

bool msd_plugin_check_layout(const modserd_layout *layout)
{
	static const struct msd_struct_field fields[] = {
		MSD_FIELD(modserd_layout, name), MSD_FIELD(modserd_layout, bytes),
		MSD_FIELD(modserd_layout, from_rows),
		MSD_FIELD(modserd_layout, to_rows)};
	static const struct msd_struct kind = MSD_STRUCT(modserd_layout, fields);

	return msd_struct_check(&kind, layout);
}

bool msd_plugin_check_function(const modserd_function *function)
{
	static const struct msd_struct_field fields[] = {
		MSD_FIELD(modserd_function, name), MSD_FIELD(modserd_function, call)};
	static const struct msd_struct kind = MSD_STRUCT(modserd_function, fields);

	return msd_struct_check(&kind, function);
}

bool msd_plugin_check_module_kind(const modserd_module_kind *module_kind)
{
	static const struct msd_struct_field fields[] = {
		MSD_FIELD(modserd_module_kind, kind),
		MSD_FIELD(modserd_module_kind, load),
		MSD_FIELD(modserd_module_kind, function)};
	static const struct msd_struct kind = MSD_STRUCT(modserd_module_kind, fields);

	return msd_struct_check(&kind, module_kind);
}

/* The list of the plugin whose add function runs. */
static struct msd_plugin_list brings;

int msd_plugin_add_listed(enum msd_plugin_word word, const char *name,
			  int (*add)(void *ctx), void *ctx)
{
	struct msd_plugin_item *item =
		name != NULL ? msd_plugin_list_find(&brings, word, name) : NULL;
	const char *what = msd_plugin_word_name(word);

	if (name == NULL)
		return msd_refuse("the name of a %s is NULL", what);
	if (item == NULL) {
		return msd_refuse("%s %s is not in the plugin's list: write "
				  "MODSERD_PLUGIN_BRINGS(\"%s %s\\n\")",
				  what, name, what, name);
	}
	if (item->is_added)
		return msd_refuse("%s %s is added twice", what, name);
	msd_refuse_nothing();
	if (add(ctx) != 0)
		return -1;
	item->is_added = true;
	return 0;
}

static msd_err check_all_added(const char *path, struct msd_diag *d)
{
	for (size_t i = 0; i < brings.n; i++) {
		const struct msd_plugin_item *item = &brings.items[i];

		if (item->word <= MSD_PLUGIN_SYMBOL && !item->is_added) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "plugin %s: it lists %s %s, but does not "
					    "add it",
					    path, msd_plugin_word_name(item->word),
					    item->name);
		}
	}
	return MSD_OK;
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
		return check_all_added(path, d);
	why[sizeof(why) - 1] = '\0';
	const char *refused = modser_registration_error();
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "plugin %s: %s %s cannot be added%s%s%s%s", path,
			    plugin->name, plugin->version, why[0] != '\0' ? ": " : "",
			    why, refused[0] != '\0' ? ": " : "", refused);
}

static msd_err read_list(const char *path, void *library, struct msd_diag *d)
{
	const char *text = dlsym(library, MSD_PLUGIN_LIST_SYMBOL);
	msd_err err;

	if (text == NULL)
		return MSD_OK;
	err = msd_plugin_list_read(
		(struct msd_span){(const uint8_t *)text,
				  strnlen(text, MSD_PLUGIN_LIST_BYTES - 1) + 1},
		&brings, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "plugin %s", path);
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
	err = read_list(path, library, d);
	if (err == MSD_OK)
		err = add(path, plugin, host, d);
	msd_plugin_list_finish(&brings);
	opened[n_opened++] = (struct opened){library, err == MSD_OK};
	return err;
}
