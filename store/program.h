#ifndef MSD_STORE_PROGRAM_H
#define MSD_STORE_PROGRAM_H
/* A program of ours that is started for one thing and waited for: what went wrong it
 * says on standard error, as one line "CODE text". */
#include "proto/diag.h"

/**
 * Run @words[0], a path, with @words, whose end is NULL, and wait for its end. It has
 * this process's descriptors but for those that are closed on exec, and its own bounds
 * on time: nothing here ends it. What it says beyond a line's length is read, and
 * forgotten.
 *
 * MSD_OK: it ended with 0, whatever it said. Else the code and text of its first line;
 * MSD_INTERNAL: it said no such line, and the text has what it did say; MSD_IO: it
 * could not be started.
 */
MSD_MUST_CHECK msd_err msd_program_run(char *const *words, struct msd_diag *d);

#endif
