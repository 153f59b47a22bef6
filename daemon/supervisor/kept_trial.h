#ifndef MSD_SUPERVISOR_KEPT_TRIAL_H
#define MSD_SUPERVISOR_KEPT_TRIAL_H
/*
 * The self-tests of an edition, kept with its files: if a load was interrupted before
 * the tests passed, the next load runs them again. They are one file of the role
 * "test", msgpack: [warmup, tests], with the tests in the format of trial_case.h.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_edition;
struct msd_paper;
struct msd_store;
struct msd_trial;

struct msd_kept_trial {
	struct msd_span tests; /* points into bytes; empty if there are no tests */
	uint32_t warmup;
	struct msd_buf bytes; /* owned */
};

/**
 * Write the tests of @t to a memory file *ret; the caller closes it. Errors: MSD_IO,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_kept_trial_write(const struct msd_trial *t,
					    struct msd_paper *ret, struct msd_diag *d);
/**
 * Read the tests of @e. Blocks. Call finish in every case. Errors: those of
 * msd_blob_get(), MSD_BAD_ARTIFACT (the file is not valid), MSD_NO_SPACE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_kept_trial_read(const struct msd_store *s,
					   const struct msd_edition *e,
					   struct msd_kept_trial *ret,
					   struct msd_diag *d);
void msd_kept_trial_finish(struct msd_kept_trial *t);

#endif
