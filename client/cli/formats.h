#ifndef MSD_CLI_FORMATS_H
#define MSD_CLI_FORMATS_H
/*
 * What a file can be that people hand over, told by its contents: one row for each
 * format, which says what a daemon loads of it and what is told of it. `load`,
 * `convert` and `inspect` know the formats by this table alone.
 */
#include "client/cli/cli.h"
#include "proto/bytes.h"
#include "proto/diag.h"

/* What one load sends: a library, or what a daemon takes in its place, and what belongs
 * beside it; empty: none. */
struct msd_loadable {
	struct msd_buf library, graph, params;
};
void msd_loadable_finish(struct msd_loadable *l);

enum msd_format_trait { /* bits */
			/* --dot, --vm are for it */
			MSD_FORMAT_DOT = 1,
			MSD_FORMAT_VM = 2,
			/* a compiler makes a library of it */
			MSD_FORMAT_LINKED = 4
};

struct msd_file_format {
	const char *name; /* "a model library archive" */
	unsigned traits;
	bool (*is)(const char *path, struct msd_span file);
	/** Make what a daemon loads of l->library, which is the file; NULL: it is that.
	 * MSD_UNSUPPORTED: what the file is, and what to do with it. */
	msd_err (*prepare)(const struct msd_cli *cli, struct msd_loadable *l,
			   struct msd_diag *d);
	/** Append what the file holds, as text or as JSON. */
	msd_err (*inspect)(const struct msd_cli *cli, struct msd_span file,
			   struct msd_buf *out, struct msd_diag *d);
};

/** The first format that @file, read from @path, looks like; the last row is that of
 * libraries, which looks like anything. */
const struct msd_file_format *msd_file_format_of(const char *path,
						 struct msd_span file);

/** The same, but a framework's model where --format says which. */
const struct msd_file_format *
msd_file_format_for(const struct msd_cli *cli, const char *path, struct msd_span file);

/** Whether @file is whole, as far as the inspect() of @format can tell: its errors. */
MSD_MUST_CHECK msd_err msd_file_format_check(const struct msd_file_format *format,
					     const struct msd_cli *cli,
					     struct msd_span file, struct msd_diag *d);
/** The prepare() of what is loaded beside a library alone: what is damaged, or what it
 * is and what to do with it (MSD_UNSUPPORTED). */
MSD_MUST_CHECK msd_err msd_format_refuse(const struct msd_cli *cli,
					 struct msd_loadable *l, struct msd_diag *d);

/* The rows. */
extern const struct msd_file_format msd_format_mlf;     /* format_mlf.c */
extern const struct msd_file_format msd_format_package; /* format_package.c */
extern const struct msd_file_format msd_format_objects; /* format_objects.c */
extern const struct msd_file_format msd_format_model;   /* format_model.c */
extern const struct msd_file_format msd_format_gpu;     /* format_gpu.c */
extern const struct msd_file_format msd_format_graph;   /* format_parts.c */
extern const struct msd_file_format msd_format_params;  /* format_parts.c */
extern const struct msd_file_format msd_format_program; /* format_program.c */
extern const struct msd_file_format msd_format_elf;     /* format_elf.c */

#endif
