/*
 * Happy path: libssl is loaded, a context is made from the files in the environment,
 * and the handshake runs within the caller's deadline. Then buffers are read and
 * written as on a non-blocking socket. Failures: the error names the file, or the
 * server whose certificate is not trusted or is for another host. A later TLS failure
 * is EPROTO, with a text.
 */
#include "client/transport/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/transport/libssl.h"
#include "client/transport/sigpipe.h"
#include "proto/base/clock.h"
#include "proto/pieces.h"

#define WHY_MAX 256u

struct msd_client_tls {
	const struct msd_libssl *lib;
	SSL *ssl;
	int fd;
	char why[WHY_MAX];
	msd_err fault; /* the code of that failure */
};

/* Passwords are not supported; the user is not prompted. */
static int no_password(char *buf, int size, int is_write, void *user)
{
	(void)buf;
	(void)size;
	(void)is_write;
	(void)user;
	return -1;
}

static msd_err refuse_file(const struct msd_libssl *lib, const char *variable,
			   const char *path, const char *expected, struct msd_diag *d)
{
	const char *reason =
		errno != 0 ? strerror(errno)
			   : lib->ERR_reason_error_string(lib->ERR_peek_last_error());

	return msd_diag_set(d, MSD_BAD_REQUEST, "%s: %s: expected %s%s%s", variable,
			    path, expected, reason != NULL ? ": " : "",
			    reason != NULL ? reason : "");
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static msd_err read_files(const struct msd_libssl *lib, SSL_CTX *ctx,
			  struct msd_diag *d)
{
	const char *ca = variable("MODSER_TLS_CA");
	const char *cert = variable("MODSER_TLS_CERT");
	const char *key = variable("MODSER_TLS_KEY");

	errno = 0;
	if (ca == NULL) {
		(void)lib->SSL_CTX_set_default_verify_paths(ctx);
	} else if (lib->SSL_CTX_load_verify_locations(ctx, ca, NULL) != 1) {
		return refuse_file(lib, "--tls-ca (MODSER_TLS_CA)", ca,
				   "certificates, PEM", d);
	}
	if (cert == NULL)
		return MSD_OK;
	errno = 0;
	if (lib->SSL_CTX_use_certificate_chain_file(ctx, cert) != 1) {
		return refuse_file(lib, "--tls-cert (MODSER_TLS_CERT)", cert,
				   "a certificate, PEM", d);
	}
	key = key != NULL ? key : cert;
	errno = 0;
	lib->SSL_CTX_set_default_passwd_cb(ctx, no_password);
	if (lib->SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1) {
		return refuse_file(lib, "--tls-key (MODSER_TLS_KEY)", key,
				   "the certificate's key, PEM, without a password", d);
	}
	return MSD_OK;
}

static msd_err make_context(const struct msd_libssl *lib, SSL_CTX **ret,
			    struct msd_diag *d)
{
	lib->ERR_clear_error(); /* a later failure has its own reason last */
	SSL_CTX *ctx = lib->SSL_CTX_new(lib->TLS_client_method());
	if (ctx == NULL) {
		lib->ERR_clear_error();
		return msd_diag_no_memory(d);
	}
	(void)lib->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION,
				NULL);
	(void)lib->SSL_CTX_ctrl(ctx, SSL_CTRL_MODE,
				SSL_MODE_ENABLE_PARTIAL_WRITE |
					SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
				NULL);
	(void)lib->SSL_CTX_set_options(ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
	lib->SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	msd_err err = read_files(lib, ctx, d);
	if (err == MSD_OK) {
		*ret = ctx;
	} else {
		lib->SSL_CTX_free(ctx);
	}
	lib->ERR_clear_error(); /* leave the program's error list empty */
	return err;
}

/* Require that the certificate is for @host, an IP address or a name. */
static bool expect_host(const struct msd_client_tls *t, const char *host)
{
	uint8_t number[sizeof(struct in6_addr)];

	if (inet_pton(AF_INET, host, number) == 1 ||
	    inet_pton(AF_INET6, host, number) == 1) {
		return t->lib->X509_VERIFY_PARAM_set1_ip_asc(
			       t->lib->SSL_get0_param(t->ssl), host) == 1;
	}
	(void)t->lib->SSL_ctrl(t->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME,
			       TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)host);
	return t->lib->SSL_set1_host(t->ssl, host) == 1;
}

