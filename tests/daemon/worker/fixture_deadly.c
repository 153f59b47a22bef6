/* Functions that, by the texts in the library, can be asked for their signatures; two
 * of them cannot stand it. */
#include <unistd.h>

#include "tests/modules/ffi.h"

RAW_FUNCTION(crashes)
{
	if (n < 0)
		*(volatile int *)8 = 1;
	return n == 1 ? 0 : fail("TypeError", "when calling:\n  `crashes(k: int32)`");
}

RAW_FUNCTION(good)
{
	return n == 1 ? 0 : fail("TypeError", "when calling:\n  `good(k: int32)`");
}

RAW_FUNCTION(hangs)
{
	while (n < 0 && getppid() > 0)
		continue;
	return n == 1 ? 0 : fail("TypeError", "when calling:\n  `hangs(k: int32)`");
}

RAW_FUNCTION(also_good)
{
	return n == 1 ? 0 : fail("TypeError", "when calling:\n  `also_good(k: int32)`");
}
