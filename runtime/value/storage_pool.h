#ifndef MSD_RUNTIME_VALUE_STORAGE_POOL_H
#define MSD_RUNTIME_VALUE_STORAGE_POOL_H
#include <stddef.h>

/*
 * Host memory for the storages of one VM, kept between calls: fresh pages cost a fault
 * each, which for a model of a millisecond is more than the arithmetic. Freed blocks
 * wait in lists by size class. The pool never holds more than twice what was in use at
 * one time (or MSD_POOL_FLOOR_BYTES); before it would grow past that, waiting blocks
 * are given back.
 *
 * Storages may outlive the VM (a result that a client still holds): the pool goes with
 * the last of them. Any thread may drop a storage.
 */

#define MSD_POOL_FLOOR_BYTES ((size_t)16 * 1024 * 1024)
#define MSD_POOL_MAX_BYTES ((size_t)1 << 39) /* of one storage: more is a mistake */

struct msd_storage_pool;

/** NULL when memory is short. */
struct msd_storage_pool *msd_storage_pool_create(void);
/** Give back what waits; blocks in use follow when they are dropped. NULL is fine. */
void msd_storage_pool_close(struct msd_storage_pool *p);
/** 128-byte-aligned host memory, contents undefined; one reference. NULL when short,
 * or when it would be larger than MSD_POOL_MAX_BYTES. */
struct msd_storage *msd_storage_pool_take(struct msd_storage_pool *p, size_t bytes);
/** Bytes that wait to be taken. */
size_t msd_storage_pool_idle(struct msd_storage_pool *p);

#endif