/* Text for the daemon's alert about the client's certificate. */
static const char *refusal(int reason)
{
	switch (reason) {
	case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
		if (variable("MODSER_TLS_CERT") != NULL) {
			return "the daemon requests a certificate, but TLS 1.3 cannot "
			       "sign with this one: its key must be RSA, Ed25519 or "
			       "Ed448, or on P-256, P-384 or P-521";
		}
		return "the daemon requests a certificate: give one (--tls-cert, "
		       "MODSER_TLS_CERT)";
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
		return "the daemon does not trust the authority of this certificate: "
		       "use one that its --tls-ca has signed";
	case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
		return "the daemon rejects this certificate, which has expired: renew "
		       "it";
	case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
	case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
		return "the daemon rejects this certificate: its log has the reason "
		       "(event=tls_handshake)";
	default:
		return NULL;
	}
}

/* Advice for a server's certificate with this verification error. */
static const char *remedy(long verified)
{
	switch (verified) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return "connect with a name that is in the certificate";
	case X509_V_ERR_CERT_HAS_EXPIRED:
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return "renew it, or check this machine's clock";
	default:
		return "name its authority (--tls-ca, MODSER_TLS_CA)";
	}
}

/* Store OpenSSL's last error as text. */
static void take_fault(struct msd_client_tls *t)
{
	const unsigned long code = t->lib->ERR_peek_error();
	const char *refused = refusal(ERR_GET_REASON(code));
	const char *text = t->lib->ERR_reason_error_string(code);
	const long verified = t->lib->SSL_get_verify_result(t->ssl);

	if (ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
		t->fault = MSD_REFUSED;
		(void)snprintf(t->why, WHY_MAX, "the server's certificate: %s: %s",
			       t->lib->X509_verify_cert_error_string(verified),
			       remedy(verified));
	} else if (ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER) {
		t->fault = MSD_PROTOCOL;
		(void)snprintf(t->why, WHY_MAX,
			       "the server does not speak TLS: is it tcp://?");
	} else if (refused != NULL) {
		t->fault = MSD_REFUSED;
		(void)snprintf(t->why, WHY_MAX, "%s", refused);
	} else {
		t->fault = MSD_IO;
		(void)snprintf(t->why, WHY_MAX, "TLS: %s",
			       text != NULL ? text : "it is broken");
	}
	t->lib->ERR_clear_error();
}

/* Before each step: clear the program's earlier errors, because a thread has a single
 * error list and they would be taken for errors of the step. */
static void begin(const struct msd_client_tls *t)
{
	t->lib->ERR_clear_error();
	errno = 0;
}

/* The events to wait for after @rc, or 0 with the reason in errno; 0 with errno 0:
 * the peer has closed the connection. */
