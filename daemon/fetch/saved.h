#ifndef MSD_FETCH_SAVED_H
#define MSD_FETCH_SAVED_H
/*
 * What has come of a file, in a folder: so that a fetch goes on where it was broken
 * off, by another process, another daemon, after a power cut. Written every half MiB,
 * and when a fetch ends without its file; gone with the fetch that succeeds.
 *
 * It is help alone. What cannot be read or written is as if it were not there; what is
 * read is hashed with the rest, and who finds that wrong begins again without it.
 */
#include "store/digest.h"

struct msd_saved {
	int folder;         /* borrowed; -1: there is none */
	uint64_t max_bytes; /* of all files in it */
	/* Borrowed: the module that it is for. What has come for another one is not
	 * gone on with, as a digest alone gives no right to it. NULL: any will do. */
	const char *owner;
	/* Its own. */
	char name[MSD_DIGEST_TEXT]; /* "": nothing is saved */
	uint64_t bytes;             /* in the file */
};

/** Nothing is saved before msd_saved_begin(). @folder is borrowed; -1: ever. */
void msd_saved_init(struct msd_saved *s, int folder, uint64_t max_bytes);
/** Of the file of @digest. The descriptor of what is there, the caller's, and its
 * bytes; -1: nothing. */
int msd_saved_begin(struct msd_saved *s, const struct msd_digest *digest,
		    uint64_t *ret_bytes);
/** The first @bytes of the file are in @fd from @at on: save them, now or when they are
 * enough. */
void msd_saved_put(struct msd_saved *s, int fd, uint64_t at, uint64_t bytes, bool now);
/** They are of no use: the file that they are of is begun again. */
void msd_saved_clear(struct msd_saved *s);
/** They are needed no more, or wrong: nothing more is saved. */
void msd_saved_drop(struct msd_saved *s);

#endif
