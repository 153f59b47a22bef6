#include "daemon/fetch/registry/oci_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/digest.h"

/* The text goes into a URL unescaped, so allow only characters of a repository or a
 * tag. */
static bool is_plain(const char *text, size_t n)
{
	static const char others[] = "._-/";

	for (size_t i = 0; i < n; i++) {
		const char c = text[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && strchr(others, c) == NULL)
			return false;
	}
	return n > 0 && text[0] != '/' && strstr(text, "..") == NULL;
}

static bool is_reference(const char *text, bool is_digest)
{
	const struct msd_span span = msd_span_of(text);
	struct msd_digest digest;

	if (is_digest) {
		return strncmp(text, "sha256:", 7) == 0 &&
		       msd_digest_parse(span, &digest);
	}
	return span.n <= 128 && is_plain(text, span.n) && strchr(text, '/') == NULL;
}

msd_err msd_oci_name_read(const struct msd_uri *u, struct msd_oci_name *ret,
			  struct msd_diag *d)
{
	const char *repository = u->path + (u->path[0] == '/');
	const char *at = strchr(repository, '@');
	const char *colon = strchr(repository, ':');
	const char *mark = at != NULL ? at : colon;
	const size_t n =
		mark != NULL ? (size_t)(mark - repository) : strlen(repository);
	const char *reference = mark != NULL ? mark + 1 : "latest";

	*ret = (struct msd_oci_name){0};
	if (!is_plain(repository, n) || !is_reference(reference, at != NULL)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: expected oci://HOST/REPOSITORY:TAG or "
				    "oci://HOST/REPOSITORY@sha256:HEX",
				    u->shown);
	}
	ret->reference = strdup(reference);
	if (asprintf(&ret->base, "%s://%s/v2/%.*s", u->is_plain ? "http" : "https",
		     u->host, (int)n, repository) < 0)
		ret->base = NULL;
	return ret->base != NULL && ret->reference != NULL ? MSD_OK
							   : msd_diag_no_memory(d);
}

bool msd_oci_is_by_digest(const struct msd_uri *u)
{
	return u->scheme == MSD_SCHEME_OCI && strchr(u->path, '@') != NULL;
}

void msd_oci_name_finish(struct msd_oci_name *n)
{
	free(n->base);
	free(n->reference);
}
