#ifndef MSD_SUPERVISOR_MODEL_H
#define MSD_SUPERVISOR_MODEL_H
/*
 * What the Open Inference Protocol calls a model: a function of a module, by the name
 * `MODULE:FUNCTION`, or by `MODULE` alone the one that is its model. It has one
 * version, "1".
 */
#include <stdbool.h>

#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/dtype.h"

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
/* A parameter or result of a model's function, in their order. Spans are of the
 * module's facts. */
struct msd_model_param {
	struct msd_span name; /* `arg` or `output` and its number where the signature
			       * has none; of the walk, until its next step */
	struct msd_span type; /* its element type as TVM calls it, or a scalar's kind */
	struct msd_dtype dtype;  /* that, where has_dtype */
	struct msd_span shape;   /* a msgpack array; what varies is no natural number */
	struct msd_span extents; /* a msgpack array of the names of what varies; n 0 */
	bool has_dtype, is_scalar;
};
struct msd_model_walk {
	struct msd_cur left;
	uint32_t n, i;
	const char *unnamed;
	char room[24];
};

/** It fills its outputs, which are parameters behind its inputs. */
bool msd_model_is_prim(const struct msd_model *m);
struct msd_span msd_model_function_name(const struct msd_model *m);
/** False: nobody knows its parameters. */
MSD_MUST_CHECK bool msd_model_open(const struct msd_model *m,
				   struct msd_model_walk *ret);
/** The same of what it returns. */
MSD_MUST_CHECK bool msd_model_open_results(const struct msd_model *m,
					   struct msd_model_walk *ret);
/** The next one; false: there is none. */
bool msd_model_next(struct msd_model_walk *w, struct msd_model_param *ret);
/** Append its parameters' names with commas between, of one with many the first 8. */
void msd_model_put_names(const struct msd_model *m, struct msd_buf *out);
/** The extents in a parameter's @shape, -1 for what varies. False: it has none, so that
 * any shape is right. */
bool msd_model_read_extents(struct msd_span shape, uint32_t *ret_ndim,
			    int64_t ret[MSD_MAX_NDIM]);
/* The words for the same: of metadata, and of Triton's configuration. */
enum msd_model_form { MSD_MODEL_METADATA, MSD_MODEL_CONFIG, MSD_MODEL_FORM_COUNT };
/** Append `"inputs":[...],"outputs":[...]` as @form has it. */
void msd_model_write_tensors(const struct msd_model *m, enum msd_model_form form,
			     struct msd_buf *out);
/** "READY", "LOADING" or "UNAVAILABLE". */
const char *msd_model_state(const struct msd_module *m);

#endif
