#ifndef MSD_RPC_SESSION_FILES_H
#define MSD_RPC_SESSION_FILES_H
/* The files of a session by name: memfds, which end with it. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_RPC_MAX_FILE_NAME 255u

struct msd_rpc_file {
	char name[MSD_RPC_MAX_FILE_NAME + 1];
	int fd;
	struct msd_span map; /* once it was loaded; then it is sealed */
	uint64_t bytes;
};

struct msd_rpc_files {
	struct msd_rpc_file *list;
	uint32_t n, most;
};

/**
 * Make or replace the file @name. Errors: MSD_BAD_ARGUMENT (a name that is no path
 * below the session), MSD_TOO_LARGE (--max-rpc-files), MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_rpc_files_put(struct msd_rpc_files *f, struct msd_span name,
					 struct msd_span bytes, struct msd_diag *d);
/**
 * Same for the memfd @fd, which is taken in every case. Errors: those of
 * msd_rpc_files_put().
 */
MSD_MUST_CHECK msd_err msd_rpc_files_put_fd(struct msd_rpc_files *f,
					    struct msd_span name, int fd,
					    struct msd_diag *d);
/** Errors: MSD_BAD_ARGUMENT, MSD_NOT_FOUND. */
MSD_MUST_CHECK msd_err msd_rpc_files_find(const struct msd_rpc_files *f,
					  struct msd_span name,
					  struct msd_rpc_file **ret,
					  struct msd_diag *d);
/** Check that @name is a path below the session. Errors: MSD_BAD_ARGUMENT. */
MSD_MUST_CHECK msd_err msd_rpc_file_name_check(struct msd_span name,
					       struct msd_diag *d);
/**
 * Append the files and folders in @folder ("": the session's), each with a comma behind
 * it. Errors: MSD_BAD_ARGUMENT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_rpc_files_list(const struct msd_rpc_files *f,
					  struct msd_span folder, struct msd_buf *ret,
					  struct msd_diag *d);
/** Seal and map @file. Its bytes stay mapped. Errors: MSD_IO, MSD_BAD_ARTIFACT. */
MSD_MUST_CHECK msd_err msd_rpc_file_seal(struct msd_rpc_file *file, struct msd_diag *d);
/** Append the contents. Errors: MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_rpc_file_read(const struct msd_rpc_file *file,
					 struct msd_buf *ret, struct msd_diag *d);
/** Close and unmap all files. */
void msd_rpc_files_finish(struct msd_rpc_files *f);
/** Remove a file, if it exists. */
void msd_rpc_files_remove(struct msd_rpc_files *f, struct msd_span name);

#endif
