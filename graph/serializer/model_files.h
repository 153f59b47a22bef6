#ifndef MSD_GRAPH_SERIALIZER_MODEL_FILES_H
#define MSD_GRAPH_SERIALIZER_MODEL_FILES_H
/*
 * The files of one model, in memory. A model of several files travels as one, so that
 * stores and registries keep it whole:
 *
 *   "modser files 1\n\0" | u32 number | u64 offset, u64 bytes, u32 name, ... | zeros |
 * file | ...
 *
 * with each file on a page of its own. An upload may also have the files after the
 * model, described by a list (proto/words/external_data.h).
 */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_model_file {
	struct msd_span name; /* empty if it is not known */
	struct msd_span bytes;
};

struct msd_model_files {
	struct msd_model_file *items; /* owned; names and bytes are borrowed */
	size_t n;                     /* at least 1 */
};

/** True if @file begins like several files in one. */
bool msd_model_files_are(struct msd_span file);
/**
 * List the files in @file: its rows name them, or it is the model, and the checked
 * @list has the files that follow it. MSD_BAD_ARTIFACT: a name or place is invalid.
 */
MSD_MUST_CHECK msd_err msd_model_files_of(struct msd_span file, struct msd_span list,
					  struct msd_model_files *ret,
					  struct msd_diag *d);
/** Write @f as one file. */
MSD_MUST_CHECK msd_err msd_model_files_write(const struct msd_model_files *f,
					     struct msd_buf *out, struct msd_diag *d);
void msd_model_files_finish(struct msd_model_files *f);

/**
 * Load the model of @f into @graph with @s, which takes as many files as it wants. A
 * format of one file finds the others by the names that the model has for them. -1
 * with the error of @graph. The bytes must outlive it.
 */
MSD_MUST_CHECK int msd_model_files_load(const modser_serializer *s,
					const struct msd_model_files *f,
					const modser_model_options *options,
					modser_graph *graph);

#endif
