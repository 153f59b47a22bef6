/*
 * How often the other side may change its keys.
 *
 * Happy path: a change is counted, and bytes that follow give it back. Failures: one
 * that is too many ends the stream: OpenSSL would take all that its buffer has, of 10
 * us and an answer each, in one read, and no limit of its own holds for them.
 */
#include <stdio.h>

#include "daemon/tls/parts.h"

#define MOST 32u /* without bytes between them */
/* What one more is due for: clients change their keys after megabytes at the earliest.
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
	/* The rest of what was read is thrown away as behind an end. */
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
