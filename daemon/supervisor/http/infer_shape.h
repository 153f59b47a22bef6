#ifndef MSD_SUPERVISOR_INFER_SHAPE_H
#define MSD_SUPERVISOR_INFER_SHAPE_H
/*
 * The shapes of a call's tensors: those of its inputs are compared with the model's and
 * tell what the extents are that vary, by their names; those of the outputs that it
 * fills follow from them.
 */
#include "daemon/http/infer_ask.h"
#include "daemon/supervisor/http/model.h"

struct msd_wire_tensor;

#define MSD_INFER_EXTENTS 64u /* that are known by a name; of more nothing is said */

struct msd_infer_extents {
	struct msd_infer_extent {
		struct msd_span name; /* of the module's facts */
		int64_t value;
		const struct msd_infer_input *of; /* that told it first */
	} known[MSD_INFER_EXTENTS];
	uint32_t n;
};

/**
 * Take @t, which is the parameter @p: its shape is to be that of the model, with the
 * extents that other inputs have told. Errors: MSD_BAD_REQUEST, naming it, and the
 * other one where two contradict each other.
 */
MSD_MUST_CHECK msd_err msd_infer_shape_take(struct msd_infer_extents *x,
					    const struct msd_model_param *p,
					    const struct msd_infer_input *t,
					    struct msd_diag *d);
/**
 * Complete the shape of @w, the output @p, whose own is read: by what the inputs of
 * @ask have told, by what @ask says of it (which contradicts neither), or where extents
 * have no names as in an input of as many dimensions. Errors: MSD_BAD_REQUEST, naming
 * it.
 */
MSD_MUST_CHECK msd_err msd_infer_shape_complete(const struct msd_infer_extents *x,
						const struct msd_model_param *p,
						const struct msd_infer_ask *ask,
						struct msd_wire_tensor *w,
						struct msd_diag *d);

#endif
