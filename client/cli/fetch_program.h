#ifndef MSD_CLI_FETCH_PROGRAM_H
#define MSD_CLI_FETCH_PROGRAM_H
/* modserd-fetch, which has the network, started for one thing and waited for. */
#include "proto/diag.h"

/** Run it with the words behind the first, whose place is its own. MSD_OK, the code
 * and text that it names, MSD_UNSUPPORTED (there is none), MSD_IO. */
MSD_MUST_CHECK msd_err msd_fetch_program_run(char **words, struct msd_diag *d);

#endif
