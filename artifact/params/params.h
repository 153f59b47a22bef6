#ifndef MSD_ARTIFACT_PARAMS_PARAMS_H
#define MSD_ARTIFACT_PARAMS_PARAMS_H
/* Named tensors: a model's parameters, from the payload of an executor factory or a
 * .params file (relay.save_param_dict). */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_PARAMS_MAGIC 0xF7E58D4F05049CB7ull /* a .params file begins with it */

struct msd_params {
	struct msd_span *names;          /* borrowed from the bytes */
	struct msd_tensor_blob *tensors; /* data borrowed from the bytes, unaligned */
	size_t n;
};

/**
 * A factory's payload: u64 n, the names, the tensors. The caller owns *@ret (finish
 * it). Errors: MSD_BAD_ARTIFACT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_params_read(struct msd_cur *c, struct msd_params *ret,
				       struct msd_diag *d);
/** A whole .params file. */
MSD_MUST_CHECK msd_err msd_params_read_file(struct msd_span file,
					    struct msd_params *ret, struct msd_diag *d);
/** The tensor called @name, the last one of that name; NULL if absent. */
const struct msd_tensor_blob *msd_params_find(const struct msd_params *p,
					      const char *name);
/** The same for a name that is not a C string; "" matches no tensor. */
const struct msd_tensor_blob *msd_params_find_span(const struct msd_params *p,
						   struct msd_span name);
/**
 * Append the tensors of @more to @p; lookups find them first. @more is finished, on
 * failure too. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_params_append(struct msd_params *p, struct msd_params *more,
					 struct msd_diag *d);
void msd_params_finish(struct msd_params *p); /* NULL and zeroed are allowed */

#endif
