#ifndef MSD_FETCH_URI_H
#define MSD_FETCH_URI_H
/* Where models are fetched from, and which of it is allowed. */
#include <stdbool.h>

#include "proto/diag.h"

enum msd_scheme {
	MSD_SCHEME_FILE,
	MSD_SCHEME_HTTP,
	MSD_SCHEME_HTTPS,
	MSD_SCHEME_OCI,   /* a registry: https, or plain */
	MSD_SCHEME_MODSER /* another daemon: TLS, or plain */
};

#define MSD_URI_SHOWN 1024u

struct msd_uri {
	enum msd_scheme scheme;
	char *host;    /* owned; with the port, where it is known; "" of a file */
	bool is_local; /* its host is this machine, by its name */
	bool is_free;  /* whoever asks may have it asked, whatever its address is;
			* set by its owner (reach.h) */
	bool is_plain; /* unencrypted; registries and daemons are asked so where they
			* are this machine, or where that is allowed */
	char *path;    /* owned; decoded, from the first slash on */
	/* For texts: without the query, in which keys may stand. */
	char shown[MSD_URI_SHOWN];
};

/**
 * Read @text; finish with msd_uri_finish(), in every case. @insecure: plain http may go
 * to other machines, too. Errors: MSD_BAD_REQUEST
 * (not a URI, a scheme that nothing is fetched by, a user or password in it),
 * MSD_REFUSED (http to somewhere else than this machine), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_uri_read(const char *text, bool insecure,
				    struct msd_uri *ret, struct msd_diag *d);
void msd_uri_finish(struct msd_uri *u);
/** The URI of what lies beside @text, owned by the caller: @name in its folder, or,
 * with
 * @name NULL, what is called as it is with @end behind. Its query goes with it. Errors:
 * MSD_BAD_REQUEST, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_uri_beside(const char *text, const char *name,
				      const char *end, char **ret, struct msd_diag *d);
/** @location, a whole URI or a reference that counts from @from (RFC 3986), without its
 * fragment, owned by the caller. Errors: MSD_BAD_REQUEST, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_uri_resolve(const char *from, const char *location,
				       char **ret, struct msd_diag *d);
/** Whether an answer from @from may send its asker on to @to: never from https to http.
 * MSD_REFUSED. */
MSD_MUST_CHECK msd_err msd_uri_check_redirect(const struct msd_uri *from,
					      const struct msd_uri *to,
					      struct msd_diag *d);
/** "127.0.0.1", "::1", ...: an address of this machine alone. */
bool msd_uri_is_loopback(const char *address);

#endif
