#ifndef MSD_CLI_MODEL_H
#define MSD_CLI_MODEL_H
/* A Model Library Format archive made into a library that a daemon loads. */
#include "artifact/mlf/mlf.h"

struct msd_cli;

/**
 * Link the model that @cli names, or the only one when it names none, of the archive
 * @file, with the libraries of @cli. A graph and its parameters are inside the library;
 * functions of an archive of operators are its functions. Errors: those of
 * msd_mlf_read(), msd_mlf_find() and msd_linker_link(); MSD_UNSUPPORTED (nothing that
 * can be run).
 */
MSD_MUST_CHECK msd_err msd_model_link(const struct msd_cli *cli, struct msd_span file,
				      struct msd_buf *ret, struct msd_diag *d);

/** Whether the archive's file @path is a piece of @model. */
bool msd_model_owns(const struct msd_mlf *m, const struct msd_mlf_model *model,
		    const char *path);

#endif
