#include "daemon/supervisor/tls.h"

#include "daemon/supervisor/options.h"

static bool listens_by_it(const struct msd_options *o)
{
	if (o->has_http && o->http.kind == MSD_ADDRESS_TLS)
		return true;
	for (uint32_t i = 0; i < o->n_listen; i++) {
		if (o->listen[i].kind == MSD_ADDRESS_TLS)
			return true;
	}
	return false;
}

msd_err msd_tls_take(struct msd_tls *t, const struct msd_options *o, bool has_rights,
		     struct msd_diag *d)
{
	const struct msd_tls_files files = {.cert = o->tls_cert,
					    .key = o->tls_key,
					    .ca = o->tls_ca,
					    .takes_strangers = has_rights};

	/* A listener that the file no longer names is there until the next start. */
	if (!listens_by_it(o) && !msd_tls_is_open(t))
		return MSD_OK;
	if (o->tls_cert == NULL || o->tls_key == NULL) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"a tls:// or https:// address needs --tls-cert FILE and "
			"--tls-key FILE");
	}
	return msd_tls_open(t, &files, d);
}
