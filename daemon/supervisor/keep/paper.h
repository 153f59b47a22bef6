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
/** What vouches for @e, to who checks it: its manifest and the signature of that, as
 * the store has them, unhashed, into buffers that are empty. False: it has not both, or
 * they cannot be read; the buffers are empty then. */
bool msd_paper_read_proof(const struct msd_store *s, const struct msd_edition *e,
			  struct msd_buf *manifest, struct msd_buf *signature);
/** Legal more than once. */
void msd_paper_close(struct msd_paper *paper);

#endif
