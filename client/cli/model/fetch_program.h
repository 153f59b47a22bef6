#ifndef MSD_CLI_FETCH_PROGRAM_H
#define MSD_CLI_FETCH_PROGRAM_H
/* Starts modserd-fetch, which has network access, for one task and waits for it. */
#include "proto/base/diag.h"

/**
 * Run it with @words; the first place is for the program's name. Returns MSD_OK, the
 * code and text that it reports, MSD_UNSUPPORTED (not installed), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_fetch_program_run(char **words, struct msd_diag *d);

#endif
