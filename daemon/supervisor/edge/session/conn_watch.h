#ifndef MSD_SUPERVISOR_CONN_WATCH_H
#define MSD_SUPERVISOR_CONN_WATCH_H
/*
 * Checks the timeouts of a list of connections at intervals (conn_timeout.h), and
 * closes those that are late. A task does it: each step checks some connections, or
 * closes one, because sending the reason and dropping its data takes up to some
 * milliseconds.
 */
#include "daemon/limits.h"
#include "daemon/supervisor/request/deadline.h"

struct msd_conn_watch;

struct msd_conn_watch_ops {
	/** Return how many connections wait for memory. */
	uint64_t (*count_waiting)(struct msd_conn_watch *w);
	/**
	 * Check the connection with the link @it. Returns why it must be closed, or
	 * NULL. @n_waiting is that number; @away_ms: the daemon did not run for this
	 * long before (deadline.h).
	 */
	const char *(*look)(struct msd_list *it, uint64_t n_waiting, uint64_t away_ms);
	void (*close)(struct msd_list *it, const char *why);
};

/* All zeros: not begun. Private. */
struct msd_conn_watch {
	const struct msd_conn_watch_ops *ops;
	struct msd_deadlines *deadlines; /* NULL: not begun */
	const struct msd_limits *limits;
	struct msd_list *all;
	struct msd_deadline next; /* begins a round */
	struct msd_task round;
	uint64_t away_ms, n_waiting; /* of this round */
	uint32_t n_left;             /* connections to check in this round */
};

/** Check the connections of @all from now on. No effect if it has begun. */
void msd_conn_watch_begin(struct msd_conn_watch *w, struct msd_deadlines *deadlines,
			  const struct msd_limits *limits, struct msd_list *all,
			  const struct msd_conn_watch_ops *ops);
void msd_conn_watch_end(struct msd_conn_watch *w);

#endif
