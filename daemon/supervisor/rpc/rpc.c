#include "daemon/supervisor/rpc/rpc.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/listen/listener.h"
#include "daemon/supervisor/rpc/rpc_conn.h"
#include "daemon/supervisor/rpc/tracker.h"

static struct msd_rpc_conn *conn_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_rpc_conn, link);
}

static void enter(struct msd_edge *e, int fd, struct msd_principal who,
		  const char *about)
{
	struct msd_client_peer *p = msd_accept_reserve_slot(e, fd, &who);

	(void)about;
	if (p == NULL) {
		(void)close(fd); /* before its hello there is no answer */
	} else {
		msd_rpc_conn_open(e->rpc, msd_transport_of_socket(fd, false), who, p);
	}
}

/* The port that the system chose is that of the newest listener. */
static uint16_t port_of(const struct msd_edge *e)
{
	const struct msd_listener *l = MSD_CONTAINER_OF(
		e->listeners.prev, struct msd_listener, listening.link);

	return l->address.port;
}

static msd_err open_all(struct msd_edge *e, const struct msd_listen_options *how,
			int fd, struct msd_diag *d)
{
	struct msd_listen_options options = *how;

	options.enter = enter;
	options.enter_tls = NULL; /* TVM's client has no TLS */
	options.scheme = "tvm-rpc";
	msd_err err = msd_rpc_settings_read_key(&e->rpc->settings, d);
	if (err == MSD_OK) {
		err = fd >= 0 ? msd_listener_adopt(e, fd, &options, d)
			      : msd_listener_open(e, &e->rpc->settings.address,
						  &options, d);
	}
	if (err != MSD_OK || e->rpc->settings.tracker.port == 0)
		return err;
	return msd_tracker_open(e, &e->rpc->settings, port_of(e), &e->rpc->tracker, d);
}

msd_err msd_rpc_open(struct msd_edge *e, const struct msd_rpc_settings *settings,
		     char *program, int fd, const struct msd_listen_options *how,
		     struct msd_diag *d)
{
	if (program == NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "--tvm-rpc: modserd-rpc is neither in the folder "
				    "of modserd nor in ../libexec/modserd: set "
				    "MODSERD_RPC");
	}
	e->rpc = calloc(1, sizeof(*e->rpc));
	if (e->rpc == NULL) {
		free(program);
		return msd_diag_no_memory(d);
	}
	e->rpc->edge = e;
	e->rpc->settings = *settings;
	e->rpc->program = program;
	msd_list_init(&e->rpc->conns);
	return open_all(e, how, fd, d);
}

void msd_rpc_leave(struct msd_edge *e)
{
	if (e->rpc != NULL && e->rpc->tracker != NULL)
		msd_tracker_leave(e->rpc->tracker);
}

void msd_rpc_drain(struct msd_edge *e, bool now)
{
	if (e->rpc == NULL)
		return;
	msd_rpc_leave(e);
	MSD_LIST_EACH_SAFE (it, &e->rpc->conns) {
		struct msd_rpc_conn *c = conn_of(it);
		if (c->state == MSD_RPC_HELLO || c->state == MSD_RPC_WAITING ||
		    (now && c->state == MSD_RPC_RUNNING))
			msd_rpc_conn_end(c, "the daemon is shutting down");
	}
}

bool msd_rpc_is_drained(const struct msd_edge *e)
{
	if (e->rpc == NULL)
		return true;
	MSD_LIST_EACH (it, &e->rpc->conns) {
		const enum msd_rpc_state state = conn_of(it)->state;
		if (state != MSD_RPC_HELLO && state != MSD_RPC_CLOSED)
			return false;
	}
	return true;
}

void msd_rpc_close(struct msd_edge *e)
{
	if (e->rpc == NULL)
		return;
	msd_rpc_leave(e);
	MSD_LIST_EACH_SAFE (it, &e->rpc->conns) {
		struct msd_rpc_conn *c = conn_of(it);
		msd_rpc_conn_end(c, "the daemon ended");
		if (c->state == MSD_RPC_LINGERING)
			msd_rpc_conn_end(c, "the daemon ended");
	}
}

bool msd_rpc_is_empty(const struct msd_edge *e)
{
	if (e->rpc == NULL)
		return true;
	MSD_LIST_EACH (it, &e->rpc->conns) {
		if (!msd_rpc_state_has_process(conn_of(it)->state))
			return false;
	}
	return true;
}

/* A process that cannot be killed keeps its connection. */
void msd_rpc_finish(struct msd_edge *e)
{
	if (e->rpc == NULL || !msd_list_is_empty(&e->rpc->conns))
		return;
	msd_tracker_close(e->rpc->tracker);
	free(e->rpc->program);
	free(e->rpc);
	e->rpc = NULL;
}
