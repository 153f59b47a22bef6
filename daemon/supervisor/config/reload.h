#ifndef MSD_SUPERVISOR_RELOAD_H
#define MSD_SUPERVISOR_RELOAD_H
/*
 * Read the configuration again while the daemon serves: all of it is applied, or
 * nothing. Changes that a running daemon supports are applied at once; the remaining
 * changes wait for the next start.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_options;
struct msd_preload;
struct msd_req;
struct msd_server;

/* The command line to read again, and the options to compare with. */
struct msd_reload {
	int argc; /* 0: there is no command line, and nothing to read */
	char **argv;
	const struct msd_options *started; /* borrowed */
	struct msd_options *now;           /* owned; NULL: unchanged since the start */
};

/**
 * Read the command line's file again. Append to @ret, as msgpack, a map for each
 * difference: the reply of the method server.reload. After an error nothing has
 * changed. Errors: MSD_BAD_REQUEST (names file and line), MSD_IO, MSD_DRAINING,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_reload(struct msd_server *s, struct msd_buf *ret,
				  struct msd_diag *d);
/**
 * Load the module @name as the configuration in force says, or else from the store.
 * It replaces the module that serves. The keys of @more override the options; their
 * text may be taken. On success, @r is taken, and it is answered when the module is
 * READY or has failed. On an error, the caller keeps @r. Errors: MSD_NOT_FOUND
 * (neither knows it), MSD_BAD_REQUEST (its section has a source and @more has keys,
 * or the keys conflict), those of msd_module_load().
 */
MSD_MUST_CHECK msd_err msd_reload_module(struct msd_server *s, const char *name,
					 struct msd_preload *more, struct msd_req *r,
					 struct msd_diag *d);
void msd_reload_finish(struct msd_reload *r);

#endif
