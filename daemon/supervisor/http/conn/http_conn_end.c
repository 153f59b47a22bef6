#include "daemon/supervisor/http/conn/http_conn_end.h"

#include <stdlib.h>

#include "daemon/log.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/page/chunked_answer.h"

void msd_http_conn_charge(struct msd_http_conn *v)
{
	const uint64_t held = msd_http_reader_bytes(&v->reader) + v->ahead.cap +
			      v->out.cap + v->tail_left + msd_infer_bytes(&v->caller);

	if (held > v->charged_bytes) {
		msd_account_charge(&v->caller.session.client.account,
				   held - v->charged_bytes);
	} else if (held < v->charged_bytes) {
		msd_account_release(&v->caller.session.client.account,
				    v->charged_bytes - held);
	}
	v->charged_bytes = held;
}

void msd_http_conn_destroy(struct msd_http_conn *v)
{
	struct msd_session *s = &v->caller.session;
	struct msd_edge *e = s->edge;

	msd_list_remove(&v->link);
	msd_counts_http_end(&e->counts);
	msd_http_reader_finish(&v->reader);
	msd_buf_finish(&v->ahead);
	msd_buf_finish(&v->out);
	msd_session_leave(s);
	msd_chunked_answer_end(&v->caller);
	msd_infer_end(&v->caller, false);
	msd_buf_finish(&v->caller.asking.body);
	v->tail_left = 0;
	msd_http_conn_charge(v);
	msd_account_close(&s->client.account);
	msd_accept_release_slot(e, s->peer);
	msd_client_peer_unref(s->peer);
	free(v);
	e->on_session_gone(e);
}

/* A thread may still use its data. */
static void on_handle_closed(uv_handle_t *handle)
{
	struct msd_http_conn *v = handle->data;

	v->is_closed = true;
	if (!msd_infer_is_busy(&v->caller))
		msd_http_conn_destroy(v);
}

void msd_http_conn_close(struct msd_http_conn *v, const char *why)
{
	if (v->is_closing)
		return;
	v->is_closing = v->caller.is_gone = true;
	msd_log(MSD_LOG_DEBUG, "connection_close", "conn=%llu why=\"%s\"",
		(unsigned long long)v->caller.session.number, why);
	msd_list_remove(&v->taker.link);
	uv_close((uv_handle_t *)&v->poll, on_handle_closed);
	v->transport.ops->close(&v->transport);
}
