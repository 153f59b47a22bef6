#ifndef MSD_RUNTIME_MODULE_SIGNATURE_H
#define MSD_RUNTIME_MODULE_SIGNATURE_H
/* Signatures of compiled functions as text: `f(A: Tensor([n, 4], float32), k: int32)`.
 */
#include "proto/base/diag.h"
#include "runtime/module/module.h"

/**
 * Parse @text (of the form above). Extents that are not numbers become -1, unknown
 * types become MSD_P_UNKNOWN. Errors: MSD_BAD_ARTIFACT if the text has another form.
 */
MSD_MUST_CHECK msd_err msd_signature_parse(struct msd_span text,
					   struct msd_signature *ret,
					   struct msd_diag *d);
/**
 * The same for a text that may have results after its parameters, which are left out:
 * `f(...) -> Tensor([n], float32)`, `f(...) -> (Tensor(...), Tensor(...))`.
 */
MSD_MUST_CHECK msd_err msd_signature_parse_params(struct msd_span text,
						  struct msd_signature *ret,
						  struct msd_diag *d);
/**
 * Parse those results, as parameters without names; none if they are not all tensors.
 */
MSD_MUST_CHECK msd_err msd_signature_parse_results(struct msd_span text,
						   struct msd_signature *ret,
						   struct msd_diag *d);
/** Initialise @n parameters of unknown kind, rank and dtype. */
MSD_MUST_CHECK msd_err msd_signature_init(struct msd_signature *s, size_t n,
					  struct msd_diag *d);
/** Write s->text from the parameters, in the form above; unknown parts are "?". */
MSD_MUST_CHECK msd_err msd_signature_compose(struct msd_signature *s, const char *name,
					     struct msd_diag *d);
/**
 * True if all parameters that a call needs are tensors and share the same unknown first
 * extent, so that calls can be combined into a batch. With a single one the extent
 * needs no name.
 */
bool msd_signature_has_batch(const struct msd_signature *s);
void msd_signature_finish(struct msd_signature *s);

#endif
