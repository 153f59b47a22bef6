#include "artifact/elf/search.h"

#include <stdio.h>
#include <string.h>

static bool join(const char *folder, size_t n, const char *name,
		 char out[static MSD_SEARCH_MAX])
{
	const int length =
		snprintf(out, MSD_SEARCH_MAX, "%.*s/%s", (int)n, folder, name);

	return length > 0 && length < MSD_SEARCH_MAX;
}

bool msd_search_place(const char *search_path, const char *name, size_t i,
		      char out[static MSD_SEARCH_MAX])
{
	if (name[0] == '/')
		return i == 0 && join("", 0, name + 1, out);
	if (strchr(name, '/') != NULL)
		return false;
	for (const char *at = search_path; at != NULL && *at != '\0';) {
		const size_t n = strcspn(at, ":");

		if (at[0] == '/' && n < MSD_SEARCH_MAX && memchr(at, '$', n) == NULL &&
		    i-- == 0)
			return join(at, n, name, out);
		at += at[n] == ':' ? n + 1 : n;
	}
	return false;
}
