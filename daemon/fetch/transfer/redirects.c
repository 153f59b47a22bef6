#include "daemon/fetch/transfer/redirects.h"

#include <stdlib.h>
#include <string.h>

static msd_err go(struct msd_redirects *w, const char *url, bool is_redirect,
		  struct msd_diag *d)
{
	char *copy = strdup(url);
	struct msd_uri to;
	msd_err err = msd_uri_read(url, w->insecure, &to, d);

	if (err == MSD_OK && is_redirect)
		err = msd_uri_check_redirect(&w->at, &to, d);
	if (err == MSD_OK && copy == NULL)
		err = msd_diag_no_memory(d);
	if (err != MSD_OK) {
		msd_uri_finish(&to);
		free(copy);
		return err;
	}
	msd_uri_finish(&w->at);
	free(w->url);
	w->at = to;
	w->url = copy;
	return MSD_OK;
}

msd_err msd_redirects_begin(struct msd_redirects *w, const char *url, bool insecure,
			    struct msd_diag *d)
{
	*w = (struct msd_redirects){.insecure = insecure, .origin = strdup(url)};
	msd_err err = w->origin != NULL ? go(w, url, false, d) : msd_diag_no_memory(d);

	if (err == MSD_OK) {
		w->home = strdup(w->at.host);
		err = w->home != NULL ? MSD_OK : msd_diag_no_memory(d);
	}
	if (err != MSD_OK)
		msd_redirects_finish(w);
	return err;
}

bool msd_redirects_is_home(const struct msd_redirects *w)
{
	return strcmp(w->home, w->at.host) == 0;
}

bool msd_redirects_is_begun(const struct msd_redirects *w)
{
	return w->n_redirects == 0;
}

msd_err msd_redirects_restart(struct msd_redirects *w, struct msd_diag *d)
{
	w->n_redirects = 0;
	return go(w, w->origin, false, d);
}

msd_err msd_redirects_follow(struct msd_redirects *w, const char *location,
			     struct msd_diag *d)
{
	msd_err err;

	if (location == NULL) {
		return msd_diag_set(d, MSD_IO, "%s: its redirect has no target",
				    w->at.shown);
	}
	if (++w->n_redirects > MSD_REDIRECTS_REDIRECTS) {
		return msd_diag_set(d, MSD_IO,
				    "%s: it is redirected more than %u times",
				    w->at.shown, MSD_REDIRECTS_REDIRECTS);
	}
	err = go(w, location, true, d);
	return err != MSD_OK ? msd_diag_wrap(d, err, "%s redirects", w->at.shown) : err;
}

static msd_err check_way(const char *from, const char *text, bool insecure,
			 struct msd_diag *d)
{
	struct msd_uri a = {0}, b = {0};
	msd_err err = msd_uri_read(from, insecure, &a, d);

	if (err == MSD_OK)
		err = msd_uri_read(text, insecure, &b, d);
	if (err == MSD_OK)
		err = msd_uri_check_redirect(&a, &b, d);
	msd_uri_finish(&a);
	msd_uri_finish(&b);
	return err;
}

msd_err msd_redirects_lead(const char *from, const char *location, bool insecure,
			   char **ret, struct msd_diag *d)
{
	char *text;
	msd_err err = msd_uri_resolve(from, location, &text, d);

	if (err != MSD_OK)
		return err;
	err = check_way(from, text, insecure, d);
	if (err != MSD_OK) {
		free(text);
		return err;
	}
	*ret = text;
	return MSD_OK;
}

void msd_redirects_finish(struct msd_redirects *w)
{
	msd_uri_finish(&w->at);
	free(w->url);
	free(w->origin);
	free(w->home);
	w->url = w->origin = w->home = NULL;
}
