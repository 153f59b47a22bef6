/*
 * Happy path: an accepted connection is opened with room in the accounts of its peer.
 * Its frames are received and answered (dispatch.c). Its end releases everything.
 * Failures: if memory is short, the connection is closed at once. If it exceeds the
 * limit, the client gets the reason first.
 */
#include "daemon/supervisor/edge/session/frontend.h"

#include <stdlib.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/loop/disabled_features.h"
#include "daemon/supervisor/edge/access/audit.h"
#include "daemon/supervisor/edge/objects/dependents.h"
#include "daemon/supervisor/edge/session/dispatch.h"
#include "daemon/supervisor/edge/session/frame_session.h"
#include "daemon/supervisor/edge/session/handle_disposal.h"
#include "daemon/supervisor/edge/session/memory_pressure.h"
#include "daemon/supervisor/edge/session/memory_share.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/edge/session/sessions.h"
#include "daemon/supervisor/edge/uploads/upload.h"

static void on_short(struct msd_conn *c)
{
	msd_memory_pressure_stop(c->user);
}

/* The uploads point to their session. */
static void drop_uploads(struct msd_session *s)
{
	const struct msd_handle_entry *e;
	uint32_t at = 0;

	while (s->n_uploads > 0 && (e = msd_handles_next(&s->handles, &at)) != NULL) {
		if (e->kind == MSD_K_UPLOAD)
			msd_upload_drop(e->object);
	}
}

static bool release(struct msd_conn *c)
{
	struct msd_frame_session *f = c->user;

	msd_list_remove(&f->session.space_link); /* it waits for nothing any more */
	return msd_client_leave_one(&f->session.client);
}

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_frame_session *f = c->user;
	struct msd_session *s = &f->session;
	struct msd_edge *e = s->edge;

	msd_frame_session_log_end(f, err, why);
	msd_list_remove(&f->pressure.link);
	msd_session_leave(s);
	msd_dependents_destroy(s->awaiting);
	drop_uploads(s);
	msd_handle_disposal_add(e, &s->handles, s->peer);
	if (!s->is_refused) {
		e->n_sessions--;
		s->peer->n_connections--;
	}
	msd_account_close(&s->client.account);
	msd_client_peer_unref(s->peer);
	free(f);
	e->on_session_gone(e);
}

static const struct msd_frontend_ops front_ops = {
	.state = msd_frame_session_state,
	.fill = msd_dispatch_fill,
	.on_resumed = msd_dispatch_on_resumed,
	.came = msd_dispatch_came,
	.on_reduced = msd_dispatch_on_reduced,
};

static const struct msd_conn_ops conn_ops = {
	.farewell = msd_frame_session_farewell,
	.on_body = msd_dispatch_on_body,
	.on_full = msd_dispatch_on_full,
	.on_frame = msd_dispatch_on_frame,
	.on_short = on_short,
	.release = release,
	.on_closed = on_closed,
};

static struct msd_frame_session *framed_new(struct msd_edge *e,
					    struct msd_transport transport,
					    struct msd_principal who,
					    struct msd_client_peer *peer)
{
	struct msd_frame_session *f = calloc(1, sizeof(*f));
	struct msd_diag d = {0};

	if (f == NULL) {
		transport.ops->close(&transport);
		return NULL;
	}
	struct msd_conn_limits limits = {
		.max_body_bytes = MSD_MAX_BODY_BYTES,
		.max_payload_bytes = e->limits->max_payload,
		.max_queued_bytes = e->limits->max_queued,
		.account = &f->session.client.account,
		.takes_fds = transport.may_pass_fds,
		.takes_turns = true,
		.leaves_last_fds = true,
		.gathers = !msd_feature_is_disabled("gather"),
	};
	msd_list_init(&f->pressure.link);
	f->session.has_plans = !msd_feature_is_disabled("plans");
	if (f->session.has_plans)
		limits.memory = &f->session.calls;
	if (msd_conn_open(&f->conn, e->wire, transport, &conn_ops, &limits, f, &d) !=
	    MSD_OK) {
		msd_log(MSD_LOG_WARN, "connection_open", "why=\"%s\"",
			msd_diag_text(&d));
		msd_diag_finish(&d);
		free(f);
		return NULL;
	}
	msd_session_init(&f->session, e, &msd_dispatch_client_ops,
			 msd_client_peer_ref(peer), &f->conn);
	f->session.front = &front_ops;
	f->session.principal = who;
	msd_sessions_watch(e);
	msd_audit_connected(&f->session, false);
	return f;
}

void msd_frontend_init(struct msd_edge *e)
{
	msd_list_init(&e->listeners);
	msd_list_init(&e->comers);
	msd_list_init(&e->everybody);
	msd_list_init(&e->sessions);
	msd_list_init(&e->errands);
	msd_waiters_init(&e->info_waiters, e->deadlines->tasks, NULL);
	msd_list_init(&e->pulls);
	msd_list_init(&e->uploads);
	msd_client_peers_init(&e->peers, e->limits->max_total_memory);
	msd_memory_share_init(e);
	msd_memory_pressure_init(e);
	msd_list_init(&e->handle_disposal);
}

void msd_frontend_open(struct msd_edge *e, struct msd_transport transport,
		       struct msd_principal who, struct msd_client_peer *peer)
{
	struct msd_frame_session *f = framed_new(e, transport, who, peer);

	if (f == NULL)
		return;
	e->n_sessions++;
	peer->n_connections++;
}

void msd_frontend_refuse(struct msd_edge *e, struct msd_transport transport,
			 struct msd_principal who, struct msd_client_peer *peer,
			 const char *why)
{
	struct msd_frame_session *f = framed_new(e, transport, who, peer);

	if (f == NULL)
		return;
	f->session.is_refused = true;
	msd_conn_close(&f->conn, MSD_BUSY, why);
}
