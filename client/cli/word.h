#ifndef MSD_CLI_WORD_H
#define MSD_CLI_WORD_H
/* A word of `modser call` -> an argument. */
#include "client/cli/bracket.h"
#include "client/cli/npy.h"
#include "client/modser.h"

struct msd_word {
	char *name; /* of the parameter, of NAME=ARGUMENT; NULL without; owned */
	modser_value value; /* borrows from what follows and from the word itself */
	struct msd_buf file;
	struct msd_npy npy;
	int64_t shape[MSD_MAX_NDIM];
	/* Written out: it is a tensor as soon as its dtype is known. */
	struct msd_bracket bracket;
	void *data; /* owned: an out tensor's, to come, or one made of the word */
};

/** True for what is an integer or a float, "-17", "1e-3", "inf": never an option. */
bool msd_word_is_number(const char *text);
/**
 * Parse @text, which must outlive @ret; reads the file that it names. End with
 * msd_word_finish() in any case. Errors, all of the command line: MSD_BAD_REQUEST,
 * MSD_UNSUPPORTED, MSD_NOT_FOUND, MSD_IO, MSD_TOO_LARGE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_word_parse(const char *text, struct msd_word *ret,
				      struct msd_diag *d);
/** It is a tensor written out whose dtype nobody has said yet. */
bool msd_word_wants_type(const struct msd_word *w);
/** Make it a tensor of @t. Errors: those of msd_bracket_make(). */
MSD_MUST_CHECK msd_err msd_word_set_type(struct msd_word *w, struct msd_dtype t,
					 struct msd_diag *d);
void msd_word_finish(struct msd_word *w); /* NULL and zeroed are fine */

#endif
