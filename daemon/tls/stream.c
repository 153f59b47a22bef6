/*
 * A TLS connection as a transport.
 *
 * Happy path: accept creates the stream, and handshake is called until it is done.
 * From then on it is an ordinary transport. A payload is decrypted directly into its
 * destination. Small pieces are joined, so that a frame is one record.
 *
 * Failures: a TLS error ends the stream permanently, with a text. A socket end
 * without close_notify is a normal end, because frames carry their lengths.
 */
#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/tls/parts.h"
#include "proto/pieces.h"

#define RECORD_BYTES 16384u /* maximum data of one record */
#define RECORDS_PER_READ 16 /* limit per call, for fairness */
#define READS_AT_THE_END 16 /* reads that discard data before a close */

static struct msd_tls_stream *stream_of(const struct msd_transport *t)
{
	return t->state;
}

/*
 * Handle the failed read or write @rc. Returns -EAGAIN, or the new value of s->ended.
 */
static ssize_t fail(struct msd_tls_stream *s, int rc)
{
	const int error = errno;
	char why[MSD_TLS_WHY_MAX];

	if (msd_tls_updates_are_too_many(s)) {
		ERR_clear_error();
		s->ended = -EPROTO;
		return s->ended;
	}
	switch (SSL_get_error(s->ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		s->waits_to_write = true;
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		s->ended = 1;
		break;
	case SSL_ERROR_SYSCALL:
		s->ended = error != 0 ? -error : 1;
		break;
	default:
		s->is_refused = msd_tls_fault(s->ssl, why);
		if (s->why[0] == '\0')
			memcpy(s->why, why, sizeof(why));
		s->ended = -EPROTO;
		break;
	}
	ERR_clear_error();
	return s->ended;
}

/* Read up to @n bytes of one record to @p. */
static ssize_t read_record(struct msd_tls_stream *s, void *p, size_t n)
{
	size_t got = 0;

	ERR_clear_error();
	errno = 0;
	const int rc = SSL_read_ex(s->ssl, p, n, &got);
	if (rc != 1)
		return fail(s, rc);
	msd_tls_updates_note(s, got);
	return (ssize_t)got;
}

/* Fill @piece. False if nothing more can be read now; the state is in @s. */
static bool fill(struct msd_tls_stream *s, const struct iovec *piece, int *records,
		 size_t *all)
{
	for (size_t at = 0; at < piece->iov_len;) {
		if ((*records)-- == 0)
			return false;
		const ssize_t got = read_record(s, (char *)piece->iov_base + at,
						piece->iov_len - at);
		s->is_dry = got == -EAGAIN;
		if (s->is_dry || s->ended != 0)
			return false;
		at += (size_t)got;
		*all += (size_t)got;
	}
	return true;
}

static ssize_t stream_read(struct msd_transport *t, struct iovec *pieces, size_t n,
			   struct msd_fds *fds)
{
	struct msd_tls_stream *s = stream_of(t);
	int records = RECORDS_PER_READ;
	size_t all = 0;

	(void)fds; /* TLS passes no descriptors */
	s->waits_to_write = false;
	s->is_dry = false;
	for (size_t i = 0; i < n && s->ended == 0; i++) {
		if (!fill(s, &pieces[i], &records, &all))
			break;
	}
	if (all > 0)
		return (ssize_t)all;
	if (s->ended != 0)
		return s->ended == 1 ? 0 : s->ended;
	return -EAGAIN;
}

/* If the socket does not take a whole record, OpenSSL keeps it. The next call passes
 * the same bytes first, because the queue only grows at its end. */
static ssize_t stream_writev(struct msd_transport *t, struct iovec *pieces, size_t n,
			     int fd)
{
	struct msd_tls_stream *s = stream_of(t);
	uint8_t room[RECORD_BYTES];
	const uint8_t *p;
	size_t all = 0, bytes;

	(void)fd; /* TLS passes no descriptors: may_pass_fds is false */
	if (s->ended < 0)
		return s->ended;
	while ((bytes = msd_pieces_next(pieces, n, all, room, sizeof(room), &p)) > 0) {
		size_t put = 0;

		ERR_clear_error();
		errno = 0;
		const int rc = SSL_write_ex(s->ssl, p, bytes, &put);
		if (rc != 1) {
			const ssize_t error = fail(s, rc);

			if (all > 0)
				break;
			return error == 1 ? -EPIPE : error;
		}
		all += put;
	}
	return (ssize_t)all;
}

static int stream_wants(const struct msd_transport *t, int events)
{
	const struct msd_tls_stream *s = stream_of(t);

	if (!s->is_open)
		return s->waits_to_write ? UV_WRITABLE : UV_READABLE;
	return events | (s->waits_to_write ? UV_WRITABLE : 0);
}

static bool stream_holds(const struct msd_transport *t)
{
	const struct msd_tls_stream *s = stream_of(t);

	return !s->is_dry || s->ended != 0;
}

static const char *stream_cause(const struct msd_transport *t)
{
	return stream_of(t)->why;
}

/* Send close_notify, as far as the socket takes it. */
static void say_end(struct msd_tls_stream *s)
{
	if (s->is_open && s->ended >= 0)
		(void)SSL_shutdown(s->ssl);
	ERR_clear_error();
}

/* Unread bytes would make the close a reset, which may overtake the data already
 * written. */
static void stream_end(struct msd_transport *t, void *scratch, size_t n)
{
	say_end(stream_of(t));
	(void)shutdown(t->fd, SHUT_WR);
	for (int i = 0; i < READS_AT_THE_END; i++) {
		if (recv(t->fd, scratch, n, MSG_DONTWAIT) <= 0)
			break;
	}
}

static void free_state(struct msd_transport *t)
{
	struct msd_tls_stream *s = stream_of(t);

	SSL_free(s->ssl);
	free(s);
	t->state = NULL;
	t->peer = NULL;
}

static void stream_close(struct msd_transport *t)
{
	say_end(stream_of(t));
	free_state(t);
	(void)close(t->fd);
	t->fd = -1;
}

static const struct msd_transport_ops ops = {
	.read = stream_read,
	.writev = stream_writev,
	.wants = stream_wants,
	.holds = stream_holds,
	.cause = stream_cause,
	.end = stream_end,
	.close = stream_close,
};

msd_err msd_tls_stream_accept(SSL_CTX *ctx, int fd, struct msd_transport *ret,
			      struct msd_diag *d)
{
	struct msd_tls_stream *s = calloc(1, sizeof(*s));
	SSL *ssl = SSL_new(ctx);

	if (s == NULL || ssl == NULL || SSL_set_fd(ssl, fd) != 1) {
		SSL_free(ssl);
		free(s);
		ERR_clear_error();
		return msd_diag_no_memory(d);
	}
	SSL_set_app_data(ssl, s);
	SSL_set_accept_state(ssl);
	s->ssl = ssl;
	msd_tls_updates_watch(s);
	*ret = (struct msd_transport){
		.ops = &ops, .fd = fd, .state = s, .peer = &s->peer};
	return MSD_OK;
}

static msd_err step(struct msd_tls_stream *s, struct msd_diag *d)
{
	s->waits_to_write = false;
	ERR_clear_error();
	errno = 0;
	const int rc = SSL_do_handshake(s->ssl);
	if (rc == 1) {
		s->is_open = true;
		s->peer.is_verified = SSL_get0_peer_certificate(s->ssl) != NULL;
		return MSD_OK;
	}
	const ssize_t error = fail(s, rc);
	if (error == -EAGAIN)
		return MSD_WAIT;
	if (error == 1) {
		return msd_diag_set(d, MSD_IO,
				    "it closed the connection during the handshake");
	}
	return msd_diag_set(d, s->is_refused ? MSD_REFUSED : MSD_PROTOCOL, "%s",
			    error == -EPROTO ? s->why : strerror((int)-error));
}

msd_err msd_tls_stream_handshake(struct msd_transport *t, struct msd_diag *d)
{
	msd_err err = step(stream_of(t), d);

	if (err != MSD_OK && err != MSD_WAIT)
		free_state(t);
	return err;
}

/*
 * Limit the number of key updates by the peer.
 *
 * Happy path: an update is counted, and later bytes pay it off. Failures: one too
 * many ends the stream. Without the limit, OpenSSL would process a full buffer of
 * updates in one read, at 10 us and one response each; its own limits do not apply.
 */

#define MOST 32u /* updates without data between them */
/*
 * Data that pays off one update: clients change keys after megabytes at the earliest.
 */
#define BYTES_EACH (64u << 10)

static void on_message(int is_sent, int version, int type, const void *bytes, size_t n,
		       SSL *ssl, void *arg)
{
	struct msd_tls_stream *s = arg;
	const uint8_t *message = bytes;

	(void)version;
	if (is_sent || type != SSL3_RT_HANDSHAKE || n == 0 ||
	    message[0] != SSL3_MT_KEY_UPDATE || ++s->n_updates <= MOST)
		return;
	if (s->why[0] == '\0') {
		(void)snprintf(s->why, sizeof(s->why),
			       "it changed its keys %u times within %u KiB", MOST,
			       BYTES_EACH >> 10);
	}
	/* Discard the rest of the input, as after a close_notify. */
	SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
}

void msd_tls_updates_watch(struct msd_tls_stream *s)
{
	SSL_set_msg_callback(s->ssl, on_message);
	SSL_set_msg_callback_arg(s->ssl, s);
}

void msd_tls_updates_note(struct msd_tls_stream *s, size_t n)
{
	if (s->n_updates == 0)
		return;
	s->update_bytes += n;
	if (s->update_bytes < BYTES_EACH)
		return;
	s->update_bytes = 0;
	s->n_updates--;
}

bool msd_tls_updates_are_too_many(const struct msd_tls_stream *s)
{
	return s->n_updates > MOST;
}
