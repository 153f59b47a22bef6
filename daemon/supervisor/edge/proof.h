#ifndef MSD_SUPERVISOR_PROOF_H
#define MSD_SUPERVISOR_PROOF_H
/* What the manifest of something fetched wants proved before its module serves. */
#include "proto/diag.h"

struct msd_fetch;
struct msd_load;

/** Of @f, whose on_done() runs: its self-tests into @how, borrowed; nothing where it
 * has none. Errors: those of msd_trial_check(). */
MSD_MUST_CHECK msd_err msd_proof_take(const struct msd_fetch *f, struct msd_load *how,
				      struct msd_diag *d);

#endif
