/*
 * Happy path: libcurl connects and provides the socket. A frame is written, then one
 * is read. Failures: an error of the daemon is passed on if the requester can act on
 * it; any other error counts as temporary. A waiting thread checks ten times a second
 * for cancellation.
 */
#include "daemon/fetch/daemon_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/fetch/uri.h"
#include "proto/base/clock.h"
#include "proto/body.h"
#include "proto/frame.h"

#define LOOK_MS 100         /* interval of the cancellation check */
#define AWAY_LEAST_MS 1000u /* a longer gap is a stopped process, not a stall */
#define STALL_BYTES_PER_S 64u

static msd_err cancelled(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_CANCELLED, "cancelled");
}

static msd_err fault(const struct msd_daemon_client *l, CURLcode rc, struct msd_diag *d)
{
	if (atomic_load(l->is_unwanted))
		return cancelled(d);
	if (l->gate.is_refused)
		return msd_address_check_refuse(&l->gate, d);
	return msd_diag_set(d, MSD_IO, "%s: %s", l->to->shown, curl_easy_strerror(rc));
}

static int on_progress(void *user, curl_off_t total, curl_off_t now,
		       curl_off_t total_up, curl_off_t now_up)
{
	const struct msd_daemon_client *l = user;

	(void)total;
	(void)now;
	(void)total_up;
	(void)now_up;
	return atomic_load(l->is_unwanted) ? 1 : 0;
}

static void set_options(struct msd_daemon_client *l, const char *url)
{
	CURL *easy = l->easy;

	msd_address_check_set(&l->gate, l->reach, l->to, easy);
	(void)curl_easy_setopt(easy, CURLOPT_URL, url);
	(void)curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L); /* it is not HTTP */
	(void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)l->stall_ms);
	(void)curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	(void)curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	(void)curl_easy_setopt(easy, CURLOPT_XFERINFODATA, l);
}

msd_err msd_daemon_client_open(struct msd_daemon_client *l, struct msd_diag *d)
{
	char *url = NULL;

	l->easy = curl_easy_init();
	l->body = (struct msd_buf){0};
	if (l->easy == NULL ||
	    asprintf(&url, "%s://%s", l->to->is_plain ? "http" : "https", l->to->host) <
		    0)
		return msd_diag_no_memory(d);
	set_options(l, url);
	free(url);
	const CURLcode rc = curl_easy_perform(l->easy);
	return rc == CURLE_OK ? MSD_OK : fault(l, rc, d);
}

static void begin_wait(struct msd_daemon_client *l)
{
	l->since_ms = msd_now_ms();
	l->since_bytes = 0;
}

static msd_err check_stall(struct msd_daemon_client *l, struct msd_diag *d)
{
	const uint64_t passed_ms = msd_now_ms() - l->since_ms;
	const uint64_t least = l->stall_ms * STALL_BYTES_PER_S / 1000 + 1;

	if (passed_ms < l->stall_ms)
		return MSD_OK;
	const bool was_away = passed_ms > l->stall_ms + AWAY_LEAST_MS;
	if (!was_away && l->since_bytes < least) {
		return msd_diag_set(
			d, MSD_IO,
			"%s: it stalled: %llu bytes within %llu ms (fetch-stall)",
			l->to->shown, (unsigned long long)l->since_bytes,
			(unsigned long long)l->stall_ms);
	}
	begin_wait(l);
	return MSD_OK;
}

static msd_err wait_for(struct msd_daemon_client *l, short events, struct msd_diag *d)
{
	struct pollfd p = {.events = events};
	curl_socket_t fd = CURL_SOCKET_BAD;

	(void)curl_easy_getinfo(l->easy, CURLINFO_ACTIVESOCKET, &fd);
	p.fd = fd;
	for (;;) {
		const int n = poll(&p, 1, LOOK_MS);

		if (atomic_load(l->is_unwanted))
			return cancelled(d);
		if (n < 0 && errno != EINTR)
			return msd_diag_set(d, MSD_IO, "%s: poll", l->to->shown);
		/* Check even if bytes arrived: they may be less than one TLS record. */
		const msd_err err = check_stall(l, d);
		if (err != MSD_OK || n > 0)
			return err;
	}
}

static msd_err send_all(struct msd_daemon_client *l, struct msd_span bytes,
			struct msd_diag *d)
{
	while (bytes.n > 0) {
		size_t n = 0;
		const CURLcode rc = curl_easy_send(l->easy, bytes.p, bytes.n, &n);
		msd_err err = MSD_OK;

		if (rc == CURLE_AGAIN) {
			err = wait_for(l, POLLOUT, d);
		} else if (rc != CURLE_OK) {
			err = fault(l, rc, d);
		}
		if (err != MSD_OK)
			return err;
		bytes.p += n;
		bytes.n -= n;
	}
	return MSD_OK;
}

