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
	bool insecure; /* plain http to other machines, too */
};

/** Copies of what was said, empty where it was not. MSD_NOMEM; finish in every case. */
MSD_MUST_CHECK msd_err msd_reach_init(struct msd_reach *r, struct msd_span auth,
				      struct msd_span ca, struct msd_span proxy,
				      struct msd_diag *d);
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
void msd_reach_finish(struct msd_reach *r);

#endif
