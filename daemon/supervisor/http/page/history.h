#ifndef MSD_SUPERVISOR_HISTORY_H
#define MSD_SUPERVISOR_HISTORY_H
/*
 * Activity of modules in the last ten minutes, for the status page (page.h): a point
 * is the difference of their counters every ten seconds. Kept while there is an HTTP
 * listener, for each module.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/list.h"
#include "proto/base/bytes.h"
#include "proto/limits.h"

#define MSD_HISTORY_POINTS 60u
#define MSD_HISTORY_EVERY_MS 10000u

struct msd_module_registry;

struct msd_history_point {
	uint64_t calls, run_ns;
};

struct msd_track {
	struct msd_list link; /* msd_history.tracks */
	char name[MSD_MAX_NAME_BYTES + 1];
	struct msd_history_point last; /* counters since the module's start */
	struct msd_history_point points[MSD_HISTORY_POINTS]; /* a ring buffer */
	uint32_t n;                                          /* points so far */
	bool is_there;
};

struct msd_history {
	struct msd_list tracks;
};

void msd_history_init(struct msd_history *h);
void msd_history_finish(struct msd_history *h);
/**
 * Record that the counters of the module @name are @now. The first call only sets the
 * start values.
 */
void msd_history_note(struct msd_history *h, const char *name,
		      struct msd_history_point now);
/** Record all modules, and forget removed ones. */
void msd_history_look(struct msd_history *h,
		      const struct msd_module_registry *registry);
/** Append the points of @name, oldest first, as JSON. */
void msd_history_write(const struct msd_history *h, struct msd_span name,
		       struct msd_buf *out);

#endif
