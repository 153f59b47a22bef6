#ifndef MSD_TESTS_EXACT_H
#define MSD_TESTS_EXACT_H
/* Copies of exactly the size of their bytes, so that ASan sees one byte read too many.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** The first @n bytes at @p in a block of their own; free with free(). Aborts when out
 * of memory. */
static inline uint8_t *exact_copy(const void *p, size_t n)
{
	uint8_t *copy = malloc(n > 0 ? n : 1);

	if (copy == NULL)
		abort();
	if (n > 0)
		memcpy(copy, p, n);
	return copy;
}

#endif
