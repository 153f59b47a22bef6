#include "daemon/supervisor/http/http.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/listen/listener.h"
#include "daemon/supervisor/http/conn/http_conn.h"

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
	msd_work_lane_init(&e->http->json, MSD_WORK_INTERACTIVE, MSD_HTTP_JSON_THREADS);
	msd_history_init(&e->http->history);
	e->http->look.on_due = on_look;
	on_look(&e->http->look);
	options.enter = enter;
	options.enter_tls = enter_tls;
	options.scheme = "http";
	return msd_listener_open(e, address, &options, d);
}

void msd_http_finish(struct msd_edge *e)
{
	struct msd_http *h = e->http;

	if (h == NULL)
		return;
	msd_deadline_clear(e->deadlines, &h->look);
	msd_history_finish(&h->history);
	free(h);
	e->http = NULL;
}
