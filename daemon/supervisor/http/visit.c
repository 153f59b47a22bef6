#include "daemon/supervisor/http/visit.h"

#include <stdlib.h>

#include "daemon/supervisor/edge/audit.h"
#include "daemon/supervisor/edge/client_peer.h"
#include "daemon/supervisor/edge/door.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/infer.h"
#include "daemon/supervisor/http/infer_inputs.h"
#include "daemon/supervisor/http/visit_end.h"
#include "daemon/supervisor/http/visit_turn.h"
#include "daemon/supervisor/http/visit_write.h"
#include "daemon/wire/without.h"

/* If the client is gone, no reply is sent; the thread has finished with its data. */
static void on_answer(struct msd_caller *c)
{
	struct msd_visit *v = MSD_CONTAINER_OF(c, struct msd_visit, caller);

	if (v->is_closed) {
		msd_visit_destroy(v);
	} else if (!v->is_closing) {
		msd_visit_answered(c);
	}
}

static void on_room(struct msd_caller *c)
{
	struct msd_visit *v = MSD_CONTAINER_OF(c, struct msd_visit, caller);

	if (!v->is_closing)
		msd_visit_placed(v);
}

static void on_grown(struct msd_caller *c)
{
	msd_visit_charge(MSD_CONTAINER_OF(c, struct msd_visit, caller));
}

static void close_for(struct msd_session *s, msd_err err, const char *why)
{
	struct msd_caller *c = MSD_CONTAINER_OF(s, struct msd_caller, session);

	(void)err;
	msd_visit_close(MSD_CONTAINER_OF(c, struct msd_visit, caller), why);
}

static const struct msd_front_ops front_ops = {
	.look = msd_visit_look,
	.on_room = msd_infer_on_room,
	.came = msd_infer_came,
	.close = close_for,
};

void msd_visit_open(struct msd_http *h, struct msd_transport transport,
		    struct msd_principal who, struct msd_client_peer *peer)
{
	struct msd_edge *e = h->edge;
	struct msd_visit *v = calloc(1, sizeof(*v));

	if (v == NULL || uv_poll_init(e->loop, &v->poll, transport.fd) != 0) {
		free(v);
		transport.ops->close(&transport);
		msd_door_give_back(e, peer);
		msd_client_peer_unref(peer);
		return;
	}
	v->transport = transport;
	msd_session_init(&v->caller.session, e, &msd_infer_client_ops, peer);
	v->caller.session.front = &front_ops;
	v->caller.session.transport = &v->transport;
	v->caller.session.principal = who;
	v->caller.session.has_plans = !msd_without("plans");
	v->caller.chores = &h->chores;
	v->caller.history = &h->history;
	v->caller.on_answer = on_answer;
	v->caller.on_room = on_room;
	v->caller.on_grown = on_grown;
	v->poll.data = v;
	msd_visit_take_turns(v);
	v->last_progress_ms = uv_now(e->loop);
	msd_http_reader_init(&v->reader);
	msd_watch_init(&v->watch, uv_now(e->loop));
	msd_list_append(&h->visits, &v->link);
	msd_http_watch(h);
	msd_counts_http_connection(&e->counts);
	msd_audit_connected(&v->caller.session, true);
	msd_visit_settle(v);
}
