/* Functions that do not check the number of their arguments: one that asks for a
 * signature by calling with -1 of them runs into FAULT, and so does one that asks for
 * the types of `ok`. The module is good all the same. */
#include <unistd.h>

#include "ffi.h"

FUNCTION(ok)
{
	ret->type = T_INT;
	ret->v.i = 1;
	return 0;
}

RAW_FUNCTION(_metadata_ok)
{
	(void)n, (void)ret;
	FAULT;
	return 0;
}

RAW_FUNCTION(unguarded)
{
	if (n < 0)
		FAULT;
	ret->type = T_INT;
	ret->v.i = 2;
	return 0;
}
