/*
 * A peer's frames.
 *
 * Happy path:
 *   - request: copied into the worker's queue; it runs after all received frames are
 *     drained
 *   - worker.segment, worker.release, worker.peer, cancel: take effect at once
 *   - end of the connection: the peer's requests, segments and tensors are freed. The
 *     end of the supervisor's channel ends the process, unless it has a door
 * (takeover_socket.h)
 *
 * Failures: a breach of the contract of CHANNEL.md closes the connection.
 */
#include "daemon/worker/peer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/confine/process.h"
#include "daemon/confine/resource_limits.h"
#include "daemon/limits.h"
#include "daemon/loop/disabled_features.h"
#include "daemon/worker/direct/direct_accept.h"
#include "daemon/worker/direct/direct_peer.h"
#include "daemon/worker/objects/held_objects.h"
#include "daemon/worker/objects/instances.h"
#include "daemon/worker/objects/pinned_segments.h"
#include "daemon/worker/weights.h"
#include "proto/value.h"

#define MAX_QUEUED_REPLY_BYTES (64u << 20)

static struct msd_peer *peer_of(struct msd_conn *c)
{
	return c->user;
}

/* Pass a new out segment to the supervisor before any reply that names it; a segment
 * that was taken back has no bytes and no descriptor. A direct peer maps none. */
static void tell_segment(void *ctx, uint16_t index, int fd, uint64_t bytes)
{
	struct msd_peer *peer = ctx;
	struct msd_out *o;

	if (bytes > 0) {
		msd_pinned_segments_add(peer, false, index, bytes);
	} else {
		msd_pinned_segments_remove(peer, false, index);
	}
	if (peer->guest != NULL)
		return;
	o = msd_out_new();
	if (o == NULL) {
		msd_conn_close(&peer->conn, MSD_NOMEM, "out of memory");
		return;
	}
	msd_body_begin_notification(&o->body, "worker.segment");
	msd_pack_array(&o->body, 3);
	msd_pack_cstr(&o->body, "out");
	msd_pack_uint(&o->body, index);
	msd_pack_uint(&o->body, bytes);
	if (bytes > 0)
		o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (bytes > 0 && o->fd < 0) {
		msd_out_destroy(o);
		msd_conn_close(&peer->conn, MSD_IO, "no descriptor for a segment");
		return;
	}
	msd_conn_send(&peer->conn, o);
}

/* Segments that the other side passes: for arguments, or shared by a client. */
static const struct passed {
	const char *word;
	enum msd_segmap_as as;
	uint16_t first, n; /* index range of the kind */
} kinds[] = {
	{"in", MSD_MAP_WRITE, 0, MSD_MAX_SEGMENTS},
	{"lent", MSD_MAP_WRITE, MSD_FIRST_LENT, MSD_MAX_LENT},
	/* Writes of a function to it stay in this process. */
	{"shown", MSD_MAP_APART, MSD_FIRST_LENT, MSD_MAX_LENT},
};

static const struct passed *kind_of(struct msd_span word, int64_t index)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (msd_span_is(word, kinds[i].word) && index >= kinds[i].first &&
		    index < kinds[i].first + kinds[i].n)
			return &kinds[i];
	}
	return NULL;
}

static msd_err add_segment(struct msd_peer *peer, const struct passed *kind,
			   uint16_t index, uint64_t bytes, struct msd_diag *d)
{
	if (kind->as == MSD_MAP_APART)
		msd_resource_limits_set_lent(peer->in.apart_bytes + bytes);
	const msd_err err = msd_segmap_add(
		&peer->in, index, msd_conn_adopt_fd(&peer->conn), bytes, kind->as, d);

	if (kind->as == MSD_MAP_APART)
		msd_resource_limits_set_lent(peer->in.apart_bytes);
	/* To pin a private mapping would copy all of it, and hide the client's later
	 * writes. */
	if (err == MSD_OK && kind->as == MSD_MAP_WRITE)
		msd_pinned_segments_add(peer, true, index, bytes);
	if (kind->first != MSD_FIRST_LENT || err == MSD_OK || err == MSD_PROTOCOL)
		return err;
	/* A client's bad segment affects only the client: calls that name it get an
	 * error. */
	(void)fprintf(stderr, "modserd-worker: %s\n", msd_diag_text(d));
	return MSD_OK;
}

