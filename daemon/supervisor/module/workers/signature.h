#ifndef MSD_SUPERVISOR_SIGNATURE_H
#define MSD_SUPERVISOR_SIGNATURE_H
/*
 * The signature of a module's function, compiled once from the worker's description
 * (facts.h), so that a call reads none of its msgpack. Spans point into the
 * description.
 */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

/* Maximum number of named extents of a function; more have no name. */
#define MSD_SIGNATURE_SYMBOLS 64u
#define MSD_SIGNATURE_NAME_BYTES 20u

struct msd_signature_extent {
	int64_t value;   /* -1: it varies */
	uint32_t symbol; /* number of its name in the function, from 1; 0: no name */
};

enum msd_signature_kind {
	MSD_SIGNATURE_TENSOR, /* or not known */
	MSD_SIGNATURE_NUMBER,
	MSD_SIGNATURE_OBJECT /* a string, a shape or a tuple */
};

/* A parameter or a result. */
struct msd_signature_param {
	struct msd_span name;   /* `arg` or `output` and its number if it has none */
	struct msd_span type;   /* element type in TVM's notation, or a kind */
	struct msd_dtype dtype; /* parsed type, if has_dtype */
	struct msd_signature_extent *extents;
	uint32_t n_extents;
	enum msd_signature_kind kind;
	bool has_dtype;
	bool has_shape;   /* false: any shape is valid */
	bool is_optional; /* nil stands for the model's own value */
	char own_name[MSD_SIGNATURE_NAME_BYTES];
};

struct msd_function_signature {
	struct msd_span name;
	bool is_prim;  /* it fills its outputs, which are parameters after its inputs */
	bool is_model; /* a whole model */
	bool has_params, has_results;                 /* false: they are not known */
	struct msd_signature_param *params, *results; /* owned, as one block */
	uint32_t n_params, n_results;
	struct msd_signature_extent
		*extents;         /* owned; all parameters and results use them */
	struct msd_span *symbols; /* owned; names and formulas of variable extents */
	uint32_t n_symbols;
};

/**
 * Compile the map @described of function.list. Errors: MSD_INTERNAL (it has no name),
 * MSD_NOMEM. Call finish after errors, too.
 */
MSD_MUST_CHECK msd_err msd_function_signature_read(struct msd_function_signature *ret,
						   struct msd_span described,
						   struct msd_diag *d);
void msd_function_signature_finish(struct msd_function_signature *f);

#endif
