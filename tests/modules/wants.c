/* A library that wants a symbol that no host has. */
#include "ffi.h"

void modserd_test_absent_symbol(void);

FUNCTION(ok)
{
	modserd_test_absent_symbol();
	return 0;
}
