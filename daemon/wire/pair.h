#ifndef MSD_WIRE_PAIR_H
#define MSD_WIRE_PAIR_H
/*
 * Two connected sockets for two who do not trust each other: they pass bytes, and,
 * where the kernel has it (Linux 6.16), nothing else. Whoever sends a descriptor to
 * either end is told EPERM then, and it was never on its way. Who has an end may let in
 * again what comes to that end, and to no other.
 */
#include <stdbool.h>

#include "proto/diag.h"

/** Make them. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_pair_open(int ret[2], struct msd_diag *d);
/** This kernel has it. One thread at a time. */
bool msd_pair_is_tight(void);

#endif
