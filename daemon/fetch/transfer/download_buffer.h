#ifndef MSD_FETCH_DOWNLOAD_BUFFER_H
#define MSD_FETCH_DOWNLOAD_BUFFER_H
/*
 * Download buffer: a memfd that is hashed while it grows and sealed when complete, so
 * the hashed bytes are the ones that are handed over. It holds several files one
 * after the other; each is a part with its own hash.
 */
#include "daemon/fetch/transfer/resume_file.h"
#include "daemon/fetch/transfer/sink.h"
#include "daemon/loop/work.h"

/* Memory limit shared by several download buffers, which threads may fill. */
struct msd_download_buffer_room {
	uint64_t max_bytes;
	_Atomic uint64_t bytes;
};

struct msd_download_buffer {
	struct msd_sink sink; /* for the last part */
	int fd;               /* owned; -1 if none */
	uint64_t bytes;       /* so far */
	uint64_t max_bytes;   /* further bytes are refused */
	const char *limit; /* name of that limit; static, max-upload-size after open */
	/* Accounts the bytes until the caller takes them; borrowed, set after open.
	 * NULL if there is no shared limit. */
	struct msd_download_buffer_room *room;
	struct msd_resume_file
		saved; /* for the last part; its directory is set after open, too */
	bool has_old;  /* part of it was saved by an earlier fetch */
	/* Private. */
	uint64_t part_at;    /* offset of the last part */
	uint64_t part_bytes; /* required size of the last part; 0 if unknown */
	struct sha256_ctx hash, hash_at_part, part_hash;
};

/* Downloads without libcurl: files, and other daemons. Each may hang, and has a thread.
 */
extern struct msd_work_lane msd_download_threads;

/** Create an empty buffer. MSD_IO. */
MSD_MUST_CHECK msd_err msd_download_buffer_open(struct msd_download_buffer *l,
						uint64_t max_bytes, struct msd_diag *d);
/**
 * Check the announced size of the part, received bytes included. MSD_TOO_LARGE,
 * MSD_NOT_VERIFIED (the required size differs).
 */
MSD_MUST_CHECK msd_err msd_download_buffer_expect(const struct msd_download_buffer *l,
						  uint64_t bytes, struct msd_diag *d);
/**
 * Append bytes. MSD_TOO_LARGE, MSD_NOT_VERIFIED (the part is already complete),
 * MSD_NO_SPACE, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_download_buffer_append(struct msd_download_buffer *l,
						  struct msd_span bytes,
						  struct msd_diag *d);
/** Start another part, with the required size @bytes unless that is 0. MSD_TOO_LARGE.
 */
MSD_MUST_CHECK msd_err msd_download_buffer_next(struct msd_download_buffer *l,
						uint64_t bytes, struct msd_diag *d);
/**
 * The part is the file of @digest, of size @bytes (0 if unknown). Load the bytes that
 * an earlier fetch saved, except the last byte, so that a request is always needed.
 * MSD_TOO_LARGE, MSD_NO_SPACE, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_download_buffer_go_on(struct msd_download_buffer *l,
						 const struct msd_digest *digest,
						 uint64_t bytes, struct msd_diag *d);
/** The download stops here: save the received bytes of the part. */
void msd_download_buffer_save(struct msd_download_buffer *l);
/** The hash of the received bytes of the part. */
void msd_download_buffer_digest(const struct msd_download_buffer *l,
				struct msd_digest *ret);
/** Append all received bytes to @ret. MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_download_buffer_read(const struct msd_download_buffer *l,
						struct msd_buf *ret,
						struct msd_diag *d);
/** Discard the received bytes of the part. MSD_IO. */
MSD_MUST_CHECK msd_err msd_download_buffer_restart(struct msd_download_buffer *l,
						   struct msd_diag *d);
/** Seal the memfd against changes, and return the hash of its content. MSD_IO. */
MSD_MUST_CHECK msd_err msd_download_buffer_seal(struct msd_download_buffer *l,
						struct msd_digest *ret,
						struct msd_diag *d);
/** The sealed memfd; the caller owns it from now on. */
int msd_download_buffer_adopt_fd(struct msd_download_buffer *l);
/** Save the bytes of an incomplete part and close. May be called more than once. */
void msd_download_buffer_close(struct msd_download_buffer *l);

#endif
