#ifndef MSD_CLI_WORD_H
#define MSD_CLI_WORD_H
/* Parses a word of `modser call` into an argument. */
#include "client/cli/values/bracket.h"
#include "client/cli/values/npy.h"
#include "client/modser.h"

struct msd_word {
	char *name;         /* parameter name of NAME=ARGUMENT; NULL: none; owned */
	modser_value value; /* borrows from the fields below and from the word */
	struct msd_buf file;
	struct msd_npy npy;
	int64_t shape[MSD_MAX_NDIM];
	/* A tensor literal: it becomes a tensor when its dtype is known. */
	struct msd_bracket bracket;
	void *data; /* owned: memory of an out tensor or of a generated one */
};

/**
 * True for an integer or a float, "-17", "1e-3", "inf"; such a word is never an
 * option.
 */
bool msd_word_is_number(const char *text);
/**
 * Parse @text, which must outlive @ret; reads the file that it names. End with
 * msd_word_finish() in any case. Errors, all in the command line: MSD_BAD_REQUEST,
 * MSD_UNSUPPORTED, MSD_NOT_FOUND, MSD_IO, MSD_TOO_LARGE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_word_parse(const char *text, struct msd_word *ret,
				      struct msd_diag *d);
/** True for a tensor literal whose dtype is not known yet. */
bool msd_word_wants_type(const struct msd_word *w);
/** Make it a tensor of @t. Errors: those of msd_bracket_make(). */
MSD_MUST_CHECK msd_err msd_word_set_type(struct msd_word *w, struct msd_dtype t,
					 struct msd_diag *d);
void msd_word_finish(struct msd_word *w); /* NULL and zeroed are fine */

#endif
