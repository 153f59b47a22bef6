#include "daemon/fetch/transfer/net.h"

#include <stdlib.h>

/*
 * Happy path: libcurl names the sockets (on_socket) and the timeout (on_timer) to
 * wait for. Each event goes to curl_multi_socket_action(). Afterwards the owners of
 * finished transfers are notified. Failures: libcurl reports the error of a transfer,
 * which done() passes on.
 *
 * libcurl closes a socket as soon as it no longer waits for it. So the poll stops at
 * that moment, and the loop frees it later.
 */

struct socket_poll {
	uv_poll_t poll;
	struct msd_net *net;
	curl_socket_t fd;
};

/* A done() callback may start or end other transfers, so query the list again each
 * time. */
static void tell_ended(struct msd_net *n)
{
	struct CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(n->multi, &left)) != NULL) {
		struct msd_net_call *call = NULL;
		const CURLcode rc = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call);
		(void)curl_multi_remove_handle(n->multi, call->easy);
		call->done(call, rc);
	}
}

static void act(struct msd_net *n, curl_socket_t fd, int events)
{
	int running;

	(void)curl_multi_socket_action(n->multi, fd, events, &running);
	tell_ended(n);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
	const struct socket_poll *p = poll->data;
	int flags = status < 0 ? CURL_CSELECT_ERR : 0;

	if ((events & UV_READABLE) != 0)
		flags |= CURL_CSELECT_IN;
	if ((events & UV_WRITABLE) != 0)
		flags |= CURL_CSELECT_OUT;
	act(p->net, p->fd, flags);
}

static void on_poll_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static struct socket_poll *poll_new(struct msd_net *n, curl_socket_t fd)
{
	struct socket_poll *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->net = n;
	p->fd = fd;
	p->poll.data = p;
	if (uv_poll_init_socket(n->loop, &p->poll, fd) != 0) {
		free(p);
		return NULL;
	}
	(void)curl_multi_assign(n->multi, fd, p);
	return p;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socketp)
{
	struct msd_net *n = user;
	struct socket_poll *p = socketp;
	int events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (p != NULL) {
			(void)uv_poll_stop(&p->poll);
			uv_close((uv_handle_t *)&p->poll, on_poll_closed);
			(void)curl_multi_assign(n->multi, fd, NULL);
		}
		return 0;
	}
	if (p == NULL)
		p = poll_new(n, fd);
	if (p == NULL)
		return -1;
	if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
		events |= UV_READABLE;
	if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
		events |= UV_WRITABLE;
	return uv_poll_start(&p->poll, events, on_ready) == 0 ? 0 : -1;
}

static void on_due(uv_timer_t *timer)
{
	act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

/* Never call libcurl from here: it does not allow recursive calls. */
static int on_timer(CURLM *multi, long ms, void *user)
{
	struct msd_net *n = user;

	(void)multi;
	if (ms < 0)
		return uv_timer_stop(&n->timer);
	return uv_timer_start(&n->timer, on_due, (uint64_t)ms, 0);
}

msd_err msd_net_init(struct msd_net *n, uv_loop_t *loop, struct msd_diag *d)
{
	n->loop = loop;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return msd_diag_set(d, MSD_IO, "libcurl cannot be prepared");
	n->multi = curl_multi_init();
	if (n->multi == NULL)
		return msd_diag_no_memory(d);
	(void)uv_timer_init(loop, &n->timer);
	n->timer.data = n;
	(void)curl_multi_setopt(n->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	(void)curl_multi_setopt(n->multi, CURLMOPT_SOCKETDATA, n);
	(void)curl_multi_setopt(n->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	(void)curl_multi_setopt(n->multi, CURLMOPT_TIMERDATA, n);
	return MSD_OK;
}

msd_err msd_net_begin(struct msd_net *n, struct msd_net_call *call, struct msd_diag *d)
{
	(void)curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
	if (curl_multi_add_handle(n->multi, call->easy) != CURLM_OK)
		return msd_diag_no_memory(d);
	return MSD_OK;
}

void msd_net_end(struct msd_net *n, struct msd_net_call *call)
{
	(void)curl_multi_remove_handle(n->multi, call->easy);
}
