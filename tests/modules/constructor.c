/* A library that misbehaves while it is opened; FAULT says how. */
#include <stdio.h>
#include <unistd.h>

#include "ffi.h"

FUNCTION(ok)
{
	return 0;
}

__attribute__((constructor)) static void on_open(void)
{
	(void)fprintf(stderr, "the last words of a constructor\n");
	FAULT;
}
