#include "client/cli/model/program_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/installed.h"

msd_err msd_program_path(const char *name, const char *variable,
			 char ret[static PATH_MAX], struct msd_diag *d)
{
	char *path = msd_installed_find(variable, name, X_OK);

	if (path == NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%s is neither in the folder of modser nor in "
				    "../libexec/modserd: set %s",
				    name, variable);
	}
	(void)snprintf(ret, PATH_MAX, "%s", path);
	free(path);
	return MSD_OK;
}
