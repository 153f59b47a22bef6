#ifndef MSD_ARTIFACT_MLF_MLF_H
#define MSD_ARTIFACT_MLF_MLF_H
/*
 * Model Library Format: a tar archive that holds all parts of a compiled model, as TVM
 * 0.8 to 0.18 (and developers' versions before) exports it: versions 1 to 7.
 */
#include "artifact/mlf/archive.h"

#define MSD_MLF_LIB "codegen/host/lib/"         /* objects, *.o */
#define MSD_MLF_SRC "codegen/host/src/"         /* C sources, *.c */
#define MSD_MLF_INCLUDE "codegen/host/include/" /* headers of the C interface */

struct msd_mlf_model {
	const char *name;
	bool is_operator;       /* style "operator": functions, no executor */
	bool has_aot;           /* executor "aot" */
	struct msd_span graph;  /* graph.json; empty without a graph executor */
	struct msd_span params; /* .params; empty when there are none */
	/* Where there are some under another name than the model's; NULL: nowhere. */
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
 * Read the archive @file (borrowed for the call). A model that says it has a graph has
 * one. The caller owns *@ret (finish it). Errors: those of msd_archive_read();
 * MSD_BAD_ARTIFACT (no or wrong metadata.json: the text names the key),
 * MSD_UNSUPPORTED (a newer version).
 */
MSD_MUST_CHECK msd_err msd_mlf_read(struct msd_span file, struct msd_mlf *ret,
				    struct msd_diag *d);
void msd_mlf_finish(struct msd_mlf *m); /* NULL and zeroed are fine */
/** The model called @name, or the only one when @name is NULL. Errors: MSD_NOT_FOUND
 * (the text lists the names), MSD_BAD_ARGUMENT (several, and no name). */
MSD_MUST_CHECK msd_err msd_mlf_find(const struct msd_mlf *m, const char *name,
				    const struct msd_mlf_model **ret,
				    struct msd_diag *d);
/**
 * Bytes of an input or output (@kind "inputs" or "outputs") of the main function by its
 * name in C, or, with @kind NULL, of all of them together. UINT64_MAX when
 * metadata.json does not say.
 */
uint64_t msd_mlf_io_bytes(const struct msd_mlf_model *model, const char *kind,
			  const char *name);
/** Whether TVM makes @c of @name: what a C identifier cannot hold becomes '_'. */
bool msd_mlf_is_in_c(struct msd_span name, const char *c);
/** The name of the @i-th input or output as metadata.json lists them, which is by name
 * and not as the function takes them, or NULL. */
const char *msd_mlf_io_name(const struct msd_mlf_model *model, const char *kind,
			    size_t i);
/** MSD_BAD_ARTIFACT: its graph has parameters in the archive, under another name. */
MSD_MUST_CHECK msd_err msd_mlf_check_params(const struct msd_mlf_model *model,
					    struct msd_diag *d);
/** What a model's metadata says of the memory of its functions: TVM writes it to
 * memory.functions, its document has it in memory itself. Borrowed; may be NULL. */
struct json_t *msd_mlf_memory(const struct json_t *model);
/** Append what the archive holds, as JSON or as text for people. A graph or parameters
 * that are damaged are shown as such. */
void msd_mlf_json(const struct msd_mlf *m, struct msd_buf *out);
void msd_mlf_text(const struct msd_mlf *m, struct msd_buf *out);
/* A linked archive of operators has their signatures, one a line, behind this symbol:
 * their code may check nothing, and nobody else could tell what they take. */
#define MSD_SIGNATURES_SYMBOL "__modserd_signatures"
/** Append those of the operators whose arguments metadata.json describes. */
void msd_mlf_signatures(const struct msd_mlf_model *model, struct msd_buf *out);

/**
 * Append the payload of TVM's library with a graph executor factory inside: u64 bytes
 * and the module tree of a GraphExecutorFactory that imports the library. Errors: those
 * of reading the graph and the parameters; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_mlf_factory(const struct msd_mlf_model *model,
				       struct msd_buf *out, struct msd_diag *d);

/* What an archive is written from. All borrowed. */
struct msd_mlf_parts {
	unsigned version;                     /* 5 or 7 */
	const char *name;                     /* of the model */
	int64_t time;                         /* of the export, seconds since 1970 */
	struct msd_span graph, params, relay; /* params and relay may be empty */
	const struct msd_span *objects, *sources;
	size_t n_objects, n_sources;
};

/**
 * Append the archive of a full model with a graph executor. What objects do not tell is
 * left out: the workspaces of operators. Errors: those of
 * reading the graph and the parameters; MSD_BAD_ARGUMENT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_mlf_write(const struct msd_mlf_parts *parts,
				     struct msd_buf *out, struct msd_diag *d);

#endif
