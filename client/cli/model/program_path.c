#include "client/cli/model/program_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

msd_err msd_program_path(const char *name, const char *variable,
			 char ret[static PATH_MAX], struct msd_diag *d)
{
	static const char *const places[] = {"", "../libexec/modserd/"};
	const char *given = secure_getenv(variable);
	char self[PATH_MAX - 64];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (given != NULL) {
		(void)snprintf(ret, PATH_MAX, "%s", given);
		return MSD_OK;
	}
	self[n > 0 ? n : 0] = '\0';
	if (n > 0)
		*strrchr(self, '/') = '\0';
	for (unsigned i = 0; n > 0 && i < 2; i++) {
		(void)snprintf(ret, PATH_MAX, "%s/%s%s", self, places[i], name);
		if (access(ret, X_OK) == 0)
			return MSD_OK;
	}
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "%s is neither in the folder of modser nor in "
			    "../libexec/modserd: set %s",
			    name, variable);
}
