#ifndef MSD_RUNTIME_EXECUTOR_STATIC_GRAPH_MODEL_H
#define MSD_RUNTIME_EXECUTOR_STATIC_GRAPH_MODEL_H
/*
 * A framework's model prepared to run by the reference engine: the file is read by
 * the serializer of its format, shapes are inferred, memory is planned. Only on the
 * host, one thread at a time. A run leaves no state, so all instances share one
 * model.
 */
#include "proto/base/diag.h"
#include "runtime/module/model_signature.h"
#include "runtime/module/module.h"
#include "runtime/value/value.h"

struct msd_static_model;

/**
 * Read @file, which must outlive the model, as must the files of the options, stored
 * after it. Errors: MSD_BAD_ARTIFACT; MSD_UNSUPPORTED (an operator without a kernel,
 * elements that its kernel does not read, stripped weights without a fill option);
 * MSD_NOT_FOUND (a file that it names); MSD_BAD_ARGUMENT (an unknown format, an input
 * that the model lacks); MSD_TOO_LARGE; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_static_model_create(struct msd_span file,
					       const struct msd_load_options *options,
					       struct msd_static_model **ret,
					       struct msd_diag *d);
void msd_static_model_destroy(struct msd_static_model *m); /* NULL is fine */

/**
 * Append the contents of the file, as inspect prints them, and the result of the
 * passes.
 */
void msd_static_model_text(const struct msd_static_model *m, struct msd_buf *out);
struct msd_plan;
/** Its plan, borrowed. */
struct msd_plan *msd_static_model_plan(const struct msd_static_model *m);
/** Number of inputs, of the defaults among them, which are the last, and of outputs. */
uint32_t msd_static_model_n_inputs(const struct msd_static_model *m);
uint32_t msd_static_model_n_defaults(const struct msd_static_model *m);
uint32_t msd_static_model_n_outputs(const struct msd_static_model *m);
/** Borrowed from the model. */
struct msd_model_tensor msd_static_model_input(const struct msd_static_model *m,
					       uint32_t i);
/** The file's value of default input @i; NULL: the input has none. */
const struct msd_any *msd_static_model_default(const struct msd_static_model *m,
					       uint32_t i);
struct msd_model_tensor msd_static_model_output(const struct msd_static_model *m,
						uint32_t i);
/** The signature of `run`. */
MSD_MUST_CHECK msd_err msd_static_model_signature(const struct msd_static_model *m,
						  struct msd_signature *ret,
						  struct msd_diag *d);
typedef struct msd_tensor *msd_make_tensor(struct msd_dtype dtype, const int64_t *shape,
					   size_t ndim);
/**
 * Compute tensors of @make in @outputs from @n inputs, tensors of the model's shapes;
 * the call determines an extent of -1. A default that is None or not among the @n has
 * the file's value. Raises its error: 0, or -1 with None in @outputs.
 */
int msd_static_model_run(struct msd_static_model *m, const struct msd_any *inputs,
			 uint32_t n, msd_make_tensor *make, struct msd_any *outputs);

#endif
