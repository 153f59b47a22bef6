#ifndef MSD_PROTO_DIAG_H
#define MSD_PROTO_DIAG_H
/*
 * What went wrong, in words. Libraries of the project never log: a function that fails
 * fills the struct msd_diag that its caller passed as the last parameter, and every
 * layer on the way up may add one prefix ("load resnet18: deploy.so: module 2 (cuda):
 * ..."). The text grows as needed, up to MSD_DIAG_MAX bytes, so that a callee's own
 * message arrives whole. A diag belongs to one thread.
 */
#include <stddef.h>
#include <stdint.h>

#include "proto/err.h"

#define MSD_DIAG_MAX (64u * 1024u) /* bytes of text, NUL not counted */

struct msd_diag {
	msd_err code; /* MSD_OK while nothing was set */
	char *text;   /* NUL-terminated or NULL; owned; see msd_diag_text() */
	size_t len;   /* bytes in text */
	/* Of MSD_BUSY: what was asked for may be had then; 0: nobody knows. It outlives
	 * prefixes. */
	uint64_t retry_after_ms;
	/* What to do, where the code alone would send people to the wrong place; static
	 * text, or NULL. It outlives prefixes, too. */
	const char *hint;
};

/** Free the text. The diag can be used again. NULL is fine. */
void msd_diag_finish(struct msd_diag *d);

/**
 * Replace the contents. Returns @code, so that `return msd_diag_set(d, ...)` reads
 * well.
 * @d may be NULL. When the text cannot be allocated the code alone is kept.
 */
msd_err msd_diag_set(struct msd_diag *d, msd_err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** Replace the contents with what MSD_NOMEM says, and return it. @d may be NULL. */
msd_err msd_diag_no_memory(struct msd_diag *d);
/** msd_diag_set() with bytes that are not NUL-terminated; cut at MSD_DIAG_MAX. */
msd_err msd_diag_set_bytes(struct msd_diag *d, msd_err code, const char *text,
			   size_t len);
/** Put "<prefix>: " in front of the text and return @err unchanged. @d may be NULL. */
msd_err msd_diag_wrap(struct msd_diag *d, msd_err err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** The text, or the code's sentence when there is none. Borrowed until @d changes. */
const char *msd_diag_text(const struct msd_diag *d);

#endif
