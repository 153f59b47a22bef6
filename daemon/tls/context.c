/*
 * The server's TLS context from PEM files: its certificate, and the authorities it
 * trusts.
 *
 * Happy path: TLS 1.3 only; the certificate with its chain, its key, and the
 * authorities if clients must present certificates. Failures: the error names the
 * file and the fault. An incomplete context is discarded.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/tls/parts.h"

static msd_err fail(const char *what, const char *path, const char *why,
		    struct msd_diag *d)
{
	const unsigned long code = ERR_peek_last_error();
	const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;

	(void)msd_diag_set(d, MSD_BAD_REQUEST, "%s %s: %s%s%s", what, path, why,
			   reason != NULL ? ": " : "", reason != NULL ? reason : "");
	ERR_clear_error();
	return MSD_BAD_REQUEST;
}

/* OpenSSL only reports "system lib" for a missing file. */
static msd_err check_file(const char *what, const char *path, bool is_secret,
			  struct msd_diag *d)
{
	struct stat st = {0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const int error = fd >= 0 && fstat(fd, &st) == 0 ? 0 : errno;

	if (fd >= 0)
		(void)close(fd);
	if (error != 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s %s: %s", what, path,
				    strerror(error));
	}
	if (!S_ISREG(st.st_mode)) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s %s: it is not a file", what,
				    path);
	}
	if (is_secret && (st.st_mode & 077) != 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s %s: others may read or write it, its mode is "
				    "%04o: chmod 600 %s",
				    what, path, (unsigned)st.st_mode & 07777u, path);
	}
	return MSD_OK;
}

/* A daemon cannot prompt for a password. */
static int no_password(char *buf, int size, int is_write, void *user)
{
	(void)buf;
	(void)size;
	(void)is_write;
	(void)user;
	return -1;
}

/* TLS 1.3 cannot use a certificate on any other curve. */
static bool has_known_curve(const SSL_CTX *ctx, char *ret, size_t size)
{
	static const char *const known[] = {"prime256v1", "secp384r1", "secp521r1"};
	const EVP_PKEY *key = SSL_CTX_get0_privatekey(ctx);

	if (!EVP_PKEY_is_a(key, "EC") ||
	    EVP_PKEY_get_group_name(key, ret, size, NULL) != 1)
		return true;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(ret, known[i]) == 0)
			return true;
	}
	return false;
}

static msd_err read_own(SSL_CTX *ctx, const struct msd_tls_files *f, struct msd_diag *d)
{
	char curve[64];
	msd_err err = check_file("--tls-cert", f->cert, false, d);

	if (err == MSD_OK)
		err = check_file("--tls-key", f->key, true, d);
	if (err != MSD_OK)
		return err;
	SSL_CTX_set_default_passwd_cb(ctx, no_password);
	if (SSL_CTX_use_certificate_chain_file(ctx, f->cert) != 1)
		return fail("--tls-cert", f->cert, "expected a certificate, PEM", d);
	if (SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) != 1) {
		return fail("--tls-key", f->key,
			    "expected the certificate's key, PEM, without a password",
			    d);
	}
	if (SSL_CTX_check_private_key(ctx) != 1)
		return fail("--tls-key", f->key, "not the key of the certificate", d);
	if (!has_known_curve(ctx, curve, sizeof(curve))) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "--tls-cert %s: TLS 1.3 has no keys on the curve "
				    "%s: take one on P-256, or of RSA",
				    f->cert, curve);
	}
	return MSD_OK;
}

/* Even a verified certificate may have names that must be refused. */
static int on_verify(int is_good, X509_STORE_CTX *store)
{
	SSL *ssl =
		X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct msd_tls_stream *s = SSL_get_app_data(ssl);
	struct msd_diag d = {0};

	if (is_good == 0 || X509_STORE_CTX_get_error_depth(store) != 0)
		return is_good;
	if (msd_tls_names_read(X509_STORE_CTX_get_current_cert(store), &s->peer, &d) ==
	    MSD_OK)
		return 1;
	(void)strncpy(s->why, msd_diag_text(&d), sizeof(s->why) - 1);
	msd_diag_finish(&d);
	X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
	return 0;
}

static msd_err read_authorities(SSL_CTX *ctx, const struct msd_tls_files *f,
				struct msd_diag *d)
{
	const int must = f->takes_strangers ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	msd_err err;

	if (f->ca == NULL && f->crl != NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "--tls-crl %s: without --tls-ca no client "
				    "certificates are requested: add --tls-ca",
				    f->crl);
	}
	if (f->ca == NULL)
		return MSD_OK;
	err = check_file("--tls-ca", f->ca, false, d);
	if (err != MSD_OK)
		return err;
	STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(f->ca);
	if (names == NULL || SSL_CTX_load_verify_locations(ctx, f->ca, NULL) != 1) {
		sk_X509_NAME_pop_free(names, X509_NAME_free);
		return fail("--tls-ca", f->ca, "expected certificates, PEM", d);
	}
	SSL_CTX_set_client_CA_list(ctx, names); /* takes ownership */
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | must, on_verify);
	if (f->crl != NULL)
		err = check_file("--tls-crl", f->crl, false, d);
	return err == MSD_OK && f->crl != NULL ? msd_tls_revoked_read(ctx, f->crl, d)
					       : err;
}

/*
 * No session tickets: each connection presents its certificate again, and no client
 * state is kept. No automatic retry: a client that sends empty records gets at most
 * one buffer read per loop iteration. A socket end without a TLS close_notify is
 * accepted, because frames carry their lengths.
 */
static void set_up(SSL_CTX *ctx)
{
	(void)SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
	(void)SSL_CTX_set_num_tickets(ctx, 0);
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_ENABLE_KTLS |
					       SSL_OP_IGNORE_UNEXPECTED_EOF |
					       SSL_OP_CIPHER_SERVER_PREFERENCE);
	(void)SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
					    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					    SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_read_ahead(ctx, 1);
}

msd_err msd_tls_context_read(const struct msd_tls_files *files, SSL_CTX **ret,
			     struct msd_diag *d)
{
	SSL_CTX *ctx;
	msd_err err;

	/* OpenSSL's cleanup at exit would run before some threads end that still use
	 * its memory, and they could not free it. */
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
		return msd_diag_no_memory(d);
	ctx = SSL_CTX_new(TLS_server_method());
	if (ctx == NULL)
		return msd_diag_no_memory(d);
	set_up(ctx);
	err = read_own(ctx, files, d);
	if (err == MSD_OK)
		err = read_authorities(ctx, files, d);
	if (err == MSD_OK)
		err = msd_tls_trust_keep(ctx, d);
	if (err != MSD_OK) {
		SSL_CTX_free(ctx);
		return err;
	}
	*ret = ctx;
	return MSD_OK;
}
