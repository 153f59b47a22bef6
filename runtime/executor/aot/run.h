#ifndef MSD_RUNTIME_EXECUTOR_AOT_RUN_H
#define MSD_RUNTIME_EXECUTOR_AOT_RUN_H
/*
 * An ahead-of-time compiled model: one function that takes the inputs, the outputs,
 * and, if memory was planned, the constants and the workspaces. Only on the host. One
 * thread at a time.
 */
#include "artifact/params/params.h"
#include "runtime/executor/aot/metadata.h"
#include "runtime/module/model_signature.h"
#include "runtime/value/value.h"

struct msd_aot;

/**
 * @main is the model's function, @meta has been checked; both must outlive *@ret.
 * Inputs with a tensor in @params are bound to it. Errors: MSD_BAD_ARTIFACT,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_aot_create(const struct msd_aot_metadata *meta,
				      struct msd_function *main,
				      const struct msd_params *params,
				      struct msd_aot **ret, struct msd_diag *d);
void msd_aot_destroy(struct msd_aot *a); /* NULL is fine */
/** The signature of `run`. */
MSD_MUST_CHECK msd_err msd_aot_signature(const struct msd_aot *a,
					 struct msd_signature *ret, struct msd_diag *d);
/**
 * Run with the inputs that are not bound, in order, as msd_graph_instance_run() does.
 */
int msd_aot_run(struct msd_aot *a, const struct msd_any *args, int32_t n,
		struct msd_any *ret);

/**
 * Run with @inputs, one per input of the model, None for bound ones. Fresh tensors
 * are stored in @outputs; they are None on failure.
 */
int msd_aot_call(struct msd_aot *a, const struct msd_any *inputs,
		 struct msd_any *outputs);
const struct msd_aot_metadata *msd_aot_metadata(const struct msd_aot *a);
/** The tensor bound to input @i; NULL: none. */
const struct msd_any *msd_aot_bound(const struct msd_aot *a, size_t i);
struct msd_model_tensor msd_aot_describe(const struct msd_aot_tensor *t);

#endif
