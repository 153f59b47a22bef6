#ifndef MSD_WIRE_WIRE_H
#define MSD_WIRE_WIRE_H
/*
 * State shared by all connections of one loop: the read buffer, the list of
 * connections with data to write, and the list that waits for the next loop
 * iteration. Each iteration serves both lists once, just before the loop sleeps. The
 * loop does not sleep while a connection waits for its next iteration.
 */
#include <uv.h>

#include "daemon/loop/account.h"
#include "daemon/loop/list.h"
#include "daemon/loop/retry.h"
#include "daemon/loop/task.h"
#include "proto/base/diag.h"

/* Share of one peer's connections in a loop iteration, for all protocols: a number of
 * connections, and a time if there is more than one. */
#define MSD_CONN_TURN_SHARE 64u
#define MSD_CONN_SHARE_US 2000u
/*
 * Bytes written to one peer's connections in one iteration, which takes a millisecond
 * or two. One connection may exceed it at once. A write counts as at least
 * MSD_CONN_LEAST_WRITE.
 */
#define MSD_CONN_SHARE_BYTES (2u << 20)
#define MSD_CONN_LEAST_WRITE (16u << 10)

/* A connection that the wire schedules. */
struct msd_schedulable {
	struct msd_list link; /* in msd_wire.waiting: waits for its next iteration */
	uint64_t turn;        /* number of the loop iteration that served it last */
	/* Borrowed; its parent is the peer's account. NULL: it shares with no other. */
	const struct msd_account *account;
	/** Serve it now; it leaves the list, or is passed over. */
	void (*have_turn)(struct msd_schedulable *t);
};

struct msd_wire {
	uv_loop_t *loop;
	uv_prepare_t prepare;
	uv_idle_t awake;             /* active while a connection waits */
	struct msd_list dirty;       /* msd_conn.dirty_link */
	struct msd_list waiting;     /* msd_schedulable.link */
	struct msd_list passed_over; /* same link: their peer had its share */
	struct msd_tasks tasks;      /* all deferred work of the loop */
	struct msd_retry retry;      /* for the dirty list */
	struct msd_retry bringing;   /* until passed descriptors are closed */
	/* Accounts shared by all workers, as one peer. Nothing is charged to them. */
	struct msd_account workers, worker;
	bool is_awake;
	uint64_t (*clock_ns)(void); /* clock for shares; only differences count */
	uint64_t now_ns; /* last result of clock_ns; 0: not read since the loop slept */
	uint8_t *rbuf;   /* frames of the connection being served */
	size_t rbuf_bytes;
	uint8_t *waste; /* as large: for dropped bytes of a closed connection, even
			   while another is being served */
	/* From this number on, descriptors are reserved and clients may not use them.
	 * 0: not set. */
	int last_fd;
	/* Totals of all connections since the start; a caller that reads twice gets
	 * the difference. Only complete received frames count. */
	struct {
		uint64_t turns, frames, bytes_in, bytes_out;
	} count;
};

static inline void msd_wire_count_turn(struct msd_wire *w)
{
	w->count.turns++;
}
static inline void msd_wire_count_frame(struct msd_wire *w)
{
	w->count.frames++;
}
static inline void msd_wire_count_in(struct msd_wire *w, uint64_t bytes)
{
	w->count.bytes_in += bytes;
}
static inline void msd_wire_count_out(struct msd_wire *w, uint64_t bytes)
{
	w->count.bytes_out += bytes;
}

/**
 * True if @fd is one of the last descriptors: the kernel always gives the lowest free
 * number.
 */
static inline bool msd_wire_is_last(const struct msd_wire *w, int fd)
{
	return w->last_fd > 0 && fd >= w->last_fd;
}

/** Read the clock now. */
static inline uint64_t msd_wire_look_ns(struct msd_wire *w)
{
	w->now_ns = w->clock_ns();
	return w->now_ns;
}
/**
 * The time of the first clock reading since the loop slept; reads the clock if there
 * was none.
 */
static inline uint64_t msd_wire_now_ns(struct msd_wire *w)
{
	return w->now_ns != 0 ? w->now_ns : msd_wire_look_ns(w);
}

/**
 * When the share of @t begins. 0: it is not measured, because @t is the first of its
 * peer.
 */
static inline uint64_t msd_schedulable_begins(const struct msd_schedulable *t,
					      struct msd_wire *w)
{
	if (t->account == NULL || !msd_account_is_behind(t->account))
		return 0;
	return msd_wire_look_ns(w); /* earlier time belongs to other connections */
}
/**
 * True if the peer of @t has used its share of this iteration, and @t waits for the
 * next one. Otherwise @t counts as served, and is in no list.
 */
static inline bool msd_schedulable_is_passed_over(struct msd_schedulable *t,
						  struct msd_wire *w)
{
	const bool waits = !msd_list_is_empty(&t->link);

	if (t->account == NULL ||
	    msd_account_has_turn(t->account, w->count.turns, MSD_CONN_TURN_SHARE,
				 MSD_CONN_SHARE_US * 1000u)) {
		if (waits)
			msd_list_remove(&t->link);
		return false;
	}
	if (!waits || msd_list_first(&w->waiting) == &t->link) {
		msd_list_remove(&t->link);
		msd_list_append(&w->passed_over, &t->link);
	}
	return true;
}

/** True if the peer of @a has not used its share of written bytes in this iteration. */
static inline bool msd_wire_may_write(const struct msd_wire *w,
				      const struct msd_account *a)
{
	return msd_account_may_write(a, w->count.turns, MSD_CONN_SHARE_BYTES);
}
static inline void msd_wire_wrote(const struct msd_wire *w, const struct msd_account *a,
				  uint64_t bytes)
{
	msd_account_wrote(a, w->count.turns,
			  bytes > MSD_CONN_LEAST_WRITE ? bytes : MSD_CONN_LEAST_WRITE);
}

/**
 * Initialize the state that all connections on @loop share. Errors: MSD_NOMEM;
 * msd_wire_finish() is legal then.
 */
MSD_MUST_CHECK msd_err msd_wire_init(struct msd_wire *w, uv_loop_t *loop,
				     struct msd_diag *d);
void msd_wire_close(struct msd_wire *w);  /* close the handles, before the loop ends */
void msd_wire_finish(struct msd_wire *w); /* free memory, after the loop ended */

#endif
