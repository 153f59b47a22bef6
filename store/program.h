#ifndef MSD_STORE_PROGRAM_H
#define MSD_STORE_PROGRAM_H
/* Run a helper program of this project and wait for it. It reports an error on
 * standard error as one line "CODE text". */
#include "proto/base/diag.h"

/**
 * Run @words[0], a path, with the NULL-terminated arguments @words, and wait for its
 * exit. It inherits this process's descriptors, except those that are closed on exec.
 * The helper limits its own run time: nothing here ends it. Output beyond a line's
 * length is read and discarded.
 *
 * MSD_OK: it exited with 0, regardless of its output. Otherwise the code and text of
 * its first line; MSD_INTERNAL: no such line, and the text has its output; MSD_IO: it
 * could not be started.
 */
MSD_MUST_CHECK msd_err msd_program_run(char *const *words, struct msd_diag *d);

#endif
