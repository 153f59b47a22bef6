#ifndef MSD_RUNTIME_LOAD_FORMAT_H
#define MSD_RUNTIME_LOAD_FORMAT_H
/*
 * Artifact formats: detection of a file's format, and its conversion into a tree of
 * nodes. Each has one file and one row in format.c; nothing else knows the list.
 *
 * A format creates the nodes and edges in msd_loaded and opens each node. Listing,
 * placing, calling and closing are the same for all formats (loaded.c).
 */
#include "runtime/load/state.h"

/* A file, all borrowed. Its bytes and those of the options outlive the module. */
struct msd_load_source {
	int fd;
	struct msd_span file;
	const struct msd_load_options *options;
};

struct msd_format {
	const char *name; /* name in messages: "shared library" */
	/**
	 * True if the file begins like this format; cheap, and says nothing about the
	 * rest.
	 */
	bool (*is)(struct msd_span file);
	/**
	 * Fill @m: `nodes`, their number, `edges` for the imports, `root`, all of
	 * `about`, and `form` with the format's data. msd_node_init() initialises
	 * each node, and its ops open it. After an error the caller closes whatever
	 * was built. Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED, MSD_NOMEM.
	 */
	msd_err (*open)(struct msd_loaded *m, const struct msd_load_source *from,
			struct msd_diag *d);
	/** Optional: free `form`, which may be NULL; the nodes are already closed. */
	void (*close)(void *form);
};

extern const struct msd_format msd_format_library;      /* library.c */
extern const struct msd_format msd_format_companion;    /* companion.c */
extern const struct msd_format msd_format_static_graph; /* static_graph.c */

/**
 * The format of @file, or a framework's if @options name one. An unknown file gets
 * the shared library's reader, which reports the actual type of the file.
 */
const struct msd_format *msd_format_find(struct msd_span file,
					 const struct msd_load_options *options);

#endif