static short events_after(struct msd_client_tls *t, int rc)
{
	const int error = errno;

	switch (t->lib->SSL_get_error(t->ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		return POLLIN;
	case SSL_ERROR_WANT_WRITE:
		return POLLOUT;
	case SSL_ERROR_ZERO_RETURN:
		errno = 0;
		return 0;
	case SSL_ERROR_SYSCALL:
		errno = error;
		return 0;
	default:
		take_fault(t);
		errno = EPROTO;
		return 0;
	}
}

static int connect_quietly(struct msd_client_tls *t)
{
	struct msd_sigpipe q;

	begin(t);
	msd_sigpipe_begin(&q);
	const int rc = t->lib->SSL_connect(t->ssl);
	msd_sigpipe_end(&q);
	return rc;
}

static msd_err shake_hands(struct msd_client_tls *t, uint64_t deadline_ns,
			   struct msd_diag *d)
{
	int rc;

	while ((rc = connect_quietly(t)) != 1) {
		struct pollfd p = {.fd = t->fd, .events = events_after(t, rc)};

		if (p.events == 0 && errno == EPROTO)
			return msd_diag_set(d, t->fault, "%s", t->why);
		if (p.events == 0) {
			return msd_diag_set(
				d, MSD_IO, "TLS: %s",
				errno != 0 ? strerror(errno)
					   : "the server closed the connection");
		}
		if (poll(&p, 1, msd_poll_ms(deadline_ns)) == 0) {
			return msd_diag_set(
				d, MSD_DEADLINE,
				"TLS: the server does not continue the handshake");
		}
	}
	return MSD_OK;
}

msd_err msd_client_tls_open(int fd, const char *host, uint64_t deadline_ns,
			    struct msd_client_tls **ret, struct msd_diag *d)
{
	const struct msd_libssl *lib = msd_libssl_open(d);
	SSL_CTX *ctx = NULL;

	if (lib == NULL)
		return MSD_UNSUPPORTED;
	msd_err err = make_context(lib, &ctx, d);
	if (err != MSD_OK)
		return err;
	struct msd_client_tls *t = calloc(1, sizeof(*t));
	if (t != NULL) {
		t->lib = lib;
		t->fd = fd;
		t->ssl = lib->SSL_new(ctx);
	}
	lib->SSL_CTX_free(ctx); /* the connection holds a reference */
	if (t == NULL || t->ssl == NULL || !expect_host(t, host) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0 ||
	    lib->SSL_set_fd(t->ssl, fd) != 1) {
		err = msd_diag_no_memory(d);
	} else {
		err = shake_hands(t, deadline_ns, d);
	}
	if (err == MSD_OK) {
		*ret = t;
	} else {
		msd_client_tls_close(t);
	}
	return err;
}

/* Fill one buffer with the available bytes. Returns the events to wait for; 0: it is
 * full, or errno has the reason. */
static short fill(struct msd_client_tls *t, const struct iovec *piece, size_t *ret)
{
	for (size_t at = 0; at < piece->iov_len;) {
		size_t got = 0;

		begin(t);
		const int rc = t->lib->SSL_read_ex(t->ssl, (char *)piece->iov_base + at,
						   piece->iov_len - at, &got);
		if (rc != 1)
			return events_after(t, rc);
		at += got;
		*ret += got;
	}
	return 0;
}

ssize_t msd_client_tls_read(struct msd_client_tls *t, const struct iovec *pieces,
			    size_t n, bool may_block)
{
	size_t all = 0;

	for (;;) {
		short events = 0;
		size_t room = 0; /* bytes of the full buffers */

		for (size_t i = 0; i < n && all == room; i++) {
			events = fill(t, &pieces[i], &all);
			room += pieces[i].iov_len;
		}
		if (all > 0)
			return (ssize_t)all;
		if (events == 0)
			return errno == 0 ? 0 : -1;
		struct pollfd p = {.fd = t->fd, .events = events};
		if (!may_block || poll(&p, 1, -1) < 0) {
			errno = may_block ? errno : EAGAIN;
			return -1;
		}
	}
}

static ssize_t write_records(struct msd_client_tls *t, const struct iovec *pieces,
			     size_t n)
{
	uint8_t room[MSD_CLIENT_TLS_RECORD_BYTES];
	const uint8_t *p;
	size_t all = 0, bytes;

	while ((bytes = msd_pieces_next(pieces, n, all, room, sizeof(room), &p)) > 0) {
		size_t put = 0;

		begin(t);
		const int rc = t->lib->SSL_write_ex(t->ssl, p, bytes, &put);
		if (rc != 1) {
			if (events_after(t, rc) != 0)
				errno = EAGAIN;
			return all > 0 ? (ssize_t)all : -1;
		}
		all += put;
	}
	return (ssize_t)all;
}

ssize_t msd_client_tls_write(struct msd_client_tls *t, const struct iovec *pieces,
			     size_t n)
{
	struct msd_sigpipe q;

	msd_sigpipe_begin(&q);
	const ssize_t put = write_records(t, pieces, n);
	msd_sigpipe_end(&q);
	return put;
}

const char *msd_client_tls_why(const struct msd_client_tls *t)
{
	return t->why;
}

msd_err msd_client_tls_fault(const struct msd_client_tls *t)
{
	return t->fault;
}

void msd_client_tls_close(struct msd_client_tls *t)
{
	if (t == NULL)
		return;
	if (t->ssl != NULL)
		t->lib->SSL_free(t->ssl);
	free(t);
}
