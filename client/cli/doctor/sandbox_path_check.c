#include "client/cli/doctor/sandbox_path_check.h"

#include <stdlib.h>
#include <string.h>

/* True if @path is @place, or below it. The daemon's path may be a link. */
static bool is_within(const char *path, const char *place)
{
	char *real = realpath(place, NULL);
	const size_t n = real != NULL ? strlen(real) : 0;
	const bool is = real != NULL && strncmp(path, real, n) == 0 &&
			(path[n] == '/' || path[n] == '\0' || n == 1);

	free(real);
	return is;
}

/* Without a sandbox, or without kernel support for it, nothing is restricted. */
static bool is_closed(const modser_value *sandbox)
{
	const modser_value *profile = modser_find(sandbox, "profile");
	const modser_value *landlock = modser_find(sandbox, "landlock");

	return profile != NULL && profile->kind == MODSER_STR &&
	       strcmp(profile->as.str.p, "trusted") != 0 && landlock != NULL &&
	       landlock->kind == MODSER_INT && landlock->as.i > 0;
}

bool msd_sandbox_path_check_has(const modser_value *info, const char *path)
{
	const modser_value *sandbox = modser_find(info, "sandbox");
	const modser_value *reads = modser_find(sandbox, "reads");

	if (reads == NULL || reads->kind != MODSER_TUPLE || !is_closed(sandbox))
		return true;
	for (size_t i = 0; i < reads->as.tuple.n; i++) {
		const modser_value *place = &reads->as.tuple.item[i];
		if (place->kind == MODSER_STR && is_within(path, place->as.str.p))
			return true;
	}
	return false;
}
