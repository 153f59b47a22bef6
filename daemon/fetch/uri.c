/*
 * libcurl's own parser reads the URIs, so the checks here see the same host as
 * libcurl. Happy path: scheme, host and path are extracted and checked. Failures: the
 * error of a refused URI says what is allowed.
 */
#include "daemon/fetch/uri.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/name.h"

static const char *const scheme_names[] = {[MSD_SCHEME_FILE] = "file",
					   [MSD_SCHEME_HTTP] = "http",
					   [MSD_SCHEME_HTTPS] = "https",
					   [MSD_SCHEME_OCI] = "oci",
					   [MSD_SCHEME_MODSER] = "modser"};

bool msd_uri_is_loopback(const char *address)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, address, &v4) == 1)
		return (ntohl(v4.s_addr) >> 24) == 127;
	return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* The name decides here. The real address is checked after the connect. */
static bool names_loopback(const char *host)
{
	char address[INET6_ADDRSTRLEN] = "";
	const size_t n = strlen(host);

	if (strcmp(host, "localhost") == 0)
		return true;
	if (host[0] == '[' && n > 2 && n - 2 < sizeof(address)) {
		(void)snprintf(address, sizeof(address), "%.*s", (int)(n - 2),
			       host + 1);
		return msd_uri_is_loopback(address);
	}
	return msd_uri_is_loopback(host);
}

static char *part(CURLU *url, CURLUPart which, unsigned flags)
{
	char *text = NULL;
	char *copy;

	if (curl_url_get(url, which, &text, flags) != CURLUE_OK)
		return NULL;
	copy = strdup(text);
	curl_free(text);
	return copy;
}

static msd_err read_scheme(CURLU *url, enum msd_scheme *ret, struct msd_diag *d)
{
	char *scheme = part(url, CURLUPART_SCHEME, 0);

	if (scheme == NULL)
		return msd_diag_no_memory(d);
	for (unsigned i = 0; i < sizeof(scheme_names) / sizeof(scheme_names[0]); i++) {
		if (strcmp(scheme, scheme_names[i]) == 0) {
			*ret = (enum msd_scheme)i;
			free(scheme);
			return MSD_OK;
		}
	}
	(void)msd_diag_set(
		d, MSD_BAD_REQUEST,
		"%s://: expected https://, oci://, modser://, file:// or, on this "
		"machine, http://",
		scheme);
	free(scheme);
	return MSD_BAD_REQUEST;
}

static msd_err check_user(CURLU *url, struct msd_diag *d)
{
	char *user = part(url, CURLUPART_USER, 0);
	const bool has_user = user != NULL;

	free(user);
	if (!has_user)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_BAD_REQUEST,
		"the URI has a user or password, which would appear in logs");
}

/* libcurl knows no default port for oci, so leave it out. */
static char *join_host(const char *host, const char *port)
{
	char *joined = NULL;

	if (port == NULL)
		return strdup(host);
	return asprintf(&joined, "%s:%s", host, port) < 0 ? NULL : joined;
}

/* These schemes cover both plain and encrypted connections. */
static bool has_plain_kind(enum msd_scheme scheme)
{
	return scheme == MSD_SCHEME_OCI || scheme == MSD_SCHEME_MODSER;
}

static msd_err read_host(CURLU *url, bool insecure, struct msd_uri *ret,
			 struct msd_diag *d)
{
	char *host = part(url, CURLUPART_HOST, 0);
	char *port = part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	msd_err err = MSD_OK;

	if (host == NULL)
		host = strdup("");
	if (host != NULL) {
		ret->is_local = names_loopback(host);
		/* libcurl reports port 0 for a file. */
		ret->host = ret->scheme == MSD_SCHEME_FILE ? strdup("")
							   : join_host(host, port);
	}
	if (ret->host == NULL) {
		err = msd_diag_no_memory(d);
	} else if (ret->scheme == MSD_SCHEME_HTTP && !ret->is_local && !insecure) {
		err = msd_diag_set(d, MSD_REFUSED,
				   "http://%s: plain http from another machine is not "
				   "authenticated; use https, or set insecure in the "
				   "configuration",
				   host);
	}
	ret->is_plain = ret->scheme == MSD_SCHEME_HTTP ||
			(has_plain_kind(ret->scheme) && (ret->is_local || insecure));
	if (err == MSD_OK && ret->scheme == MSD_SCHEME_MODSER && port == NULL) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "expected modser://HOST:PORT/MODULE");
	}
	free(host);
	free(port);
	return err;
}

/* The path of a daemon's URI is a module name. */
static msd_err check_path(const struct msd_uri *u, struct msd_diag *d)
{
	if (u->scheme != MSD_SCHEME_MODSER ||
	    (u->path[0] == '/' && msd_name_valid(msd_span_of(u->path + 1))))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "expected modser://HOST:PORT/MODULE");
}

static msd_err read_parts(CURLU *url, bool insecure, struct msd_uri *ret,
			  struct msd_diag *d)
{
	msd_err err = read_scheme(url, &ret->scheme, d);

