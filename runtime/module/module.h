#ifndef MSD_RUNTIME_MODULE_MODULE_H
#define MSD_RUNTIME_MODULE_MODULE_H
/*
 * What is said about a module's functions, and what it is loaded with: the words that
 * loading, the kinds of modules and those who call share.
 */
#include "proto/dtype.h"
#include "proto/era_word.h"
#include "proto/fill_word.h"

/* A parameter or result as far as it is known. */
struct msd_param {
	char *name; /* NULL when unknown */
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
	struct msd_dtype
		dtype;    /* as the library wants it: bool may be {1,1,1} or {6,8,1} */
	int32_t ndim;     /* -1: unknown */
	int64_t *shape;   /* ndim extents, -1: symbolic or unknown; NULL: unknown */
	char **dim_names; /* ndim of them, NULL where there is none; NULL: no names */
};

struct msd_signature {
	bool known; /* false: nothing but the name is known */
	/* Names of parameters are C's: what C does not have is '_' in them. */
	bool has_c_names;
	char *text; /* as the library prints it, or composed by us; NULL when unknown */
	struct msd_param *params;
	size_t n_params;
	/* What it returns, where that is known apart from the text; else none. */
	struct msd_param *results;
	size_t n_results;
};

enum msd_func_style {
	MSD_FUNC_PRIM,  /* destination passing: outputs are arguments */
	MSD_FUNC_MODEL, /* returns its outputs: a VM function */
};

struct msd_func_info {
	const char *name; /* as a caller names it */
	enum msd_func_style style;
	const struct msd_signature *signature; /* never NULL; borrowed */
	const char *module_kind;               /* the tree node it lives in */
	const char *refusal; /* NULL, or why it cannot be called here */
	const char *doc;     /* NULL, or what its author says of it */
};

struct msd_load_options {
	const char *label;     /* the file's name for error texts */
	bool probe_signatures; /* ask functions for their signatures (executes their
				  argument checks only); off leaves them unknown */
	/* A graph executor's graph.json or a virtual machine's program, for a library
	 * that does not hold it, and a .params file with what its modules keep beside
	 * it; empty: none. Must outlive the module. */
	struct msd_span graph;
	struct msd_span params;
	/* What a framework's model names, behind its file (proto/beside.h); empty:
	 * none.
	 */
	struct msd_span files;
	enum msd_era_word era;   /* for a library whose symbols do not tell it */
	enum msd_fill_word fill; /* for weights that were taken out of a model's file */
	/* What a framework's model is, and the shapes of its inputs; NULL: nothing was
	 * said. */
	const struct msd_model_words *words;
	/* An instance's set_input ignores names that the model lacks, as TVM does. */
	bool tvm_inputs;
};

/* Who may be asked: @may is called before each function is, with its place in an order
 * that is the same every time; false leaves that one's signature unknown. */
struct msd_probe_gate {
	bool (*may)(void *ctx, size_t place);
	void *ctx;
};

#endif
