#include "daemon/fetch/transfer/pull_prefixes.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* Owned by libcurl; NULL if absent. */
struct parts {
	char *scheme, *user, *host, *port, *path;
};

static char *part(CURLU *url, CURLUPart which, unsigned flags)
{
	char *text = NULL;

	return curl_url_get(url, which, &text, flags) == CURLUE_OK ? text : NULL;
}

static void finish(struct parts *p)
{
	curl_free(p->scheme);
	curl_free(p->user);
	curl_free(p->host);
	curl_free(p->port);
	curl_free(p->path);
}

/* Normalize the spelling of a host. */
static void fold_host(char *host)
{
	size_t n = host != NULL ? strlen(host) : 0;

	if (n > 0 && host[n - 1] == '.')
		host[--n] = '\0';
	for (size_t i = 0; i < n; i++)
		host[i] = (char)tolower((unsigned char)host[i]);
}

/* True if every server reads the path in the same way. */
static bool is_plain(const char *path)
{
	for (const char *p = path; *p != '\0'; p++) {
		if (*p == '%' || *p == '\\')
			return false;
		if (p[0] == '/' && p[1] == '.' &&
		    (p[2] == '\0' || strchr("/.;", p[2]) != NULL))
			return false;
	}
	return true;
}

/* Finish in every case. */
static bool read_parts(const char *text, struct parts *ret)
{
	CURLU *url = curl_url();
	bool ok = url != NULL && curl_url_set(url, CURLUPART_URL, text,
					      CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;

	*ret = (struct parts){0};
	if (ok) {
		ret->scheme = part(url, CURLUPART_SCHEME, 0);
		ret->user = part(url, CURLUPART_USER, 0);
		ret->host = part(url, CURLUPART_HOST, CURLU_URLDECODE);
		ret->port = part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
		ret->path = part(url, CURLUPART_PATH, CURLU_URLDECODE);
		fold_host(ret->host);
		ok = ret->scheme != NULL && ret->user == NULL && ret->path != NULL &&
		     is_plain(ret->path);
	}
	curl_url_cleanup(url);
	return ok;
}

static bool is_same(const char *a, const char *b)
{
	return a != NULL && b != NULL ? strcmp(a, b) == 0 : a == b;
}

static bool is_file(const struct parts *p)
{
	return strcmp(p->scheme, "file") == 0;
}

/* Match whole segments only: /models is not a prefix of /models-private. After a
 * repository, a tag or a digest may follow. */
static bool begins_with(const char *path, const char *prefix, const char *ends)
{
	const size_t n = strlen(prefix);

	if (strncmp(path, prefix, n) != 0)
		return false;
	return (n > 0 && prefix[n - 1] == '/') || path[n] == '\0' ||
	       strchr(ends, path[n]) != NULL;
}

bool msd_pull_prefix(const char *prefix, const char *url)
{
	struct parts p, u;
	const bool ok = read_parts(prefix, &p);
	bool is_listed = read_parts(url, &u) && ok && is_same(p.scheme, u.scheme);

	if (is_listed && !is_file(&p))
		is_listed = is_same(p.host, u.host) && is_same(p.port, u.port);
	if (is_listed) {
		is_listed = begins_with(u.path, p.path,
					strcmp(p.scheme, "oci") == 0 ? "/:@" : "/");
	}
	finish(&p);
	finish(&u);
	return is_listed;
}

bool msd_pull_prefix_path(const char *prefix, const char *resolved)
{
	struct parts p;
	char *real =
		read_parts(prefix, &p) && is_file(&p) ? realpath(p.path, NULL) : NULL;
	const bool is_listed = real != NULL && begins_with(resolved, real, "/");

	free(real);
	finish(&p);
	return is_listed;
}
