#ifndef MSD_SUPERVISOR_TLS_H
#define MSD_SUPERVISOR_TLS_H
/* What the options say about TLS, and when it is read: at the start, when somebody
 * listens by it, and again whenever the configuration is. */
#include "daemon/supervisor/tls/library.h"

struct msd_acl;
struct msd_options;

struct msd_tls_state {
	struct msd_tls_shown shown;
	struct msd_tls_trust trust;
};

/**
 * Read the files of @o when one of its addresses is tls://; open the library for them.
 * @rights: the file of rights that is in force, by which who shows no certificate is
 * `anonymous`, or has a token; NULL: there is none, and who shows none is refused. What
 * was read before stays when that fails. A certificate that was not shown before is a
 * line of the log; @was, unless NULL, is what there was before, or empty. Errors:
 * MSD_BAD_REQUEST, naming the option or the file; those of msd_tls_open().
 */
MSD_MUST_CHECK msd_err msd_tls_take(struct msd_tls *t, const struct msd_options *o,
				    const struct msd_acl *rights,
				    struct msd_tls_state *was, struct msd_diag *d);
/** What is shown and believed now; empty where TLS is not open. */
struct msd_tls_state msd_tls_state(const struct msd_tls *t);

#endif
