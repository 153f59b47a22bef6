/*
 * Happy path: the supervisor passes a socket with its permissions, and calls on it
 * are queued like those of any peer. When the supervisor takes it back, earlier
 * requests are answered, the client gets the reason, and the supervisor is notified.
 *
 * Failures: a frame that a direct peer may not send ends its connection; a request
 * that it may not send is answered with an error.
 */
#include "daemon/worker/direct/direct_accept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/loop/disabled_features.h"
#include "daemon/segments/ledger.h"
#include "daemon/worker/direct/direct_peer.h"
#include "daemon/worker/peer.h"
#include "proto/value.h"

/* A direct peer that does not read can have this and the reply that exceeded it. */
#define MAX_QUEUED_REPLY_BYTES UINT64_MAX
#define N_COUNTS 6u /* of worker.peer, before its functions */

static struct msd_peer *peer_of(struct msd_conn *c)
{
	return c->user;
}

/* Get memory for a frame's tensors. It belongs to the request, and is bounded before
 * its frame is read (limits.max_payload_bytes). */
static enum msd_place on_body(struct msd_conn *c, struct msd_in *in)
{
	struct msd_direct_peer *g = peer_of(c)->guest;

	if (!msd_direct_peer_payload_get(g, in->payload_bytes))
		return MSD_PLACE_SKIP;
	in->payload = g->coming.p;
	return MSD_PLACE_HERE;
}

/* The peer has ended its sending side: true if the supervisor has taken its channel
 * back, false if it is gone. */
static bool reads_on(struct msd_conn *c)
{
	const struct msd_peer *peer = peer_of(c);
	const struct msd_ledger *ledger = peer->worker->ledger;

	return ledger != NULL && (msd_ledger_get(&ledger->leaving) &
				  msd_ledger_bit(peer->guest->number)) != 0;
}

/* All earlier bytes of the peer were read. */
static void on_last(struct msd_conn *c)
{
	peer_of(c)->guest->has_said_all = true;
	msd_conn_pause(c, MSD_PAUSE_LEAVING, true);
}

/* Its number may be reused. */
static void tell_gone(struct msd_peer *host, uint16_t number)
{
	struct msd_out *o = msd_out_new();

	if (o == NULL) {
		msd_conn_close(&host->conn, MSD_NOMEM, "out of memory");
		return;
	}
	msd_body_begin_notification(&o->body, "worker.peer");
	msd_pack_array(&o->body, 1);
	msd_pack_uint(&o->body, number);
	msd_conn_send(&host->conn, o);
}

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_peer *peer = peer_of(c);
	struct msd_worker *w = peer->worker;
	struct msd_peer *host = peer->guest->host;
	const uint16_t number = peer->guest->number;

	(void)err;
	(void)why;
	msd_worker_forget(w, peer);
	msd_peer_destroy(peer);
	if (host != NULL)
		tell_gone(host, number);
}

static struct msd_out *farewell(struct msd_conn *c, msd_err err, const char *why)
{
	(void)c;
	return msd_out_farewell(err, why);
}

static const struct msd_conn_ops conn_ops = {
	.on_body = on_body,
	.on_frame = msd_peer_on_frame,
	.reads_on = reads_on,
	.on_last = on_last,
	.on_closed = on_closed,
	.farewell = farewell,
};

/* Parameters of worker.peer for a new direct peer. */
struct terms {
	uint16_t number;
	uint32_t max_requests;
	uint64_t max_bytes, slow_ns;
	struct msd_limits stall;
	bool may_call_all;
	struct msd_span functions; /* msgpack of the functions */
};

/* NULL: out of memory. */
static struct msd_peer *make(struct msd_peer *host, const struct terms *terms)
{
	struct msd_worker *w = host->worker;
	struct msd_peer *peer = msd_peer_new(w, w->max_out / MSD_MAX_GUESTS);
	struct msd_direct_peer *g = peer != NULL ? calloc(1, sizeof(*g)) : NULL;

