#ifndef MSD_RUNTIME_MODULE_MODEL_SIGNATURE_H
#define MSD_RUNTIME_MODULE_MODEL_SIGNATURE_H
/* The signature of an executor's model: all inputs and outputs are known. */
#include "proto/base/diag.h"
#include "runtime/module/module.h"

struct msd_model_tensor { /* all borrowed */
	const char *name; /* NULL: none */
	struct msd_dtype dtype;
	const int64_t *shape;
	uint32_t ndim;
	bool is_unranked; /* an output with dimensions that only a run determines; ndim
			     0 */
	const char *const
		*dim_names; /* names of unknown extents, "": unnamed; NULL: no names */
};

struct msd_model_io {
	const struct msd_model_tensor *inputs;
	size_t n_inputs;
	const struct msd_model_tensor *outputs;
	size_t n_outputs;
	size_t n_optional; /* number of inputs, the last ones, with a default */
};

/**
 * Build parameters from the inputs, results from the outputs, and a text such as
 * "run(data: Tensor([2, 16], float32)) -> (Tensor([2, 10], float32))". Finish @ret in
 * any case. Errors: MSD_UNSUPPORTED (too many), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_model_signature(const char *name,
					   const struct msd_model_io *io,
					   struct msd_signature *ret,
					   struct msd_diag *d);

#endif
