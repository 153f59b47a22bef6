#ifndef MSD_ARTIFACT_KIND_MODEL_H
#define MSD_ARTIFACT_KIND_MODEL_H
/*
 * What a module says of the model in it: functions with their inputs and outputs as far
 * as they can be read without running anything, parameters, and the functions that it
 * wants from others.
 */
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/dtype.h"

#define MSD_MODEL_MAX_VALUES 4096u /* inputs, outputs, functions, needs: each */

/* An input or output. What is not known is absent. */
struct msd_model_value {
	char *name; /* NULL: none */
	char *type; /* in words, when it is not a tensor of known dtype and rank; NULL:
		       none */
	bool is_tensor; /* dtype and shape are known */
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t *shape; /* -1: any extent */
};

struct msd_model_func {
	char *name;
	bool is_compiled; /* to machine code, where others are code of a VM */
	struct msd_model_value *inputs;
	size_t n_inputs;
	struct msd_model_value *outputs;
	size_t n_outputs;
};

struct msd_model {
	struct msd_model_func *funcs;
	size_t n_funcs;
	char **needs; /* packed functions, by the names that it looks up */
	size_t n_needs;
	char **late; /* constants that a .params file brings, by their names */
	size_t n_late;
	bool has_params;
	uint64_t n_params; /* parameters and constants that are tensors */
	uint64_t param_bytes;
};

void msd_model_finish(struct msd_model *m); /* NULL and zeroed are fine */

/** Append a function. *@ret is NULL, and it is left out, beyond the limit. */
MSD_MUST_CHECK msd_err msd_model_add_func(struct msd_model *m, struct msd_span name,
					  struct msd_model_func **ret,
					  struct msd_diag *d);
/** Append an input or output; NULL beyond the limit. @name may be empty. */
MSD_MUST_CHECK msd_err msd_model_add_input(struct msd_model_func *f,
					   struct msd_span name,
					   struct msd_model_value **ret,
					   struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_model_add_output(struct msd_model_func *f,
					    struct msd_span name,
					    struct msd_model_value **ret,
					    struct msd_diag *d);
/** Append the name of a function that it looks up, unless it is there. */
MSD_MUST_CHECK msd_err msd_model_add_need(struct msd_model *m, struct msd_span name,
					  struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_model_add_late(struct msd_model *m, struct msd_span name,
					  struct msd_diag *d);
/** Make @v a tensor; does nothing with more than MSD_MAX_NDIM extents. */
MSD_MUST_CHECK msd_err msd_model_set_tensor(struct msd_model_value *v,
					    struct msd_dtype dtype,
					    const int64_t *shape, size_t ndim,
					    struct msd_diag *d);
/** Give @v a type as Relax writes it: R.Tensor((n, 4), dtype="float32") becomes a
 * tensor, anything else a text. */
MSD_MUST_CHECK msd_err msd_model_set_type(struct msd_model_value *v,
					  struct msd_span type, struct msd_diag *d);

struct msd_relax_image;
/** Fill a zeroed @m, which its caller finishes, from a checked image. Errors:
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_model_of_relax(const struct msd_relax_image *img,
					  struct msd_model *m, struct msd_diag *d);

/** "function: main(x: Tensor([?, 4], float32)) -> (Tensor(...))", one a line behind
 * @indent blanks. */
void msd_model_text(const struct msd_model *m, int indent, struct msd_buf *out);
/** An object with functions and params; the caller's. NULL: memory is short. */
struct json_t *msd_model_json(const struct msd_model *m);

#endif
