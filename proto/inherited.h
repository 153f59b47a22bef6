#ifndef MSD_PROTO_INHERITED_H
#define MSD_PROTO_INHERITED_H
/*
 * State of a process that its parent has chosen and exec() keeps: standard descriptors,
 * signals, timers, limits. A program sets what it depends on, first of all in main().
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

/** Open /dev/null on each of the descriptors 0, 1 and 2 that is closed: the next file
 * or socket would get its number, and what is printed would go there. False: it cannot
 * be opened; errno says why. */
MSD_MUST_CHECK bool msd_inherited_open_standard(void);
/**
 * For a daemon: no signal is ignored or blocked but SIGPIPE and SIGXFSZ, which are
 * ignored, so that write() returns an error; no timer of setitimer() runs, whose signal
 * would end the process; the umask takes nothing from the owner of a new file.
 */
void msd_inherited_reset(void);
/** Raise the soft RLIMIT_FSIZE to the hard one. The limit counts memfds, too:
 * MSD_REFUSED when it is below @least bytes. */
MSD_MUST_CHECK msd_err msd_inherited_raise_file_size(uint64_t least,
						     struct msd_diag *d);

#endif
