#ifndef MSD_ARTIFACT_INSPECT_H
#define MSD_ARTIFACT_INSPECT_H
/*
 * What can be said about an artifact without running any of it: era, machine, needed
 * libraries, undefined symbols, functions, the import tree with each module's facts.
 * It owns all it holds: the file may go.
 */
#include "runtime/artifact/payload.h"
#include "runtime/artifact/tree.h"

struct msd_inspect_module {
	char *kind; /* printable */
	uint64_t bytes;
	uint32_t *imports;
	uint32_t n_imports;
	struct msd_payload_info info;
};

struct msd_inspect {
	enum msd_era era;
	char *machine;    /* "x86-64", "aarch64", "machine 183" */
	char **functions; /* as callers name them, sorted */
	size_t n_functions;
	char **needed; /* libraries */
	size_t n_needed;
	char **undefined; /* symbols that must come from the loading process or from a
			   * needed library, sorted; weak ones left out */
	size_t n_undefined;
	struct msd_inspect_module *modules; /* [0] is the root */
	uint32_t n_modules;
	enum msd_blob_layout layout;
	uint64_t file_bytes;
};

/**
 * Inspect @file (borrowed for the call). The caller owns *@ret (destroy it). Errors:
 * those of msd_elf_read() and msd_tree_read_library(); a module whose payload is
 * damaged is shown with the fact "damaged". A library without any TVM symbol is shown,
 * too.
 */
MSD_MUST_CHECK msd_err msd_inspect_read(struct msd_span file, struct msd_inspect **ret,
					struct msd_diag *d);
void msd_inspect_destroy(struct msd_inspect *i); /* NULL is fine */
/** Whether a loader of modserd, and no system library, has to provide a symbol. */
bool msd_inspect_is_tvm_symbol(const char *name);
/** Text for people (a tree, one fact per line) and JSON with the same content. */
void msd_inspect_text(const struct msd_inspect *i, struct msd_buf *out);
void msd_inspect_json(const struct msd_inspect *i, struct msd_buf *out);
/** The tree as a graph for Graphviz. */
void msd_inspect_dot(const struct msd_inspect *i, struct msd_buf *out);
/** Append listings of the Relax programs in @file. Errors: those of msd_inspect_read()
 * and msd_relax_image_read(); MSD_UNSUPPORTED: there is none. */
MSD_MUST_CHECK msd_err msd_inspect_programs(struct msd_span file, struct msd_buf *out,
					    struct msd_diag *d);

#endif
