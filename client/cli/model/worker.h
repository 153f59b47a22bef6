#ifndef MSD_CLI_WORKER_H
#define MSD_CLI_WORKER_H
/*
 * A modserd-worker of this program, without a daemon: it reads a framework's model in
 * its sandbox and answers the requests of daemon/worker/CHANNEL.md.
 */
#include <sys/types.h>

#include "client/cli/cli.h"
#include "client/modser.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/* The module's name there. */
#define MSD_CLI_WORKER_MODULE "model"

struct msd_cli_worker {
	modser_client *client; /* the channel */
	pid_t pid;
};

/**
 * Start a worker that has @file. Errors: MSD_UNSUPPORTED (not installed), MSD_IO,
 * MSD_NOMEM. End it in any case.
 */
MSD_MUST_CHECK msd_err msd_cli_worker_start(struct msd_cli_worker *w,
					    struct msd_span file, struct msd_diag *d);
/** Let it load the file with the options of @cli; reports an error. */
enum msd_exit msd_cli_worker_open(const struct msd_cli_worker *w,
				  const struct msd_cli *cli);
/** End it. *@ret_died: a signal ended it, and its text is in @d. */
void msd_cli_worker_end(struct msd_cli_worker *w, bool *ret_died, struct msd_diag *d);

#endif
