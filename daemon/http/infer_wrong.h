#ifndef MSD_HTTP_INFER_WRONG_H
#define MSD_HTTP_INFER_WRONG_H
/* Error texts of `infer` that name the tensor: "input x: ...". */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * Set an error about the @what ("input" or "output") called @name; a long name is
 * cut. Returns @err.
 */
msd_err msd_infer_wrong_as(struct msd_diag *d, msd_err err, const char *what,
			   struct msd_span name, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
#define msd_infer_wrong(d, what, name, ...)                                            \
	msd_infer_wrong_as(d, MSD_BAD_REQUEST, what, name, __VA_ARGS__)
/** Append the dimensions of a shape, * for a variable one: "[2,*]". */
void msd_infer_put_shape(struct msd_buf *out, const int64_t *shape, uint32_t ndim);

#endif
