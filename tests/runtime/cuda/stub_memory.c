/* Device memory of the stand-in driver: host memory behind addresses that nobody can
 * read. Freed ones are remembered, so that their use is known. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stub.h"

#define SPACE_BYTES ((size_t)1 << 40) /* of addresses that nobody can read */

struct allocation {
	struct allocation *next;
	struct object *context;
	uint64_t address;
	size_t n;
	char *host; /* NULL: freed */
};

static struct allocation *allocations;
static uint64_t next_address;
static size_t memory_limit = (size_t)8 << 30, last_alloc;

static size_t memory_bytes(void)
{
	size_t n = 0;

	for (const struct allocation *a = allocations; a != NULL; a = a->next)
		n += a->host != NULL ? a->n : 0;
	return n;
}

int memory_alloc(struct object *context, uint64_t *ret, size_t n)
{
	last_alloc = n;
	if (n > memory_limit - memory_bytes())
		return OUT_OF_MEMORY;
	if (next_address == 0) {
		void *space = mmap(NULL, SPACE_BYTES, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (space == MAP_FAILED)
			return OUT_OF_MEMORY;
		next_address = (uint64_t)(uintptr_t)space;
	}
	struct allocation *a = n <= SPACE_BYTES / 256 ? calloc(1, sizeof(*a)) : NULL;
	char *host = a != NULL ? malloc(n) : NULL;
	if (host == NULL) {
		free(a);
		return OUT_OF_MEMORY;
	}
	memset(host, 0xa5, n); /* nobody may count on zeros */
	*a = (struct allocation){allocations, context, next_address, n, host};
	allocations = a;
	next_address += (n + 2 * 256) & ~(uint64_t)255; /* a gap behind each */
	*ret = a->address;
	return OK;
}

void *memory_at(uint64_t address, size_t n)
{
	for (struct allocation *a = allocations; a != NULL; a = a->next) {
		if (address < a->address || address - a->address >= a->n)
			continue;
		const size_t offset = address - a->address;
		if (a->host == NULL) {
			violation("memory %#llx was freed",
				  (unsigned long long)address);
			return NULL;
		}
		return n <= a->n - offset ? a->host + offset : NULL;
	}
	return NULL;
}

int memory_free(struct object *context, uint64_t address)
{
	for (struct allocation *a = allocations; a != NULL; a = a->next) {
		if (a->address != address || a->host == NULL)
			continue;
		if (a->context != context)
			violation("memory of another context is freed");
		free(a->host);
		a->host = NULL;
		return OK;
	}
	violation("cuMemFree: no memory begins at %#llx", (unsigned long long)address);
	return INVALID_VALUE;
}

unsigned memory_alive(void)
{
	unsigned n = 0;

	for (const struct allocation *a = allocations; a != NULL; a = a->next)
		n += a->host != NULL;
	return n;
}

void memory_set_limit(size_t bytes)
{
	memory_limit = bytes;
}

size_t memory_left(void)
{
	return memory_limit - memory_bytes();
}

size_t memory_last_asked(void)
{
	return last_alloc;
}
