#ifndef MSD_CLI_PARTS_H
#define MSD_CLI_PARTS_H

#include "artifact/mlf/archive.h"
/* Collects the parts of a model from the files of `modser convert`. */

struct msd_parts {
	struct msd_buf graph, params, relay; /* file contents; empty: not given */
	struct msd_archive objects, sources; /* file contents; paths are for messages */
	const char *wanted; /* model to take from an archive; NULL: the only one */
	char *name;         /* its name in the archive; NULL: no archive given */
};

/**
 * Add the file at @path. By its contents: graph.json, .params, an object, a tar of
 * objects and C sources as TVM writes it, a Model Library Format archive or its
 * unpacked folder. By its name: a C source (.c) and Relay text (.txt, .relay).
 * Errors: those of msd_file_read() and msd_archive_read(); MSD_BAD_ARGUMENT (a second
 * graph, or an unknown type); MSD_UNSUPPORTED (a linked library, a module for a
 * device).
 */
MSD_MUST_CHECK msd_err msd_parts_add(struct msd_parts *p, const char *path,
				     struct msd_diag *d);
void msd_parts_finish(struct msd_parts *p);

#endif
