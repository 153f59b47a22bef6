#include "tests/support/fail_alloc.h"

#include <stddef.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);

static long left = -1; /* allocations before the one that fails; below 0: none fails */
static bool has_failed;

void msd_fail_alloc(long k)
{
	left = k;
	has_failed = false;
}

bool msd_fail_alloc_stop(void)
{
	left = -1;
	return has_failed;
}

static bool fails_now(void)
{
	if (left < 0 || left-- > 0)
		return false;
	has_failed = true;
	return true;
}

void *__wrap_malloc(size_t n)
{
	return fails_now() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t each)
{
	return fails_now() ? NULL : __real_calloc(n, each);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails_now() ? NULL : __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return fails_now() ? NULL : __real_aligned_alloc(align, n);
}
