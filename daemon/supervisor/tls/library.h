#ifndef MSD_SUPERVISOR_TLS_LIBRARY_H
#define MSD_SUPERVISOR_TLS_LIBRARY_H
/*
 * modserd-tls.so (daemon/wire/tls.h), and what the daemon shows and believes by it now.
 * All zeros: nobody has wanted it. It stays open until the process ends.
 */
#include "daemon/wire/tls.h"

struct msd_tls {
	char *path; /* of the shared object; owned. NULL: it was not found */
	const struct msd_tls_library *library;
	struct msd_tls_context *context; /* of connections to come */
	uint64_t n_contexts;             /* that there were so far */
};

/**
 * Open the library, unless it is, and read @files. What was read before stays in force
 * when that fails. Errors: MSD_NOT_FOUND (the library, of this version),
 * MSD_BAD_REQUEST, naming a file.
 */
MSD_MUST_CHECK msd_err msd_tls_open(struct msd_tls *t,
				    const struct msd_tls_files *files,
				    struct msd_diag *d);
static inline bool msd_tls_is_open(const struct msd_tls *t)
{
	return t->context != NULL;
}
/** What connections to come are shown; only where it is open. */
struct msd_tls_shown msd_tls_shows(const struct msd_tls *t);
/** Whom connections to come are asked to be vouched for by; likewise. */
struct msd_tls_trust msd_tls_trusts(const struct msd_tls *t);
/** Of a @t that was never opened, too. */
void msd_tls_finish(struct msd_tls *t);

#endif
