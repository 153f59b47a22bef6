#include "daemon/loop/disabled_features.h"

#include <stdlib.h>
#include <string.h>

bool msd_feature_is_disabled(const char *what)
{
	const char *at = getenv("MODSERD_WITHOUT");
	const size_t n = strlen(what);

	while (at != NULL && *at != '\0') {
		size_t word = strcspn(at, ",");
		if (word == n && memcmp(at, what, n) == 0)
			return true;
		at += word + (at[word] == ',');
	}
	return false;
}
