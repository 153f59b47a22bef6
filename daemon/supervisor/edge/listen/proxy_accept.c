/*
 * Happy path: the header of a trusted proxy is read to its last byte and no further,
 * and the connection is accepted for the proxy's client. For any other peer the first
 * byte is only peeked at. Failures: a header from an untrusted peer, a missing or
 * wrong header from a proxy, a timeout, or a closed connection. The connection is
 * closed without a message, because its protocol is not known yet. The failure is
 * counted and logged.
 */
#include "daemon/supervisor/edge/listen/proxy_accept.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/listen/tls_accept.h"
#include "daemon/supervisor/request/proxy_head.h"
#include "proto/base/errno_text.h"
#include "proto/words/words.h"

#define FAILURES_PER_SECOND 10u /* log lines */
#define HEADER_BEGINS '\r'      /* no other protocol on these ports begins with it */

struct msd_comer {
	struct msd_list link; /* msd_edge.comers */
	struct msd_edge *edge;
	struct msd_client_peer *place; /* slot of the connecting address */
	struct msd_accept_path way;
	struct msd_principal who;
	int fd;
	bool is_let_in, is_trusted;
	uv_poll_t poll;
	struct msd_deadline deadline;
	struct msd_proxy_head head;
};

MSD_WORDS_DEFINE(msd_proxy_accept_fault_word, enum msd_proxy_accept_fault,
		 MSD_PROXY_ACCEPT_FAULT_MAP)

static void go(struct msd_edge *e, int fd, struct msd_principal who,
	       const struct msd_accept_path *way)
{
	if (way->kind == MSD_ADDRESS_TLS) {
		msd_tls_accept_enter(e, fd, &who, way->enter_tls);
	} else if (way->enter != NULL) {
		way->enter(e, fd, who, way->about);
	} else {
		msd_accept_open(e, fd, who);
	}
}

static void on_poll_closed(uv_handle_t *handle)
{
	struct msd_comer *c = handle->data;
	struct msd_edge *e = c->edge;

	msd_list_remove(&c->link);
	msd_accept_release_slot(e, c->place);
	msd_client_peer_unref(c->place);
	if (c->is_let_in) {
		go(e, c->fd, c->who, &c->way);
	} else {
		(void)close(c->fd);
		e->on_session_gone(e);
	}
	free(c);
}

static void end(struct msd_comer *c)
{
	msd_deadline_clear(c->edge->deadlines, &c->deadline);
	uv_close((uv_handle_t *)&c->poll, on_poll_closed);
}

static void let_in(struct msd_comer *c)
{
	c->is_let_in = true;
	end(c);
}

static void refuse(struct msd_comer *c, enum msd_proxy_accept_fault fault,
		   const char *why)
{
	struct msd_edge *e = c->edge;
	char text[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	msd_counts_gate_fault(&e->counts, fault);
	if (msd_log_rate_allow(&e->gate_failures, uv_now(e->loop), FAILURES_PER_SECOND,
			       &n_others)) {
		msd_log(MSD_LOG_WARN, "connection_proxy_header",
			"peer=\"%s\" cause=%s others=%llu why=\"%s\"",
			msd_peer_id_text(c->place->who, text),
			msd_proxy_accept_fault_word(fault),
			(unsigned long long)n_others, why);
	}
	end(c);
}

static void refuse_header(struct msd_comer *c, msd_err err, const char *why)
{
	refuse(c,
	       err == MSD_REFUSED ? MSD_PROXY_ACCEPT_MISSING : MSD_PROXY_ACCEPT_WRONG,
	       why);
}

/* recv() returned @n, no bytes: either none arrived yet, or none will. */
static void on_nothing(struct msd_comer *c, ssize_t n)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	refuse(c, MSD_PROXY_ACCEPT_GONE,
	       n == 0 ? "it closed the connection without sending anything"
		      : msd_errno_text(errno, text));
}

