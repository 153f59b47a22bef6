#ifndef MSD_FETCH_PLACE_H
#define MSD_FETCH_PLACE_H
/* Where what a job's plan wants next is, and where it goes: files into the landing, a
 * manifest or a signature beside it. */
#include "daemon/fetch/job.h"

/** It is a manifest or a signature. */
bool msd_place_is_text(const struct msd_job *job);
/** Make its place, for @bytes, with what an earlier fetch has saved of @digest (NULL:
 * nobody knows). Errors: those of the landing. */
MSD_MUST_CHECK msd_err msd_place_open(struct msd_job *job, uint64_t bytes,
				      const struct msd_digest *digest,
				      struct msd_diag *d);
/** Its place, which is open. */
struct msd_landing *msd_place_of(struct msd_job *job);
/** Its URI, owned by the caller. MSD_NOMEM, and those of msd_uri_beside(). */
MSD_MUST_CHECK msd_err msd_place_uri(const struct msd_job *job, char **ret,
				     struct msd_diag *d);
/** The plan looks at what came. Errors: those of msd_plan_text(), msd_plan_came(). */
MSD_MUST_CHECK msd_err msd_place_look(struct msd_job *job, struct msd_diag *d);
/** It was looked at with @err and @d: whether it may be right when it is brought once
 * more, without what was saved of it; then @d is finished. */
bool msd_place_again(struct msd_job *job, msd_err err, struct msd_diag *d);

#endif
