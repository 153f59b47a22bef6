/*
 * Happy path: the first bytes are a ClientHello, and the loop waits for the complete
 * record. A thread runs the handshake as far as the bytes allow, and the loop waits
 * for more bytes. At the end the transport is handed over. Failures: the peer uses
 * another protocol, violates TLS, disconnects or is too slow: the connection is
 * closed, with a text for the log. If a thread is working on it, the close follows
 * when the thread has finished.
 */
#include "daemon/supervisor/tls/handshake.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/supervisor/tls/protocol_sniff.h"
#include "proto/words/words.h"

struct msd_handshake {
	struct msd_list link;
	struct msd_handshakes *all;
	void *user;
	int fd;      /* owned until the transport exists, then owned by the transport */
	int low;     /* of msd_tls_first_record_waits() */
	bool is_tls; /* its first record has arrived */
	uint64_t n_contexts;             /* n_contexts of msd_tls when it began: */
	struct msd_tls_context *context; /* held until the transport exists */
	struct msd_transport transport;  /* has a state once it is created */
	uv_poll_t poll;
	struct msd_work step; /* while it runs, its thread owns all fields except the
				 poll, the deadline and the cut */
	struct msd_deadline deadline;
	uint64_t limit_ms;
	bool is_told;   /* it has failed, and lingers */
	msd_err result; /* result of the last step; at the end, of the handshake */
	struct msd_diag why;
	msd_err cut_err; /* why it was aborted; MSD_OK: not aborted */
	const char *cut_why;
};

void *msd_handshake_user(const struct msd_handshake *h)
{
	return h->user;
}

struct msd_handshakes *msd_handshake_all(const struct msd_handshake *h)
{
	return h->all;
}

/* The TLS files may have been reloaded in the meantime, with other authorities. */
static void check_trust(struct msd_handshake *h)
{
	const struct msd_tls *tls = h->all->tls;

	if (h->result != MSD_OK || h->n_contexts == tls->n_contexts)
		return;
	h->result = tls->library->judge(tls->context, &h->transport, &h->why);
	if (h->result != MSD_OK) {
		h->all->on_failed(h, MSD_HANDSHAKE_CERTIFICATE, msd_diag_text(&h->why));
	}
}

static void on_poll_closed(uv_handle_t *handle)
{
	struct msd_handshake *h = handle->data;

	check_trust(h);
	struct msd_transport *t = h->result == MSD_OK ? &h->transport : NULL;

	if (t == NULL && h->transport.state != NULL) {
		h->transport.ops->close(&h->transport);
	} else if (t == NULL) {
		msd_tls_first_record_drop(h->fd);
		(void)close(h->fd);
	}
	h->all->tls->library->context_close(h->context); /* no thread has used it */
	msd_list_remove(&h->link);
	h->all->on_done(h, t);
	msd_diag_finish(&h->why);
	free(h);
}

static void end(struct msd_handshake *h, msd_err err)
{
	if (uv_is_closing((uv_handle_t *)&h->poll))
		return;
	h->result = err;
	msd_deadline_clear(h->all->deadlines, &h->deadline);
	uv_close((uv_handle_t *)&h->poll, on_poll_closed);
}

