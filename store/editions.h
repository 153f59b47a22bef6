#ifndef MSD_STORE_EDITIONS_H
#define MSD_STORE_EDITIONS_H
/*
 * Which edition of a module is served: steps on its record, without a disk and without
 * a clock. After each the caller saves the record before it does what follows from it.
 *
 *             try             good
 *   (bytes) ------> candidate ------> current ------> previous (of the last one)
 *                       |      the old one becomes previous
 *                       | failed, or its third start
 *                       v
 *                      bad
 *
 * A start counts against a candidate alone: what was good once may be interrupted as
 * often as power fails.
 */
#include "store/record.h"

#define MSD_EDITION_ATTEMPTS 3u /* starts that a candidate gets */

/** @e, which the record owns from here on, is to be tried, in place of an earlier
 * candidate. That it was bad once is forgotten: somebody asks for it again. */
void msd_record_try(struct msd_record *r, struct msd_edition *e);
/** The candidate has come up: it is current. Nothing when there is none. */
void msd_record_good(struct msd_record *r);
/** The edition @ref is to be tried again, in place of an earlier candidate; when that
 * is the previous one and it comes up, the current one is previous. MSD_NOT_FOUND
 * (there is none), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_record_again(struct msd_record *r, enum msd_ref ref,
					struct msd_diag *d);
/** Somebody goes back to the previous edition by hand: the same, and the current one is
 * bad unless that fails, so that nothing brings it back by itself. */
MSD_MUST_CHECK msd_err msd_record_back(struct msd_record *r, struct msd_diag *d);
/** The candidate did not come up: it is bad. Nothing when there is none. */
void msd_record_failed(struct msd_record *r);
/** The candidate is not to be tried after all; it is not bad. */
void msd_record_withdraw(struct msd_record *r);
/** A start of the daemon: which edition is served, MSD_REF_COUNT for none, and whether
 * the candidate is tried in its place. A candidate that has had all its attempts is
 * bad. */
enum msd_ref msd_record_start(struct msd_record *r, bool *ret_try_candidate);
/** Whether an edition was found bad. */
bool msd_record_is_bad(const struct msd_record *r, const struct msd_digest *digest);

#endif
