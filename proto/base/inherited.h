#ifndef MSD_PROTO_INHERITED_H
#define MSD_PROTO_INHERITED_H
/*
 * Process state that exec() inherits from the parent: standard descriptors, signals,
 * timers, limits. A program sets the state that it depends on at the start of main().
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/diag.h"

/**
 * Open /dev/null on each of the descriptors 0, 1 and 2 that is closed. Otherwise the
 * next file or socket would get that number and receive printed text. False if it
 * cannot be opened; see errno.
 */
MSD_MUST_CHECK bool msd_inherited_open_standard(void);
/**
 * For a daemon: reset all signals, except SIGPIPE and SIGXFSZ, which are ignored so
 * that write() returns an error. Stop setitimer() timers, whose signals would end the
 * process. Reset the umask bits of a file's owner.
 */
void msd_inherited_reset(void);
/**
 * Raise the soft RLIMIT_FSIZE to the hard one. The limit also applies to memfds:
 * MSD_REFUSED if it is below @least bytes.
 */
MSD_MUST_CHECK msd_err msd_inherited_raise_file_size(uint64_t least,
						     struct msd_diag *d);

#endif
