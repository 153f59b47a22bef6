#ifndef MSD_ARTIFACT_KIND_MODEL_H
#define MSD_ARTIFACT_KIND_MODEL_H
/*
 * The model in a module: functions with their inputs and outputs as far as they can
 * be read without running anything, parameters, and the functions that it needs from
 * other modules.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

#define MSD_MODEL_MAX_VALUES 4096u /* inputs, outputs, functions, needs: each */

/* An input or output. Unknown properties are absent. */
struct msd_model_value {
	char *name; /* NULL if unnamed */
	char *type; /* as text, if it is not a tensor of known dtype and rank; NULL if
		       absent */
	bool is_tensor; /* dtype and shape are known */
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t *shape; /* -1: any extent */
};

struct msd_model_func {
	char *name;
	bool is_compiled; /* machine code, not VM code */
	struct msd_model_value *inputs;
	size_t n_inputs;
	struct msd_model_value *outputs;
	size_t n_outputs;
};

struct msd_model {
	struct msd_model_func *funcs;
	size_t n_funcs;
	char **needs; /* packed functions, by lookup name */
	size_t n_needs;
	char **late; /* names of constants that are bound from a .params file */
	size_t n_late;
	bool has_params;
	uint64_t n_params; /* parameters and constants that are tensors */
	uint64_t param_bytes;
};

void msd_model_finish(struct msd_model *m); /* NULL and zeroed are allowed */

/** Append a function. Beyond the limit *@ret is NULL, and the function is omitted. */
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
/** Append the name of a function that it looks up, unless it is in the list. */
MSD_MUST_CHECK msd_err msd_model_add_need(struct msd_model *m, struct msd_span name,
					  struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_model_add_late(struct msd_model *m, struct msd_span name,
					  struct msd_diag *d);
/** Make @v a tensor; does nothing with more than MSD_MAX_NDIM extents. */
MSD_MUST_CHECK msd_err msd_model_set_tensor(struct msd_model_value *v,
					    struct msd_dtype dtype,
					    const int64_t *shape, size_t ndim,
					    struct msd_diag *d);
/**
 * Set the type of @v from Relax's notation: R.Tensor((n, 4), dtype="float32") becomes
 * a tensor, anything else a text.
 */
MSD_MUST_CHECK msd_err msd_model_set_type(struct msd_model_value *v,
					  struct msd_span type, struct msd_diag *d);

struct msd_relax_image;
/**
 * Fill a zeroed @m, which the caller finishes, from a checked image. Errors:
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_model_of_relax(const struct msd_relax_image *img,
					  struct msd_model *m, struct msd_diag *d);

/**
 * "function: main(x: Tensor([?, 4], float32)) -> (Tensor(...))", one a line, indented
 * by @indent blanks.
 */
void msd_model_text(const struct msd_model *m, int indent, struct msd_buf *out);
/** An object with functions and params; owned by the caller. NULL: memory is short. */
struct json_t *msd_model_json(const struct msd_model *m);

#endif
