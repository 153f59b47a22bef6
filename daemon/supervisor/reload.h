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
void msd_reload_finish(struct msd_reload *r);

#endif