static msd_err remove_segment(struct msd_peer *peer, const struct passed *kind,
			      uint16_t index, struct msd_diag *d)
{
	if (kind->first == MSD_FIRST_LENT &&
	    msd_segmap_at(&peer->in, index, 0, 0) == NULL)
		return MSD_OK; /* it could not be mapped */
	msd_pinned_segments_remove(peer, true, index);
	const msd_err err = msd_segmap_remove(&peer->in, index, d);
	msd_resource_limits_set_lent(peer->in.apart_bytes);
	return err;
}

/* [word, index, bytes] and a descriptor; 0 bytes: it is taken back. */
static msd_err take_segment(struct msd_peer *peer, struct msd_span params,
			    struct msd_diag *d)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value word, index, bytes;
	const struct passed *kind = NULL;

	if (msd_array_open(params, &c, &n) && n == 3 &&
	    msd_value_read(&c, &word, d) == MSD_OK &&
	    msd_value_read(&c, &index, d) == MSD_OK &&
	    msd_value_read(&c, &bytes, d) == MSD_OK && word.kind == MSD_K_STR &&
	    index.kind == MSD_K_INT && bytes.kind == MSD_K_INT && bytes.as.i >= 0) {
		if (msd_span_is(word.as.str, "ledger")) {
			return msd_direct_accept_set_ledger(peer, (uint64_t)bytes.as.i,
							    d);
		}
		if (msd_span_is(word.as.str, "weights")) {
			return msd_worker_weights_accept(peer, index.as.i,
							 (uint64_t)bytes.as.i, d);
		}
		kind = kind_of(word.as.str, index.as.i);
	}
	if (kind == NULL) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "worker.segment: expected [\"in\", \"lent\", "
				    "\"shown\", \"ledger\" or \"weights\", index, "
				    "bytes]");
	}
	if (bytes.as.i == 0)
		return remove_segment(peer, kind, (uint16_t)index.as.i, d);
	return add_segment(peer, kind, (uint16_t)index.as.i, (uint64_t)bytes.as.i, d);
}

/* [segment, offset, ...] */
static msd_err release(struct msd_peer *peer, struct msd_span params,
		       struct msd_diag *d)
{
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(params, &c, &n) || n % 2 != 0) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "worker.release: expected [segment, offset, ...]");
	}
	for (uint32_t i = 0; i < n; i += 2) {
		struct msd_wire_value segment, offset;
		if (msd_value_read(&c, &segment, d) != MSD_OK ||
		    msd_value_read(&c, &offset, d) != MSD_OK ||
		    segment.kind != MSD_K_INT || offset.kind != MSD_K_INT ||
		    segment.as.i < 0 || segment.as.i > UINT16_MAX ||
		    !msd_outpool_free(&peer->out, (uint16_t)segment.as.i,
				      (uint64_t)offset.as.i)) {
			return msd_diag_set(d, MSD_PROTOCOL,
					    "worker.release: no such slot is in use");
		}
	}
	return MSD_OK;
}

/* [id] */
static msd_err cancel(struct msd_peer *peer, struct msd_span params, struct msd_diag *d)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value id;

	if (!msd_array_open(params, &c, &n) || n != 1 ||
	    msd_value_read(&c, &id, d) != MSD_OK || id.kind != MSD_K_INT)
		return msd_diag_set(d, MSD_PROTOCOL, "cancel: expected [id]");
	msd_worker_cancel(peer->worker, peer, (uint64_t)id.as.i);
	return MSD_OK;
}

static void on_notification(struct msd_peer *peer, const struct msd_in *in)
{
	const struct msd_span method = in->body.method;
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	/* worker.release arrives with each call, so it is first. Unknown
	 * notifications of the supervisor are ignored. */
	if (peer->guest != NULL && !msd_span_is(method, "cancel")) {
		err = msd_diag_set(&d, MSD_PROTOCOL,
				   "a notification that a direct channel does not "
				   "take");
	} else if (msd_span_is(method, "worker.release")) {
		err = release(peer, in->body.params, &d);
	} else if (msd_span_is(method, "worker.segment")) {
		err = take_segment(peer, in->body.params, &d);
	} else if (msd_span_is(method, "cancel")) {
		err = cancel(peer, in->body.params, &d);
	} else if (msd_span_is(method, "worker.peer")) {
		err = msd_direct_accept_open(peer, in->body.params, &d);
	}
	if (err != MSD_OK)
		msd_conn_close(&peer->conn, err, msd_diag_text(&d));
	msd_diag_finish(&d);
}

