#ifndef MSD_SUPERVISOR_UPLOAD_H
#define MSD_SUPERVISOR_UPLOAD_H
/*
 * An artifact on its way in: one memfd, written in pieces straight from the socket. Its
 * memory is reserved, and what was committed is sealed and hashed, beside the loop.
 * module.load takes it; an upload that nobody loads ends with its session. One whose
 * bytes do not come is dropped when another has no room for it.
 *
 *   (begun) --reserved--> writable --commit--> committed --taken--> (gone)
 *   (found in the store) ----------------------------'
 */
#include "daemon/supervisor/edge/session.h"
#include "daemon/supervisor/source/source_job.h"

struct msd_reserve;

#define MSD_PEER_UPLOADS 512u /* of all connections of one peer */

struct msd_upload {
	struct msd_session *session;
	struct msd_client_peer *owner; /* whose it was when it was begun */
	struct msd_handle handle;
	struct msd_reserve *reserving;  /* its memory, before it is writable */
	struct msd_source_job *sealing; /* once it is committed */
	struct msd_list waiters; /* msd_req.link: who began it, until it is writable */
	int fd;                  /* while it is writable, else -1 */
	uint8_t *map;            /* likewise, else NULL */
	uint64_t bytes;
	uint64_t written; /* sum of all pieces */
	/* When so much of them had come that it goes on. */
	uint64_t seen_bytes, seen_ms;
	struct msd_list link; /* msd_edge.uploads */
	bool is_found;        /* it is one file of the store's */
};

/** begin: a new one of @bytes, the session's; @r, which is taken on success, is
 * answered when it can be written, or why it cannot (MSD_NO_SPACE, MSD_NOMEM). Errors
 * at once: MSD_BAD_REQUEST (0 bytes), MSD_TOO_LARGE over limits.max_upload, MSD_BUSY
 * (limits.max_uploads, MSD_PEER_UPLOADS), MSD_NOMEM, MSD_NO_SPACE when none can be
 * dropped for it. */
MSD_MUST_CHECK msd_err msd_upload_begin(struct msd_session *s, uint64_t bytes,
					struct msd_req *r, struct msd_diag *d);
/** find: a committed one of @source, which the store had and which is taken on success.
 * Errors: those of msd_upload_begin(). */
MSD_MUST_CHECK msd_err msd_upload_add_found(struct msd_session *s,
					    const struct msd_source *source,
					    struct msd_upload **ret,
					    struct msd_diag *d);
/** The session's upload @h. Errors: MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_upload_find(struct msd_session *s, struct msd_handle h,
				       struct msd_upload **ret, struct msd_diag *d);
/** write: where the piece's payload goes, @bytes at @offset of the artifact. Borrowed
 * until the upload is committed or dropped. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_upload_place(struct msd_upload *u, uint64_t offset,
					uint64_t bytes, uint8_t **ret,
					struct msd_diag *d);
/** The piece that was placed last has come. */
void msd_upload_wrote(struct msd_upload *u, uint64_t bytes);
/** commit: no byte can change any more. MSD_BAD_REQUEST when pieces are missing,
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_upload_commit(struct msd_upload *u, struct msd_diag *d);
/** What seals it, or has, now the caller's; the upload is gone. MSD_BAD_REQUEST before
 * its commit. */
MSD_MUST_CHECK msd_err msd_upload_take(struct msd_upload *u,
				       struct msd_source_job **ret, struct msd_diag *d);
/** abort, or the session ends: forget handle and bytes. */
void msd_upload_drop(struct msd_upload *u);

#endif
