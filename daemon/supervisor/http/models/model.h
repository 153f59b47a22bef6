#ifndef MSD_SUPERVISOR_MODEL_H
#define MSD_SUPERVISOR_MODEL_H
/* A model of the Open Inference Protocol: a function of a module, with the name
 * `MODULE:FUNCTION`, or `MODULE` for its main function. It has one version, "1". */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_MODEL_VERSION "1"

struct msd_function_signature;
struct msd_module_registry;
struct msd_module;

struct msd_model {
	struct msd_module *module;
	/* One of the module's facts; NULL: not known. */
	const struct msd_function_signature *function;
};

/** The module name in @name: the text before its first colon. */
struct msd_span msd_model_module_name(struct msd_span name);
/**
 * Find the model @name. Errors: MSD_NOT_FOUND, also if the module has no such
 * function.
 */
MSD_MUST_CHECK msd_err msd_model_find(struct msd_module_registry *registry,
				      struct msd_span name, struct msd_model *ret,
				      struct msd_diag *d);
/** Append its parameters' names, separated by commas, at most the first 8. */
void msd_model_put_names(const struct msd_model *m, struct msd_buf *out);
/* Output formats: the protocol's metadata, and Triton's configuration. */
enum msd_model_form { MSD_MODEL_METADATA, MSD_MODEL_CONFIG, MSD_MODEL_FORM_COUNT };
/** Append `"inputs":[...],"outputs":[...]` in the format @form. */
void msd_model_write_tensors(const struct msd_model *m, enum msd_model_form form,
			     struct msd_buf *out);
/** "READY", "LOADING" or "UNAVAILABLE". */
const char *msd_model_state(const struct msd_module *m);

#endif
