#ifndef MSD_SUPERVISOR_PAPER_H
#define MSD_SUPERVISOR_PAPER_H
/* What is kept beside an edition and no worker gets, each a file in memory until it is
 * on the disk: its self-tests, its manifest, the manifest's signature. */
#include "proto/bytes.h"
#include "proto/diag.h"
#include "store/record.h"

/* One for each role that is not loaded, in their order. */
#define MSD_PAPERS ((unsigned)(MSD_ROLE_COUNT - MSD_ROLE_TEST))

struct msd_paper {
	int fd; /* owned; of 0 bytes: there is none */
	uint64_t bytes;
};

/** A file in memory of @text, close it; of an empty text there is none. MSD_IO. */
MSD_MUST_CHECK msd_err msd_paper_write(struct msd_span text, struct msd_paper *ret,
				       struct msd_diag *d);
/** What the store has of @e in the role of @role, unhashed, for who checks it;
 * appended, nothing when it has none. MSD_TOO_LARGE (over @max_bytes), MSD_NOT_FOUND,
 * MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_paper_read(const struct msd_store *s,
				      const struct msd_edition *e, enum msd_role role,
				      uint64_t max_bytes, struct msd_buf *ret,
				      struct msd_diag *d);
/** Legal more than once. */
void msd_paper_close(struct msd_paper *paper);

#endif
