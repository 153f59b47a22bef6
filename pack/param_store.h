#ifndef MSD_PACK_PARAM_STORE_H
#define MSD_PACK_PARAM_STORE_H
/*
 * A .params file that grows: parameters of several builds of a model, each once.
 * Existing tensors keep their bytes and offsets, so a library that was made with an
 * older version of the file works with the newer one.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_stored_param {
	struct msd_span name; /* borrowed from the file, or @own */
	char *own;
	struct msd_span tensor; /* a saved tensor, unchanged; borrowed */
};

struct msd_param_store {
	struct msd_stored_param *params; /* owned */
	size_t n;
	size_t n_given; /* number of entries from the file */
};

/**
 * Read @file; an empty one has no parameters. *@ret borrows it; the caller owns *@ret
 * (finish it). Errors: MSD_BAD_ARTIFACT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_param_store_open(struct msd_span file,
					    struct msd_param_store *ret,
					    struct msd_diag *d);
/**
 * Add a saved tensor, which is borrowed, unless an equal one exists. @name is copied.
 * Errors: MSD_BAD_REQUEST: another tensor has that name; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_param_store_add(struct msd_param_store *store,
					   struct msd_span name, struct msd_span tensor,
					   struct msd_diag *d);
/** Append the whole file. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_param_store_write(const struct msd_param_store *store,
					     struct msd_buf *out, struct msd_diag *d);
void msd_param_store_finish(struct msd_param_store *store); /* zeroed is allowed */

#endif
