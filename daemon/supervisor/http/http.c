#include "daemon/supervisor/http/http.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/listen/listener.h"
#include "daemon/supervisor/edge/session/memory_share.h"
#include "daemon/supervisor/http/conn/http_conn.h"
#include "daemon/supervisor/http/conn/http_conn_end.h"
#include "daemon/supervisor/http/conn/http_conn_turn.h"
#include "daemon/supervisor/http/conn/http_conn_write.h"

/* Send the error without blocking; it may be cut off. */
static void turn_away(int fd)
{
	static const char busy[] =
		"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
		"Content-Length: 0\r\nConnection: close\r\n\r\n";

	(void)send(fd, busy, strlen(busy), MSG_DONTWAIT | MSG_NOSIGNAL);
	msd_accept_reject(fd);
}

static void enter(struct msd_edge *e, int fd, struct msd_principal who,
		  const char *about)
{
	(void)about;
	struct msd_client_peer *p = msd_accept_reserve_slot(e, fd, &who);

	if (p == NULL) {
		turn_away(fd);
	} else {
		struct msd_transport transport =
			msd_transport_of_socket(fd, who.is_local);

		transport.passer = msd_peer_id_passer(p->who);
		msd_http_conn_open(e->http, transport, who, p);
	}
}

static void enter_tls(struct msd_edge *e, struct msd_transport transport,
		      struct msd_principal who, struct msd_client_peer *p)
{
	msd_http_conn_open(e->http, transport, who, p);
}

static uint64_t count_waiting(struct msd_conn_watch *w)
{
	return msd_memory_share_count_waiting(
		MSD_CONTAINER_OF(w, struct msd_http, watch)->edge);
}

/* The reason to close it now; NULL if there is none. */
static const char *look(struct msd_list *it, uint64_t n_waiting, uint64_t away_ms)
{
	struct msd_http_conn *v = MSD_CONTAINER_OF(it, struct msd_http_conn, link);
	const struct msd_edge *e = v->caller.session.edge;
	const struct msd_conn_timeout_view view = {
		.frames = v->n_requests,
		.bytes_in = v->bytes_in,
		.queued_bytes = msd_http_conn_unwritten(v),
		.last_progress_ms = v->last_progress_ms,
		.is_owed = v->state == MSD_HTTP_CONN_LINGERING ||
			   (!v->is_awaiting && !msd_http_conn_has_ahead(v) &&
			    msd_http_reader_is_owed(&v->reader)),
		.is_pressed =
			v->state == MSD_HTTP_CONN_LINGERING ||
			msd_memory_share_is_pressed(&v->caller.session, n_waiting),
		.is_awaiting = v->is_awaiting,
		.now_ms = uv_now(e->loop),
		.away_ms = away_ms,
	};
	return v->is_closing ? NULL
			     : msd_conn_timeout_look(&v->watch, &view, e->limits);
}

static void close_late(struct msd_list *it, const char *why)
{
	msd_http_conn_close(MSD_CONTAINER_OF(it, struct msd_http_conn, link), why);
}

void msd_http_watch(struct msd_http *h)
{
	static const struct msd_conn_watch_ops ops = {count_waiting, look, close_late};

	msd_conn_watch_begin(&h->watch, h->edge->deadlines, h->edge->limits, &h->visits,
			     &ops);
}

static void on_look(struct msd_deadline *node)
{
	struct msd_http *h = MSD_CONTAINER_OF(node, struct msd_http, look);

	msd_history_look(&h->history, h->edge->registry);
	msd_deadline_set(h->edge->deadlines, &h->look, MSD_HISTORY_EVERY_MS);
}

msd_err msd_http_open(struct msd_edge *e, const struct msd_address *address,
		      const struct msd_listen_options *how, struct msd_diag *d)
{
	struct msd_listen_options options = *how;

	e->http = calloc(1, sizeof(*e->http));
	if (e->http == NULL)
		return msd_diag_no_memory(d);
	e->http->edge = e;
	msd_list_init(&e->http->visits);
	msd_work_lane_init(&e->http->json, MSD_WORK_INTERACTIVE, MSD_HTTP_JSON_THREADS);
	msd_history_init(&e->http->history);
	e->http->look.on_due = on_look;
	on_look(&e->http->look);
	options.enter = enter;
	options.enter_tls = enter_tls;
	options.scheme = "http";
	return msd_listener_open(e, address, &options, d);
}

void msd_http_close(struct msd_edge *e)
{
	if (e->http == NULL)
		return;
	MSD_LIST_EACH_SAFE (it, &e->http->visits) {
		msd_http_conn_close(MSD_CONTAINER_OF(it, struct msd_http_conn, link),
				    "the daemon ended");
	}
}

void msd_http_dismiss(struct msd_edge *e)
{
	if (e->http == NULL)
		return;
	MSD_LIST_EACH_SAFE (it, &e->http->visits) {
		struct msd_http_conn *v =
			MSD_CONTAINER_OF(it, struct msd_http_conn, link);
		if (!v->is_closing && !v->is_awaiting)
			msd_http_conn_serve_now(v);
	}
}

bool msd_http_is_owing(const struct msd_edge *e)
{
	if (e->http == NULL)
		return false;
	MSD_LIST_EACH (it, &e->http->visits) {
		const struct msd_http_conn *v =
			MSD_CONTAINER_OF(it, struct msd_http_conn, link);
		if (!v->is_closing &&
		    (v->is_awaiting || msd_http_conn_unwritten(v) > 0))
			return true;
	}
	return false;
}

bool msd_http_is_empty(const struct msd_edge *e)
{
	return e->http == NULL || e->http->visits.next == &e->http->visits;
}

void msd_http_finish(struct msd_edge *e)
{
	struct msd_http *h = e->http;

	if (h == NULL)
		return;
	msd_conn_watch_end(&h->watch);
	msd_deadline_clear(e->deadlines, &h->look);
	msd_history_finish(&h->history);
	free(h);
	e->http = NULL;
}
