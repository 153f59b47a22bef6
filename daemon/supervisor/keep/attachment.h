#ifndef MSD_SUPERVISOR_ATTACHMENT_H
#define MSD_SUPERVISOR_ATTACHMENT_H
/* Attachments of an edition that workers do not get, each a memory file until it is
 * on the disk: its self-tests, its manifest, the manifest's signature. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "store/record.h"

/* One for each role that is not loaded, in their order. */
#define MSD_PAPERS ((unsigned)(MSD_ROLE_COUNT - MSD_ROLE_TEST))

struct msd_attachment {
	int fd; /* owned; not valid if bytes is 0 */
	uint64_t bytes;
};

/**
 * Write @text to a memory file, which the caller closes; an empty text creates no
 * file. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_attachment_write(struct msd_span text,
					    struct msd_attachment *ret,
					    struct msd_diag *d);
/**
 * Read the manifest of @e and its signature from the store, without hashing, into
 * empty buffers. A checker can verify @e with them. Returns false if one is missing
 * or cannot be read; the buffers are empty then.
 */
bool msd_attachment_read_signature(const struct msd_store *s,
				   const struct msd_edition *e,
				   struct msd_buf *manifest, struct msd_buf *signature);
/** May be called more than once. */
void msd_attachment_close(struct msd_attachment *paper);

#endif
