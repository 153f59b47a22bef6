#ifndef MSD_SUPERVISOR_MODEL_H
#define MSD_SUPERVISOR_MODEL_H
/*
 * What the Open Inference Protocol calls a model: a function of a module, by the name
 * `MODULE:FUNCTION`, or by `MODULE` alone the one that is its model. It has one
 * version, "1".
 */
#include "proto/bytes.h"
#include "proto/diag.h"

#define MSD_MODEL_VERSION "1"

struct msd_house;
struct msd_module;

struct msd_model {
	struct msd_module *module;
	struct msd_span function; /* what function.list says of it; n 0: not known */
};

/** The module in @name: what stands before its first colon. */
struct msd_span msd_model_module_name(struct msd_span name);
/** The model @name. MSD_NOT_FOUND, for a function that the module lacks, too. */
MSD_MUST_CHECK msd_err msd_model_find(struct msd_house *house, struct msd_span name,
				      struct msd_model *ret, struct msd_diag *d);
/** Append `"inputs":[...],"outputs":[...]` as metadata has it. */
void msd_model_write_tensors(const struct msd_model *m, struct msd_buf *out);
/** "READY", "LOADING" or "UNAVAILABLE". */
const char *msd_model_state(const struct msd_module *m);

#endif
