#ifndef MSD_FETCH_LANDING_H
#define MSD_FETCH_LANDING_H
/*
 * Where fetched bytes come down: a memfd that is hashed while it grows and sealed when
 * it is whole, so that what was hashed is what is handed over.
 */
#include <stdint.h>

#include "proto/diag.h"
#include "store/digest.h"

struct msd_landing {
	int fd;             /* owned; -1: none */
	uint64_t bytes;     /* so far */
	uint64_t max_bytes; /* more are refused */
	struct sha256_ctx hash;
};

/** An empty one. MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_open(struct msd_landing *l, uint64_t max_bytes,
					struct msd_diag *d);
/** So many are announced, those that came among them. MSD_TOO_LARGE. */
MSD_MUST_CHECK msd_err msd_landing_expect(const struct msd_landing *l, uint64_t bytes,
					  struct msd_diag *d);
/** Take the next ones. MSD_TOO_LARGE, MSD_NO_SPACE, MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_take(struct msd_landing *l, struct msd_span bytes,
					struct msd_diag *d);
/** Throw away what has come. MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_restart(struct msd_landing *l, struct msd_diag *d);
/** No more come, and none can change: their hash. MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_seal(struct msd_landing *l, struct msd_digest *ret,
					struct msd_diag *d);
/** The sealed memfd, the caller's from here on. */
int msd_landing_take_fd(struct msd_landing *l);
/** Legal more than once. */
void msd_landing_close(struct msd_landing *l);

#endif
