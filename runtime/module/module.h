#ifndef MSD_RUNTIME_MODULE_MODULE_H
#define MSD_RUNTIME_MODULE_MODULE_H
/* Description of a module's functions, and load options: the types that loading, the
 * kinds of modules and callers share. */
#include "proto/dtype.h"
#include "proto/words/run_options.h"

/* The known properties of a parameter or result. */
struct msd_param {
	char *name; /* NULL if unknown */
	enum msd_kind_hint {
		MSD_P_UNKNOWN,
		MSD_P_TENSOR,
		MSD_P_INT,
		MSD_P_FLOAT,
		MSD_P_BOOL,
		MSD_P_STR,
		MSD_P_SHAPE,
		MSD_P_TUPLE,
		MSD_P_OTHER
	} kind;
	bool has_dtype;
	struct msd_dtype dtype; /* the library's form: bool may be {1,1,1} or {6,8,1} */
	int32_t ndim;           /* -1: unknown */
	int64_t *shape;   /* ndim extents, -1: symbolic or unknown; NULL: unknown */
	char **dim_names; /* ndim names, NULL for unnamed ones; NULL: no names */
};

struct msd_signature {
	bool known; /* false: only the name is known */
	/* Parameter names are C identifiers: other characters are replaced by '_'. */
	bool has_c_names;
	char *text; /* as printed by the library or composed by us; NULL if unknown */
	struct msd_param *params;
	size_t n_params;
	size_t n_optional; /* the last ones, which a call may omit or give as None */
	/* Result types if they are known apart from the text; else none. */
	struct msd_param *results;
	size_t n_results;
};

enum msd_func_style {
	MSD_FUNC_PRIM,  /* destination passing: outputs are arguments */
	MSD_FUNC_MODEL, /* returns its outputs: a VM function */
};

struct msd_func_info {
	const char *name; /* name for callers */
	enum msd_func_style style;
	const struct msd_signature *signature; /* never NULL; borrowed */
	const char *module_kind;               /* kind of its tree node */
	const char *refusal; /* NULL, or the reason why it cannot be called here */
	const char *doc;     /* NULL, or its author's documentation */
	bool is_runtimes;    /* of the runtime: it checks each argument itself */
};

struct msd_load_options {
	const char *label;     /* the file's name for error texts */
	bool probe_signatures; /* probe functions for their signatures (executes only
				  their argument checks); if off, they stay unknown */
	/*
	 * A graph executor's graph.json or a virtual machine's program, for a library
	 * that does not contain it, and a .params file with the separate data of its
	 * modules; empty: none. Must outlive the module.
	 */
	struct msd_span graph;
	struct msd_span params;
	/* Files that a framework's model names, stored after its file
	 * (proto/words/external_data.h); empty: none. */
	struct msd_span files;
	struct msd_run_options run; /* as the load gave them */
};

/* Restricts the probe: @may is called before each function is probed, with its place
 * in a fixed order; false leaves that function's signature unknown. */
struct msd_probe_gate {
	bool (*may)(void *ctx, size_t place);
	void *ctx;
};

#endif
