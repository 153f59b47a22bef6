#ifndef MSD_SUPERVISOR_TLS_LIBRARY_H
#define MSD_SUPERVISOR_TLS_LIBRARY_H
/* modserd-tls.so (daemon/stream/tls.h), and the certificate and authorities in use. All
 * zeros: not needed yet. It stays open until the process exits. */
#include "daemon/stream/tls.h"

struct msd_tls {
	char *path; /* path of the shared object; owned. NULL: not found */
	const struct msd_tls_library *library;
	struct msd_tls_context *context; /* for new connections */
	uint64_t n_contexts;             /* number of contexts so far */
};

/**
 * Open the library if it is not open, and read @files. On an error the files that
 * were read before stay in use. Errors: MSD_NOT_FOUND (the library, of this version),
 * MSD_BAD_REQUEST, naming a file.
 */
MSD_MUST_CHECK msd_err msd_tls_open(struct msd_tls *t,
				    const struct msd_tls_files *files,
				    struct msd_diag *d);
static inline bool msd_tls_is_open(const struct msd_tls *t)
{
	return t->context != NULL;
}
/** The certificate for new connections; the library must be open. */
struct msd_tls_shown msd_tls_shows(const struct msd_tls *t);
/** The authorities for new client certificates; the library must be open. */
struct msd_tls_trust msd_tls_trusts(const struct msd_tls *t);
/** Also allowed if @t was never opened. */
void msd_tls_finish(struct msd_tls *t);

#endif
