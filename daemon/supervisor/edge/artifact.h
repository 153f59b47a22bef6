#ifndef MSD_SUPERVISOR_ARTIFACT_H
#define MSD_SUPERVISOR_ARTIFACT_H
/*
 * The bytes that a module is loaded from, as a worker gets them: one memfd, sealed, so
 * that nobody changes what was checked. Written by an upload, or read from files of
 * this machine.
 */
#include <stdint.h>

#include "proto/diag.h"

#define MSD_ARTIFACT_FILES 3 /* a library, its graph, the graph's parameters */

/**
 * A memfd of @bytes, all reserved: that the memory is not there is said now, not by a
 * SIGBUS. The descriptor is the caller's. Errors: MSD_BAD_REQUEST (0 bytes),
 * MSD_TOO_LARGE (over @max_bytes), MSD_NO_SPACE.
 */
MSD_MUST_CHECK msd_err msd_artifact_new(uint64_t bytes, uint64_t max_bytes, int *ret_fd,
					struct msd_diag *d);
/** No byte of it can change any more. No mapping of it may be writable. MSD_IO. */
MSD_MUST_CHECK msd_err msd_artifact_seal(int fd, struct msd_diag *d);
/**
 * A sealed one with the bytes of local files, one behind the other; @paths may be NULL
 * but for the first. *@ret_fd is the caller's; @ret_bytes are the files' sizes, 0 where
 * there is none. Errors: MSD_IO, MSD_BAD_ARTIFACT (an empty file), MSD_TOO_LARGE,
 * MSD_NO_SPACE.
 */
MSD_MUST_CHECK msd_err msd_artifact_of_files(
	const char *const paths[MSD_ARTIFACT_FILES], uint64_t max_bytes, int *ret_fd,
	uint64_t ret_bytes[MSD_ARTIFACT_FILES], struct msd_diag *d);

#endif
