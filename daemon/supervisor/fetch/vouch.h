#ifndef MSD_SUPERVISOR_VOUCH_H
#define MSD_SUPERVISOR_VOUCH_H
/*
 * Who vouches for what is fetched, and what they have signed so far: the versions are
 * on the disk before anybody does what follows from them.
 *
 * All calls on the loop's thread.
 */
#include "daemon/supervisor/fetch/fetched.h"
#include "daemon/supervisor/keep/keeper.h"
#include "store/floors.h"

struct msd_vouch {
	/* The server's. */
	struct msd_keeper *keeper;
	struct msd_trust trust;
	/* Its own. */
	struct msd_floors floors;
	char *fault; /* why they are not known; NULL: they are */
};

/* What came signed, while its versions are written down. */
struct msd_vouched {
	struct msd_keeper_job job; /* its err: MSD_OK, or it is not to be taken */
	struct msd_fetched got;    /* its source the owner's in done() */
	uint64_t id;               /* the owner's */
	void *user;
	/** Once, on a later turn; then it is freed. */
	void (*done)(struct msd_vouched *v, struct msd_diag *d);
	/* Its own. */
	struct msd_vouch *vouch;
	char *name, *file;
	struct msd_buf tests;
};

/** The keeper has been opened: read what has been signed. Waits for the disk. */
void msd_vouch_open(struct msd_vouch *v);
void msd_vouch_finish(struct msd_vouch *v);
#define MSD_VOUCH_KEYS 5u
/** Append MSD_VOUCH_KEYS pairs of a fetch.get of the module @name. */
void msd_vouch_put(const struct msd_vouch *v, const char *name, enum msd_policy policy,
		   struct msd_buf *ret);
/** Whether what is signed can be judged at all; what could not be read before is read
 * again, which waits for the disk. MSD_IO, saying what can be done. */
MSD_MUST_CHECK msd_err msd_vouch_check(struct msd_vouch *v, struct msd_diag *d);
/** Write down that @got of the module @name is signed. Takes its source, also when
 * nothing was begun: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_vouch_take(struct msd_vouch *v, const char *name,
				      struct msd_fetched *got, struct msd_vouched **ret,
				      struct msd_diag *d);

#endif
