#ifndef MSD_ARTIFACT_MLF_MLF_H
#define MSD_ARTIFACT_MLF_MLF_H
/* Model Library Format: a tar archive with all parts of a compiled model, as TVM 0.8
 * to 0.18 (and development versions before) export it: versions 1 to 7. */
#include "artifact/mlf/archive.h"

#define MSD_MLF_LIB "codegen/host/lib/"         /* objects, *.o */
#define MSD_MLF_SRC "codegen/host/src/"         /* C sources, *.c */
#define MSD_MLF_INCLUDE "codegen/host/include/" /* headers of the C interface */

struct msd_mlf_model {
	const char *name;
	bool is_operator;       /* style "operator": functions, no executor */
	bool has_aot;           /* executor "aot" */
	struct msd_span graph;  /* graph.json; empty without a graph executor */
	struct msd_span params; /* .params; empty if absent */
	/* Path of parameters under another name than the model's; NULL if absent. */
	const char *other_params;
	struct json_t *json; /* its metadata */
};

struct msd_mlf {
	unsigned version;
	uint64_t file_bytes;
	struct msd_archive archive;
	struct msd_mlf_model *models; /* one; several from version 7 on */
	size_t n_models;
	struct json_t *json; /* metadata.json */
};

/**
 * Read the archive @file (borrowed for the call). A model that declares a graph has
 * one. The caller owns *@ret (finish it). Errors: those of msd_archive_read();
 * MSD_BAD_ARTIFACT (missing or wrong metadata.json: the text names the key),
 * MSD_UNSUPPORTED (a newer version).
 */
MSD_MUST_CHECK msd_err msd_mlf_read(struct msd_span file, struct msd_mlf *ret,
				    struct msd_diag *d);
void msd_mlf_finish(struct msd_mlf *m); /* NULL and zeroed are allowed */
/** The model called @name, or the only one when @name is NULL. Errors: MSD_NOT_FOUND
 * (the text lists the names), MSD_BAD_ARGUMENT (several, and no name). */
MSD_MUST_CHECK msd_err msd_mlf_find(const struct msd_mlf *m, const char *name,
				    const struct msd_mlf_model **ret,
				    struct msd_diag *d);
/**
 * Bytes of an input or output (@kind "inputs" or "outputs") of the main function by
 * its C name, or, if @kind is NULL, their total. UINT64_MAX if metadata.json does not
 * record it.
 */
uint64_t msd_mlf_io_bytes(const struct msd_mlf_model *model, const char *kind,
			  const char *name);
/** True if TVM converts @name to the C identifier @c: invalid characters become '_'. */
bool msd_mlf_is_in_c(struct msd_span name, const char *c);
/**
 * The name of the @i-th input or output in metadata.json, which is sorted by name and
 * not in argument order, or NULL.
 */
const char *msd_mlf_io_name(const struct msd_mlf_model *model, const char *kind,
			    size_t i);
/** MSD_BAD_ARTIFACT: the archive has its graph's parameters under another name. */
MSD_MUST_CHECK msd_err msd_mlf_check_params(const struct msd_mlf_model *model,
					    struct msd_diag *d);
/**
 * Memory figures of the functions in a model's metadata: TVM writes them to
 * memory.functions, its specification says memory itself. Borrowed; may be NULL.
 */
struct json_t *msd_mlf_memory(const struct json_t *model);
/**
 * Append the contents of the archive, as JSON or as text. A damaged graph or damaged
 * parameters are shown as such.
 */
void msd_mlf_json(const struct msd_mlf *m, struct msd_buf *out);
void msd_mlf_text(const struct msd_mlf *m, struct msd_buf *out);
/* Symbol of a linked archive of operators with their signatures, one a line: the code
 * may have no checks, so no other source has them. */
#define MSD_SIGNATURES_SYMBOL "__modserd_signatures"
/** Append the signatures of operators whose arguments are in metadata.json. */
void msd_mlf_signatures(const struct msd_mlf_model *model, struct msd_buf *out);

/**
 * Append the payload of TVM's library with an embedded graph executor factory: u64
 * bytes and the module tree of a GraphExecutorFactory that imports the library.
 * Errors: those of reading the graph and the parameters; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_mlf_factory(const struct msd_mlf_model *model,
				       struct msd_buf *out, struct msd_diag *d);

/* The parts of an archive to write. All borrowed. */
struct msd_mlf_parts {
	unsigned version;                     /* 5 or 7 */
	const char *name;                     /* name of the model */
	int64_t time;                         /* export time, seconds since 1970 */
	struct msd_span graph, params, relay; /* params and relay may be empty */
	const struct msd_span *objects, *sources;
	size_t n_objects, n_sources;
};

/**
 * Append the archive of a full model with a graph executor. Figures that objects do
 * not record are omitted: the workspaces of operators. Errors: those of reading the
 * graph and the parameters; MSD_BAD_ARGUMENT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_mlf_write(const struct msd_mlf_parts *parts,
				     struct msd_buf *out, struct msd_diag *d);

#endif
