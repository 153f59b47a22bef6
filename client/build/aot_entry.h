#ifndef MSD_CLI_AOT_ENTRY_H
#define MSD_CLI_AOT_ENTRY_H
/*
 * The entry function of an ahead-of-time model: a C function `run` that takes the
 * inputs, then the outputs as tensors. The entry checks their number, and their sizes
 * as far as the model, its description or its program give them.
 */
#include "artifact/mlf/mlf.h"

/* Calling form of the model's own function. */
enum msd_aot_form {
	MSD_AOT_STRUCTS,  /* tvmgen_MODEL_run(): structures of bare pointers */
	MSD_AOT_POINTERS, /* the pointers as separate parameters */
	MSD_AOT_PACKED,   /* TVM's own calling convention */
};

struct msd_aot_call {
	enum msd_aot_form form;
	const char *function;
	const char *metadata; /* the function that returns its parameters; NULL: none */
	bool is_main;         /* takes the planned memory, too */
};

/**
 * Append the C source of the entry of @model. Appends nothing for a packed function
 * if the model's name is not a C identifier. Errors: MSD_UNSUPPORTED (the C
 * interface: no header, a header of another form, sizes not described), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_aot_entry(const struct msd_mlf *m,
				     const struct msd_mlf_model *model,
				     const struct msd_aot_call *call,
				     struct msd_buf *out, struct msd_diag *d);

#endif
