#include "runtime/module/c_name.h"

#include <ctype.h>

bool msd_c_name_is(struct msd_span name, const char *own)
{
	size_t i = 0;

	while (i < name.n && own[i] != '\0' &&
	       (name.p[i] == (uint8_t)own[i] ||
		(own[i] == '_' && isalnum(name.p[i]) == 0)))
		i++;
	return i == name.n && own[i] == '\0';
}
