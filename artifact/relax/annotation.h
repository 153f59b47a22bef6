#ifndef MSD_ARTIFACT_RELAX_ANNOTATION_H
#define MSD_ARTIFACT_RELAX_ANNOTATION_H
/* Convert Relax types to the notation of the other signatures: R.Tensor((n,
 * T.int64(3)), dtype="float32") becomes Tensor([n, 3], float32). */
#include "proto/base/bytes.h"

/** Append @annotation; unknown constructs are copied unchanged. */
void msd_relax_put_annotation(struct msd_buf *out, struct msd_span annotation);

/**
 * The type in a text of compiled checks, "ErrorContext(..., annotation=TYPE)"; empty
 * if absent.
 */
struct msd_span msd_relax_annotation(struct msd_span ctx);

#endif
