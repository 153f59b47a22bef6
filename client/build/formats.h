#ifndef MSD_CLI_FORMATS_H
#define MSD_CLI_FORMATS_H
/*
 * Detects the format of a file by its contents. Each row is a format, with functions
 * that prepare the file for a daemon and inspect it. `load`, `convert` and `inspect`
 * know the formats only through this table.
 */
#include "client/cli/cli.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/* The bytes of one load: a library, or a file accepted in its place, and its
 * companion files; empty: none. */
struct msd_loadable {
	struct msd_buf library, graph, params;
};
void msd_loadable_finish(struct msd_loadable *l);

enum msd_format_trait { /* bits */
			/* supports --dot, --vm */
			MSD_FORMAT_DOT = 1,
			MSD_FORMAT_VM = 2,
			/* a compiler makes a library from it */
			MSD_FORMAT_LINKED = 4
};

struct msd_file_format {
	const char *name; /* "a model library archive" */
	unsigned traits;
	bool (*is)(const char *path, struct msd_span file);
	/**
	 * Replace l->library, the file, with the bytes that a daemon loads; NULL: the
	 * file itself. MSD_UNSUPPORTED: names the file type, with advice.
	 */
	msd_err (*prepare)(const struct msd_cli *cli, struct msd_loadable *l,
			   struct msd_diag *d);
	/** Append a description of the file, as text or as JSON. */
	msd_err (*inspect)(const struct msd_cli *cli, struct msd_span file,
			   struct msd_buf *out, struct msd_diag *d);
};

/**
 * The first format that matches @file, read from @path; the last row, libraries,
 * matches everything.
 */
const struct msd_file_format *msd_file_format_of(const char *path,
						 struct msd_span file);

/** The same, but --format selects a framework's model format. */
const struct msd_file_format *
msd_file_format_for(const struct msd_cli *cli, const char *path, struct msd_span file);

/**
 * Check that @file is complete, as far as the inspect() of @format can tell; returns
 * its errors.
 */
MSD_MUST_CHECK msd_err msd_file_format_check(const struct msd_file_format *format,
					     const struct msd_cli *cli,
					     struct msd_span file, struct msd_diag *d);
/**
 * The prepare() of files that are only loaded together with a library: reports
 * damage, or the file type with advice (MSD_UNSUPPORTED).
 */
MSD_MUST_CHECK msd_err msd_format_refuse(const struct msd_cli *cli,
					 struct msd_loadable *l, struct msd_diag *d);

/* The rows of the table. */
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
