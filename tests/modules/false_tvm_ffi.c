/* A libtvm_ffi.so that a worker must not open: its constructor ends the process. */
#include <stdlib.h>

__attribute__((constructor)) static void refuse(void)
{
	abort();
}
