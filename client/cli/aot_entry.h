#ifndef MSD_CLI_AOT_ENTRY_H
#define MSD_CLI_AOT_ENTRY_H
/*
 * The way into an ahead-of-time model with the C interface, whose function takes
 * structures of bare pointers: a function `run` in C that takes the inputs, then the
 * outputs as tensors, and checks how many there are and that their sizes are those of
 * the archive's description.
 */
#include "runtime/artifact/mlf.h"

/**
 * Append the C source of the entry of @model. @has_run: the pieces define
 * tvmgen_MODEL_run(); without it tvmgen_MODEL_run_model() takes the pointers one by
 * one. Errors: MSD_UNSUPPORTED (no header, a header of another form, sizes not
 * described), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_aot_entry(const struct msd_mlf *m,
				     const struct msd_mlf_model *model, bool has_run,
				     struct msd_buf *out, struct msd_diag *d);

#endif
