#ifndef MSD_CONFINE_RESOURCE_LIMITS_H
#define MSD_CONFINE_RESOURCE_LIMITS_H
/*
 * Resource limits of this process and its descendants. The process sets them itself,
 * before foreign code runs, and cannot raise them again; limits set from outside
 * could change a process during its start. The memory limit excludes memory that
 * clients share for reading. Where that is mapped copy-on-write, the kernel counts it
 * as data, so the limit is raised while it is mapped.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/diag.h"

struct msd_resource_limits {
	uint64_t max_data;  /* bytes of its own memory; 0: no limit */
	uint64_t max_lent;  /* additional bytes for client segments */
	uint64_t max_files; /* descriptors; 0: no limit */
	uint64_t max_core;  /* bytes of a core file */
};

/**
 * Apply @a. A limit that is already lower stays. Errors: MSD_IO, which names the
 * option.
 */
MSD_MUST_CHECK msd_err msd_resource_limits_apply(const struct msd_resource_limits *a,
						 struct msd_diag *d);
/**
 * Set the size of the client segments mapped for reading to @bytes, at most max_lent.
 */
void msd_resource_limits_set_lent(uint64_t bytes);
/**
 * Count @bytes that the process maps, and that the kernel does not count as data, for
 * good. False: they exceed the limit.
 */
MSD_MUST_CHECK bool msd_resource_limits_reserve(uint64_t bytes);

#endif
