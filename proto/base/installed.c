#include "proto/base/installed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *msd_installed_find(const char *variable, const char *name, int access_mode)
{
	static const char *const places[] = {"", "../libexec/modserd/"};
	const char *given = secure_getenv(variable);
	char self[PATH_MAX];

	if (given != NULL)
		return strdup(given);
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (unsigned i = 0; i < 2; i++) {
		char *path = NULL;
		if (asprintf(&path, "%s/%s%s", self, places[i], name) < 0)
			return NULL;
		if (access(path, access_mode) == 0)
			return path;
		free(path);
	}
	return NULL;
}
