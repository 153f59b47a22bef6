#ifndef MSD_WIRE_ACCOUNT_H
#define MSD_WIRE_ACCOUNT_H
/*
 * Bytes that somebody makes this process hold: a connection, whose connections they
 * are, all together; each account is the parent of the one before. What is charged to
 * one is charged to its parents, too, in steps: a small request and its reply touch
 * their connection's alone.
 *
 * What has come is there, so a charge never fails: who is over its limit is not read
 * from until it holds less. While a parent is over its own limit a child's is an equal
 * share of that: then somebody is always over it, and never the one that holds little.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSD_ACCOUNT_STEP_BYTES 16384u  /* in which parents are charged */
#define MSD_ACCOUNT_LEAST_BYTES 65536u /* no share is smaller */

struct msd_account {
	struct msd_account *parent; /* NULL: the root */
	uint64_t max_bytes;
	uint64_t used_bytes;   /* of a parent: in whole steps of its children */
	uint64_t ahead_bytes;  /* of used_bytes: what its owner is not stopped for */
	uint64_t passed_bytes; /* of used_bytes, rounded up: what the parent knows */
	uint64_t most_bytes;   /* used at a time since the owner set it back */
	uint32_t n_children;   /* open ones */
	/* Of a parent: the turn of the loop in which a child was served last, how long
	 * children were in it, as far as somebody measured, and how many. */
	uint64_t turn, served_ns;
	uint32_t n_served;
	/* Of a parent: the turn in which something was written to a child, and how much
	 * was, of all of them. */
	uint64_t write_turn, written_bytes;
	/** The root's, optional: a child gave something back. */
	void (*on_room)(struct msd_account *root);
};

/** An empty account below @parent, or NULL; it counts as a child until its close. */
void msd_account_open(struct msd_account *a, struct msd_account *parent,
		      uint64_t max_bytes);
/** Nothing is charged to it any more, nor to a child of it. */
void msd_account_close(struct msd_account *a);
/** It is a child of @parent from here on, with all that it holds; it had a parent. */
void msd_account_move(struct msd_account *a, struct msd_account *parent);
/** Tell the parents what changed: msd_account_charge() and _release(). */
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

/** What a struct msd_memory of proto/recognise.h tells: @ctx is the account. */
void msd_account_weigh(void *ctx, int64_t bytes);

/** The owner of @a is one of @most children of its parent that are served in @turn.
 * False: so many were, or they took @most_ns. */
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

/** Others of its parent's had their part of this turn before it. */
static inline bool msd_account_is_behind(const struct msd_account *a)
{
	return a->parent != NULL && a->parent->n_served > 1;
}

/** Its part took @ns. */
static inline void msd_account_spend(const struct msd_account *a, uint64_t ns)
{
	if (a->parent != NULL)
		a->parent->served_ns += ns;
}

/** Something may be written to the owner of @a in @turn. False: its parent's children
 * had @most_bytes. */
static inline bool msd_account_may_write(const struct msd_account *a, uint64_t turn,
					 uint64_t most_bytes)
{
	const struct msd_account *up = a->parent;

	return up == NULL || up->write_turn != turn || up->written_bytes < most_bytes;
}

/** So much was written to it in @turn. */
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

/** What its parents leave it, UINT64_MAX while none of them is over its own limit. */
uint64_t msd_account_share(const struct msd_account *a);
/** The smaller of its own limit and its share. */
uint64_t msd_account_limit(const struct msd_account *a);

/* What was read ahead, and handles. It is no reason to stop its owner, for whom
 * stopping would keep it; others have less room by it. */
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

/** What its owner can be stopped for. */
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
