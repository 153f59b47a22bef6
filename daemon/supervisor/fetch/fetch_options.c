#include "daemon/supervisor/fetch/fetch_options.h"

#include <stdlib.h>
#include <string.h>

#include "proto/value.h"

static const char *copy(const char *text, bool *ok)
{
	char *made = text != NULL ? strdup(text) : NULL;

	*ok = *ok && (text == NULL || made != NULL);
	return made;
}

msd_err msd_fetch_options_copy(const struct msd_fetch_options *from,
			       struct msd_fetch_options *ret, struct msd_diag *d)
{
	bool ok = true;

	*ret = *from;
	ret->auth = copy(from->auth, &ok);
	ret->ca = copy(from->ca, &ok);
	ret->proxy = copy(from->proxy, &ok);
	ret->realm = copy(from->realm, &ok);
	return ok ? MSD_OK : msd_diag_no_memory(d);
}

void msd_fetch_options_finish(struct msd_fetch_options *t)
{
	free((char *)(uintptr_t)t->auth);
	free((char *)(uintptr_t)t->ca);
	free((char *)(uintptr_t)t->proxy);
	free((char *)(uintptr_t)t->realm);
	*t = (struct msd_fetch_options){0};
}

static void put(struct msd_buf *ret, const char *key, const char *own, const char *all)
{
	const char *value = own != NULL ? own : all;

	msd_pack_cstr(ret, key);
	msd_pack_cstr(ret, value != NULL ? value : "");
}

void msd_fetch_options_put(const struct msd_fetch_options *own,
			   const struct msd_fetch_options *all, struct msd_buf *ret)
{
	static const struct msd_fetch_options none = {0};
	const struct msd_fetch_options *o = own != NULL ? own : &none;

	put(ret, "auth", o->auth, all->auth);
	put(ret, "ca", o->ca, all->ca);
	put(ret, "proxy", o->proxy, all->proxy);
	put(ret, "realm", o->realm, all->realm);
	msd_pack_cstr(ret, "insecure");
	msd_pack_bool(ret, o->has_insecure ? o->insecure : all->insecure);
}

void msd_fetch_options_put_bound(const struct msd_fetch_options *all,
				 struct msd_buf *ret)
{
	msd_pack_cstr(ret, "pull_from");
	msd_pack_array(ret, all->pull_from.n);
	for (uint32_t i = 0; i < all->pull_from.n; i++)
		msd_pack_cstr(ret, all->pull_from.each[i]);
}

#define SCHEME "oci://"
#define MARK "@sha256:"

bool msd_uri_digest_read(const char *uri, struct msd_digest *ret)
{
	const char *mark = strstr(uri, MARK);

	if (strncmp(uri, SCHEME, strlen(SCHEME)) != 0 || mark == NULL)
		return false;
	mark += strlen(MARK);
	return msd_digest_parse(
		(struct msd_span){(const uint8_t *)mark, strcspn(mark, "?")}, ret);
}

struct msd_span msd_promised_file(const char *uri)
{
	const size_t n = strcspn(uri, "?");
	size_t at = n;

	while (at > 0 && uri[at - 1] != '/')
		at--;
	return (struct msd_span){(const uint8_t *)uri + at, n - at};
}
