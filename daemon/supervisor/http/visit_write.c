#include "daemon/supervisor/http/visit_write.h"

#include <errno.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/infer.h"

#define WRITE_PIECES 16u     /* of one write */
#define KEEP_OUT_BYTES 4096u /* of the buffer, when all is written */

size_t msd_visit_unwritten(const struct msd_visit *v)
{
	return v->out.n - v->out_at + v->tail_left;
}

/* What is to be written: answers, then the tensors of the last one. */
static size_t gather(const struct msd_visit *v, struct iovec pieces[WRITE_PIECES])
{
	const struct msd_caller *c = &v->caller;
	size_t left = v->tail_left;
	size_t n = 0;

	if (v->out.n > v->out_at) {
		pieces[n++] =
			(struct iovec){v->out.p + v->out_at, v->out.n - v->out_at};
	}
	for (uint32_t i = 0; i < c->n_tail && left > 0 && n < WRITE_PIECES; i++) {
		left -= c->tail[i].iov_len;
		if (c->tail[i].iov_len > 0)
			pieces[n++] = c->tail[i];
	}
	return n;
}

static void advance(struct msd_visit *v, size_t n)
{
	const size_t text = v->out.n - v->out_at < n ? v->out.n - v->out_at : n;

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

void msd_visit_flush(struct msd_visit *v)
{
	struct iovec pieces[WRITE_PIECES];

	while (msd_visit_unwritten(v) > 0) {
		const ssize_t n = v->transport.ops->writev(&v->transport, pieces,
							   gather(v, pieces), -1);
		if (n < 0) {
			if (n != -EAGAIN)
				msd_visit_close(v, "the connection is broken");
			return;
		}
		advance(v, (size_t)n);
		v->last_progress_ms = uv_now(v->http->edge->loop);
	}
	v->out_at = v->out.n = 0;
	if (v->out.cap > KEEP_OUT_BYTES)
		msd_buf_finish(&v->out);
	if (v->caller.held != NULL)
		msd_infer_end(&v->caller, true);
}
