#ifndef MSD_STORE_EDITIONS_H
#define MSD_STORE_EDITIONS_H
/*
 * Select the edition of a module to serve. Steps on its record, without disk or clock
 * access. After each step the caller must save the record before it acts on the step.
 *
 *             try             good              proven
 *   (bytes) ------> candidate ------> current, ------> current
 *                       |     the old  watched
 *                       |     one is      |
 *                failed |     previous    | returned: previous is current again
 *                       '------> bad <----'
 *
 * An edition is also bad after three attempts without success; its first load and
 * each start of the daemon count as one. Proven editions have no attempt limit, and
 * neither has an edition without a rollback target. If there are both a candidate and
 * a watched edition, only the candidate's attempts count: it is newer, and a start
 * that it interrupted proves nothing about the other.
 */
#include "store/record.h"

#define MSD_EDITION_ATTEMPTS 3u /* for a candidate or a watched edition */

/**
 * Make @e, which the record owns from now on, the candidate, in place of an earlier
 * one. An explicit request clears an earlier bad mark.
 */
void msd_record_try(struct msd_record *r, struct msd_edition *e);
/**
 * The candidate started: it becomes current. It is watched if there is a rollback
 * target. No effect without a candidate.
 */
void msd_record_good(struct msd_record *r);
/** True if the current edition is still watched. */
bool msd_record_is_watched(const struct msd_record *r);
/** The current edition is proven. */
void msd_record_proven(struct msd_record *r);
/** The daemon stopped cleanly: this start does not count as an attempt. */
void msd_record_ended(struct msd_record *r);
/**
 * The watched current edition failed because of @why: mark it bad, and make the
 * previous one current permanently. MSD_NOT_FOUND: it is not watched.
 */
MSD_MUST_CHECK msd_err msd_record_return(struct msd_record *r, const char *why,
					 struct msd_diag *d);
/**
 * Make the edition @ref a candidate again, in place of an earlier one. If it is the
 * previous edition and it starts, the current one becomes previous. MSD_NOT_FOUND (no
 * such edition), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_record_again(struct msd_record *r, enum msd_ref ref,
					struct msd_diag *d);
/** Make the edition @ref of another module the candidate, as by msd_record_again(). */
MSD_MUST_CHECK msd_err msd_record_copy(struct msd_record *r,
				       const struct msd_record *from, enum msd_ref ref,
				       struct msd_diag *d);
/**
 * Manual rollback to the previous edition: as msd_record_again(), and the current
 * edition is marked bad, so that it is never reloaded automatically. If the rollback
 * fails, the mark is removed.
 */
MSD_MUST_CHECK msd_err msd_record_back(struct msd_record *r, struct msd_diag *d);
/**
 * The candidate did not start because of @why: mark it bad. No effect without a
 * candidate. If no other edition serves, the cause is not stored, because the client
 * that loaded it received the error.
 */
void msd_record_failed(struct msd_record *r, const char *why);
/** Drop the candidate without marking it bad. */
void msd_record_withdraw(struct msd_record *r);
/* Actions for a module at a start of the daemon. */
struct msd_record_begun {
	enum msd_ref ref;   /* edition to serve; MSD_REF_COUNT: none */
	bool try_candidate; /* then replace it by the candidate */
	bool has_given_up;  /* an edition has used all its attempts: see the record's
			       failure */
};

/**
 * Count a start of the daemon. An edition that has used all its attempts becomes bad.
 */
struct msd_record_begun msd_record_start(struct msd_record *r);
/**
 * Remove the previous edition to free space. Returns its bytes; 0 if there is none,
 * if it is the automatic rollback target, or if the module is pinned.
 */
uint64_t msd_record_spare(struct msd_record *r);
/** True if the edition is marked bad. */
bool msd_record_is_bad(const struct msd_record *r, const struct msd_digest *digest);

#endif
