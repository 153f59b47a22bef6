#ifndef MSD_PROTO_DIAG_H
#define MSD_PROTO_DIAG_H
/*
 * Error text. The project's libraries never log. A function that fails fills the
 * struct msd_diag of its last parameter, and every layer above may add one prefix
 * ("load resnet18: deploy.so: module 2 (cuda): ..."). The text grows as needed, up to
 * MSD_DIAG_MAX bytes, so a callee's own message arrives whole. A diag belongs to one
 * thread.
 */
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

#define MSD_DIAG_MAX (64u * 1024u) /* bytes of text, without NUL */

struct msd_diag {
	msd_err code; /* MSD_OK while nothing was set */
	/* The kind of an error that a function raised ("ValueError") is in the text:
	 * it begins kind_back bytes before the end. Adding a prefix keeps it. */
	uint8_t kind_len; /* 0: no kind */
	uint16_t kind_back;
	char *text; /* NUL-terminated or NULL; owned; see msd_diag_text() */
	size_t len; /* bytes in text */
	/* For MSD_BUSY: time until a retry may succeed; 0 if unknown. Adding a prefix
	 * keeps it. */
	uint64_t retry_after_ms;
	/* Advice for the user, if the code alone would be misleading; static text, or
	 * NULL. Adding a prefix keeps it, too. */
	const char *hint;
};

/** Free the text. The diag can be used again. NULL is allowed. */
void msd_diag_finish(struct msd_diag *d);

/**
 * Replace the contents. Returns @code, so that `return msd_diag_set(d, ...)` works.
 * @d may be NULL. If the text cannot be allocated, only the code is kept.
 */
msd_err msd_diag_set(struct msd_diag *d, msd_err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** Replace the contents with MSD_NOMEM and its text, and return it. @d may be NULL. */
msd_err msd_diag_no_memory(struct msd_diag *d);
/** msd_diag_set() with bytes that are not NUL-terminated; cut at MSD_DIAG_MAX. */
msd_err msd_diag_set_bytes(struct msd_diag *d, msd_err code, const char *text,
			   size_t len);
/** Put "<prefix>: " in front of the text and return @err unchanged. @d may be NULL. */
msd_err msd_diag_wrap(struct msd_diag *d, msd_err err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** The text begins with a kind of @len bytes; a longer one than 255 is not noted. */
void msd_diag_begins_with_kind(struct msd_diag *d, size_t len);
/** The kind, which is not NUL-terminated, and its length in *@ret_len; 0: none. */
const char *msd_diag_kind(const struct msd_diag *d, size_t *ret_len);
/** The text, or the code's sentence if there is none. Borrowed until @d changes. */
const char *msd_diag_text(const struct msd_diag *d);

#endif
