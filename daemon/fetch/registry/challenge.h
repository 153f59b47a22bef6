#ifndef MSD_FETCH_CHALLENGE_H
#define MSD_FETCH_CHALLENGE_H
/* Parse the token challenge of a registry, and the reply of its token server. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * The token URL, owned by the caller, from the WWW-Authenticate header @text that
 * @from sent. The same rules apply as for a redirect; @insecure allows plain http to
 * other machines. Errors: MSD_REFUSED (the URL is not allowed, the scheme is not
 * Bearer, or the realm is missing), MSD_NOMEM, those of msd_uri_read().
 */
MSD_MUST_CHECK msd_err msd_challenge_url(const char *text, const char *from,
					 bool insecure, char **ret, struct msd_diag *d);
/**
 * The header to send, "Authorization: Bearer ...", from the JSON reply; owned by the
 * caller. Errors: MSD_REFUSED (the reply has no token), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_token_header(struct msd_span json, char **ret,
					struct msd_diag *d);

#endif
