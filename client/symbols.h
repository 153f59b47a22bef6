#ifndef MSD_CLIENT_SYMBOLS_H
#define MSD_CLIENT_SYMBOLS_H
/* Functions of a library that is opened when it is wanted, and need not be there. */
#include <stddef.h>

/**
 * Open @library and put the addresses of its functions @names, @n of them, one after
 * another at @ret, which has room for them. NULL: all are there, and the library stays
 * open. Else what is missing: the library, or one of @names.
 */
const char *msd_symbols_find(const char *library, const char *const *names, size_t n,
			     void *ret);

#endif