void msd_peer_on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_peer *peer = peer_of(c);

	switch (in->body.kind) {
	case MSD_REQUEST:
		if (in->payload_bytes > 0 && in->payload == NULL) {
			msd_conn_close(c, MSD_NOMEM, "out of memory for tensors");
		} else if (!msd_worker_queue(peer->worker, peer, in)) {
			msd_conn_close(c, MSD_NOMEM, "out of memory");
		}
		break;
	case MSD_NOTIFICATION:
		on_notification(peer, in);
		break;
	case MSD_RESPONSE:
		msd_conn_close(c, MSD_PROTOCOL, "a response to no request");
		break;
	}
}

void msd_peer_destroy(struct msd_peer *peer)
{
	msd_list_remove(&peer->link);
	msd_direct_peer_free(peer); /* its results are in its pool */
	msd_pinned_segments_finish(peer);
	msd_segmap_finish(&peer->in);
	msd_outpool_finish(&peer->out);
	msd_instances_finish(&peer->instances); /* they may use resident tensors */
	msd_held_objects_finish(&peer->objects);
	msd_resident_tensors_finish(&peer->residents);
	msd_memory_finish(&peer->memory);
	free(peer);
}

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_peer *peer = peer_of(c);

	if (err != MSD_OK && msd_takeover_socket_is_end(&peer->worker->door, err)) {
		(void)fprintf(stderr, "modserd-worker: channel: %s: %s\n",
			      msd_err_name(err), why);
	}
	struct msd_worker *w = peer->worker;
	const bool is_channel = peer->is_channel;

	if (is_channel && msd_takeover_socket_is_end(&w->door, err))
		msd_confine_exit(err == MSD_OK ? 0 : 1);
	msd_worker_forget(w, peer);
	msd_peer_destroy(peer);
	if (is_channel) {
		msd_direct_accept_end(w);
		msd_takeover_socket_on_closed(&w->door);
	}
}

struct msd_peer *msd_peer_new(struct msd_worker *w, uint64_t max_out)
{
	struct msd_peer *peer = calloc(1, sizeof(*peer));

	if (peer == NULL)
		return NULL;
	peer->worker = w;
	msd_list_init(&peer->link);
	msd_list_init(&peer->queue);
	msd_segmap_init(&peer->in, 0); /* made by the supervisor, which is trusted */
	msd_outpool_init(&peer->out, max_out, tell_segment, peer);
	msd_resident_tensors_init(&peer->residents, max_out);
	msd_handles_init(&peer->instances, MSD_MAX_INSTANCES);
	msd_handles_init(&peer->objects, MSD_MAX_HELD_OBJECTS);
	return peer;
}

msd_err msd_peer_open(struct msd_worker *w, int fd, bool is_channel, struct msd_diag *d)
{
	static const struct msd_conn_ops ops = {.on_frame = msd_peer_on_frame,
						.on_closed = on_closed};
	struct msd_conn_limits limits = {
		.max_body_bytes = MSD_MAX_FORWARDED_BODY_BYTES,
		.max_payload_bytes = 0, /* tensors are in segments */
		.max_queued_bytes = MAX_QUEUED_REPLY_BYTES,
		.takes_fds = true,
		.gathers = !msd_feature_is_disabled("gather"),
	};
	struct msd_peer *peer = msd_peer_new(w, MSD_WORKER_DEFAULT_MAX_OUT);

	if (peer == NULL) {
		(void)close(fd);
		return msd_diag_no_memory(d);
	}
	if (!msd_feature_is_disabled("plans"))
		limits.memory = &peer->memory;
	peer->memory.has_places = true;
	peer->is_channel = is_channel;
	msd_err err =
		msd_conn_open(&peer->conn, &w->wire, msd_transport_of_socket(fd, true),
			      &ops, &limits, peer, d);
	if (err != MSD_OK) {
		msd_peer_destroy(peer);
		return err;
	}
	msd_list_append(&w->peers, &peer->link);
	return MSD_OK;
}