/* Do not read beyond the header: those bytes are for TLS, HTTP or the frames. */
static void read_header(struct msd_comer *c)
{
	struct msd_proxy_head *h = &c->head;
	struct msd_proxied whose = {0};
	struct msd_diag d = {0};
	msd_err err = MSD_WAIT;

	while (err == MSD_WAIT) {
		const ssize_t n = recv(c->fd, h->bytes + h->n, msd_proxy_head_wants(h),
				       MSG_DONTWAIT);
		if (n <= 0) {
			on_nothing(c, n);
			return;
		}
		h->n += (size_t)n;
		err = msd_proxy_head_read(h, &whose, &d);
	}
	if (err == MSD_OK) {
		c->who.client = whose.client;
		c->who.is_sealed = whose.is_sealed;
		let_in(c);
	} else {
		refuse_header(c, err, msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

static void look_at_first(struct msd_comer *c)
{
	uint8_t first;
	const ssize_t n = recv(c->fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n <= 0) {
		on_nothing(c, n);
	} else if (first == HEADER_BEGINS) {
		refuse(c, MSD_PROXY_ACCEPT_FORGED,
		       "it sent a PROXY header, but its address is not in "
		       "--proxy-from");
	} else {
		let_in(c);
	}
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct msd_comer *c = poll->data;

	(void)status; /* the read reports the error */
	(void)events;
	if (c->is_trusted) {
		read_header(c);
	} else {
		look_at_first(c);
	}
}

static void on_due(struct msd_deadline *node)
{
	struct msd_comer *c = MSD_CONTAINER_OF(node, struct msd_comer, deadline);
	struct msd_edge *e = c->edge;

	if (msd_deadline_away_ms(e->deadlines, node) > 0) {
		msd_deadline_set(e->deadlines, node, e->limits->first_frame_ms);
	} else {
		refuse(c, MSD_PROXY_ACCEPT_LATE,
		       "it sent no complete first message in time (--first-frame)");
	}
}

static bool is_trusted(const struct msd_edge *e, int fd)
{
	uint8_t at[MSD_ADDRESS_BYTES];

	return msd_network_peer(fd, at) && msd_networks_hold(e->proxies, at);
}

static struct msd_comer *comer_new(struct msd_edge *e, int fd)
{
	struct msd_comer *c = calloc(1, sizeof(*c));

	if (c != NULL && uv_poll_init(e->loop, &c->poll, fd) != 0) {
		free(c);
		return NULL;
	}
	return c;
}

/* Hold the connection @fd until its client is known. */
static void stop(struct msd_edge *e, int fd, struct msd_principal who,
		 const struct msd_accept_path *way)
{
	struct msd_client_peer *place = msd_accept_reserve_slot(e, fd, &who);
	struct msd_comer *c = place != NULL ? comer_new(e, fd) : NULL;

	if (c == NULL) {
		if (place != NULL) {
			msd_accept_release_slot(e, place);
			msd_client_peer_unref(place);
		}
		(void)close(fd);
		return;
	}
	c->edge = e;
	c->place = place;
	c->way = *way;
	c->who = who;
	c->fd = fd;
	c->is_trusted = is_trusted(e, fd);
	c->poll.data = c;
	c->deadline.on_due = on_due;
	msd_list_append(&e->comers, &c->link);
	if (e->limits->first_frame_ms > 0)
		msd_deadline_set(e->deadlines, &c->deadline, e->limits->first_frame_ms);
	(void)uv_poll_start(&c->poll, UV_READABLE, on_readable);
}

void msd_proxy_accept_enter(struct msd_edge *e, int fd, struct msd_principal who,
			    const struct msd_accept_path *way)
{
	if (msd_proxy_accept_is_there(e) && !way->is_of_proxies &&
	    way->kind != MSD_ADDRESS_UNIX) {
		stop(e, fd, who, way);
	} else {
		go(e, fd, who, way);
	}
}

void msd_proxy_accept_close(struct msd_edge *e)
{
	MSD_LIST_EACH_SAFE (it, &e->comers) {
		struct msd_comer *c = MSD_CONTAINER_OF(it, struct msd_comer, link);
		if (!uv_is_closing((uv_handle_t *)&c->poll))
			refuse(c, MSD_PROXY_ACCEPT_GONE, "the daemon is shutting down");
		c->is_let_in = false;
	}
}
