#ifndef MSD_SUPERVISOR_HISTORY_H
#define MSD_SUPERVISOR_HISTORY_H
/*
 * What modules did in the last ten minutes, for the page (page.h): every ten seconds
 * their counters are looked at, and what has come since is a point. Kept while somebody
 * listens by HTTP, for each module that is there.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/wire/list.h"
#include "proto/bytes.h"
#include "proto/limits.h"

#define MSD_HISTORY_POINTS 60u
#define MSD_HISTORY_EVERY_MS 10000u

struct msd_house;

struct msd_history_point {
	uint64_t calls, run_ns;
};

struct msd_track {
	struct msd_list link; /* msd_history.tracks */
	char name[MSD_MAX_NAME_BYTES + 1];
	struct msd_history_point last; /* as counted since the module's start */
	struct msd_history_point points[MSD_HISTORY_POINTS]; /* a ring */
	uint32_t n;                                          /* points ever */
	bool is_there;
};

struct msd_history {
	struct msd_list tracks;
};

void msd_history_init(struct msd_history *h);
void msd_history_finish(struct msd_history *h);
/** The counters of the module @name are @now. What it counted before it was first
 * noted is no point. */
void msd_history_note(struct msd_history *h, const char *name,
		      struct msd_history_point now);
/** Look at all modules, and forget those that are gone. */
void msd_history_look(struct msd_history *h, const struct msd_house *house);
/** Append the points of @name, the oldest first, as JSON. */
void msd_history_write(const struct msd_history *h, struct msd_span name,
		       struct msd_buf *out);

#endif
