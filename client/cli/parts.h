#ifndef MSD_CLI_PARTS_H
#define MSD_CLI_PARTS_H

#include "artifact/mlf/archive.h"
/* The parts of a model, gathered from the files that `modser convert` is given. */

struct msd_parts {
	struct msd_buf graph, params, relay; /* a part's file; empty: none given */
	struct msd_archive objects, sources; /* their data; paths are for messages */
	const char *wanted; /* the model to take from an archive; NULL: the only one */
	char *name;         /* what it is called there; NULL: none was given */
};

/**
 * Add the file at @path, told by its contents: graph.json, .params, an object, a tar of
 * objects and C sources as TVM writes it, a Model Library Format archive or the
 * folder that it was unpacked to; by its name alone a C source (.c) and Relay
 * text (.txt, .relay). Errors: those of msd_file_read() and msd_archive_read();
 * MSD_BAD_ARGUMENT (a second graph, or none of these); MSD_UNSUPPORTED (a linked
 * library, a module for a device).
 */
MSD_MUST_CHECK msd_err msd_parts_add(struct msd_parts *p, const char *path,
				     struct msd_diag *d);
void msd_parts_finish(struct msd_parts *p);

#endif
