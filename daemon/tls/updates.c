/*
 * Limit the number of key updates by the peer.
 *
 * Happy path: an update is counted, and later bytes pay it off. Failures: one too
 * many ends the stream. Without the limit, OpenSSL would process a full buffer of
 * updates in one read, at 10 us and one response each; its own limits do not apply.
 */
#include <stdio.h>

#include "daemon/tls/parts.h"

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
