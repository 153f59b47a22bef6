#ifndef MSD_SUPERVISOR_RELOAD_H
#define MSD_SUPERVISOR_RELOAD_H
/*
 * The configuration, read again while the daemon serves: as a whole or not at all. What
 * a running daemon can take over, it takes over at once; the rest waits for its next
 * start.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_options;
struct msd_preload;
struct msd_req;
struct msd_server;

/* What is read again, and what it is compared with. */
struct msd_reload {
	int argc; /* 0: there is no command line, and nothing to read */
	char **argv;
	const struct msd_options *started; /* borrowed */
	struct msd_options *now;           /* owned; NULL: as it was started */
};

/**
 * Read the command line's file again. Appends to @ret, as msgpack, a map for each thing
 * that differs: what the method server.reload answers. Errors, nothing has changed
 * then: MSD_BAD_REQUEST (file and line are named), MSD_IO, MSD_DRAINING, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_reload(struct msd_server *s, struct msd_buf *ret,
				  struct msd_diag *d);
/**
 * Load the module @name as the configuration in force has it, or else from the store,
 * in place of what serves, but for the keys that @more has, whose text may be
 * taken. @r is taken then, and answered when that is READY or why it is not. Errors, @r
 * is the caller's: MSD_NOT_FOUND (neither knows it), MSD_BAD_REQUEST (its source says
 * how, or the keys cannot stand together), those of msd_module_load().
 */
MSD_MUST_CHECK msd_err msd_reload_module(struct msd_server *s, const char *name,
					 struct msd_preload *more, struct msd_req *r,
					 struct msd_diag *d);
void msd_reload_finish(struct msd_reload *r);

#endif
