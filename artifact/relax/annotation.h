#ifndef MSD_ARTIFACT_RELAX_ANNOTATION_H
#define MSD_ARTIFACT_RELAX_ANNOTATION_H
/*
 * Types as Relax writes them, in the words that every other signature has:
 * R.Tensor((n, T.int64(3)), dtype="float32") is Tensor([n, 3], float32).
 */
#include "proto/bytes.h"

/** Append @annotation; what is not understood as it is. */
void msd_relax_put_annotation(struct msd_buf *out, struct msd_span annotation);

/**
 * The type in a text that compiled checks quote, "ErrorContext(..., annotation=TYPE)";
 * empty when there is none.
 */
struct msd_span msd_relax_annotation(struct msd_span ctx);

#endif
