#ifndef MSD_CLI_MODEL_H
#define MSD_CLI_MODEL_H
/* Builds a loadable library from a Model Library Format archive. */
#include "artifact/mlf/mlf.h"

struct msd_cli;

/**
 * Link the model that @cli names, or the only one if it names none, of the archive
 * @file, with the libraries of @cli. The library contains the graph and its
 * parameters; the functions of an operator archive become functions of the library.
 * Errors: those of msd_mlf_read(), msd_mlf_find() and msd_linker_link();
 * MSD_UNSUPPORTED (nothing that can run).
 */
MSD_MUST_CHECK msd_err msd_model_link(const struct msd_cli *cli, struct msd_span file,
				      struct msd_buf *ret, struct msd_diag *d);

/** True if the archive's file @path belongs to @model. */
bool msd_model_owns(const struct msd_mlf *m, const struct msd_mlf_model *model,
		    const char *path);

#endif
