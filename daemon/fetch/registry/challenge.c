#include "daemon/fetch/registry/challenge.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/fetch/transfer/redirects.h"

#define MAX_TOKEN 16384u

/* The value of NAME="VALUE" in @text, owned by the caller; NULL if absent. */
static char *value_of(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = strstr(text, name); at != NULL;
	     at = strstr(at + n, name)) {
		const bool begins = at > text && (at[-1] == ' ' || at[-1] == ',');

		if (begins && at[n] == '=' && at[n + 1] == '"') {
			const char *value = at + n + 2;
			return strndup(value, strcspn(value, "\""));
		}
	}
	return NULL;
}

static void put_query(struct msd_buf *url, const char *challenge, const char *name,
		      char mark)
{
	char *value = value_of(challenge, name);
	char *escaped = value != NULL ? curl_easy_escape(NULL, value, 0) : NULL;

	if (escaped != NULL)
		msd_buf_printf(url, "%c%s=%s", mark, name, escaped);
	curl_free(escaped);
	free(value);
}

msd_err msd_challenge_url(const char *text, const char *from, bool insecure, char **ret,
			  struct msd_diag *d)
{
	char *said = value_of(text, "realm"), *realm;
	struct msd_buf url = {0};
	msd_err err;

	if (strncasecmp(text, "Bearer ", 7) != 0 || said == NULL) {
		free(said);
		return msd_diag_set(d, MSD_REFUSED,
				    "it wants to know who asks, by other ways than "
				    "tokens: %.100s",
				    text);
	}
	/* A remote server chose this URL, so check it as a redirect. */
	err = msd_redirects_lead(from, said, insecure, &realm, d);
	free(said);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "its realm");
	msd_buf_printf(&url, "%s", realm);
	put_query(&url, text, "service", strchr(realm, '?') == NULL ? '?' : '&');
	put_query(&url, text, "scope", '&');
	msd_buf_put_u8(&url, 0);
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
		err = msd_diag_set(d, MSD_REFUSED, "there is no token in the answer");
	} else if (asprintf(ret, "Authorization: Bearer %s", token) < 0) {
		err = msd_diag_no_memory(d);
	}
	json_decref(root);
	return err;
}
