#ifndef MSD_WIRE_ACCOUNT_H
#define MSD_WIRE_ACCOUNT_H
/*
 * Counts the bytes that this process holds for a connection, for all connections of
 * its peer, and for all peers together. Each account is the parent of the one before.
 * A charge also goes to the parents, but in steps: a small request and its reply
 * change only their connection's account.
 *
 * Received bytes already exist, so a charge never fails. A connection over its limit
 * is not read until it holds less. While a parent is over its own limit, each child
 * gets an equal share of that limit. Then at least one child is over its share, and
 * it is never one that holds little.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSD_ACCOUNT_STEP_BYTES 16384u  /* step for charges to parents */
#define MSD_ACCOUNT_LEAST_BYTES 65536u /* minimum share */

struct msd_account {
	struct msd_account *parent; /* NULL: the root */
	uint64_t max_bytes;
	uint64_t used_bytes;   /* for a parent: in whole steps of its children */
	uint64_t ahead_bytes;  /* part of used_bytes that does not stop its owner */
	uint64_t passed_bytes; /* used_bytes rounded up: the amount charged to the
				  parent */
	uint64_t most_bytes;   /* peak of used_bytes since the owner reset it */
	uint32_t n_children;   /* open children */
	/* Parent only: the loop iteration that last served a child, the measured time
	 * of its children, and their number. */
	uint64_t turn, served_ns;
	uint32_t n_served;
	/* Parent only: the loop iteration that last wrote to a child, and the bytes
	 * written to all of them. */
	uint64_t write_turn, written_bytes;
	/** Optional, root only: called when a child gives bytes back. */
	void (*on_room)(struct msd_account *root);
};

/**
 * Open an empty account below @parent, or NULL. It counts as a child until its close.
 */
void msd_account_open(struct msd_account *a, struct msd_account *parent,
		      uint64_t max_bytes);
/** After this no charge to it or to its children is allowed. */
void msd_account_close(struct msd_account *a);
/** Make it a child of @parent, with all bytes that it holds. It must have a parent. */
void msd_account_move(struct msd_account *a, struct msd_account *parent);
/** Pass changes to the parents; used by msd_account_charge() and _release(). */
void msd_account_settle(struct msd_account *a);

static inline void msd_account_charge(struct msd_account *a, uint64_t bytes)
{
	a->used_bytes += bytes;
	if (a->used_bytes > a->passed_bytes)
		msd_account_settle(a);
}

static inline void msd_account_release(struct msd_account *a, uint64_t bytes)
{
	a->used_bytes -= bytes;
	if (a->passed_bytes - a->used_bytes > 2 * MSD_ACCOUNT_STEP_BYTES)
		msd_account_settle(a);
}

/** Callback of struct msd_memory in proto/recognise.h; @ctx is the account. */
void msd_account_weigh(void *ctx, int64_t bytes);

/**
 * Count the owner of @a as one of @most children of its parent that are served in
 * @turn. False if that many were served, or they took @most_ns.
 */
static inline bool msd_account_has_turn(const struct msd_account *a, uint64_t turn,
					uint32_t most, uint64_t most_ns)
{
	struct msd_account *up = a->parent;

	if (up == NULL)
		return true;
	if (up->turn != turn) {
		up->n_served = 0;
		up->served_ns = 0;
	}
	up->turn = turn;
	if (up->n_served >= most || up->served_ns >= most_ns)
		return false;
	up->n_served++;
	return true;
}

/** True if another child of its parent was served before it in this iteration. */
static inline bool msd_account_is_behind(const struct msd_account *a)
{
	return a->parent != NULL && a->parent->n_served > 1;
}

/** Add @ns to the time of its parent's children. */
static inline void msd_account_spend(const struct msd_account *a, uint64_t ns)
{
	if (a->parent != NULL)
		a->parent->served_ns += ns;
}

/**
 * True if bytes may be written to the owner of @a in @turn. False if its parent's
 * children had @most_bytes.
 */
static inline bool msd_account_may_write(const struct msd_account *a, uint64_t turn,
					 uint64_t most_bytes)
{
	const struct msd_account *up = a->parent;

	return up == NULL || up->write_turn != turn || up->written_bytes < most_bytes;
}

/** Count @bytes written to it in @turn. */
static inline void msd_account_wrote(const struct msd_account *a, uint64_t turn,
				     uint64_t bytes)
{
	struct msd_account *up = a->parent;

	if (up == NULL)
		return;
	if (up->write_turn != turn)
		up->written_bytes = 0;
	up->write_turn = turn;
	up->written_bytes += bytes;
}

/**
 * The limit that its parents leave it; UINT64_MAX while no parent is over its own
 * limit.
 */
uint64_t msd_account_share(const struct msd_account *a);
/** The smaller of its own limit and its share. */
uint64_t msd_account_limit(const struct msd_account *a);

/* For read-ahead bytes and handles. They do not stop their owner, because a stopped
 * owner could not free them, but they reduce the room of other children. */
static inline void msd_account_read_ahead(struct msd_account *a, uint64_t bytes)
{
	a->ahead_bytes += bytes;
	msd_account_charge(a, bytes);
}

static inline void msd_account_served(struct msd_account *a, uint64_t bytes)
{
	a->ahead_bytes -= bytes;
	msd_account_release(a, bytes);
}

/** Bytes that can stop its owner. */
static inline uint64_t msd_account_kept(const struct msd_account *a)
{
	return a->used_bytes - a->ahead_bytes;
}

static inline bool msd_account_is_over(const struct msd_account *a)
{
	return msd_account_kept(a) > MSD_ACCOUNT_LEAST_BYTES &&
	       msd_account_kept(a) > msd_account_limit(a);
}

#endif