static void on_lingering(uv_poll_t *poll, int status, int events)
{
	struct msd_handshake *h = poll->data;
	char scratch[4096];

	(void)events;
	const ssize_t n = recv(h->fd, scratch, sizeof(scratch), MSG_DONTWAIT);
	if (status < 0 || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		end(h, MSD_PROTOCOL);
}

MSD_WORDS_DEFINE(msd_handshake_fault_word, enum msd_handshake_fault,
		 MSD_HANDSHAKE_FAULT_MAP)

static enum msd_handshake_fault fault_of(const struct msd_handshake *h, msd_err err)
{
	switch ((int)err) {
	case MSD_REFUSED:
		return MSD_HANDSHAKE_CERTIFICATE;
	case MSD_DEADLINE:
		return MSD_HANDSHAKE_LATE;
	case MSD_PROTOCOL:
		return h->is_tls ? MSD_HANDSHAKE_TLS : MSD_HANDSHAKE_STRANGER;
	default:
		return MSD_HANDSHAKE_GONE;
	}
}

/* It has failed with @err, explained in h->why. If the peer may have got an alert,
 * the connection lingers. */
static void fail(struct msd_handshake *h, msd_err err)
{
	if (!h->is_told)
		h->all->on_failed(h, fault_of(h, err), msd_diag_text(&h->why));
	if ((err != MSD_PROTOCOL && err != MSD_REFUSED) || h->is_told) {
		end(h, err);
		return;
	}
	h->is_told = true;
	(void)shutdown(h->fd, SHUT_WR);
	(void)uv_poll_start(&h->poll, UV_READABLE, on_lingering);
}

static void end_as_cut(struct msd_handshake *h)
{
	if (!h->is_told)
		(void)msd_diag_set(&h->why, h->cut_err, "%s", h->cut_why);
	fail(h, h->cut_err);
}

static void cut(struct msd_handshake *h, msd_err err, const char *why)
{
	h->cut_err = err;
	h->cut_why = why;
	if (msd_work_cancel(&h->step) && !uv_is_closing((uv_handle_t *)&h->poll))
		end_as_cut(h);
}

static void on_due(struct msd_deadline *node)
{
	struct msd_handshake *h =
		MSD_CONTAINER_OF(node, struct msd_handshake, deadline);

	if (msd_deadline_away_ms(h->all->deadlines, node) > 0) {
		msd_deadline_set(h->all->deadlines, node, h->limit_ms);
		return;
	}
	cut(h, MSD_DEADLINE, "it did not finish its handshake in time (--first-frame)");
}

/* OpenSSL's connection state is allocated and freed here, too: a burst of failing
 * first messages costs the loop almost nothing. */
static void on_thread(struct msd_work *step)
{
	struct msd_handshake *h = MSD_CONTAINER_OF(step, struct msd_handshake, step);
	const struct msd_tls_library *library = h->all->tls->library;

	h->result = MSD_OK;
	if (h->context != NULL) {
		h->result = library->accept(h->context, h->fd, &h->transport, &h->why);
		library->context_close(h->context);
		h->context = NULL;
	}
	if (h->result == MSD_OK)
		h->result = library->handshake(&h->transport, &h->why);
}

static void on_ready(uv_poll_t *poll, int status, int events);

static void on_worked(struct msd_work *step)
{
	struct msd_handshake *h = MSD_CONTAINER_OF(step, struct msd_handshake, step);

	if (h->cut_err != MSD_OK) {
		end_as_cut(h);
	} else if (h->result == MSD_WAIT) {
		(void)uv_poll_start(&h->poll, h->transport.ops->wants(&h->transport, 0),
				    on_ready);
	} else if (h->result == MSD_OK) {
		end(h, MSD_OK);
	} else {
		fail(h, h->result);
	}
}

/* The first bytes have arrived. */
static msd_err begin(struct msd_handshake *h)
{
	const struct msd_tls *tls = h->all->tls;
	msd_err err = msd_tls_sniff_protocol(h->fd, &h->why);

	if (err != MSD_OK)
		return err;
	if (msd_tls_first_record_waits(h->fd, &h->low))
		return MSD_WAIT;
	h->is_tls = true;
	h->context = tls->context;
	h->n_contexts = tls->n_contexts;
	tls->library->context_hold(h->context);
	return MSD_OK;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
	struct msd_handshake *h = poll->data;

	(void)status; /* reading reports the error */
	(void)events;
	msd_err err = h->is_tls ? MSD_OK : begin(h);
	if (err == MSD_WAIT)
		return;
	if (err != MSD_OK) {
		fail(h, err);
		return;
	}
	(void)uv_poll_stop(&h->poll);
	msd_work_begin(h->all->loop, &h->step);
}

void msd_handshakes_init(struct msd_handshakes *hs, uv_loop_t *loop,
			 struct msd_deadlines *deadlines, const struct msd_tls *tls)
{
	hs->loop = loop;
	hs->deadlines = deadlines;
	hs->tls = tls;
	msd_work_lane_init(&hs->steps, MSD_WORK_INTERACTIVE, MSD_HANDSHAKE_THREADS);
	msd_list_init(&hs->all);
}

msd_err msd_handshake_start(struct msd_handshakes *hs, int fd, uint64_t limit_ms,
			    struct msd_peer_id who, void *user)
{
	struct msd_handshake *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return MSD_NOMEM;
	if (uv_poll_init(hs->loop, &h->poll, fd) != 0) {
		free(h);
		return MSD_IO;
	}
	h->all = hs;
	h->user = user;
	h->fd = fd;
	h->poll.data = h;
	h->step = (struct msd_work){.run = on_thread,
				    .done = on_worked,
				    .lane = &hs->steps,
				    .owner = msd_peer_id_passer(who)};
	h->deadline.on_due = on_due;
	h->limit_ms = limit_ms;
	msd_list_append(&hs->all, &h->link);
	if (limit_ms > 0)
		msd_deadline_set(hs->deadlines, &h->deadline, limit_ms);
	(void)uv_poll_start(&h->poll, UV_READABLE, on_ready);
	return MSD_OK;
}

void msd_handshakes_close(struct msd_handshakes *hs)
{
	MSD_LIST_EACH_SAFE (it, &hs->all) {
		cut(MSD_CONTAINER_OF(it, struct msd_handshake, link), MSD_DRAINING,
		    "the daemon is shutting down");
	}
}
