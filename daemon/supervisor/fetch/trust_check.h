#ifndef MSD_SUPERVISOR_TRUST_CHECK_H
#define MSD_SUPERVISOR_TRUST_CHECK_H
/*
 * Trust checks of fetched content, and the minimum versions of signed modules. A
 * version is on the disk before anything depends on it.
 *
 * Call all functions on the loop's thread.
 */
#include "daemon/supervisor/fetch/fetched.h"
#include "daemon/supervisor/keep/keeper.h"
#include "store/minimum_versions.h"

struct msd_trust_check {
	/* Set by the server. */
	struct msd_keeper *keeper;
	struct msd_trust trust;
	/* Private. */
	struct msd_minimum_versions floors;
	char *fault; /* why the versions are not known; NULL: they are known */
};

/* A signed result, while its version is being written. */
struct msd_checked_trust {
	struct msd_keeper_job job; /* its err: MSD_OK, or the result is rejected */
	struct msd_fetched got;    /* done() takes its source */
	uint64_t id;               /* for the owner */
	void *user;
	/** Called once, in a later loop iteration; then it is freed. */
	void (*done)(struct msd_checked_trust *v, struct msd_diag *d);
	/* Private. */
	struct msd_trust_check *vouch;
	char *name, *file;
	struct msd_buf tests;
};

/** The keeper has been opened: read the minimum versions. Blocks on the disk. */
void msd_trust_check_open(struct msd_trust_check *v);
void msd_trust_check_finish(struct msd_trust_check *v);
#define MSD_TRUST_CHECK_KEYS 5u
/** Append MSD_TRUST_CHECK_KEYS pairs of a fetch.get of the module @name. */
void msd_trust_check_put(const struct msd_trust_check *v, const char *name,
			 enum msd_policy policy, struct msd_buf *ret);
/**
 * Check that signatures can be judged. If the versions could not be read before, read
 * them again, which blocks on the disk. Errors: MSD_IO; the text says how to repair
 * it.
 */
MSD_MUST_CHECK msd_err msd_trust_check_check(struct msd_trust_check *v,
					     struct msd_diag *d);
/**
 * Record that @got of the module @name is signed. Takes its source, also on an error.
 * Errors: MSD_NOMEM (nothing was begun).
 */
MSD_MUST_CHECK msd_err msd_signature_check_set(struct msd_trust_check *v,
					       const char *name,
					       struct msd_fetched *got,
					       struct msd_checked_trust **ret,
					       struct msd_diag *d);

#endif
