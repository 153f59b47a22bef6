#ifndef MSD_RUNTIME_LOAD_FORMAT_H
#define MSD_RUNTIME_LOAD_FORMAT_H
/*
 * Artifact formats: what a file may be, and how it becomes a tree of nodes. One file
 * and one row in format.c each; nothing else knows them.
 *
 * A format makes the nodes and their edges in msd_loaded and opens each; listing,
 * placing, calling and closing them is the same for all (loaded.c).
 */
#include "runtime/load/state.h"

/* A file, all borrowed; its bytes and the options' outlive the module. */
struct msd_load_source {
	int fd;
	struct msd_span file;
	const struct msd_load_options *options;
};

struct msd_format {
	const char *name; /* for people: "shared library" */
	/** Whether a file begins as this format does; cheap, and nothing is promised
	 * about the rest of it. */
	bool (*is)(struct msd_span file);
	/**
	 * Fill @m: `nodes`, each made ready by msd_node_init() and opened by its ops,
	 * how many they are, `edges` where one imports another, `root`, all of `about`,
	 * and `form` with what the format needs while the module is there. What is
	 * half-built after an error is closed as a whole. Errors: MSD_BAD_ARTIFACT,
	 * MSD_UNSUPPORTED, MSD_NOMEM.
	 */
	msd_err (*open)(struct msd_loaded *m, const struct msd_load_source *from,
			struct msd_diag *d);
	/** Optional: free `form`, which may be NULL; the nodes are closed by then. */
	void (*close)(void *form);
};

extern const struct msd_format msd_format_library;      /* library.c */
extern const struct msd_format msd_format_companion;    /* companion.c */
extern const struct msd_format msd_format_static_graph; /* static_graph.c */

/** The format of @file, a framework's where @options name one. What is of none is given
 * to the shared library's reader, which says what it is instead. */
const struct msd_format *msd_format_find(struct msd_span file,
					 const struct msd_load_options *options);

#endif