	if (g == NULL)
		goto fail;
	*g = (struct msd_direct_peer){.number = terms->number,
				      .max_requests = terms->max_requests,
				      .max_bytes = terms->max_bytes,
				      .slow_ns = terms->slow_ns,
				      .stall = terms->stall,
				      .host = host,
				      .n_functions = terms->functions.n};
	/* Waiting frames, one frame more, and the memory that is kept. */
	msd_segpool_init(&g->payloads,
			 3 * terms->max_bytes + MSD_DIRECT_PEER_KEPT_BYTES, NULL, NULL);
	peer->guest = g;
	peer->out.pool.is_pinned = w->has_pins;
	if (terms->may_call_all)
		return peer;
	g->functions = malloc(terms->functions.n + 1);
	if (g->functions == NULL)
		goto fail;
	memcpy(g->functions, terms->functions.p, terms->functions.n);
	return peer;
fail:
	if (peer != NULL)
		msd_peer_destroy(peer);
	return NULL;
}

static void admit(struct msd_peer *host, const struct terms *terms, int fd,
		  struct msd_diag *d)
{
	struct msd_worker *w = host->worker;
	struct msd_transport transport;
	struct msd_conn_limits limits = {
		.max_body_bytes = MSD_DIRECT_PEER_BODY_BYTES,
		.max_payload_bytes = terms->max_bytes,
		.max_queued_bytes = MAX_QUEUED_REPLY_BYTES,
		.takes_turns = true,
		.refuses_fds = true,
		.gathers = !msd_feature_is_disabled("gather"),
	};
	struct msd_peer *peer = make(host, terms);
	msd_err err = MSD_NOMEM;

	if (peer != NULL && msd_fd_slot_allocate(w, terms->number, fd, &transport)) {
		if (!msd_feature_is_disabled("plans"))
			limits.memory = &peer->memory;
		err = msd_conn_open(&peer->conn, &w->wire, transport, &conn_ops,
				    &limits, peer, d);
	} else {
		msd_closer_close_socket(fd, MSD_CLOSER_WORKERS);
	}
	if (err == MSD_OK) {
		msd_list_append(&w->peers, &peer->link);
		return;
	}
	/* Only its client is affected: it gets no channel. */
	if (peer != NULL)
		msd_peer_destroy(peer);
	tell_gone(host, terms->number);
}

static struct msd_peer *find(struct msd_worker *w, uint64_t number)
{
	MSD_LIST_EACH (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (peer->guest != NULL && peer->guest->host != NULL &&
		    peer->guest->number == number)
			return peer;
	}
	return NULL;
}

/* [number, requests, bytes, slow_ns, write_stall_ms, read_stall_ms, functions] */
static bool read_terms(struct msd_span params, struct terms *ret)
{
	uint64_t counts[N_COUNTS];
	struct msd_wire_value v;
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(params, &c, &n) || n != N_COUNTS + 1)
		return false;
	for (uint32_t i = 0; i < N_COUNTS; i++) {
		if (msd_value_read(&c, &v, NULL) != MSD_OK || v.kind != MSD_K_INT ||
		    v.as.i < 0)
			return false;
		counts[i] = (uint64_t)v.as.i;
	}
	if (counts[0] < 1 || counts[0] > MSD_MAX_GUESTS ||
	    msd_value_read(&c, &v, NULL) != MSD_OK ||
	    (v.kind != MSD_K_NIL && v.kind != MSD_K_TUPLE))
		return false;
	*ret = (struct terms){
		.number = (uint16_t)counts[0],
		.max_requests = (uint32_t)counts[1],
		.max_bytes = counts[2],
		.slow_ns = counts[3],
		.stall = {.write_stall_ms = counts[4], .read_stall_ms = counts[5]},
		.may_call_all = v.kind == MSD_K_NIL};
	if (v.kind == MSD_K_TUPLE)
		ret->functions = v.as.tuple.items;
	return true;
}

msd_err msd_direct_accept_open(struct msd_peer *channel, struct msd_span params,
			       struct msd_diag *d)
{
	struct msd_worker *w = channel->worker;
	struct terms terms;

