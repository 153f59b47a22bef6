#ifndef MSD_FETCH_LANDING_H
#define MSD_FETCH_LANDING_H
/*
 * Where fetched bytes come down: a memfd that is hashed while it grows and sealed when
 * it is whole, so that what was hashed is what is handed over. Several files lie in it
 * one behind the other, each a part with a hash of its own.
 */
#include "daemon/fetch/saved.h"
#include "daemon/fetch/sink.h"

/* What several of them may have of memory together. */
struct msd_landing_room {
	uint64_t max_bytes, bytes;
};

struct msd_landing {
	struct msd_sink sink; /* of its last part */
	int fd;               /* owned; -1: none */
	uint64_t bytes;       /* so far */
	uint64_t max_bytes;   /* more are refused */
	const char *limit; /* what that is called; static, max-upload when it opens */
	/* Where its bytes count until they are the caller's; borrowed, set once it is
	 * open. NULL: nowhere. */
	struct msd_landing_room *room;
	struct msd_saved saved; /* of its last part; its folder is set likewise */
	bool has_old;           /* some of the part was saved by an earlier fetch */
	/* Its own. */
	uint64_t part_at;    /* where the last part begins */
	uint64_t part_bytes; /* how long it must be; 0: nobody knows */
	struct sha256_ctx hash, hash_at_part, part_hash;
};

/** An empty one. MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_open(struct msd_landing *l, uint64_t max_bytes,
					struct msd_diag *d);
/** So many are announced of the part, those that came among them. MSD_TOO_LARGE,
 * MSD_NOT_VERIFIED (it should be of another size). */
MSD_MUST_CHECK msd_err msd_landing_expect(const struct msd_landing *l, uint64_t bytes,
					  struct msd_diag *d);
/** Take the next ones. MSD_TOO_LARGE, MSD_NOT_VERIFIED (it should have ended),
 * MSD_NO_SPACE, MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_take(struct msd_landing *l, struct msd_span bytes,
					struct msd_diag *d);
/** Begin another part, of @bytes if that is not 0. MSD_TOO_LARGE. */
MSD_MUST_CHECK msd_err msd_landing_next(struct msd_landing *l, uint64_t bytes,
					struct msd_diag *d);
/** The part is the file of @digest, of @bytes or of nobody knows how many (0): begin
 * with what an earlier fetch has saved of it, but for the last byte, so that there is
 * always something to ask for. MSD_TOO_LARGE, MSD_NO_SPACE, MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_go_on(struct msd_landing *l,
					 const struct msd_digest *digest,
					 uint64_t bytes, struct msd_diag *d);
/** It ends here: what has come of the part is saved. */
void msd_landing_save(struct msd_landing *l);
/** The hash of the part that is there. */
void msd_landing_digest(const struct msd_landing *l, struct msd_digest *ret);
/** Append all that has come to @ret. MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_landing_read(const struct msd_landing *l,
					struct msd_buf *ret, struct msd_diag *d);
/** Throw away what has come of the part. MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_restart(struct msd_landing *l, struct msd_diag *d);
/** No more come, and none can change: their hash. MSD_IO. */
MSD_MUST_CHECK msd_err msd_landing_seal(struct msd_landing *l, struct msd_digest *ret,
					struct msd_diag *d);
/** The sealed memfd, the caller's from here on. */
int msd_landing_take_fd(struct msd_landing *l);
/** What has come of a part that is not whole is saved. Legal more than once. */
void msd_landing_close(struct msd_landing *l);

#endif
