#ifndef MSD_FETCH_URI_H
#define MSD_FETCH_URI_H
/* Parse the URIs of model sources, and check which ones are allowed. */
#include <stdbool.h>

#include "proto/base/diag.h"

enum msd_scheme {
	MSD_SCHEME_FILE,
	MSD_SCHEME_HTTP,
	MSD_SCHEME_HTTPS,
	MSD_SCHEME_OCI,   /* a registry: https, or plain http */
	MSD_SCHEME_MODSER /* another daemon: TLS, or plain */
};

#define MSD_URI_SHOWN 1024u

struct msd_uri {
	enum msd_scheme scheme;
	char *host;    /* owned; with the port if known; "" for a file */
	bool is_local; /* the host name is this machine */
	bool is_free;  /* allowed for every requester, regardless of its address; set by
			  the owner (network_options.h) */
	bool is_plain; /* unencrypted; for registries and daemons on this machine, or
			  where insecure is allowed */
	char *path;    /* owned; decoded, with the leading slash */
	char *file;    /* owned; the decoded fragment, "" if absent: a file of an
			  artifact in a registry */
	/* For messages: without the query, which may contain keys. */
	char shown[MSD_URI_SHOWN];
};

/**
 * Parse @text; call msd_uri_finish() in every case. @insecure allows plain http to
 * other machines. Errors: MSD_BAD_REQUEST (not a URI, an unsupported scheme, a user
 * or password in it), MSD_REFUSED (http to another machine), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_uri_read(const char *text, bool insecure,
				    struct msd_uri *ret, struct msd_diag *d);
void msd_uri_finish(struct msd_uri *u);
/**
 * The URI of a file next to @text, owned by the caller: @name in the same directory,
 * or, if @name is NULL, the same name with @end appended. The query is kept. Errors:
 * MSD_BAD_REQUEST, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_uri_beside(const char *text, const char *name,
				      const char *end, char **ret, struct msd_diag *d);
/**
 * Resolve @location, a URI or a reference relative to @from (RFC 3986), without its
 * fragment; owned by the caller. Errors: MSD_BAD_REQUEST, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_uri_resolve(const char *from, const char *location,
				       char **ret, struct msd_diag *d);
/**
 * Check whether a response from @from may redirect to @to: never from https to http.
 * MSD_REFUSED.
 */
MSD_MUST_CHECK msd_err msd_uri_check_redirect(const struct msd_uri *from,
					      const struct msd_uri *to,
					      struct msd_diag *d);
/** "127.0.0.1", "::1", ...: true for a loopback address. */
bool msd_uri_is_loopback(const char *address);

#endif
