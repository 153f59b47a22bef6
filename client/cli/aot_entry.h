#ifndef MSD_CLI_AOT_ENTRY_H
#define MSD_CLI_AOT_ENTRY_H
/*
 * The one-shot way into an ahead-of-time model: a function `run` in C that takes the
 * inputs, then the outputs as tensors, and checks how many there are and their sizes,
 * as far as the model, its description or its program tell them.
 */
#include "artifact/mlf/mlf.h"

/* How the model's own function is called. */
enum msd_aot_form {
	MSD_AOT_STRUCTS,  /* tvmgen_MODEL_run(): structures of bare pointers */
	MSD_AOT_POINTERS, /* its pointers one by one */
	MSD_AOT_PACKED,   /* TVM's own calling convention */
};

struct msd_aot_call {
	enum msd_aot_form form;
	const char *function;
	const char *metadata; /* the function that says what it takes; NULL: none */
	bool is_main;         /* it takes what memory was planned for, too */
};

/**
 * Append the C source of the entry of @model. Nothing is appended for a packed one when
 * the model's name is none in C. Errors: MSD_UNSUPPORTED (the C interface: no header, a
 * header of another form, sizes not described), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_aot_entry(const struct msd_mlf *m,
				     const struct msd_mlf_model *model,
				     const struct msd_aot_call *call,
				     struct msd_buf *out, struct msd_diag *d);

#endif
