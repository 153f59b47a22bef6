#ifndef MSD_STORE_EDITIONS_H
#define MSD_STORE_EDITIONS_H
/*
 * Which edition of a module is served: steps on its record, without a disk and without
 * a clock. After each the caller saves the record before it does what follows from it.
 *
 *             try             good              proven
 *   (bytes) ------> candidate ------> current, ------> current
 *                       |     the old  watched
 *                       |     one is      |
 *                failed |     previous    | returned: previous is current again
 *                       '------> bad <----'
 *
 * What has had three attempts (its first load is one, each start of the daemon another)
 * without having proven itself is bad, too. What was proven may be interrupted as often
 * as power fails, and so may what there is nothing to go back from. Of a candidate and
 * one that is watched the candidate alone is counted: it is the newer one, and a start
 * that it cut short says nothing of the other.
 */
#include "store/record.h"

#define MSD_EDITION_ATTEMPTS 3u /* that a candidate, or a watched one, gets */

/** @e, which the record owns from here on, is to be tried, in place of an earlier
 * candidate. That it was bad once is forgotten: somebody asks for it again. */
void msd_record_try(struct msd_record *r, struct msd_edition *e);
/** The candidate has come up: it is current, and watched where there is one to go back
 * to. Nothing when there is none. */
void msd_record_good(struct msd_record *r);
/** Whether the current one has still to prove itself. */
bool msd_record_is_watched(const struct msd_record *r);
/** The current one has proven itself. */
void msd_record_proven(struct msd_record *r);
/** The daemon ended in good order: that start was no attempt. */
void msd_record_ended(struct msd_record *r);
/** The current one, which is watched, has failed, as @why says: it is bad, and the
 * previous one is current, for good. MSD_NOT_FOUND: it is not watched. */
MSD_MUST_CHECK msd_err msd_record_return(struct msd_record *r, const char *why,
					 struct msd_diag *d);
/** The edition @ref is to be tried again, in place of an earlier candidate; when that
 * is the previous one and it comes up, the current one is previous. MSD_NOT_FOUND
 * (there is none), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_record_again(struct msd_record *r, enum msd_ref ref,
					struct msd_diag *d);
/** The edition @ref of another module is to be tried, as by msd_record_again(). */
MSD_MUST_CHECK msd_err msd_record_copy(struct msd_record *r,
				       const struct msd_record *from, enum msd_ref ref,
				       struct msd_diag *d);
/** Somebody goes back to the previous edition by hand: the same, and the current one is
 * bad unless that fails, so that nothing brings it back by itself. */
MSD_MUST_CHECK msd_err msd_record_back(struct msd_record *r, struct msd_diag *d);
/** The candidate did not come up, as @why says: it is bad. Nothing when there is none.
 * Where nothing serves in its place, who loaded it was told, and the cause is not kept.
 */
void msd_record_failed(struct msd_record *r, const char *why);
/** The candidate is not to be tried after all; it is not bad. */
void msd_record_withdraw(struct msd_record *r);
/* What a start of the daemon does with a module. */
struct msd_record_begun {
	enum msd_ref ref;   /* what is served; MSD_REF_COUNT: nothing */
	bool try_candidate; /* in its place */
	bool has_given_up;  /* one has had all its attempts: the record's failure */
};

/** A start of the daemon. What has had all its attempts is bad. */
struct msd_record_begun msd_record_start(struct msd_record *r);
/** Give the previous edition up, for its room: how much that is, 0 where there is none,
 * where it may be gone back to by itself, and of what is pinned. */
uint64_t msd_record_spare(struct msd_record *r);
/** Whether an edition was found bad. */
bool msd_record_is_bad(const struct msd_record *r, const struct msd_digest *digest);

#endif
