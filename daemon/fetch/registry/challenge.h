#ifndef MSD_FETCH_CHALLENGE_H
#define MSD_FETCH_CHALLENGE_H
/* Read the challenges of a registry, and the reply of its token server. */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/* The challenges that can be answered. A name is in either case. */
struct msd_challenge {
	char *realm;           /* owned; URL of a token server; NULL: no Bearer */
	char *service, *scope; /* owned; NULL if absent */
	bool has_basic;        /* a name and password would do */
};

/**
 * Read the list @text of challenges; others than Bearer and Basic are left out. Finish
 * in every case. Errors: MSD_REFUSED (there is neither), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_challenge_read(const char *text, struct msd_challenge *ret,
					  struct msd_diag *d);
void msd_challenge_finish(struct msd_challenge *c);
/**
 * The token URL of a Bearer challenge that @from sent, owned by the caller. If the
 * challenge has no scope, it is the repository of @from, with @actions. The same rules
 * apply as for a redirect; @insecure allows plain http to other machines. Errors:
 * MSD_REFUSED (the URL is not allowed), MSD_NOMEM, those of msd_uri_read().
 */
MSD_MUST_CHECK msd_err msd_challenge_url(const struct msd_challenge *c,
					 const char *from, const char *actions,
					 bool insecure, char **ret, struct msd_diag *d);
/**
 * The header to send, "Authorization: Bearer ...", from the JSON reply; owned by the
 * caller. Errors: MSD_REFUSED (the reply has no token), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_token_header(struct msd_span json, char **ret,
					struct msd_diag *d);

#endif
