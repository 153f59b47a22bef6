#ifndef MSD_WIRE_CONN_TIMEOUT_H
#define MSD_WIRE_CONN_TIMEOUT_H
/*
 * Connection timeouts: no first frame, a stalled frame, unread replies and, if
 * configured, an idle connection.
 *
 * Each check compares the counters of a connection with those of the last check, so
 * that reads and writes need no clock.
 */
#include <stdbool.h>

#include "daemon/limits.h"

#define MSD_CONN_TIMEOUT_PROGRESS_BYTES                                                \
	(64u * 1024u) /* in read_stall_ms, or the rest */

/* The timeout state of one connection. */
struct msd_conn_timeout {
	uint64_t opened_ms;
	uint64_t frames, bytes; /* counters at the last progress of the current frame */
	uint64_t owed_since_ms; /* ... and the time */
	uint64_t heard_bytes;   /* bytes at the last input or pending reply */
	uint64_t quiet_since_ms;
	uint64_t written_ms;  /* last_progress_ms at the last check, ... */
	uint64_t forgiven_ms; /* ... and the time since then when the daemon did not run
			       */
};

/* The state of a connection at one moment. */
struct msd_conn_timeout_view {
	uint64_t frames;           /* complete frames; with HTTP, complete requests */
	uint64_t bytes_in;         /* received bytes */
	uint64_t queued_bytes;     /* unwritten replies */
	uint64_t last_progress_ms; /* of writing replies */
	uint64_t used_ms; /* last use of a direct channel to a worker; 0: never */
	uint64_t now_ms;
	uint64_t away_ms; /* the daemon did not run for this long before */
	bool is_owed;     /* a frame has begun, and the peer must send the rest */
	bool is_awaiting; /* requests are in flight */
	bool is_pressed;  /* other clients wait for the memory of its frame */
};

/** Initialize for a connection opened at @now_ms, with all counters 0. */
void msd_conn_timeout_init(struct msd_conn_timeout *w, uint64_t now_ms);
/** Return why the connection must be closed now. NULL: it stays. */
const char *msd_conn_timeout_look(struct msd_conn_timeout *w,
				  const struct msd_conn_timeout_view *v,
				  const struct msd_limits *limits);
/** Return the check interval that keeps the timeouts within a quarter. */
uint64_t msd_conn_timeout_every_ms(const struct msd_limits *limits);

#endif
