#include "proto/base/grow.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/bytes.h"

#define FIRST 8u /* elements of an array whose capacity is stored */

/* @array points to a pointer of the caller's type, so it is copied as bytes. */
static bool resize(void *array, size_t cap, size_t size)
{
	void *p;
	size_t bytes;

	if (!msd_mul_size(cap, size, &bytes))
		return false;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, bytes);
	if (p == NULL)
		return false;
	memcpy(array, &p, sizeof(p));
	return true;
}

bool msd_grow(void *array, size_t n, size_t size)
{
	/* The capacity is a power of two, so the array is full when the count is one.
	 */
	if ((n & (n - 1)) != 0)
		return true;
	return n <= SIZE_MAX / 2 && resize(array, n > 0 ? 2 * n : 1, size);
}

bool msd_reserve(void *array, size_t *cap, size_t n, size_t size)
{
	size_t more = *cap > 0 ? *cap : FIRST;

	if (n <= *cap)
		return true;
	while (more < n) {
		if (!msd_mul_size(more, 2, &more))
			return false;
	}
	if (!resize(array, more, size))
		return false;
	*cap = more;
	return true;
}