	if (err == MSD_OK)
		err = check_user(url, d);
	if (err == MSD_OK)
		err = read_host(url, insecure, ret, d);
	if (err != MSD_OK)
		return err;
	ret->path = part(url, CURLUPART_PATH, CURLU_URLDECODE);
	if (ret->path == NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST, "its path cannot be decoded");
	ret->file = part(url, CURLUPART_FRAGMENT, CURLU_URLDECODE);
	if (ret->file == NULL)
		ret->file = strdup("");
	if (ret->file == NULL)
		return msd_diag_no_memory(d);
	(void)snprintf(ret->shown, sizeof(ret->shown), "%s://%s%s",
		       scheme_names[ret->scheme], ret->host, ret->path);
	return check_path(ret, d);
}

/*
 * Neither the password nor the query may get into a log, not even for an invalid URI.
 */
static msd_err explain_unread(const char *text, CURLUcode rc, struct msd_diag *d)
{
	const char *at = strrchr(text, '@');
	const char *shown = at != NULL ? at + 1 : text;
	const size_t n = strcspn(shown, "?");

	return msd_diag_set(d, MSD_BAD_REQUEST, "\"%.*s\" is not a URI: %s",
			    n < 200 ? (int)n : 200, shown, curl_url_strerror(rc));
}

msd_err msd_uri_read(const char *text, bool insecure, struct msd_uri *ret,
		     struct msd_diag *d)
{
	CURLU *url = curl_url();
	msd_err err;

	*ret = (struct msd_uri){0};
	if (url == NULL)
		return msd_diag_no_memory(d);
	const CURLUcode rc =
		curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
	if (rc != CURLUE_OK) {
		err = explain_unread(text, rc, d);
	} else {
		err = read_parts(url, insecure, ret, d);
	}
	curl_url_cleanup(url);
	return err;
}

void msd_uri_finish(struct msd_uri *u)
{
	free(u->host);
	free(u->path);
	free(u->file);
	u->host = u->path = u->file = NULL;
}

msd_err msd_uri_check_redirect(const struct msd_uri *from, const struct msd_uri *to,
			       struct msd_diag *d)
{
	if (to->scheme == MSD_SCHEME_FILE || has_plain_kind(to->scheme)) {
		return msd_diag_set(d, MSD_REFUSED,
				    "to %s: redirects are followed only to https, or "
				    "from http to http",
				    to->shown);
	}
	if (from->scheme == MSD_SCHEME_HTTPS && to->scheme != MSD_SCHEME_HTTPS) {
		return msd_diag_set(
			d, MSD_REFUSED,
			"to %s: redirects from https are followed only to https",
			to->shown);
	}
	return MSD_OK;
}

/* @name in the directory of @path, or @path with @end appended. */
static char *path_beside(const char *path, const char *name, const char *end)
{
	const char *slash = strrchr(path, '/');
	const size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0;
	char *joined = NULL;
	const int rc = name != NULL ? asprintf(&joined, "%.*s%s", (int)n, path, name)
				    : asprintf(&joined, "%s%s", path, end);

	return rc < 0 ? NULL : joined;
}

static msd_err set_beside(CURLU *url, const char *name, const char *end, char **ret,
			  struct msd_diag *d)
{
	char *path = part(url, CURLUPART_PATH, CURLU_URLDECODE);
	char *beside = path != NULL ? path_beside(path, name, end) : NULL;
	msd_err err = beside != NULL ? MSD_OK : msd_diag_no_memory(d);

	if (err == MSD_OK &&
	    curl_url_set(url, CURLUPART_PATH, beside, CURLU_URLENCODE) != CURLUE_OK) {
		err = msd_diag_set(d, MSD_BAD_REQUEST, "\"%.200s\" is not a path",
				   beside);
	}
	if (err == MSD_OK) {
		*ret = part(url, CURLUPART_URL, 0);
		if (*ret == NULL)
			err = msd_diag_no_memory(d);
	}
	free(path);
	free(beside);
	return err;
}

msd_err msd_uri_beside(const char *text, const char *name, const char *end, char **ret,
		       struct msd_diag *d)
{
	CURLU *url = curl_url();
	msd_err err;

	if (url == NULL)
		return msd_diag_no_memory(d);
	if (curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) !=
	    CURLUE_OK) {
		err = msd_diag_set(d, MSD_BAD_REQUEST, "\"%.200s\" is not a URI", text);
	} else {
		err = set_beside(url, name, end, ret, d);
	}
	curl_url_cleanup(url);
	return err;
}

msd_err msd_uri_resolve(const char *from, const char *location, char **ret,
			struct msd_diag *d)
{
	CURLU *url = curl_url();
	CURLUcode rc = CURLUE_OUT_OF_MEMORY;
	char *text = NULL;

	if (url != NULL)
		rc = curl_url_set(url, CURLUPART_URL, from, 0);
	if (rc == CURLUE_OK) {
		rc = curl_url_set(url, CURLUPART_URL, location,
				  CURLU_NON_SUPPORT_SCHEME);
	}
	if (rc == CURLUE_OK)
		rc = curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
	if (rc == CURLUE_OK)
		text = part(url, CURLUPART_URL, 0);
	curl_url_cleanup(url);
	if (rc != CURLUE_OK && rc != CURLUE_OUT_OF_MEMORY)
		return explain_unread(location, rc, d);
	if (text == NULL)
		return msd_diag_no_memory(d);
	*ret = text;
	return MSD_OK;
}
