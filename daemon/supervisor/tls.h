#ifndef MSD_SUPERVISOR_TLS_H
#define MSD_SUPERVISOR_TLS_H
/* The TLS options, and when they are read: at the start, if there is a TLS listener,
 * and at each reload. */
#include "daemon/supervisor/tls/library.h"

struct msd_acl;
struct msd_options;

struct msd_tls_state {
	struct msd_tls_shown shown;
	struct msd_tls_trust trust;
};

/**
 * If an address of @o is tls://, read the TLS files and open the library. @rights:
 * the rights file in force; with it, a client without a certificate is `anonymous`,
 * or has a token. NULL: no rights file; a client without a certificate is rejected.
 * After an error the files that were read before stay in use. A new certificate is
 * logged. @was, unless NULL, gets the previous state, or is empty. Errors:
 * MSD_BAD_REQUEST, naming the option or the file; those of msd_tls_open().
 */
MSD_MUST_CHECK msd_err msd_tls_reload(struct msd_tls *t, const struct msd_options *o,
				      const struct msd_acl *rights,
				      struct msd_tls_state *was, struct msd_diag *d);
/** The certificate and authorities in use; empty if TLS is not open. */
struct msd_tls_state msd_tls_state(const struct msd_tls *t);

#endif
