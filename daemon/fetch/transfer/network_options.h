#ifndef MSD_FETCH_NETWORK_OPTIONS_H
#define MSD_FETCH_NETWORK_OPTIONS_H
/* Network options of one fetch: the owner's settings, which override the defaults. */
#include <curl/curl.h>

#include "daemon/fetch/uri.h"
#include "proto/base/bytes.h"

struct msd_network_options {
	/* Owned; NULL if not set. */
	char *auth; /* file: user names and passwords by host (auth.h) */
	char *ca;   /* file of CA certificates; default SSL_CERT_FILE, then the system's
		     */
	char *proxy; /* its URL; default from the environment */
	char *realm; /* hosts of token servers that may get the registries' credentials
		      */
	bool insecure; /* also plain http to other machines */
	/* The requester is not the operator. Allowed are public addresses, and URLs
	 * that begin with one of these (pull_prefixes.h). Owned. */
	bool is_bounded;
	char **listed;
	uint32_t n_listed;
};

/**
 * Copy the given settings; an empty span means not set. MSD_NOMEM; finish in every
 * case.
 */
MSD_MUST_CHECK msd_err msd_network_options_init(
	struct msd_network_options *r, struct msd_span auth, struct msd_span ca,
	struct msd_span proxy, struct msd_span realm, struct msd_diag *d);
/**
 * From now on the requester is not the operator. Add @url to its allowed prefixes
 * unless it is empty. MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_network_options_bound(struct msd_network_options *r,
						 struct msd_span url,
						 struct msd_diag *d);
/** True if the requester may use @url, regardless of its address. */
bool msd_network_options_is_free(const struct msd_network_options *r, const char *url);
/** True if the requester may read the file at @resolved, a path without links. */
bool msd_network_options_is_free_path(const struct msd_network_options *r,
				      const char *resolved);
/**
 * Explain that @to is not allowed; the text reveals nothing about @to. Returns
 * MSD_REFUSED.
 */
msd_err msd_network_options_refuse(const struct msd_uri *to, struct msd_diag *d);
/** True if a proxy may be used for @to. Then only the proxy knows the address. */
bool msd_network_options_has_proxy(const struct msd_network_options *r,
				   const struct msd_uri *to);
/** Set the options that @easy needs to reach @to; libcurl copies the strings. */
void msd_network_options_apply(const struct msd_network_options *r,
			       const struct msd_uri *to, CURL *easy);
/**
 * True if a connection to the address @peer is allowed. The host of @to resolved to
 * it; even "localhost" may resolve to another machine.
 */
bool msd_network_options_allows(const struct msd_network_options *r,
				const struct msd_uri *to, const char *peer);
/**
 * The Authorization header for @to, with the name and password that the file has for
 * @host. Owned by the caller. NULL if there is none, or if it would go to another
 * machine unencrypted. Errors: those of msd_auth_find().
 */
MSD_MUST_CHECK msd_err msd_network_options_header(const struct msd_network_options *r,
						  const char *host,
						  const struct msd_uri *to, char **ret,
						  struct msd_diag *d);
/**
 * Check whether the name and password of @registry may go to @to, its token server.
 * The registry's own server (same scheme, host and port) is allowed, and so are the
 * servers that the owner lists. MSD_REFUSED.
 */
MSD_MUST_CHECK msd_err msd_network_options_check_realm(
	const struct msd_network_options *r, const struct msd_uri *registry,
	const struct msd_uri *to, struct msd_diag *d);
void msd_network_options_finish(struct msd_network_options *r);

#endif
