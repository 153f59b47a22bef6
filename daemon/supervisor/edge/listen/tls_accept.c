#include "daemon/supervisor/edge/listen/tls_accept.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/session/frontend.h"
#include "proto/value.h"

#define FAILURES_PER_SECOND 10u /* log lines */

struct guest {
	struct msd_client_peer *peer; /* a reference and a connection slot */
	msd_enter *enter;
};

static struct msd_edge *edge_of(const struct msd_handshake *h)
{
	return MSD_CONTAINER_OF(msd_handshake_all(h), struct msd_edge, handshakes);
}

static void on_failed(struct msd_handshake *h, enum msd_handshake_fault fault,
		      const char *why)
{
	const struct guest *g = msd_handshake_user(h);
	struct msd_edge *e = edge_of(h);
	char text[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	msd_counts_handshake_fault(&e->counts, fault);
	if (!msd_log_rate_allow(&e->handshake_failures, uv_now(e->loop),
				FAILURES_PER_SECOND, &n_others))
		return;
	msd_log(MSD_LOG_INFO, "tls_handshake", "peer=\"%s\" others=%llu why=\"%s\"",
		msd_peer_id_text(g->peer->who, text), (unsigned long long)n_others,
		why);
}

/* Release the slot and the reference: a protocol session takes its own. */
static void enter_session(struct msd_edge *e, struct msd_transport t,
			  struct msd_principal who, struct msd_client_peer *p)
{
	msd_accept_release_slot(e, p);
	msd_frontend_open(e, t, who, p);
	msd_client_peer_unref(p);
}

/* The connection slot passes to the connection, or is released. */
static void on_done(struct msd_handshake *h, struct msd_transport *t)
{
	struct guest *g = msd_handshake_user(h);
	struct msd_edge *e = edge_of(h);

	if (t != NULL) {
		msd_counts_handshake(&e->counts);
		g->enter(e, *t, msd_principal_of(MSD_ADDRESS_TLS, e->load_tcp),
			 g->peer);
	} else {
		msd_accept_release_slot(e, g->peer);
		e->on_session_gone(e);
		msd_client_peer_unref(g->peer);
	}
	free(g);
}

void msd_tls_accept_init(struct msd_edge *e)
{
	msd_handshakes_init(&e->handshakes, e->loop, e->deadlines, e->tls);
	e->handshakes.on_failed = on_failed;
	e->handshakes.on_done = on_done;
}

void msd_tls_accept_enter(struct msd_edge *e, int fd, const struct msd_principal *who,
			  msd_enter *enter)
{
	struct msd_client_peer *p = msd_accept_reserve_slot(e, fd, who);
	struct guest *g = p != NULL ? malloc(sizeof(*g)) : NULL;

	if (g != NULL)
		*g = (struct guest){p, enter != NULL ? enter : enter_session};
	if (g != NULL &&
	    msd_handshake_start(&e->handshakes, fd, e->limits->first_frame_ms, p->who,
				g) == MSD_OK)
		return;
	free(g);
	if (p != NULL) {
		msd_accept_release_slot(e, p);
		msd_client_peer_unref(p);
	}
	(void)close(fd); /* a message would need encryption first */
}

void msd_tls_accept_close(struct msd_edge *e)
{
	msd_handshakes_close(&e->handshakes);
}

uint64_t msd_tls_accept_n(const struct msd_edge *e)
{
	uint64_t n = 0;

	MSD_LIST_EACH (it, &e->handshakes.all) {
		n++;
	}
	return n;
}

void msd_tls_accept_put(const struct msd_edge *e, struct msd_buf *ret)
{
	const struct msd_counts *c = &e->counts;

	msd_pack_map(ret, 3);
	msd_pack_pair_uint(ret, "done", c->handshakes);
	msd_pack_pair_uint(ret, "in_progress", msd_tls_accept_n(e));
	msd_pack_cstr(ret, "failed");
	msd_pack_map(ret, MSD_HANDSHAKE_FAULT_COUNT);
	for (unsigned i = 0; i < MSD_HANDSHAKE_FAULT_COUNT; i++) {
		msd_pack_pair_uint(
			ret, msd_handshake_fault_word((enum msd_handshake_fault)i),
			c->handshakes_failed[i]);
	}
}

bool msd_tls_accept_is_empty(const struct msd_edge *e)
{
	return e->handshakes.all.next == &e->handshakes.all;
}
