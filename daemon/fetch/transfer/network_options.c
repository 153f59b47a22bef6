/*
 * Happy path: the options are copied once and applied to each transfer's handle; a
 * connection is checked when its address is known. Failures: an address that the asker
 * may not reach is refused before a byte is sent.
 */
#include "daemon/fetch/transfer/network_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/fetch/registry/auth.h"
#include "daemon/fetch/transfer/pull_prefixes.h"
#include "proto/base/grow.h"

static bool copy(struct msd_span from, char **ret)
{
	if (from.n > 0)
		*ret = strndup((const char *)from.p, from.n);
	return from.n == 0 || *ret != NULL;
}

msd_err msd_network_options_init(struct msd_network_options *r, struct msd_span auth,
				 struct msd_span ca, struct msd_span proxy,
				 struct msd_span realm, struct msd_diag *d)
{
	*r = (struct msd_network_options){0};
	return copy(auth, &r->auth) && copy(ca, &r->ca) && copy(proxy, &r->proxy) &&
			       copy(realm, &r->realm)
		       ? MSD_OK
		       : msd_diag_no_memory(d);
}

msd_err msd_network_options_bound(struct msd_network_options *r, struct msd_span url,
				  struct msd_diag *d)
{
	r->is_bounded = true;
	if (url.n == 0)
		return MSD_OK;
	if (!msd_grow(&r->listed, r->n_listed, sizeof(*r->listed)) ||
	    !copy(url, &r->listed[r->n_listed]))
		return msd_diag_no_memory(d);
	r->n_listed++;
	return MSD_OK;
}

bool msd_network_options_is_free(const struct msd_network_options *r, const char *url)
{
	for (uint32_t i = 0; r->is_bounded && i < r->n_listed; i++) {
		if (msd_pull_prefix(r->listed[i], url))
			return true;
	}
	return !r->is_bounded;
}

bool msd_network_options_is_free_path(const struct msd_network_options *r,
				      const char *resolved)
{
	for (uint32_t i = 0; r->is_bounded && i < r->n_listed; i++) {
		if (msd_pull_prefix_path(r->listed[i], resolved))
			return true;
	}
	return !r->is_bounded;
}

msd_err msd_network_options_refuse(const struct msd_uri *to, struct msd_diag *d)
{
	if (to->scheme == MSD_SCHEME_FILE) {
		return msd_diag_set(d, MSD_REFUSED,
				    "%s: users other than the operator may pull only "
				    "files below a pull-from prefix: ask the operator "
				    "to add its folder, or load the file",
				    to->shown);
	}
	return msd_diag_set(d, MSD_REFUSED,
			    "%s: users other than the operator may pull only from "
			    "public addresses without a proxy, or below a pull-from "
			    "prefix: ask the operator to add it",
			    to->shown);
}

bool msd_network_options_has_proxy(const struct msd_network_options *r,
				   const struct msd_uri *to)
{
	static const char *const words[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
					    "all_proxy", "ALL_PROXY"};
	bool has = r->proxy != NULL;

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *url = getenv(words[i]);

		has = has || (url != NULL && url[0] != '\0');
	}
	return has && !to->is_local;
}

void msd_network_options_apply(const struct msd_network_options *r,
			       const struct msd_uri *to, CURL *easy)
{
	const char *ca = r->ca != NULL ? r->ca : secure_getenv("SSL_CERT_FILE");

	(void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "modserd/" MSD_VERSION);
	if (to->is_local) { /* no proxy for this machine */
		(void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	} else if (r->proxy != NULL) {
		(void)curl_easy_setopt(easy, CURLOPT_PROXY, r->proxy);
	}
	if (ca != NULL)
		(void)curl_easy_setopt(easy, CURLOPT_CAINFO, ca);
}

bool msd_network_options_allows(const struct msd_network_options *r,
				const struct msd_uri *to, const char *peer)
{
	return r->insecure || !to->is_plain || msd_uri_is_loopback(peer);
}

msd_err msd_network_options_header(const struct msd_network_options *r,
				   const char *host, const struct msd_uri *to,
				   char **ret, struct msd_diag *d)
{
	*ret = NULL;
	if (r->auth == NULL || (to->is_plain && !to->is_local))
		return MSD_OK;
	return msd_auth_find(r->auth, host, ret, d);
}

/* @names is a comma-separated list of hosts. */
static bool is_among(const char *names, const char *host)
{
	char name[256];

	for (size_t n; *names != '\0'; names += n + strspn(names + n, ", ")) {
		n = strcspn(names, ", ");
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, names);
		if (n < sizeof(name) && msd_auth_is_of(name, host))
			return true;
	}
	return false;
}

static msd_err refuse_realm(const struct msd_uri *to, struct msd_diag *d)
{
	return msd_diag_set(
		d, MSD_REFUSED,
		"another server, %s, issues its tokens, but the name and password in "
		"the file of auth are for the registry itself: set realm = \"%s\" "
		"(modser push: --realm) if that server may have them",
		to->shown, to->host);
}

msd_err msd_network_options_check_realm(const struct msd_network_options *r,
					const struct msd_uri *registry,
					const struct msd_uri *to, struct msd_diag *d)
{
	const bool is_own = registry->scheme == to->scheme &&
			    strcasecmp(registry->host, to->host) == 0;

	return is_own || (r->realm != NULL && is_among(r->realm, to->host))
		       ? MSD_OK
		       : refuse_realm(to, d);
}

void msd_network_options_finish(struct msd_network_options *r)
{
	free(r->auth);
	free(r->ca);
	free(r->proxy);
	free(r->realm);
	for (uint32_t i = 0; i < r->n_listed; i++)
		free(r->listed[i]);
	free(r->listed);
	*r = (struct msd_network_options){0};
}
