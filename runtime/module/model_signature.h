#ifndef MSD_RUNTIME_MODULE_MODEL_SIGNATURE_H
#define MSD_RUNTIME_MODULE_MODEL_SIGNATURE_H
/* The signature of a model whose inputs and outputs are all known: an executor's. */
#include "proto/diag.h"
#include "runtime/module/module.h"

struct msd_model_tensor { /* all borrowed */
	const char *name; /* NULL: none */
	struct msd_dtype dtype;
	const int64_t *shape;
	uint32_t ndim;
	bool is_unranked; /* an output that only a run tells the dimensions of; ndim 0
			   */
	const char *const *dim_names; /* of unknown extents, "": none; NULL: no names */
};

struct msd_model_io {
	const struct msd_model_tensor *inputs;
	size_t n_inputs;
	const struct msd_model_tensor *outputs;
	size_t n_outputs;
};

/**
 * Parameters from the inputs, results from the outputs, and a text such as
 * "run(data: Tensor([2, 16], float32)) -> (Tensor([2, 10], float32))". Finish @ret in
 * any case. Errors: MSD_UNSUPPORTED (too many), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_model_signature(const char *name,
					   const struct msd_model_io *io,
					   struct msd_signature *ret,
					   struct msd_diag *d);

#endif
