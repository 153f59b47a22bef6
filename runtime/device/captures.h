#ifndef MSD_RUNTIME_DEVICE_CAPTURES_H
#define MSD_RUNTIME_DEVICE_CAPTURES_H
/*
 * Captured graphs of a virtual machine: device work that the code marks as identical
 * in each call, and the memory that this work reuses from call to call.
 *
 * A region is identified by a number and the extents of its capture. The first call
 * runs it, then captures it; later calls queue the graph. A region that cannot be
 * captured (see device.h) runs each time, as without graphs. So does a new region
 * after MSD_MAX_CAPTURES are kept, and a region with arguments at other addresses
 * than at the capture, because a graph holds addresses. Owned by its VM, one thread
 * at a time.
 */
#include "runtime/device/device.h"
#include "runtime/value/value.h"

#define MSD_MAX_CAPTURES 64u

struct msd_captures;

/**
 * One region. run() computes its result, may be called twice and returns 0, or -1
 * with the thread's error set (runtime/value/error.h).
 */
struct msd_region {
	int64_t index;
	const int64_t *extents; /* extents that the region depends on */
	size_t n_extents;
	const struct msd_any *args; /* arguments that run() passes to its function */
	size_t n_args;
	int (*run)(void *ctx, struct msd_any *ret);
	void *ctx;
};

/** Create captures for graphs of @dev, which must outlive it. NULL: out of memory. */
struct msd_captures *msd_captures_new(struct msd_dev *dev);
void msd_captures_free(struct msd_captures *c); /* NULL is fine */
/** Execute @r, with its graph if there is one. Returns as run() does. */
int msd_captures_run(struct msd_captures *c, const struct msd_region *r,
		     struct msd_any *ret);
/**
 * Return the first result of @r, identified by its index only. Returns as run() does.
 */
int msd_captures_keep(struct msd_captures *c, const struct msd_region *r,
		      struct msd_any *ret);

/* Totals of this process; any thread. */
struct msd_captures_count {
	uint64_t captured; /* regions */
	uint64_t
		launched; /* launched graphs, each in place of the work that it holds */
	uint64_t uncaptured;
	char why[128]; /* reason of the first capture that failed; "" */
};
void msd_captures_counted(struct msd_captures_count *ret);
/** True if a capture has failed. Cheap enough to check after each call. */
bool msd_captures_has_failed(void);

#endif
