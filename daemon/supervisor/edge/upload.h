#ifndef MSD_SUPERVISOR_UPLOAD_H
#define MSD_SUPERVISOR_UPLOAD_H
/*
 * An artifact on its way in: one memfd, written in pieces straight from the socket,
 * sealed by commit. module.load takes the sealed file; an upload that nobody loads ends
 * with its session.
 */
#include "daemon/supervisor/edge/session.h"

struct msd_upload {
	struct msd_handle handle;
	int fd;
	uint8_t *map; /* NULL once committed */
	uint64_t bytes;
	uint64_t written; /* sum of all pieces */
};

/** begin: a new one of @bytes, the session's. Errors: MSD_TOO_LARGE over
 * limits.max_upload, MSD_NO_SPACE, MSD_BUSY (limits.max_uploads), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_upload_begin(struct msd_session *s, uint64_t bytes,
					struct msd_upload **ret, struct msd_diag *d);
/** The session's upload @h. Errors: MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_upload_find(struct msd_session *s, struct msd_handle h,
				       struct msd_upload **ret, struct msd_diag *d);
/** write: where the piece's payload goes, @bytes at @offset of the artifact. Borrowed
 * until the upload is committed or dropped. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_upload_place(struct msd_upload *u, uint64_t offset,
					uint64_t bytes, uint8_t **ret,
					struct msd_diag *d);
/** commit: no byte can change any more. MSD_BAD_REQUEST when pieces are missing. */
MSD_MUST_CHECK msd_err msd_upload_commit(struct msd_upload *u, struct msd_diag *d);
/** The sealed file, now the caller's; the upload is gone. MSD_BAD_REQUEST before its
 * commit. */
MSD_MUST_CHECK msd_err msd_upload_take(struct msd_session *s, struct msd_upload *u,
				       int *ret_fd, struct msd_diag *d);
/** abort, or the session ends: forget handle and bytes. */
void msd_upload_drop(struct msd_session *s, struct msd_upload *u);

#endif
