#ifndef MSD_CLI_MODEL_H
#define MSD_CLI_MODEL_H
/* A Model Library Format archive made into a library that a daemon loads. */
#include "artifact/mlf/mlf.h"

/**
 * Link the model called @name, or the only one when @name is NULL, of the archive
 * @file. A graph and its parameters are inside the library; functions of an archive of
 * operators are its functions. Errors: those of msd_mlf_read(), msd_mlf_find() and
 * msd_linker_link(); MSD_UNSUPPORTED (nothing that can be run).
 */
MSD_MUST_CHECK msd_err msd_model_link(struct msd_span file, const char *name,
				      struct msd_buf *ret, struct msd_diag *d);

/** Whether the archive's file @path is a piece of @model. */
bool msd_model_owns(const struct msd_mlf *m, const struct msd_mlf_model *model,
		    const char *path);

#endif
