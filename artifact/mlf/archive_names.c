/* Detect the type of an archive from the names of its files. */
#include <string.h>

#include "artifact/mlf/archive.h"

static bool is_model_path(const char *path)
{
	static const char *const dirs[] = {"codegen/", "executor-config/",
					   "runtime-config/", "parameters/"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (strncmp(path, dirs[i], strlen(dirs[i])) == 0)
			return true;
	}
	return strcmp(path, "metadata.json") == 0;
}

static bool see_model(void *ctx, const char *path)
{
	bool *found = ctx;

	*found = is_model_path(path);
	return !*found;
}

bool msd_archive_is_model(struct msd_span bytes)
{
	bool found = false;

	msd_archive_scan(bytes, see_model, &found);
	return found;
}

static bool see_library(void *ctx, const char *path)
{
	const char **found = ctx;

	for (size_t i = 0; *found == NULL && msd_package_libraries[i] != NULL; i++) {
		if (strcmp(path, msd_package_libraries[i]) == 0)
			*found = msd_package_libraries[i];
	}
	return *found == NULL;
}

const char *const msd_package_libraries[] = {"mod.so", "lib.so", "mod.tar", "lib.tar",
					     NULL};

bool msd_archive_is_package(struct msd_span bytes)
{
	const char *found = NULL;

	msd_archive_scan(bytes, see_library, &found);
	return found != NULL;
}

static bool see_piece(void *ctx, const char *path)
{
	bool *found = ctx;

	*found = msd_archive_path_is(path, "", ".o") ||
		 msd_archive_path_is(path, "", ".c");
	return !*found;
}

bool msd_archive_is_objects(struct msd_span bytes)
{
	bool found = false;

	msd_archive_scan(bytes, see_piece, &found);
	return found;
}
