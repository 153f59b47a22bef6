#ifndef MSD_RUNTIME_MODULE_SIGNATURE_H
#define MSD_RUNTIME_MODULE_SIGNATURE_H
/* Signatures of compiled functions as text: `f(A: Tensor([n, 4], float32), k: int32)`.
 */
#include "proto/diag.h"
#include "runtime/module/module.h"

/** Parse @text (the kind of text above). Extents that are no number become -1, types
 * that are not known become MSD_P_UNKNOWN. Errors: MSD_BAD_ARTIFACT when it is no such
 * text. */
MSD_MUST_CHECK msd_err msd_signature_parse(struct msd_span text,
					   struct msd_signature *ret,
					   struct msd_diag *d);
/** The same of a text that may have results behind its parameters, which are left out:
 * `f(...) -> Tensor([n], float32)`, `f(...) -> (Tensor(...), Tensor(...))`. */
MSD_MUST_CHECK msd_err msd_signature_parse_params(struct msd_span text,
						  struct msd_signature *ret,
						  struct msd_diag *d);
/** Those results, as parameters without names; none where they are not all tensors. */
MSD_MUST_CHECK msd_err msd_signature_parse_results(struct msd_span text,
						   struct msd_signature *ret,
						   struct msd_diag *d);
/** Parameters of unknown kind, rank and dtype, @n of them. */
MSD_MUST_CHECK msd_err msd_signature_init(struct msd_signature *s, size_t n,
					  struct msd_diag *d);
/** Write s->text from the parameters, in the form above; what is unknown is "?". */
MSD_MUST_CHECK msd_err msd_signature_compose(struct msd_signature *s, const char *name,
					     struct msd_diag *d);
/** Whether all parameters are tensors whose first extent is the same unknown one, so
 * that calls may be told to be a batch's parts. One parameter's needs no name to be the
 * same. */
bool msd_signature_has_batch(const struct msd_signature *s);
void msd_signature_finish(struct msd_signature *s);

#endif
