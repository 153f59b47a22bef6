/* How a session of frames looks and ends: its state for people, and the last words in
 * the protocol that its client seems to speak. */
#include "daemon/supervisor/edge/session/frame_session.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/objects/dependents.h"
#include "proto/tvm_rpc/hello.h"
#include "proto/value.h"

#define ENDS_PER_SECOND 10u /* of connections, in the log */

void msd_frame_session_reply(struct msd_frame_session *f, uint64_t id,
			     const struct msd_buf *result)
{
	msd_frame_session_reply_with(
		f, id, &(struct msd_frame_session_answer){.result = result, .fd = -1});
}

void msd_frame_session_reply_with(struct msd_frame_session *f, uint64_t id,
				  const struct msd_frame_session_answer *a)
{
	struct msd_out *o = msd_out_new();

	if (o == NULL || a->result->bad) {
		msd_out_destroy(o);
		if (a->fd >= 0)
			(void)close(a->fd);
		msd_frame_session_reply_failure(f, id,
						&(struct msd_diag){.code = MSD_NOMEM});
		return;
	}
	o->fd = a->fd;
	if (msd_dependents_expects(f->session.awaiting)) {
		msd_dependents_keep(f->session.awaiting, id,
				    (struct msd_span){a->result->p, a->result->n});
	}
	msd_body_begin_response(&o->body, id, a->has_meta);
	msd_pack_nil(&o->body);
	msd_buf_put(&o->body, a->result->p, a->result->n);
	if (a->shared != NULL)
		msd_out_share(o, a->shared, a->part);
	msd_conn_send(&f->conn, o);
}

void msd_frame_session_reply_failure(struct msd_frame_session *f, uint64_t id,
				     const struct msd_diag *d)
{
	msd_counts_error(&f->session.edge->counts, d->code);
	msd_frame_session_reply_otherwise(f, id, d);
}

void msd_frame_session_reply_otherwise(struct msd_frame_session *f, uint64_t id,
				       const struct msd_diag *d)
{
	struct msd_out *o = msd_out_new();

	if (f->session.awaiting != NULL)
		msd_dependents_fail(f->session.awaiting, id, d);
	if (o == NULL) { /* a request without a reply would hang its client */
		msd_conn_close(&f->conn, MSD_NOMEM, "out of memory for a reply");
		return;
	}
	msd_body_begin_response(&o->body, id, false);
	msd_pack_diag(&o->body, d);
	msd_pack_nil(&o->body);
	msd_conn_send(&f->conn, o);
}

void msd_frame_session_log_end(struct msd_frame_session *f, msd_err err,
			       const char *why)
{
	uint64_t n_others = 0;

	if (err == MSD_OK || f->session.is_refused) {
		msd_log(MSD_LOG_DEBUG, "connection_close", "conn=%llu why=\"%s\"",
			(unsigned long long)f->session.number, why);
	} else if (msd_log_rate_allow(&f->session.edge->ends,
				      uv_now(f->session.edge->loop), ENDS_PER_SECOND,
				      &n_others)) {
		msd_log(MSD_LOG_INFO, "connection_close",
			"conn=%llu others=%llu why=\"%s\"",
			(unsigned long long)f->session.number,
			(unsigned long long)n_others, why);
	}
}

/* True if the input begins like an HTTP request, with a method in capitals. */
static bool is_http(const struct msd_conn *c)
{
	return c->n_frames == 0 && c->framing.head[0] >= 'A' &&
	       c->framing.head[0] <= 'Z';
}

static bool is_tvm_rpc(const struct msd_conn *c)
{
	return c->n_frames == 0 && msd_le32(c->framing.head) == MSD_RPC_MAGIC;
}

/* Write as much as the transport takes now. Nothing was written before. */
static void write_now(struct msd_conn *c, void *p, size_t n)
{
	struct iovec piece = {p, n};

	(void)c->transport.ops->writev(&c->transport, &piece, 1, -1);
}

/* TVM's client has no place for a text: it reports a server without its key. The log
 * names --tvm-rpc. */
static void tell_in_tvm_rpc(struct msd_conn *c)
{
	struct msd_buf answer = {0};

	msd_rpc_hello_refuse(&answer);
	write_now(c, answer.p, answer.n);
	msd_buf_finish(&answer);
}

static void tell_in_http(struct msd_conn *c)
{
	static char text[] =
		"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
		"Connection: close\r\n\r\nmodserd: this address speaks modserd's own "
		"protocol: call it with modser or a library of it; HTTP is answered "
		"at the address that modserd --http names\n";

	write_now(c, text, sizeof(text) - 1);
}

struct msd_out *msd_frame_session_farewell(struct msd_conn *c, msd_err err,
					   const char *why)
{
	if (is_http(c)) {
		tell_in_http(c);
		return NULL;
	}
	if (is_tvm_rpc(c)) {
		tell_in_tvm_rpc(c);
		return NULL;
	}
	return msd_out_farewell(err, why);
}

/* Name one reason why the connection is not read. There may be more reasons. */
const char *msd_frame_session_state(const struct msd_session *s)
{
	const struct msd_conn *c = s->conn;

	if (s->awaiting != NULL && s->awaiting->held != NULL)
		return "waits for a result";
	if (c->waits_for_place || (c->paused & MSD_PAUSE_ROOM) != 0)
		return "waits for tensor memory";
	if ((c->paused & MSD_PAUSE_MEMORY) != 0)
		return "holds too much";
	if ((c->paused & MSD_PAUSE_REQUESTS) != 0)
		return "waits for answers";
	return "reading";
}
