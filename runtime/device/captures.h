#ifndef MSD_RUNTIME_DEVICE_CAPTURES_H
#define MSD_RUNTIME_DEVICE_CAPTURES_H
/*
 * What a virtual machine has captured: work of its device that its code marks as the
 * same each time, as graphs, and the memory that this work has from call to call.
 *
 * A region has a number, and the extents that it was captured for. The first call runs
 * it, then captures it; later ones queue the graph. What cannot be captured (device.h
 * says what) runs each time, as it would without graphs; so does what is new when
 * MSD_MAX_CAPTURES are kept, and what has arguments that lie elsewhere than those it
 * was captured with: a graph holds their addresses. Owned by its VM, one thread at a
 * time.
 */
#include "runtime/device/device.h"
#include "runtime/value/value.h"

#define MSD_MAX_CAPTURES 64u

struct msd_captures;

/** One region: its result is (re)computed by run(), which may be called twice and
 * gives 0, or -1 with the thread's error set (runtime/value/error.h). */
struct msd_region {
	int64_t index;
	const int64_t *extents; /* that it depends on */
	size_t n_extents;
	const struct msd_any *args; /* what run() gives its function */
	size_t n_args;
	int (*run)(void *ctx, struct msd_any *ret);
	void *ctx;
};

/** For graphs of @dev, which outlives it. NULL: out of memory. */
struct msd_captures *msd_captures_new(struct msd_dev *dev);
void msd_captures_free(struct msd_captures *c); /* NULL is fine */
/** Have @r done, by its graph where there is one; as run() returns. */
int msd_captures_run(struct msd_captures *c, const struct msd_region *r,
		     struct msd_any *ret);
/** What @r gave the first time, of its index alone; as run() returns. */
int msd_captures_keep(struct msd_captures *c, const struct msd_region *r,
		      struct msd_any *ret);

/* Of all in this process, any thread. */
struct msd_captures_count {
	uint64_t captured; /* regions */
	uint64_t launched; /* graphs, in the place of all that they hold */
	uint64_t uncaptured;
	char why[128]; /* the first of those could not be; "" */
};
void msd_captures_counted(struct msd_captures_count *ret);
/** One could not be: cheap, for whoever asks after each call. */
bool msd_captures_has_failed(void);

#endif
