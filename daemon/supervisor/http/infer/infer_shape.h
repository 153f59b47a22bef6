#ifndef MSD_SUPERVISOR_INFER_SHAPE_H
#define MSD_SUPERVISOR_INFER_SHAPE_H
/*
 * The shapes of a call's tensors. The shapes of inputs are compared with the model
 * and determine the variable extents, by name; the shapes of the outputs that the
 * function fills follow from them.
 */
#include "daemon/http/infer_ask.h"
#include "daemon/supervisor/module/workers/signature.h"

struct msd_wire_tensor;

/* The extents that inputs determine, by their symbol in the function's signature. */
struct msd_infer_extents {
	const struct msd_function_signature *function;
	struct msd_infer_extent {
		int64_t value;
		const struct msd_infer_input *of; /* first input that determines it */
	} known[MSD_SIGNATURE_SYMBOLS];           /* the first n_symbols */
};

/** No extent of @f is known. */
void msd_infer_extents_init(struct msd_infer_extents *x,
			    const struct msd_function_signature *f);
/**
 * Check the shape of @t, the parameter @p, against the model and the extents of other
 * inputs; record its extents. Errors: MSD_BAD_REQUEST, naming the input, and the
 * other input if two conflict.
 */
MSD_MUST_CHECK msd_err msd_infer_shape_check(struct msd_infer_extents *x,
					     const struct msd_signature_param *p,
					     const struct msd_infer_input *t,
					     struct msd_diag *d);
/**
 * Complete the shape of @w, the output @p, after its own shape was read. The sources
 * are: the inputs of @ask, the requested shape in @ask (which must not conflict), or,
 * for unnamed extents, an input with the same number of dimensions. Errors:
 * MSD_BAD_REQUEST, naming the output.
 */
MSD_MUST_CHECK msd_err msd_infer_shape_complete(const struct msd_infer_extents *x,
						const struct msd_signature_param *p,
						const struct msd_infer_ask *ask,
						struct msd_wire_tensor *w,
						struct msd_diag *d);

#endif
