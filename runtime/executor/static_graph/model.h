#ifndef MSD_RUNTIME_EXECUTOR_STATIC_GRAPH_MODEL_H
#define MSD_RUNTIME_EXECUTOR_STATIC_GRAPH_MODEL_H
/*
 * A framework's model made ready to run by the reference engine: read by the serializer
 * that knows the file, its shapes inferred, its tensors placed. On the host alone, one
 * thread at a time; a run leaves nothing behind, so all instances share one model.
 */
#include "proto/diag.h"
#include "runtime/module/model_signature.h"
#include "runtime/module/module.h"
#include "runtime/value/value.h"

struct msd_static_model;

/**
 * Read @file, which must outlive the model, as its options' files must, which lie
 * behind it. Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED (an operator without a kernel,
 * elements that its kernel does not read, weights that were taken out while no fill is
 * said), MSD_NOT_FOUND (a file that it names), MSD_BAD_ARGUMENT (a format that there is
 * not, an input that is not the model's), MSD_TOO_LARGE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_static_model_create(struct msd_span file,
					       const struct msd_load_options *options,
					       struct msd_static_model **ret,
					       struct msd_diag *d);
void msd_static_model_destroy(struct msd_static_model *m); /* NULL is fine */

/** Append what is in the file, as inspect prints it, and what passes made of that. */
void msd_static_model_text(const struct msd_static_model *m, struct msd_buf *out);
/** How many inputs and outputs it has. */
uint32_t msd_static_model_n_inputs(const struct msd_static_model *m);
uint32_t msd_static_model_n_outputs(const struct msd_static_model *m);
/** Borrowed from the model. */
struct msd_model_tensor msd_static_model_input(const struct msd_static_model *m,
					       uint32_t i);
struct msd_model_tensor msd_static_model_output(const struct msd_static_model *m,
						uint32_t i);
/** The signature of `run`. */
MSD_MUST_CHECK msd_err msd_static_model_signature(const struct msd_static_model *m,
						  struct msd_signature *ret,
						  struct msd_diag *d);
/**
 * Compute fresh tensors in @outputs from @inputs, tensors of the model's shapes; an
 * extent of -1 is what the call brings.
 * Raises its error: 0, or -1 with Nones in @outputs.
 */
int msd_static_model_run(struct msd_static_model *m, const struct msd_any *inputs,
			 struct msd_any *outputs);

#endif
