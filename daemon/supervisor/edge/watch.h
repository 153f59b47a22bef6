#ifndef MSD_SUPERVISOR_WATCH_H
#define MSD_SUPERVISOR_WATCH_H
/*
 * Which connections are ended because nothing comes of them: no first frame, a frame
 * that does not go on, replies that are not read, and, where it is asked for, silence.
 *
 * It compares what a connection has counted with what it had counted the last time, so
 * that reading and writing keep no clock.
 */
#include <stdbool.h>

#include "daemon/limits.h"

#define MSD_WATCH_PROGRESS_BYTES (64u * 1024u) /* in read_stall_ms, or all the rest */

/* Of one connection. */
struct msd_watch {
	uint64_t opened_ms;
	uint64_t frames, bytes; /* counted when the frame it is in went on last */
	uint64_t owed_since_ms; /* ... that is when */
	uint64_t heard_bytes;   /* counted when something came or was awaited last */
	uint64_t quiet_since_ms;
	uint64_t written_ms;  /* last_progress_ms of the last time, ... */
	uint64_t forgiven_ms; /* ... and for how long since then nobody looked */
};

/* What a watch is asked about at one moment. */
struct msd_watch_view {
	uint64_t frames;       /* whole frames that have come; by HTTP whole requests */
	uint64_t bytes_in;     /* likewise */
	uint64_t queued_bytes; /* replies that are not yet written */
	uint64_t last_progress_ms; /* of writing them */
	uint64_t
		used_ms; /* when a channel of its own was last, to a worker; 0: never */
	uint64_t now_ms;
	uint64_t away_ms; /* before that the daemon did not run */
	bool is_owed;     /* one has begun, and its rest is for the peer to send */
	bool is_awaiting; /* requests are in flight */
	bool is_pressed;  /* others wait for the memory that its frame holds */
};

/** Of a connection that was opened at @now_ms and has counted nothing. */
void msd_watch_init(struct msd_watch *w, uint64_t now_ms);
/** Why the connection is to be ended now; NULL: it is not. */
const char *msd_watch_look(struct msd_watch *w, const struct msd_watch_view *v,
			   const struct msd_limits *limits);
/** How often to look, so that the limits hold to a quarter. */
uint64_t msd_watch_every_ms(const struct msd_limits *limits);

#endif
