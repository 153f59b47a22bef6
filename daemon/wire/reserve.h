#ifndef MSD_WIRE_RESERVE_H
#define MSD_WIRE_RESERVE_H
/*
 * Memory that is reserved as a memfd: that it is not there is said now, not by a SIGBUS
 * later. That takes 0.3 to 0.5 s a GiB, so it is done on a thread (work.h)
 * where others would wait for it.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/wire/work.h"

/** A memfd called @name of @bytes, all reserved, not sealed. Blocks as said above.
 * -1: errno says why not. */
int msd_reserve_now(const char *name, uint64_t bytes);

/** Seal the memfd @fd: nobody changes its bytes, its size or its seals from here on.
 * Blocks, for a tenth of a second at most, while the kernel says that a page of it is
 * still in somebody's hands, which on a busy machine its own may be. 0, or an errno. */
int msd_reserve_seal(int fd);

/* One that is being reserved. */
struct msd_reserve {
	int fd;    /* when it is done; -1: `error` says why not */
	int error; /* an errno */
	uint64_t bytes;
	void *user; /* the owner's */
	/* Private. */
	void (*on_done)(struct msd_reserve *r);
	atomic_bool is_left; /* the owner has left */
	struct msd_work work;
	const char *name;
};

struct msd_reserve_how {
	const char *name; /* static */
	uint64_t bytes;
	enum msd_work_pool pool;
	uint64_t owner; /* msd_work.owner */
};

/** Do it on a thread. @on_done is called on a later turn of @loop; there the owner may
 * take the descriptor and put -1 in its place; then it is freed. NULL: out of memory.
 */
struct msd_reserve *msd_reserve_begin(uv_loop_t *loop,
				      const struct msd_reserve_how *how,
				      void (*on_done)(struct msd_reserve *r),
				      void *user);
/** Its owner goes, before on_done, which is not called then; no memory is reserved
 * unless a thread has begun that. NULL is fine. */
void msd_reserve_leave(struct msd_reserve *r);

#endif
