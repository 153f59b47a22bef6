#ifndef MSD_ARTIFACT_INSPECT_INSPECT_H
#define MSD_ARTIFACT_INSPECT_INSPECT_H
/*
 * Describe an artifact without running it: era, machine, needed libraries, undefined
 * symbols and their providers, functions, the import tree with each module's facts.
 * The result owns all its data, so the caller may free the file.
 */
#include "artifact/gpu/code.h"
#include "artifact/kind/model.h"
#include "artifact/kind/payload.h"
#include "artifact/tree/tree.h"

#define MSD_SHA256_TEXT 65 /* a hash in hexadecimal, incl. NUL */

struct msd_inspect_module {
	char *kind;      /* printable */
	uint64_t offset; /* of its payload in the file */
	uint64_t bytes;
	char sha256[MSD_SHA256_TEXT]; /* of its payload; "" before msd_inspect_hash() */
	uint32_t *imports;
	uint32_t n_imports;
	struct msd_payload_info info;
	struct msd_gpu_code gpu; /* CUDA code; empty: no images */
	struct msd_model model;  /* empty if absent */
};

struct msd_inspect {
	enum msd_era era;
	char *machine;     /* "x86-64", "aarch64", "machine 183" */
	char **functions;  /* as callers name them, sorted */
	char **signatures; /* one each, from the code's own texts, or NULL */
	size_t n_functions;
	char **needed; /* libraries */
	size_t n_needed;
	char **places; /* the path of each on this machine, NULL if not found; the array
			  is NULL before the search */
	char *search_path; /* its own search path, or NULL */
	/* A needed library that is not on this machine, or NULL. Set by the search. */
	const char *missing;
	char **undefined; /* symbols that the loading process or a needed library must
			     provide, sorted; without weak ones */
	char **providers; /* one each: "modserd", a library, or NULL if unknown */
	size_t n_undefined;
	char **unknown_slots; /* TVM's pointer globals that this build does not fill */
	size_t n_unknown_slots;
	char **brings; /* of a plugin: "function mine.scale", as it lists them */
	size_t n_brings;
	bool is_plugin;        /* of modserd (graph/modserd_plugin.h) */
	bool needs_neighbours; /* needs libraries in its directory: $ORIGIN, or a path
				*/
	bool is_resolved;      /* a symbol without a provider is missing
				  (msd_inspect_resolve) */
	struct msd_inspect_module *modules; /* [0] is the root */
	uint32_t n_modules;
	enum msd_blob_layout layout;
	uint64_t file_bytes;
	char sha256[MSD_SHA256_TEXT]; /* hash of the file; "" before msd_inspect_hash()
				       */
};

/**
 * Inspect @file (borrowed for the call). The caller owns *@ret (destroy it). Errors:
 * those of msd_elf_read() and msd_tree_read_library(); a module whose payload is
 * damaged is shown with the fact "damaged". A library without any TVM symbol is shown,
 * too.
 */
MSD_MUST_CHECK msd_err msd_inspect_read(struct msd_span file, enum msd_abi_word said,
					struct msd_inspect **ret, struct msd_diag *d);
void msd_inspect_destroy(struct msd_inspect *i); /* NULL is allowed */
/**
 * Call @find for each symbol without a known provider; it returns the library or
 * NULL. Afterwards a symbol without a provider counts as missing. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_inspect_resolve(struct msd_inspect *i,
					   const char *(*find)(void *ctx,
							       const char *symbol),
					   void *ctx, struct msd_diag *d);
#define MSD_PROVIDER_MAX 96 /* bytes incl. NUL */
/**
 * The provider of a packed function that a model of @i needs: "this library", "module
 * 2 (cuda)" into @buf, "modserd"; NULL if missing.
 */
const char *msd_inspect_provider(const struct msd_inspect *i, const char *name,
				 char buf[static MSD_PROVIDER_MAX]);
/** A short description of the module: "CUDA kernels". Static. */
const char *msd_inspect_what(const struct msd_inspect_module *m);
/** Text for the user (a tree, one fact per line) and JSON with the same content. */
void msd_inspect_text(const struct msd_inspect *i, struct msd_buf *out);
void msd_inspect_json(const struct msd_inspect *i, struct msd_buf *out);
/** The tree as a graph for Graphviz. */
void msd_inspect_dot(const struct msd_inspect *i, struct msd_buf *out);
/**
 * Append listings of the programs of virtual machines in @file. Errors: those of
 * msd_inspect_read(), msd_relax_image_read() and msd_relay_image_read();
 * MSD_UNSUPPORTED: the file has none.
 */
MSD_MUST_CHECK msd_err msd_inspect_programs(struct msd_span file, struct msd_buf *out,
					    struct msd_diag *d);

#endif
