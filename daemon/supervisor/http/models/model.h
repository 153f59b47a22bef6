#ifndef MSD_SUPERVISOR_MODEL_H
#define MSD_SUPERVISOR_MODEL_H
/* A model of the Open Inference Protocol: a function of a module, with the name
 * `MODULE:FUNCTION`, or `MODULE` for its main function. It has one version, "1". */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

#define MSD_MODEL_VERSION "1"

struct msd_module_registry;
struct msd_module;

struct msd_model {
	struct msd_module *module;
	struct msd_span function; /* its entry in function.list; n 0: not known */
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
/* A parameter or result of a model's function, in order. Spans point into the
 * module's facts. */
struct msd_model_param {
	struct msd_span name;   /* `arg` or `output` and its number if the signature has
				   no name; valid until the next step of the walk */
	struct msd_span type;   /* element type in TVM's notation, or a kind */
	struct msd_dtype dtype; /* parsed type, if has_dtype */
	struct msd_span shape;  /* msgpack array; variable: not a natural number */
	struct msd_span extents; /* msgpack array: names of variable extents; n 0 */
	bool has_dtype, is_scalar;
};
struct msd_model_walk {
	struct msd_cur left;
	uint32_t n, i;
	const char *unnamed;
	char room[24];
};

/** True if it fills its outputs, which are parameters after its inputs. */
bool msd_model_is_prim(const struct msd_model *m);
struct msd_span msd_model_function_name(const struct msd_model *m);
/** Start a walk over its parameters. Returns false if they are not known. */
MSD_MUST_CHECK bool msd_model_open(const struct msd_model *m,
				   struct msd_model_walk *ret);
/** Start a walk over its results. */
MSD_MUST_CHECK bool msd_model_open_results(const struct msd_model *m,
					   struct msd_model_walk *ret);
/** The next one; returns false after the last. */
bool msd_model_next(struct msd_model_walk *w, struct msd_model_param *ret);
/** Append its parameters' names, separated by commas, at most the first 8. */
void msd_model_put_names(const struct msd_model *m, struct msd_buf *out);
/**
 * The extents in a parameter's @shape, -1 for a variable extent. Returns false if
 * there is no shape, so that any shape is valid.
 */
bool msd_model_read_extents(struct msd_span shape, uint32_t *ret_ndim,
			    int64_t ret[MSD_MAX_NDIM]);
/* Output formats: the protocol's metadata, and Triton's configuration. */
enum msd_model_form { MSD_MODEL_METADATA, MSD_MODEL_CONFIG, MSD_MODEL_FORM_COUNT };
/** Append `"inputs":[...],"outputs":[...]` in the format @form. */
void msd_model_write_tensors(const struct msd_model *m, enum msd_model_form form,
			     struct msd_buf *out);
/** "READY", "LOADING" or "UNAVAILABLE". */
const char *msd_model_state(const struct msd_module *m);

#endif
