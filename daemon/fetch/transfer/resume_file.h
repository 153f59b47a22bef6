#ifndef MSD_FETCH_RESUME_FILE_H
#define MSD_FETCH_RESUME_FILE_H
/*
 * Resume file: keeps the received bytes of a file in a directory, so that a later
 * fetch can resume. This works across processes, daemons and power failures. The file
 * is written every half MiB and when a fetch ends early; a successful fetch removes
 * it.
 *
 * Saving is best effort: an unreadable or unwritable file counts as absent. Loaded
 * bytes are hashed with the rest. If the hash is wrong, the caller restarts without
 * them.
 */
#include "store/digest.h"

struct msd_resume_file {
	int folder;         /* borrowed; -1 if none */
	uint64_t max_bytes; /* limit for all files in it */
	/* Borrowed: name of the module. Bytes saved for one module are not used for
	 * another, because knowing a digest gives no access right. NULL: any module. */
	const char *owner;
	/* Private. */
	char name[MSD_DIGEST_TEXT]; /* "" means that nothing is saved */
	uint64_t bytes;             /* in the file */
};

/**
 * Nothing is saved before msd_resume_file_begin(). @folder is borrowed; -1: nothing is
 * ever saved.
 */
void msd_resume_file_init(struct msd_resume_file *s, int folder, uint64_t max_bytes);
/**
 * Start for the file of @digest. Returns a descriptor of the saved bytes, owned by
 * the caller, and their number; -1 if none.
 */
int msd_resume_file_begin(struct msd_resume_file *s, const struct msd_digest *digest,
			  uint64_t *ret_bytes);
/**
 * The first @bytes of the file are in @fd, from offset @at. Save them if @now is set
 * or enough have accumulated.
 */
void msd_resume_file_put(struct msd_resume_file *s, int fd, uint64_t at, uint64_t bytes,
			 bool now);
/** Discard the saved bytes: the file is downloaded from its start. */
void msd_resume_file_clear(struct msd_resume_file *s);
/** Discard the saved bytes, which are wrong or no longer needed, and stop saving. */
void msd_resume_file_drop(struct msd_resume_file *s);

#endif