	if (!channel->is_channel || !read_terms(params, &terms)) {
		return msd_diag_set(
			d, MSD_PROTOCOL,
			"worker.peer: expected [number, requests, bytes, "
			"slow_ns, write_stall_ms, read_stall_ms, functions]");
	}
	struct msd_peer *peer = find(w, terms.number);
	const int fd = msd_conn_adopt_fd(&channel->conn);
	if (fd < 0 || peer != NULL || w->ledger == NULL) {
		msd_closer_close_socket(fd, MSD_CLOSER_WORKERS);
		return msd_diag_set(d, MSD_PROTOCOL, "worker.peer: %s",
				    fd < 0         ? "without a descriptor"
				    : peer != NULL ? "its number is in use"
						   : "the ledger is missing");
	}
	admit(channel, &terms, fd, d);
	return MSD_OK;
}

msd_err msd_direct_accept_set_ledger(struct msd_peer *channel, uint64_t bytes,
				     struct msd_diag *d)
{
	struct msd_worker *w = channel->worker;
	const int fd = msd_conn_adopt_fd(&channel->conn);
	void *p = MAP_FAILED;

	if (fd >= 0 && channel->is_channel && w->ledger == NULL &&
	    bytes == sizeof(struct msd_ledger)) {
		p = mmap(NULL, sizeof(struct msd_ledger), PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);
	}
	if (fd >= 0)
		(void)close(fd);
	if (p == MAP_FAILED) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "worker.segment: a ledger of %llu bytes, not %zu, "
				    "or a second one",
				    (unsigned long long)bytes,
				    sizeof(struct msd_ledger));
	}
	w->ledger = p;
	return MSD_OK;
}

void msd_direct_accept_end(struct msd_worker *w)
{
	MSD_LIST_EACH (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (peer->guest != NULL) {
			peer->guest->host = NULL;
			msd_conn_close(&peer->conn, MSD_DRAINING,
				       "the daemon has lost this module's worker");
		}
	}
	msd_funcs_forget_rows(&w->funcs); /* the next ledger starts empty */
	if (w->ledger != NULL)
		(void)munmap(w->ledger, sizeof(*w->ledger));
	w->ledger = NULL;
}

void msd_direct_accept_look(struct msd_peer *peer)
{
	if (peer->guest == NULL || msd_conn_is_closing(&peer->conn))
		return;
	if (peer->is_paused && msd_direct_peer_is_light(peer)) {
		peer->is_paused = false;
		msd_conn_pause(&peer->conn, MSD_PAUSE_REQUESTS, false);
	}
	if (peer->guest->has_said_all && peer->n_queued == 0 &&
	    peer->conn.queued_bytes == 0) {
		msd_conn_close(&peer->conn, MSD_DRAINING,
			       "the daemon closes this direct channel; calls without "
			       "an answer did not start");
	}
}

/*
 * Move the socket to another number and close it on a thread, because close() may
 * sleep. If no number is free, it is closed here. Its number is never free: a file
 * opened by another thread could take it, and the next direct peer would replace that
 * file.
 */
static void close_transport(struct msd_transport *t)
{
	const struct msd_worker *w = t->state;
	const int moved = fcntl(t->fd, F_DUPFD_CLOEXEC, t->fd);

	(void)shutdown(t->fd, SHUT_RDWR);
	(void)dup3(w->artifact_fd, t->fd, O_CLOEXEC);
	msd_closer_close_socket(moved, t->passer);
	t->fd = -1;
}

bool msd_fd_slot_allocate(struct msd_worker *w, uint16_t number, int fd,
			  struct msd_transport *ret)
{
	static struct msd_transport_ops ops;
	const int kept = w->first_guest_fd + number - 1;

	*ret = msd_transport_of_socket(fd, true);
	if (w->first_guest_fd == 0)
		return true;
	if (dup3(fd, kept, O_CLOEXEC) < 0)
		return false;
	(void)close(fd);
	ops = *ret->ops;
	ops.close = close_transport;
	*ret = (struct msd_transport){
		.ops = &ops, .fd = kept, .may_pass_fds = true, .state = w};
	return true;
}
