/*
 * Happy path: the fields WWW-Authenticate of a 401 hold a list of challenges (RFC 9110,
 * section 11.6.1), from which Bearer and Basic are taken. A Bearer challenge becomes
 * the URL of a token server, and the answer of that server a header. Failures: the
 * list has neither, or the URL is one that no redirect may lead to.
 */
#include "daemon/fetch/registry/challenge.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/fetch/transfer/redirects.h"

#define MAX_TOKEN 16384u
#define TOKEN_BYTES                                                                    \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"               \
	"!#$%&'*+-.^_`|~"
#define BLANKS " \t"

static const char *skip(const char *at, const char *bytes)
{
	return at + strspn(at, bytes);
}

static bool is_word(const char *at, size_t n, const char *word)
{
	return strlen(word) == n && strncasecmp(at, word, n) == 0;
}

/* Read a token or a quoted string; return what follows it. *@ret is NULL if memory is
 * short. */
static const char *read_value(const char *at, char **ret)
{
	size_t n = 0;

	if (*at != '"') {
		n = strcspn(at, BLANKS ",");
		*ret = strndup(at, n);
		return at + n;
	}
	*ret = malloc(strlen(at) + 1);
	for (at++; *at != 0 && *at != '"'; at++) {
		if (*at == '\\' && at[1] != 0)
			at++;
		if (*ret != NULL)
			(*ret)[n++] = *at;
	}
	if (*ret != NULL)
		(*ret)[n] = 0;
	return *at == '"' ? at + 1 : at;
}

/* Keep the value of a parameter of Bearer, unless it came before. */
static bool keep(struct msd_challenge *c, const char *name, size_t n, char *value)
{
	char **at = is_word(name, n, "realm")     ? &c->realm
		    : is_word(name, n, "service") ? &c->service
		    : is_word(name, n, "scope")   ? &c->scope
						  : NULL;

	if (value == NULL)
		return false;
	if (at == NULL || *at != NULL) {
		free(value);
	} else {
		*at = value;
	}
	return true;
}

static bool begin(struct msd_challenge *c, const char *scheme, size_t n)
{
	c->has_basic = c->has_basic || is_word(scheme, n, "Basic");
	return is_word(scheme, n, "Bearer");
}

msd_err msd_challenge_read(const char *text, struct msd_challenge *ret,
			   struct msd_diag *d)
{
	bool is_bearer = false;
	const char *at = skip(text, BLANKS ",");

	*ret = (struct msd_challenge){0};
	while (*at != 0) {
		const char *word = at;
		const size_t n = strspn(at, TOKEN_BYTES);
		char *value = NULL;

		at = skip(at + n, BLANKS);
		if (n > 0 && *at == '=' && at[1] != '=' && at[1] != 0) {
			at = read_value(skip(at + 1, BLANKS), &value);
			if (is_bearer && !keep(ret, word, n, value))
				return msd_diag_no_memory(d);
			if (!is_bearer)
				free(value);
		} else if (n > 0 && (*at == 0 || *at == ',' || at > word + n)) {
			is_bearer = begin(ret, word, n);
		} else {
			at += strcspn(at, ","); /* credentials that are no parameters */
		}
		at = skip(at, BLANKS ",");
	}
	if (ret->realm != NULL || ret->has_basic)
		return MSD_OK;
	return msd_diag_set(d, MSD_REFUSED,
			    "the server wants neither a token nor a name and password: "
			    "%.100s",
			    text);
}

void msd_challenge_finish(struct msd_challenge *c)
{
	free(c->realm);
	free(c->service);
	free(c->scope);
	*c = (struct msd_challenge){0};
}

static void put_query(struct msd_buf *url, char mark, const char *name,
		      const char *value)
{
	char *escaped = value != NULL ? curl_easy_escape(NULL, value, 0) : NULL;

	if (escaped != NULL)
		msd_buf_printf(url, "%c%s=%s", mark, name, escaped);
	curl_free(escaped);
}

/* "repository:NAME:ACTIONS" for https://HOST/v2/NAME or a URL below it; NULL: another
 * URL, or no memory. */
static char *own_scope(const char *from, const char *actions)
{
	static const char *const ends[] = {"/manifests/", "/blobs/"};
	const char *name = strstr(from, "/v2/");
	char *scope = NULL;

	if (name == NULL)
		return NULL;
	name += strlen("/v2/");
	size_t n = strlen(name);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const char *end = strstr(name, ends[i]);
		n = end != NULL && (size_t)(end - name) < n ? (size_t)(end - name) : n;
	}
	return asprintf(&scope, "repository:%.*s:%s", (int)n, name, actions) >= 0
		       ? scope
		       : NULL;
}

msd_err msd_challenge_url(const struct msd_challenge *c, const char *from,
			  const char *actions, bool insecure, char **ret,
			  struct msd_diag *d)
{
	struct msd_buf url = {0};
	char *realm;
	/* A remote server chose this URL, so check it as a redirect. */
	const msd_err err = msd_redirects_lead(from, c->realm, insecure, &realm, d);

	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "its realm");
	char *own = c->scope == NULL ? own_scope(from, actions) : NULL;
	msd_buf_printf(&url, "%s", realm);
	char mark = strchr(realm, '?') == NULL ? '?' : '&';
	put_query(&url, mark, "service", c->service);
	if (c->service != NULL)
		mark = '&';
	put_query(&url, mark, "scope", c->scope != NULL ? c->scope : own);
	msd_buf_put_u8(&url, 0);
	free(own);
	free(realm);
	if (url.bad) {
		msd_buf_finish(&url);
		return msd_diag_no_memory(d);
	}
	*ret = (char *)url.p;
	return MSD_OK;
}

/* The text goes into a header, so allow only token characters. */
static bool is_token(const char *text)
{
	const size_t n = strlen(text);

	return n > 0 && n < MAX_TOKEN &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			    "0123456789-._~+/=") == n;
}

msd_err msd_token_header(struct msd_span json, char **ret, struct msd_diag *d)
{
	json_t *root = json_loadb((const char *)json.p, json.n, 0, NULL);
	const char *token = json_string_value(json_object_get(root, "token"));
	msd_err err = MSD_OK;

	if (token == NULL)
		token = json_string_value(json_object_get(root, "access_token"));
	if (token == NULL || !is_token(token)) {
		err = msd_diag_set(d, MSD_REFUSED, "the answer contains no token");
	} else if (asprintf(ret, "Authorization: Bearer %s", token) < 0) {
		err = msd_diag_no_memory(d);
	}
	json_decref(root);
	return err;
}