static msd_err receive(struct msd_daemon_client *l, uint8_t *to, size_t n_wanted,
		       struct msd_diag *d)
{
	while (n_wanted > 0) {
		size_t n = 0;
		const CURLcode rc = curl_easy_recv(l->easy, to, n_wanted, &n);
		msd_err err = MSD_OK;

		if (rc == CURLE_AGAIN) {
			err = wait_for(l, POLLIN, d);
		} else if (rc != CURLE_OK) {
			err = fault(l, rc, d);
		} else if (n == 0) {
			err = msd_diag_set(d, MSD_IO, "%s: it ended the connection",
					   l->to->shown);
		}
		if (err == MSD_OK && n > 0) {
			l->since_bytes += n;
			err = check_stall(l, d);
		}
		if (err != MSD_OK)
			return err;
		to += n;
		n_wanted -= n;
	}
	return MSD_OK;
}

static msd_err send_question(struct msd_daemon_client *l, const char *method,
			     struct msd_span params, struct msd_diag *d)
{
	static const uint8_t head[MSD_FRAME_HEADER_BYTES]; /* reserve space for it */
	struct msd_buf *b = &l->body;

	b->n = 0;
	msd_buf_put(b, head, sizeof(head));
	msd_body_begin_request(b, ++l->id, method, false);
	msd_buf_put(b, params.p, params.n);
	if (b->bad)
		return msd_diag_no_memory(d);
	msd_frame_write(
		(struct msd_frame){.body_bytes = (uint32_t)(b->n - sizeof(head))},
		b->p);
	return send_all(l, (struct msd_span){b->p, b->n}, d);
}

static msd_err receive_answer(struct msd_daemon_client *l, struct msd_diag *d)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	struct msd_frame frame;
	msd_err err = receive(l, head, sizeof(head), d);

	if (err != MSD_OK)
		return err;
	err = msd_frame_read(head, l->max_body_bytes, 0, &frame, d);
	if (err != MSD_OK) {
		(void)msd_diag_wrap(d, err, "%s", l->to->shown);
		return err == MSD_TOO_LARGE ? MSD_PROTOCOL : err;
	}
	l->body.n = 0;
	if (!msd_buf_reserve(&l->body, frame.body_bytes))
		return msd_diag_no_memory(d);
	err = receive(l, l->body.p, frame.body_bytes, d);
	if (err == MSD_OK)
		l->body.n = frame.body_bytes;
	return err;
}

/* Pass on the daemon's text, but not a code whose meaning would be wrong here. */
static msd_err pass_on(const struct msd_daemon_client *l,
		       const struct msd_body_error *e, struct msd_diag *d)
{
	const bool is_known = e->code == MSD_NOT_FOUND || e->code == MSD_REFUSED ||
			      e->code == MSD_UNSUPPORTED;
	const msd_err err = is_known                        ? e->code
			    : e->code == MSD_UNKNOWN_METHOD ? MSD_UNSUPPORTED
							    : MSD_IO;

	return msd_diag_set(d, err, "%s: the daemon answered %.*s: %.*s", l->to->shown,
			    (int)e->name.n, (const char *)e->name.p,
			    e->message.n < 500 ? (int)e->message.n : 500,
			    (const char *)e->message.p);
}

msd_err msd_daemon_client_ask(struct msd_daemon_client *l, const char *method,
			      struct msd_span params, struct msd_span *ret,
			      struct msd_diag *d)
{
	struct msd_body_error refusal;
	struct msd_body body;
	msd_err err;

	begin_wait(l);
	err = send_question(l, method, params, d);
	if (err == MSD_OK)
		err = receive_answer(l, d);
	if (err != MSD_OK)
		return err;
	err = msd_body_read((struct msd_span){l->body.p, l->body.n}, NULL, &body, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", l->to->shown);
	if (body.kind != MSD_RESPONSE || body.id != l->id) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "%s: the answer does not match the request",
				    l->to->shown);
	}
	if (msd_body_error_read(body.error, &refusal))
		return pass_on(l, &refusal, d);
	*ret = body.result;
	return MSD_OK;
}

void msd_daemon_client_close(struct msd_daemon_client *l)
{
	curl_easy_cleanup(l->easy);
	l->easy = NULL;
	msd_buf_finish(&l->body);
}
