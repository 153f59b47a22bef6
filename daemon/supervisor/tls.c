#include "daemon/supervisor/tls.h"

#include <string.h>

#include "daemon/log.h"
#include "daemon/supervisor/config/options.h"
#include "daemon/supervisor/rights/acl.h"

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

static void tell(const struct msd_tls_shown *is, const char *file)
{
	if (is->fault != NULL) {
		msd_log(MSD_LOG_WARN, "tls_certificate",
			"file=\"%s\" until=%s why=\"%s: clients reject it; renew it, "
			"then run modser reload\"",
			file, is->until, is->fault);
	} else {
		msd_log(MSD_LOG_INFO, "tls_certificate", "file=\"%s\" until=%s", file,
			is->until);
	}
}

struct msd_tls_state msd_tls_state(const struct msd_tls *t)
{
	struct msd_tls_state state = {0};

	if (msd_tls_is_open(t)) {
		state.shown = msd_tls_shows(t);
		state.trust = msd_tls_trusts(t);
	}
	return state;
}

msd_err msd_tls_reload(struct msd_tls *t, const struct msd_options *o,
		       const struct msd_acl *rights, struct msd_tls_state *was,
		       struct msd_diag *d)
{
	const struct msd_tls_state before = msd_tls_state(t);
	const struct msd_tls_files files = {.cert = o->tls_cert,
					    .key = o->tls_key,
					    .ca = o->tls_ca,
					    .crl = o->tls_crl,
					    .takes_strangers = rights != NULL};

	if (was != NULL)
		*was = before;
	/* A listener that the file no longer names exists until the next start. */
	if (!listens_by_it(o) && !msd_tls_is_open(t))
		return MSD_OK;
	if (o->tls_cert == NULL || o->tls_key == NULL) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"a tls:// or https:// address needs --tls-cert FILE and "
			"--tls-key FILE");
	}
	msd_err err = msd_tls_open(t, &files, d);
	if (err != MSD_OK)
		return err;
	if (rights != NULL && o->tls_ca == NULL && msd_acl_knows_certificates(rights)) {
		msd_log(MSD_LOG_WARN, "tls_client_certificates_off",
			"why=\"the file of rights names users by certificates, but the "
			"daemon requests none: name their authority with --tls-ca\"");
	}
	const struct msd_tls_shown is = msd_tls_shows(t);
	if (memcmp(is.sha256, before.shown.sha256, sizeof(is.sha256)) != 0)
		tell(&is, files.cert);
	return MSD_OK;
}
