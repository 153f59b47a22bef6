#ifndef MSD_PROTO_GROW_H
#define MSD_PROTO_GROW_H
/* Arrays that grow by doubling. The caller frees them with free(). */
#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

/**
 * Make room for one more of @n elements of @size bytes in *@array, an array of elements
 * that only this function allocates. The capacity is the next power of two, so it need
 * not be stored. False: memory is short, and nothing has changed.
 */
MSD_MUST_CHECK bool msd_grow(void *array, size_t n, size_t size);
/**
 * Make room for @n elements in *@array, which has room for *@cap: for arrays that also
 * shrink. False: as above.
 */
MSD_MUST_CHECK bool msd_reserve(void *array, size_t *cap, size_t n, size_t size);

#endif
