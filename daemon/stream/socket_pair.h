#ifndef MSD_WIRE_SOCKET_PAIR_H
#define MSD_WIRE_SOCKET_PAIR_H
/*
 * Two connected sockets for two parties that do not trust each other. They pass
 * bytes, and, where the kernel supports it (Linux 6.16), nothing else. A process that
 * sends a descriptor to either end then gets EPERM, and the descriptor is never in
 * flight. The holder of an end can allow descriptors again for that end only.
 */
#include <stdbool.h>

#include "proto/base/diag.h"

/** Make the pair. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_socket_pair_open(int ret[2], struct msd_diag *d);
/** True if this kernel supports it. One thread at a time. */
bool msd_socket_pair_is_tight(void);

#endif
