#ifndef MSD_PROTO_MODEL_WORDS_H
#define MSD_PROTO_MODEL_WORDS_H
/*
 * What people say of a framework's model beside its file: the format that it has, and
 * the shapes that its inputs are to have, "x=float32[1,3,224,224]", of several with ':'
 * between them. An extent of '?' stays as the model has it. A name may hold '=', '['
 * and
 * ':'; a word ends at the first ']' that has ':' or nothing behind it.
 */
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/dtype.h"

#define MSD_MODEL_FORMAT_BYTES 32u
#define MSD_MODEL_INPUT_BYTES 1024u /* of all inputs */

#define MSD_MODEL_INPUT_FORM                                                           \
	"NAME=DTYPE[EXTENTS], such as x=float32[1,3,224,224] (? leaves an extent "     \
	"open), of several inputs with : between them"

struct msd_model_words {
	char format[MSD_MODEL_FORMAT_BYTES + 1]; /* "": the file's bytes tell */
	char input[MSD_MODEL_INPUT_BYTES + 1];   /* "": as the model has them */
};

/* One input; the name is borrowed. */
struct msd_model_input {
	struct msd_span name;
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM]; /* -1: as the model has it */
};

/** @word, or NULL when it is empty: nobody said it. */
static inline const char *msd_model_word(const char *word)
{
	return *word != '\0' ? word : NULL;
}

/** Take @text for the format. MSD_BAD_REQUEST: it can be no format's name. */
MSD_MUST_CHECK msd_err msd_model_words_format(struct msd_model_words *w,
					      struct msd_span text, struct msd_diag *d);
/** Take @text, which names one input or several, behind those that are there. Errors:
 * MSD_BAD_REQUEST, with what was expected; nothing was taken. */
MSD_MUST_CHECK msd_err msd_model_words_input(struct msd_model_words *w,
					     struct msd_span text, struct msd_diag *d);
/** Take the first of @list off. MSD_BAD_REQUEST; @list is not empty. */
MSD_MUST_CHECK msd_err msd_model_input_take(struct msd_span *list,
					    struct msd_model_input *ret,
					    struct msd_diag *d);

#endif
