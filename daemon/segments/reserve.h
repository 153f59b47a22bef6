#ifndef MSD_WIRE_RESERVE_H
#define MSD_WIRE_RESERVE_H
/*
 * Reserves memory as a memfd: missing memory is an error now, not a SIGBUS later.
 * That takes 0.3 to 0.5 s per GiB, so a thread (work.h) does it where other clients
 * would wait.
 */
#include <stdint.h>
#include <uv.h>

#include "daemon/loop/work.h"

/**
 * Make a memfd named @name with @bytes, all reserved, not sealed. Blocks as described
 * above. -1 on error, with errno set.
 */
int msd_reserve_now(const char *name, uint64_t bytes);

/**
 * Seal the memfd @fd: after that its bytes, size and seals cannot change. Blocks for
 * at most 0.1 s while the kernel reports that a page is still in use; on a busy
 * machine the kernel itself may use it. Returns 0, or an errno.
 */
int msd_reserve_seal(int fd);

/* A reservation in progress. */
struct msd_reserve {
	int fd;    /* set when done; -1: see `error` */
	int error; /* an errno */
	uint64_t bytes;
	void *user; /* owned by the owner */
	/* Private. */
	void (*on_done)(struct msd_reserve *r);
	struct msd_work work;
	const char *name;
};

struct msd_reserve_how {
	const char *name; /* static */
	uint64_t bytes;
	struct msd_work_lane *lane;
	uint64_t owner; /* msd_work.owner */
};

/**
 * Reserve on a thread. @on_done is called in a later iteration of @loop. There the
 * owner may take the descriptor and set -1; then the object is freed. NULL if memory
 * is short.
 */
struct msd_reserve *msd_reserve_begin(uv_loop_t *loop,
				      const struct msd_reserve_how *how,
				      void (*on_done)(struct msd_reserve *r),
				      void *user);
/**
 * Cancel before on_done, which is then not called. Unless a thread has already begun,
 * no memory is reserved. NULL is allowed.
 */
void msd_reserve_leave(struct msd_reserve *r);

#endif
