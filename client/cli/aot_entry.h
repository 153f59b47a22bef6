#ifndef MSD_CLI_AOT_ENTRY_H
#define MSD_CLI_AOT_ENTRY_H
/*
 * The one-shot way into an ahead-of-time model: a function `run` in C that takes the
 * inputs, then the outputs as tensors, and checks how many there are and that their
 * sizes are those of the archive's description, as far as it has one.
 */
#include "artifact/mlf/mlf.h"

/* How the model's own function is called. */
enum msd_aot_form {
	MSD_AOT_STRUCTS,  /* tvmgen_MODEL_run(): two structures of bare pointers */
	MSD_AOT_POINTERS, /* its pointers one by one */
	MSD_AOT_PACKED,   /* TVM's own calling convention */
};

/**
 * Append the C source of the entry of @model, which calls @function. Nothing is
 * appended for a packed one when the model's name is none in C. Errors: MSD_UNSUPPORTED
 * (the C interface: no header, a header of another form, sizes not described),
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_aot_entry(const struct msd_mlf *m,
				     const struct msd_mlf_model *model,
				     enum msd_aot_form form, const char *function,
				     struct msd_buf *out, struct msd_diag *d);

#endif
