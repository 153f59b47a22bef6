#ifndef MSD_WORKER_ALLOWANCE_H
#define MSD_WORKER_ALLOWANCE_H
/*
 * What this process may take of the machine, and all that it starts. It is set by the
 * process itself, before foreign code runs, and nobody can raise it again: set from
 * outside it would change under a process that is just being started. Of its memory
 * what clients lend to be read is no part: the kernel counts that as data where it is
 * mapped so that writing to it stays here, and the limit is higher for as long.
 */
#include <stdint.h>

#include "proto/diag.h"

struct msd_allowance {
	uint64_t max_data;  /* bytes of its own memory; 0: no limit */
	uint64_t max_lent;  /* bytes that clients may lend beside it */
	uint64_t max_files; /* descriptors; 0: no limit */
	uint64_t max_core;  /* bytes of a core file */
};

/** Keep to @a from here on. Where the process has less already, it keeps that. Errors:
 * MSD_IO, naming the option. */
MSD_MUST_CHECK msd_err msd_allowance_apply(const struct msd_allowance *a,
					   struct msd_diag *d);
/** From here on @bytes are there that clients lend to be read, max_lent at most. */
void msd_allowance_set_lent(uint64_t bytes);

#endif
