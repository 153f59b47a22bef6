#ifndef MSD_RUNTIME_VALUE_STORAGE_POOL_H
#define MSD_RUNTIME_VALUE_STORAGE_POOL_H
#include <stddef.h>

/*
 * Host memory for the storages of one VM, cached between calls. Each fresh page costs
 * a page fault; for a model of a millisecond these cost more than the arithmetic.
 * Freed blocks are kept in lists by size class. The pool never holds more than twice
 * the peak of used bytes (or MSD_POOL_FLOOR_BYTES); it frees idle blocks before it
 * grows past that.
 *
 * Storages may outlive the VM (a result that a client still holds); the pool is freed
 * with the last of them. Any thread may drop a storage.
 */

#define MSD_POOL_FLOOR_BYTES ((size_t)16 * 1024 * 1024)
#define MSD_POOL_MAX_BYTES                                                             \
	((size_t)1 << 39) /* per storage: a larger size is an error */

struct msd_storage_pool;

/** NULL if memory is short. */
struct msd_storage_pool *msd_storage_pool_create(void);
/** Free idle blocks; used blocks are freed when they are dropped. NULL is fine. */
void msd_storage_pool_close(struct msd_storage_pool *p);
/**
 * 128-byte-aligned host memory, contents undefined; one reference. NULL if memory is
 * short or @bytes exceeds MSD_POOL_MAX_BYTES.
 */
struct msd_storage *msd_storage_pool_allocate(struct msd_storage_pool *p, size_t bytes);
/** Number of idle bytes. */
size_t msd_storage_pool_idle(struct msd_storage_pool *p);

#endif
