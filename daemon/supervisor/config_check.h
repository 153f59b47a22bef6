#ifndef MSD_SUPERVISOR_CONFIG_CHECK_H
#define MSD_SUPERVISOR_CONFIG_CHECK_H
/* What a start would refuse of options that could be read, without starting anything:
 * by the same functions. */
#include "daemon/supervisor/options.h"

struct msd_acl;

/**
 * Check addresses, worker-user, store, certificates and the files that pulls need.
 * @acl: the file of rights, borrowed; NULL: there is none. @tls_path: of
 * modserd-tls.so; NULL: it is not there. Errors: those of who opens each.
 */
MSD_MUST_CHECK msd_err msd_config_check(const struct msd_options *o,
					const struct msd_acl *acl, const char *tls_path,
					struct msd_diag *d);
/** Of the files that pulls need alone, auth and ca: a daemon serves without them, and
 * reads them anew for each. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_config_check_terms(const struct msd_options *o,
					      struct msd_diag *d);

#endif
