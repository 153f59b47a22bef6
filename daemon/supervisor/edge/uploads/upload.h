#ifndef MSD_SUPERVISOR_UPLOAD_H
#define MSD_SUPERVISOR_UPLOAD_H

/*
 * An artifact that a client sends: one memfd, written in chunks straight from the
 * socket. Threads reserve its memory, and seal and hash it after the commit.
 * module.load takes it; an upload that is not loaded ends with its session. A stalled
 * upload is dropped when another one needs its room.
 *
 *   (begun) --reserved--> writable --commit--> committed --taken--> (gone)
 *   (found in the store) ----------------------------'
 */

#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/source/source_job.h"
#include "proto/base/diag.h"

struct msd_reserve;

#define MSD_PEER_UPLOADS 512u /* per peer, over all its connections */

struct msd_upload {
	struct msd_session *session;
	struct msd_client_peer *owner; /* peer of the session when it began */
	struct msd_handle handle;
	struct msd_reserve
		*reserving; /* job that reserves its memory; NULL once writable */
	struct msd_source_job *sealing; /* set after the commit */
	struct msd_list
		waiters; /* msd_req.link: the begin request, until it is writable */
	int fd;          /* while it is writable, else -1 */
	uint8_t *map;    /* while it is writable, else NULL */
	uint64_t bytes;
	uint64_t written; /* sum of all chunks */
	/* Bytes and time of the last progress. */
	uint64_t seen_bytes, seen_ms;
	struct msd_list link; /* msd_edge.uploads */
	bool is_found;        /* one file from the store */
};

/**
 * begin: create an upload of @bytes for the session. Takes @r on success; the reply
 * is sent when the upload is writable or failed (MSD_NO_SPACE, MSD_NOMEM). Errors at
 * once: MSD_BAD_REQUEST (0 bytes), MSD_TOO_LARGE (over limits.max_upload), MSD_BUSY
 * (limits.max_uploads, MSD_PEER_UPLOADS), MSD_NOMEM, MSD_NO_SPACE (no upload can be
 * dropped for it).
 */
MSD_MUST_CHECK msd_err msd_upload_begin(struct msd_session *s, uint64_t bytes,
					struct msd_req *r, struct msd_diag *d);
/**
 * find: create a committed upload of @source from the store. Takes @source on
 * success. Errors: those of msd_upload_begin().
 */
MSD_MUST_CHECK msd_err msd_upload_add_found(struct msd_session *s,
					    const struct msd_source *source,
					    struct msd_upload **ret,
					    struct msd_diag *d);
/** Return the session's upload @h. Errors: MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_upload_find(struct msd_session *s, struct msd_handle h,
				       struct msd_upload **ret, struct msd_diag *d);
/**
 * write: return the destination of a chunk, @bytes at @offset of the artifact.
 * Borrowed until the upload is committed or dropped. Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_upload_place(struct msd_upload *u, uint64_t offset,
					uint64_t bytes, uint8_t **ret,
					struct msd_diag *d);
/** The last placed chunk is complete. */
void msd_upload_wrote(struct msd_upload *u, uint64_t bytes);
/**
 * commit: make the upload immutable. Errors: MSD_BAD_REQUEST (chunks are missing),
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_upload_commit(struct msd_upload *u, struct msd_diag *d);
/**
 * Return the job that seals the upload or has sealed it. The caller owns it; the
 * upload is freed. Errors: MSD_BAD_REQUEST (not committed).
 */
MSD_MUST_CHECK msd_err msd_upload_adopt(struct msd_upload *u,
					struct msd_source_job **ret,
					struct msd_diag *d);
/** abort, or the session ends: free the handle and the bytes. */
void msd_upload_drop(struct msd_upload *u);

/* Reads the tests in the manifest of a fetched module, which must pass before the
 * module serves. */

struct msd_fetch;
struct msd_load;

/**
 * Copy the self-tests of @f, borrowed, into @how. Call it while on_done() of @f runs.
 * No effect if there are none. Errors: those of msd_self_test_check().
 */
MSD_MUST_CHECK msd_err msd_manifest_tests_read(const struct msd_fetch *f,
					       struct msd_load *how,
					       struct msd_diag *d);

#endif
