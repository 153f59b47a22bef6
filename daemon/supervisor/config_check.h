#ifndef MSD_SUPERVISOR_CONFIG_CHECK_H
#define MSD_SUPERVISOR_CONFIG_CHECK_H
/* What a start would refuse of options that could be read, without starting anything:
 * by the same functions. */
#include "daemon/supervisor/options.h"

struct msd_acl;

/* Where the parts of the daemon lie; NULL: one is not there. */
struct msd_config_parts {
	const char *tls;   /* modserd-tls.so */
	const char *fetch; /* modserd-fetch */
};

/**
 * Check addresses, worker-user, store, certificates, the files that pulls need, how
 * many workers modules have and what their sources are. @acl: the file of rights,
 * borrowed; NULL: there is none. Errors: those of who opens each.
 */
MSD_MUST_CHECK msd_err msd_config_check(const struct msd_options *o,
					const struct msd_acl *acl,
					const struct msd_config_parts *parts,
					struct msd_diag *d);
/** Of the files that pulls need alone, auth and ca: a daemon serves without them, and
 * reads them anew for each. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_config_check_terms(const struct msd_options *o,
					      struct msd_diag *d);

#endif
