#ifndef MSD_CLIENT_SYMBOLS_H
#define MSD_CLIENT_SYMBOLS_H
/* Functions of an optional library that is opened on first use. */
#include <stddef.h>

/**
 * Open @library and store the addresses of its @n functions @names in the array @ret.
 * Returns NULL on success; the library stays open. Otherwise returns the missing
 * item: the library, or an entry of @names.
 */
const char *msd_symbols_find(const char *library, const char *const *names, size_t n,
			     void *ret);

#endif
