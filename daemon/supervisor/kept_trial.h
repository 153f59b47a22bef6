#ifndef MSD_SUPERVISOR_KEPT_TRIAL_H
#define MSD_SUPERVISOR_KEPT_TRIAL_H
/*
 * The self-tests of an edition, kept beside its files: what was cut short before they
 * had passed is tested by them again. They are one file of the role "test", msgpack:
 * [warmup, tests], the tests as trial_case.h has them.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_edition;
struct msd_paper;
struct msd_store;
struct msd_trial;

struct msd_kept_trial {
	struct msd_span tests; /* within bytes; empty: there are none */
	uint32_t warmup;
	struct msd_buf bytes; /* owned */
};

/** A paper of @t, the caller's to close. MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_kept_trial_write(const struct msd_trial *t,
					    struct msd_paper *ret, struct msd_diag *d);
/** Those of @e. Blocks; finish in every case. Errors: those of msd_blob_get(),
 * MSD_BAD_ARTIFACT (they are none), MSD_NO_SPACE, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_kept_trial_read(const struct msd_store *s,
					   const struct msd_edition *e,
					   struct msd_kept_trial *ret,
					   struct msd_diag *d);
void msd_kept_trial_finish(struct msd_kept_trial *t);

#endif
