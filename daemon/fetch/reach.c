#include "daemon/fetch/reach.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/fetch/auth.h"

static bool copy(struct msd_span from, char **ret)
{
	if (from.n > 0)
		*ret = strndup((const char *)from.p, from.n);
	return from.n == 0 || *ret != NULL;
}

msd_err msd_reach_init(struct msd_reach *r, struct msd_span auth, struct msd_span ca,
		       struct msd_span proxy, struct msd_diag *d)
{
	*r = (struct msd_reach){0};
	return copy(auth, &r->auth) && copy(ca, &r->ca) && copy(proxy, &r->proxy)
		       ? MSD_OK
		       : msd_diag_no_memory(d);
}

void msd_reach_apply(const struct msd_reach *r, const struct msd_uri *to, CURL *easy)
{
	const char *ca = r->ca != NULL ? r->ca : secure_getenv("SSL_CERT_FILE");

	(void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "modserd/" MSD_VERSION);
	if (to->is_local) { /* no proxy is nearer than this machine */
		(void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	} else if (r->proxy != NULL) {
		(void)curl_easy_setopt(easy, CURLOPT_PROXY, r->proxy);
	}
	if (ca != NULL)
		(void)curl_easy_setopt(easy, CURLOPT_CAINFO, ca);
}

bool msd_reach_allows(const struct msd_reach *r, const struct msd_uri *to,
		      const char *peer)
{
	return r->insecure || !to->is_plain || msd_uri_is_loopback(peer);
}

msd_err msd_reach_header(const struct msd_reach *r, const char *host,
			 const struct msd_uri *to, char **ret, struct msd_diag *d)
{
	*ret = NULL;
	if (r->auth == NULL || (to->is_plain && !to->is_local))
		return MSD_OK;
	return msd_auth_find(r->auth, host, ret, d);
}

void msd_reach_finish(struct msd_reach *r)
{
	free(r->auth);
	free(r->ca);
	free(r->proxy);
	*r = (struct msd_reach){0};
}
