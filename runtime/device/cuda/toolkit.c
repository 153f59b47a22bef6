#include "runtime/device/cuda/toolkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION_LINE "#define CUDA_VERSION "
#define LINES_MAX 4000 /* the version is in the first few hundred */

const char *msd_cuda_home(void)
{
	const char *const candidates[] = {secure_getenv("CUDA_HOME"),
					  secure_getenv("CUDA_PATH"),
					  "/usr/local/cuda"};
	const size_t n = sizeof(candidates) / sizeof(candidates[0]);

	for (size_t i = 0; i < n; i++) {
		if (candidates[i] != NULL && candidates[i][0] == '/' &&
		    access(candidates[i], R_OK | X_OK) == 0)
			return candidates[i];
	}
	return NULL;
}

/* The release according to cuda.h in @directory; 0 if there is none. */
static int version_of(const char *directory)
{
	char path[PATH_MAX];
	char line[256];
	int version = 0;
	int n = snprintf(path, sizeof(path), "%s/cuda.h", directory);

	if (n < 0 || n >= (int)sizeof(path))
		return 0;
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return 0;
	for (int i = 0; i < LINES_MAX && version == 0; i++) {
		if (fgets(line, sizeof(line), f) == NULL)
			break;
		if (strncmp(line, VERSION_LINE, strlen(VERSION_LINE)) == 0)
			version = (int)strtol(line + strlen(VERSION_LINE), NULL, 10);
	}
	(void)fclose(f);
	return version;
}

static bool directory_join(const char *root, const char *below,
			   char ret[static PATH_MAX])
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", root, below);

	return n > 0 && n < (int)sizeof(path) && realpath(path, ret) != NULL;
}

/* The C++ libraries for devices: in their own folder from 13.0 on and in the wheels,
 * else with the headers. */
static void cccl_find(const char *include, char ret[static PATH_MAX])
{
	if (!directory_join(include, "cccl", ret) &&
	    !directory_join(include, "../../cuda_cccl/include", ret))
		ret[0] = '\0';
}

/* The first folder, best first, with the release of @version when both are divided by
 * @precision. */
static bool headers_match(const char *folder, const char *home, int version,
			  int precision, struct msd_toolkit_headers *ret)
{
	const struct {
		const char *root, *below;
	} candidates[] = {
		{folder, "../include"},                      /* a toolkit, a wheel */
		{folder, "../../cuda_runtime/include"},      /* wheels before 13 */
		{folder, "../../include"},                   /* a distribution */
		{folder, "../targets/x86_64-linux/include"}, /* conda */
		{folder, "../targets/sbsa-linux/include"},
		{home, "include"},
		{home, "targets/x86_64-linux/include"},
		{home, "targets/sbsa-linux/include"},
	};

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		if (candidates[i].root != NULL &&
		    directory_join(candidates[i].root, candidates[i].below,
				   ret->include[0]) &&
		    version_of(ret->include[0]) / precision == version / precision) {
			cccl_find(ret->include[0], ret->include[1]);
			return true;
		}
	}
	return false;
}

bool msd_toolkit_headers_find(const char *library, int version,
			      struct msd_toolkit_headers *ret)
{
	const char *home = msd_cuda_home();
	char *folder = realpath(library, NULL);
	char *slash = folder != NULL ? strrchr(folder, '/') : NULL;

	if (slash != NULL)
		*slash = '\0';
	bool found = headers_match(folder, home, version, 10, ret) ||
		     headers_match(folder, home, version, 1000, ret);
	if (!found)
		*ret = (struct msd_toolkit_headers){0};
	free(folder);
	return found;
}
