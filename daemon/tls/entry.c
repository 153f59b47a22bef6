/* The one exported symbol of modserd-tls.so. OpenSSL counts references of contexts:
 * connections hold them, so a context may be closed before its connections. */
#include "daemon/tls/parts.h"

static msd_err context_open(const struct msd_tls_files *files,
			    struct msd_tls_context **ret, struct msd_diag *d)
{
	SSL_CTX *ctx;
	msd_err err = msd_tls_context_read(files, &ctx, d);

	if (err == MSD_OK)
		*ret = (struct msd_tls_context *)ctx;
	return err;
}

static void context_shows(const struct msd_tls_context *c, struct msd_tls_shown *ret)
{
	msd_tls_shown_read((const SSL_CTX *)c, ret);
}

static void context_trusts(const struct msd_tls_context *c, struct msd_tls_trust *ret)
{
	msd_tls_trust_read((const SSL_CTX *)c, ret);
}

static msd_err judge(struct msd_tls_context *c, const struct msd_transport *t,
		     struct msd_diag *d)
{
	const struct msd_tls_stream *s = t->state;

	return msd_tls_peer_judge((SSL_CTX *)c, s->ssl, d);
}

static void context_hold(struct msd_tls_context *c)
{
	(void)SSL_CTX_up_ref((SSL_CTX *)c);
}

static void context_close(struct msd_tls_context *c)
{
	SSL_CTX_free((SSL_CTX *)c);
}

static msd_err accept_on(struct msd_tls_context *c, int fd, struct msd_transport *ret,
			 struct msd_diag *d)
{
	return msd_tls_stream_accept((SSL_CTX *)c, fd, ret, d);
}

extern const struct msd_tls_library msd_tls_entry;
__attribute__((visibility("default"))) const struct msd_tls_library msd_tls_entry = {
	.version = MSD_TLS_VERSION,
	.context_open = context_open,
	.context_shows = context_shows,
	.context_trusts = context_trusts,
	.context_hold = context_hold,
	.context_close = context_close,
	.accept = accept_on,
	.handshake = msd_tls_stream_handshake,
	.judge = judge,
};
