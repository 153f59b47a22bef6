#ifndef MSD_FETCH_CHALLENGE_H
#define MSD_FETCH_CHALLENGE_H
/* How a registry says where a token is to be had, and what that place answers. */
#include "proto/bytes.h"
#include "proto/diag.h"

/** The URL to ask, owned by the caller, of a WWW-Authenticate @text that @from answered
 * with. It may lead where a redirect may, and plainly elsewhere as
 * @insecure says. MSD_REFUSED (that it may not, another way
 * than Bearer, or no realm), MSD_NOMEM, those of msd_uri_read(). */
MSD_MUST_CHECK msd_err msd_challenge_url(const char *text, const char *from,
					 bool insecure, char **ret, struct msd_diag *d);
/** The header to send, "Authorization: Bearer ...", owned by the caller, of the JSON
 * that came. MSD_REFUSED (there is no token in it), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_token_header(struct msd_span json, char **ret,
					struct msd_diag *d);

#endif
