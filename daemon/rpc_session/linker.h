#ifndef MSD_RPC_SESSION_LINKER_H
#define MSD_RPC_SESSION_LINKER_H
/*
 * Links objects to a library, as TVM's server does with an .o or a .tar. The linker is
 * a child in the sandbox and the limits of the session; objects and library are memfds.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_RPC_MAX_OBJECTS 64u

/** True if @bytes are an object, or a tar archive, packed or not. */
bool msd_rpc_linker_wants(struct msd_span bytes);
/** True if @bytes are a library. */
bool msd_rpc_linker_made(struct msd_span bytes);
/**
 * Link @bytes to a library. *@ret is its memfd, owned by the caller. Errors:
 * MSD_BAD_ARTIFACT (the archive is damaged, or the linker refuses it), MSD_UNSUPPORTED
 * (sources in the archive, too many objects), MSD_NOT_FOUND (there is no linker),
 * MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_rpc_linker_run(struct msd_span bytes, int *ret,
					  struct msd_diag *d);

#endif
