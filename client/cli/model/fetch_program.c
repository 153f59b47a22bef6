#include "client/cli/model/fetch_program.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/program.h"

static bool find_fetch(char ret[static PATH_MAX])
{
	static const char *const places[] = {"", "../libexec/modserd/"};
	const char *given = secure_getenv("MODSERD_FETCH");
	char self[PATH_MAX - 64];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (given != NULL) {
		(void)snprintf(ret, PATH_MAX, "%s", given);
		return true;
	}
	if (n <= 0)
		return false;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (unsigned i = 0; i < 2; i++) {
		(void)snprintf(ret, PATH_MAX, "%s/%smodserd-fetch", self, places[i]);
		if (access(ret, X_OK) == 0)
			return true;
	}
	return false;
}

msd_err msd_fetch_program_run(char **words, struct msd_diag *d)
{
	char program[PATH_MAX];

	if (!find_fetch(program)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "modserd-fetch is neither in the folder of modser "
				    "nor in ../libexec/modserd: set MODSERD_FETCH");
	}
	words[0] = program;
	const msd_err err = msd_program_run(words, d);
	words[0] = NULL;
	return err;
}
