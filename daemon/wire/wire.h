#ifndef MSD_WIRE_WIRE_H
#define MSD_WIRE_WIRE_H
/*
 * What all connections of one loop share: the read buffer, and the lists of those that
 * have something to write and of those that wait for their next turn. Both are served
 * once in each turn of the loop, just before it sleeps; while somebody waits for a turn
 * it does not sleep.
 */
#include <uv.h>

#include "daemon/wire/account.h"
#include "daemon/wire/ending.h"
#include "daemon/wire/list.h"
#include "daemon/wire/retry.h"
#include "proto/diag.h"

/* One peer's connections in a turn of the loop, however they speak: so many, and, when
 * there is more than one, so long. */
#define MSD_CONN_TURN_SHARE 64u
#define MSD_CONN_SHARE_US 2000u
/* What is written to them in it, with what one of them may have more, where a write
 * counts as so much at least: what takes a millisecond or two. */
#define MSD_CONN_SHARE_BYTES (2u << 20)
#define MSD_CONN_LEAST_WRITE (16u << 10)

/* A connection, as one of those that take turns. */
struct msd_taker {
	struct msd_list link; /* msd_wire.waiting: for its next turn */
	uint64_t turn;        /* the loop's, when it had its last */
	/* Borrowed; whose parent is its peer's. NULL: it shares with nobody. */
	const struct msd_account *account;
	/** It is its turn; it leaves the list, or is passed over. */
	void (*have_turn)(struct msd_taker *t);
};

struct msd_wire {
	uv_loop_t *loop;
	uv_prepare_t prepare;
	uv_idle_t awake;             /* runs while somebody waits */
	struct msd_list dirty;       /* msd_conn.dirty_link */
	struct msd_list waiting;     /* msd_taker.link */
	struct msd_list passed_over; /* the same link: those whose peer had its share */
	struct msd_ending ending;    /* closed connections, that are to be freed */
	struct msd_retry retry;      /* of who is dirty */
	struct msd_retry bringing;   /* of who waits until descriptors are closed */
	/* The peer that all workers are, and whoever of them has a turn. Nothing is
	 * charged to them. */
	struct msd_account workers, worker;
	bool is_awake;
	uint64_t (*clock_ns)(
		void);   /* what a turn is measured with; only differences count */
	uint64_t now_ns; /* what that said last; 0: nobody has asked since the loop
			    slept */
	uint8_t *rbuf;   /* frames of whose turn it is */
	size_t rbuf_bytes;
	uint8_t *waste; /* as many bytes: what is dropped of who is closed, mostly in
			   another's turn */
	/* From this number on the process has only its last descriptors, which clients
	 * have no part of; 0: nobody has said so. */
	int last_fd;
	/* What was done since the start, of all connections: who asks twice learns how
	 * much lay between. Frames are whole ones that came. */
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

/** The kernel gives the lowest number that is free: @fd is among the last. */
static inline bool msd_wire_is_last(const struct msd_wire *w, int fd)
{
	return w->last_fd > 0 && fd >= w->last_fd;
}

/** The time, read now. */
static inline uint64_t msd_wire_look_ns(struct msd_wire *w)
{
	w->now_ns = w->clock_ns();
	return w->now_ns;
}
/** The time as it was read since the loop slept last: now, when nobody has yet. */
static inline uint64_t msd_wire_now_ns(struct msd_wire *w)
{
	return w->now_ns != 0 ? w->now_ns : msd_wire_look_ns(w);
}

/** When the part of @t begins; 0: it is not measured, for it is the first of those with
 * whom it shares. */
static inline uint64_t msd_taker_begins(const struct msd_taker *t, struct msd_wire *w)
{
	if (t->account == NULL || !msd_account_is_behind(t->account))
		return 0;
	return msd_wire_look_ns(w); /* what was before is others' time */
}
/** Those with whom @t shares have had all that they may of this turn: it waits for the
 * next one. Else it is one of them, and in no list. */
static inline bool msd_taker_is_passed_over(struct msd_taker *t, struct msd_wire *w)
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

/** Those with whom the owner of @a shares have not been written all that they may be in
 * this turn. */
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

/** What all connections on @loop share. Errors: MSD_NOMEM; finish is legal then. */
MSD_MUST_CHECK msd_err msd_wire_init(struct msd_wire *w, uv_loop_t *loop,
				     struct msd_diag *d);
void msd_wire_close(struct msd_wire *w);  /* closes the handles, before the loop ends */
void msd_wire_finish(struct msd_wire *w); /* frees memory, after the loop ended */

#endif
