#ifndef MSD_FETCH_REACH_H
#define MSD_FETCH_REACH_H
/* How the servers of one fetch are reached: what its owner says in place of what counts
 * without a word. */
#include <curl/curl.h>

#include "daemon/fetch/uri.h"
#include "proto/bytes.h"

struct msd_reach {
	/* Owned; NULL: not said. */
	char *auth;    /* file: names and passwords by host (auth.h) */
	char *ca;      /* file of authorities; else SSL_CERT_FILE, else the system's */
	char *proxy;   /* its URL; else what the environment says */
	char *realm;   /* hosts of tokens that get names and passwords of registries */
	bool insecure; /* plain http to other machines, too */
	/* Its asker is not the operator: public addresses alone, and what begins with
	 * one of these URLs (listed.h). Owned. */
	bool is_bounded;
	char **listed;
	uint32_t n_listed;
};

/** Copies of what was said, empty where it was not. MSD_NOMEM; finish in every case. */
MSD_MUST_CHECK msd_err msd_reach_init(struct msd_reach *r, struct msd_span auth,
				      struct msd_span ca, struct msd_span proxy,
				      struct msd_span realm, struct msd_diag *d);
/** From here on the asker is not the operator; what begins with @url is listed for it,
 * where that is not empty. MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_reach_bound(struct msd_reach *r, struct msd_span url,
				       struct msd_diag *d);
/** May the asker have @url asked, whatever address it leads to? */
bool msd_reach_is_free(const struct msd_reach *r, const char *url);
/** May it have the file at @resolved, a path without links? */
bool msd_reach_is_free_path(const struct msd_reach *r, const char *resolved);
/** Why it may not have @to asked, by words that tell nothing of @to. MSD_REFUSED. */
msd_err msd_reach_refuse(const struct msd_uri *to, struct msd_diag *d);
/** May a proxy be between here and @to, which alone knows the address? */
bool msd_reach_has_proxy(const struct msd_reach *r, const struct msd_uri *to);
/** Set what @easy needs to ask @to; the strings are libcurl's own then. */
void msd_reach_apply(const struct msd_reach *r, const struct msd_uri *to, CURL *easy);
/** Whether the address @peer may be talked to, which the host of @to led to: a name
 * that says localhost may lead elsewhere. */
bool msd_reach_allows(const struct msd_reach *r, const struct msd_uri *to,
		      const char *peer);
/** The header for @to of the name and password that the file has for @host, owned by
 * the caller; NULL: it has none, or they would go to another machine unencrypted.
 * Errors: those of msd_auth_find(). */
MSD_MUST_CHECK msd_err msd_reach_header(const struct msd_reach *r, const char *host,
					const struct msd_uri *to, char **ret,
					struct msd_diag *d);
/**
 * Whether the name and password of @registry may go to @to, which it has its tokens
 * given by: its own server may have them, by the same scheme, host and port, and others
 * that the owner names. MSD_REFUSED.
 */
MSD_MUST_CHECK msd_err msd_reach_check_realm(const struct msd_reach *r,
					     const struct msd_uri *registry,
					     const struct msd_uri *to,
					     struct msd_diag *d);
void msd_reach_finish(struct msd_reach *r);

#endif
