#include "daemon/supervisor/edge/listen/agent_check.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "daemon/loop/closer.h"
#include "daemon/stream/transport.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/listener.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/readiness.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/replica.h"

void msd_agent_line(bool is_leaving, bool is_ready, uint32_t n_workers,
		    uint32_t n_waiting, char ret[MSD_AGENT_LINE_MAX])
{
	const uint64_t n_all = (uint64_t)n_workers + n_waiting;
	const unsigned percent =
		n_all > 0 ? (unsigned)(100ull * n_workers / n_all) : 100;

	if (is_leaving) {
		(void)snprintf(ret, MSD_AGENT_LINE_MAX, "drain\n");
	} else if (!is_ready) {
		(void)snprintf(ret, MSD_AGENT_LINE_MAX, "down\n");
	} else { /* `ready` cancels an earlier `drain`, `up` an earlier `down` */
		(void)snprintf(ret, MSD_AGENT_LINE_MAX, "up ready %u%%\n",
			       percent > 0 ? percent : 1);
	}
}

/* Count the requests in the queue and those that wait at the workers. Requests that a
 * worker runs now, also as one batch, do not count. */
static uint32_t count_waiting(const struct msd_worker_group *group)
{
	const uint32_t n_run = group->run.batch_rows > 1 ? group->run.batch_rows : 1;
	uint32_t n = group->n_queued;

	for (uint32_t i = 0; i < group->n_replicas; i++) {
		const uint32_t n_sent = group->replicas[i].n_sent;
		n += n_sent > n_run ? n_sent - n_run : 0;
	}
	return n;
}

static void tell_of_all(struct msd_module_registry *registry,
			char ret[MSD_AGENT_LINE_MAX])
{
	uint32_t n_workers = 0, n_waiting = 0;

	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		n_workers += m->life.state == MSD_STATE_READY ? m->group.n_replicas : 0;
		n_waiting += count_waiting(&m->group);
	}
	msd_agent_line(registry->is_leaving, msd_readiness_all_ready(registry),
		       n_workers, n_waiting, ret);
}

/* The module need not be in the readiness set. */
static void tell_of_module(struct msd_module_registry *registry, const char *name,
			   char ret[MSD_AGENT_LINE_MAX])
{
	const struct msd_module *m = msd_readiness_find(registry, name);

	msd_agent_line(registry->is_leaving, m != NULL,
		       m != NULL ? m->group.n_replicas : 0,
		       m != NULL ? count_waiting(&m->group) : 0, ret);
}

/*
 * Write the line at once or not at all. No connection object is kept, so any number
 * of checks costs no memory. The input is read first: closing a socket with unread
 * bytes sends a reset, which would drop the line. The closer thread closes the socket
 * and any passed descriptors.
 */
static void enter(struct msd_edge *e, int fd, struct msd_principal who,
		  const char *module)
{
	struct msd_transport transport = msd_transport_of_socket(fd, who.is_local);
	char line[MSD_AGENT_LINE_MAX], sent[256];
	struct iovec piece = {sent, sizeof(sent)};

	transport.passer = msd_peer_id_passer(msd_peer_id_of_socket(fd));
	if (module[0] != '\0') {
		tell_of_module(e->registry, module, line);
	} else {
		tell_of_all(e->registry, line);
	}
	(void)transport.ops->read(&transport, &piece, 1, NULL);
	(void)send(fd, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL);
	/* Closing passed descriptors may block. */
	msd_closer_close_socket(fd, transport.passer);
}

msd_err msd_agent_check_open(struct msd_edge *e, const struct msd_address *address,
			     const char *module, const struct msd_listen_options *how,
			     struct msd_diag *d)
{
	struct msd_listen_options options = *how;

	options.enter = enter;
	options.about = module;
	options.is_of_proxies = true;
	options.scheme = "agent";
	return msd_listener_open(e, address, &options, d);
}
