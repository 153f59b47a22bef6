#include "daemon/supervisor/http/conn/http_conn_write.h"

#include <errno.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/conn/http_conn_end.h"
#include "daemon/supervisor/http/infer/infer.h"

#define WRITE_PIECES 16u           /* per write */
#define WRITE_BYTES (256u * 1024u) /* per iteration: copying them takes up to 1 ms */
#define KEEP_OUT_BYTES 4096u       /* kept buffer size when all is written */
#define LINGER_BYTES (8ull << 20)  /* of input that is discarded */

size_t msd_http_conn_unwritten(const struct msd_http_conn *v)
{
	return v->out.n - v->out_at + v->tail_left;
}

static struct iovec take(struct iovec p, size_t *room)
{
	if (p.iov_len > *room)
		p.iov_len = *room;
	*room -= p.iov_len;
	return p;
}

/* Collect the next output, at most @room bytes: replies, then the tensors of the last
 * reply. */
static size_t gather(const struct msd_http_conn *v, size_t room,
		     struct iovec pieces[WRITE_PIECES])
{
	const struct msd_http_session *c = &v->caller;
	size_t left = v->tail_left, n = 0;

	if (v->out.n > v->out_at) {
		const struct iovec out = {v->out.p + v->out_at, v->out.n - v->out_at};
		pieces[n++] = take(out, &room);
	}
	for (uint32_t i = 0; i < c->n_tail && left > 0 && room > 0 && n < WRITE_PIECES;
	     i++) {
		left -= c->tail[i].iov_len;
		if (c->tail[i].iov_len > 0)
			pieces[n++] = take(c->tail[i], &room);
	}
	return n;
}

static void advance(struct msd_http_conn *v, size_t n)
{
	const size_t text = v->out.n - v->out_at < n ? v->out.n - v->out_at : n;

	v->bytes_out += n;
	v->out_at += text;
	n -= text;
	v->tail_left -= n;
	for (struct iovec *p = v->caller.tail; n > 0; p++) {
		const size_t step = p->iov_len < n ? p->iov_len : n;
		p->iov_base = (uint8_t *)p->iov_base + step;
		p->iov_len -= step;
		n -= step;
	}
}

void msd_http_conn_flush(struct msd_http_conn *v)
{
	struct iovec pieces[WRITE_PIECES];
	size_t room = WRITE_BYTES;

	while (msd_http_conn_unwritten(v) > 0) {
		if (room == 0)
			return;
		const size_t n_pieces = gather(v, room, pieces);
		const ssize_t n =
			v->transport.ops->writev(&v->transport, pieces, n_pieces, -1);
		if (n < 0) {
			if (n != -EAGAIN)
				msd_http_conn_close(v, "the connection is broken");
			return;
		}
		advance(v, (size_t)n);
		msd_wire_wrote(v->caller.session.edge->wire, v->taker.account,
			       (uint64_t)n);
		room -= (size_t)n;
		v->last_progress_ms = uv_now(v->caller.session.edge->loop);
	}
	v->out_at = v->out.n = 0;
	if (v->out.cap > KEEP_OUT_BYTES)
		msd_buf_finish(&v->out);
	if (v->caller.n_tail > 0)
		msd_infer_end(&v->caller, true);
}

void msd_http_conn_linger(struct msd_http_conn *v)
{
	struct msd_wire *w = v->caller.session.edge->wire;

	v->transport.ops->end(&v->transport, w->rbuf, w->rbuf_bytes);
	v->state = MSD_HTTP_CONN_LINGERING;
	if (v->peer_has_ended)
		msd_http_conn_close(v, "closed by the peer");
}

void msd_http_conn_read_nothing(struct msd_http_conn *v)
{
	struct msd_wire *w = v->caller.session.edge->wire;
	struct iovec piece = {w->rbuf, w->rbuf_bytes};
	const ssize_t n = v->transport.ops->read(&v->transport, &piece, 1, NULL);

	if (n > 0)
		v->lingered_bytes += (uint64_t)n;
	if (n == 0 || (n < 0 && n != -EAGAIN) || v->lingered_bytes > LINGER_BYTES)
		msd_http_conn_close(v, "it is answered");
}

static const char *state_of(const struct msd_http_conn *v)
{
	if (v->caller.session.receiving != NULL && v->is_awaiting)
		return "waits for tensor memory";
	return v->is_awaiting || msd_http_conn_unwritten(v) > 0 ? "waits for answers"
								: "reading";
}

void msd_http_conn_look(struct msd_session *s, struct msd_frontend_look *ret)
{
	struct msd_http_session *c =
		MSD_CONTAINER_OF(s, struct msd_http_session, session);
	const struct msd_http_conn *v =
		MSD_CONTAINER_OF(c, struct msd_http_conn, caller);

	*ret = (struct msd_frontend_look){.state = state_of(v),
					  .in_bytes = v->bytes_in,
					  .out_bytes = v->bytes_out,
					  .unread_bytes = msd_http_conn_unwritten(v),
					  .is_refused = v->is_closing};
}
