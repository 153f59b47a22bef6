#ifndef MSD_FETCH_TARGET_H
#define MSD_FETCH_TARGET_H
/* Source and destination of the file that a job's plan wants next. Files go into the
 * download buffer; a manifest or a signature goes into a separate buffer. */
#include "daemon/fetch/job.h"

/** True if the wanted file is a manifest or a signature. */
bool msd_fetch_target_is_text(const struct msd_job *job);
/**
 * Prepare the destination for @bytes, with the bytes that an earlier fetch saved for
 * @digest (NULL if unknown). Errors: those of the download buffer.
 */
MSD_MUST_CHECK msd_err msd_fetch_target_open(struct msd_job *job, uint64_t bytes,
					     const struct msd_digest *digest,
					     struct msd_diag *d);
/** The destination, which must be open. */
struct msd_download_buffer *msd_fetch_target_of(struct msd_job *job);
/** The source URI, owned by the caller. MSD_NOMEM, and those of msd_uri_beside(). */
MSD_MUST_CHECK msd_err msd_fetch_target_uri(const struct msd_job *job, char **ret,
					    struct msd_diag *d);
/**
 * Pass the received file to the plan for its check. Errors: those of
 * msd_fetch_steps_text(), msd_fetch_steps_came().
 */
MSD_MUST_CHECK msd_err msd_fetch_target_look(struct msd_job *job, struct msd_diag *d);
/**
 * True if the check failed with @err and @d, but a new download without the saved
 * bytes may pass. Then @d is finished.
 */
bool msd_fetch_target_again(struct msd_job *job, msd_err err, struct msd_diag *d);

#endif
