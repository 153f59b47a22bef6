#ifndef MSD_PROTO_MODEL_WORDS_H
#define MSD_PROTO_MODEL_WORDS_H
/*
 * User-specified format, outputs, signature and input shapes of a framework's model,
 * "x=float32[1,3,224,224]", several separated by ':'. A dimension '?' stays as in the
 * model. A name may contain '=', '[' and ':'; an item ends at the first ']' that is
 * followed by ':' or by the end.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

#define MSD_MODEL_FORMAT_BYTES 32u
#define MSD_MODEL_INPUT_BYTES 1024u /* for all inputs, and for all outputs */
#define MSD_MODEL_SIGNATURE_BYTES 128u

#define MSD_MODEL_INPUT_FORM                                                           \
	"NAME=DTYPE[EXTENTS], such as x=float32[1,3,224,224] (? leaves an extent "     \
	"open), of several inputs with : between them"

struct msd_model_words {
	char format[MSD_MODEL_FORMAT_BYTES + 1];       /* "": detected from the file */
	char input[MSD_MODEL_INPUT_BYTES + 1];         /* "": as in the model */
	char outputs[MSD_MODEL_INPUT_BYTES + 1];       /* "": as in the model */
	char signature[MSD_MODEL_SIGNATURE_BYTES + 1]; /* "": the format's default */
};

/* One input; the name is borrowed. */
struct msd_model_input {
	struct msd_span name;
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM]; /* -1: as in the model */
};

/** @word, or NULL if it is empty. */
static inline const char *msd_model_word(const char *word)
{
	return *word != '\0' ? word : NULL;
}

/** Set the format from @text. MSD_BAD_REQUEST: not a valid format name. */
MSD_MUST_CHECK msd_err msd_model_words_format(struct msd_model_words *w,
					      struct msd_span text, struct msd_diag *d);
/**
 * Append the one or more inputs of @text. Errors: MSD_BAD_REQUEST, with the expected
 * form; then nothing is changed.
 */
MSD_MUST_CHECK msd_err msd_model_words_input(struct msd_model_words *w,
					     struct msd_span text, struct msd_diag *d);
/**
 * Append the one or more tensor names of @text, separated by commas. Errors:
 * MSD_BAD_REQUEST; then nothing is changed.
 */
MSD_MUST_CHECK msd_err msd_model_words_outputs(struct msd_model_words *w,
					       struct msd_span text,
					       struct msd_diag *d);
/** Set the signature of a SavedModel. MSD_BAD_REQUEST: it cannot be a name. */
MSD_MUST_CHECK msd_err msd_model_words_signature(struct msd_model_words *w,
						 struct msd_span text,
						 struct msd_diag *d);
/** Remove the first input from @list, which must not be empty. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_model_input_parse(struct msd_span *list,
					     struct msd_model_input *ret,
					     struct msd_diag *d);

#endif
