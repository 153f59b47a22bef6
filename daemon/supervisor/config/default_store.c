#include "daemon/supervisor/config/default_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool msd_store_is_named(const char *store)
{
	return store != NULL && strcmp(store, "none") != 0;
}

/* Accept only an absolute path from the environment: a relative one would depend on
 * the working directory. */
static const char *folder_of(const char *variable)
{
	const char *value = secure_getenv(variable);

	return value != NULL && value[0] == '/' ? value : NULL;
}

static msd_err keep(int n_written, char **ret, struct msd_diag *d)
{
	if (n_written >= 0)
		return MSD_OK;
	*ret = NULL;
	return msd_diag_no_memory(d);
}

msd_err msd_default_store(char **ret, const char **ret_origin, struct msd_diag *d)
{
	const char *service = secure_getenv("STATE_DIRECTORY");
	const char *named = secure_getenv("MODSERD_STORE");
	const char *state = folder_of("XDG_STATE_HOME"), *home = folder_of("HOME");

	*ret = NULL;
	*ret_origin = NULL;
	if (service != NULL && *service != '\0') {
		*ret_origin = "$STATE_DIRECTORY";
		return keep(asprintf(ret, "%.*s", (int)strcspn(service, ":"), service),
			    ret, d);
	}
	if (named != NULL && *named != '\0') {
		*ret_origin = "$MODSERD_STORE";
		return keep(asprintf(ret, "%s", named), ret, d);
	}
	if (state != NULL)
		return keep(asprintf(ret, "%s/modserd", state), ret, d);
	if (home != NULL)
		return keep(asprintf(ret, "%s/.local/state/modserd", home), ret, d);
	return MSD_OK;
}

void msd_default_store_make_room(const char *path)
{
	char *copy = strdup(path);

	for (char *at = copy; at != NULL && (at = strchr(at + 1, '/')) != NULL;
	     *at = '/') {
		*at = '\0';
		(void)mkdir(copy, 0700);
	}
	free(copy);
}
