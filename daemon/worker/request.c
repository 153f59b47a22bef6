/*
 * Requests from their arrival until they run.
 *
 * Happy path: the body of a frame is copied to a spare request, parsed and queued; or
 * it is in the call cache and has a plan (steps.h). The worker takes the first request
 * after it has drained its channel. A peer with too many waiting requests is not read
 * until half of them are done.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/calls/plan.h"
#include "daemon/worker/direct/direct_peer.h"
#include "daemon/worker/direct/ledger_writer.h"
#include "daemon/worker/fair_queue.h"
#include "proto/base/clock.h"
#include "proto/name.h"
#include "proto/value.h"

/* A spare request keeps its memory up to this size. */
#define KEEP_BYTES (64u * 1024u)

static struct msd_request *request_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_request, link);
}

static struct msd_request *take_spare(struct msd_worker *w, size_t bytes)
{
	struct msd_list *it = msd_list_first(&w->spare);
	struct msd_request *r = it != NULL ? request_of(it) : calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	if (it != NULL) {
		msd_list_remove(it);
	} else {
		msd_list_init(&r->link);
	}
	if (r->bytes == NULL || r->cap < bytes) {
		size_t cap = bytes > 512 ? bytes : 512;
		free(r->bytes);
		r->bytes = malloc(cap);
		r->cap = r->bytes != NULL ? cap : 0;
	}
	if (r->bytes == NULL) {
		msd_list_append(&w->spare, &r->link);
		return NULL;
	}
	return r;
}

/* True if the peer has its maximum of waiting requests. */
static bool is_laden(const struct msd_peer *peer)
{
	return peer->guest != NULL ? msd_direct_peer_is_laden(peer)
				   : peer->n_queued >= MSD_MAX_IN_FLIGHT;
}

static bool is_light(const struct msd_peer *peer)
{
	return peer->guest != NULL ? msd_direct_peer_is_light(peer)
				   : peer->n_queued < MSD_MAX_IN_FLIGHT / 2;
}

/* Undo take_load(). */
static void put_load(struct msd_direct_peer *g, struct msd_request *r)
{
	g->held_bytes -= r->held_bytes;
	g->body_bytes -= r->held_bytes - r->payload.bytes;
	msd_direct_peer_payload_free(g, &r->payload);
}

void msd_worker_recycle(struct msd_worker *w, struct msd_request *r)
{
	struct msd_peer *peer = r->peer;

	msd_list_remove(&r->link);
	if (r->known != NULL)
		r->known->n_users--;
	r->known = NULL;
	if (r->cap > KEEP_BYTES) {
		free(r->bytes);
		r->bytes = NULL;
		r->cap = 0;
	}
	msd_list_append(&w->spare, &r->link);
	peer->n_queued--;
	if (peer->guest != NULL)
		put_load(peer->guest, r);
	if (peer->is_paused && is_light(peer)) {
		peer->is_paused = false;
		msd_conn_pause(&peer->conn, MSD_PAUSE_REQUESTS, false);
	}
}

static struct msd_span move_span(struct msd_span s, const uint8_t *from, uint8_t *to)
{
	return s.n == 0 ? s : (struct msd_span){to + (s.p - from), s.n};
}

/* Get the target of a call. False if it names none; the call reports that itself. */
static bool read_target(struct msd_span params, struct msd_span *ret_module,
			struct msd_span *ret_function)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value target;

	return msd_array_open(params, &c, &n) && n > 0 &&
	       msd_value_read(&c, &target, NULL) == MSD_OK &&
	       target.kind == MSD_K_STR &&
	       msd_target_split(target.as.str, ret_module, ret_function);
}

static msd_err take_deadline(struct msd_request *r, struct msd_span object,
			     struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(object);
	struct msd_wire_value v;

	if (msd_value_read(&c, &v, d) != MSD_OK || v.kind != MSD_K_INT || v.as.i < 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "deadline_ms: expected milliseconds");
	}
	uint64_t ms = (uint64_t)v.as.i;
	if (ms < UINT64_MAX / (2 * MSD_NS_PER_MS))
		r->deadline_ns = msd_now_ns() + ms * MSD_NS_PER_MS;
	return MSD_OK;
}

static msd_err take_device(struct msd_request *r, struct msd_span object,
			   struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(object);
	struct msd_wire_value v;

	if (msd_value_read(&c, &v, d) != MSD_OK || v.kind != MSD_K_DEVICE)
		return msd_diag_set(d, MSD_BAD_REQUEST, "device: expected a device");
	r->device = v.as.device;
	return MSD_OK;
}

static msd_err take_instance(struct msd_request *r, struct msd_span object,
			     struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(object);
	struct msd_wire_value v;

	if (msd_value_read(&c, &v, d) != MSD_OK || v.kind != MSD_K_INSTANCE)
		return msd_diag_set(d, MSD_BAD_REQUEST, "instance: expected a handle");
	r->instance = v.as.handle;
	return MSD_OK;
}

static msd_err take_names(struct msd_request *r, struct msd_span object,
			  struct msd_diag *d)
{
	(void)d;
	r->names = object;
	return MSD_OK;
}

static msd_err take_repeat(struct msd_request *r, struct msd_span object,
			   struct msd_diag *d)
{
	(void)object; /* msd_call_measure() reads it */
	(void)d;
	r->is_measured = true;
	return MSD_OK;
}

static msd_err take_trace(struct msd_request *r, struct msd_span object,
			  struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(object);
	struct msd_wire_value v;

	if (msd_value_read(&c, &v, d) != MSD_OK || v.kind != MSD_K_INT || v.as.i < 0)
		return msd_diag_set(d, MSD_BAD_REQUEST, "trace: expected a time");
	r->sent_ns = (uint64_t)v.as.i;
	return MSD_OK;
}

/* The supervisor has checked all other options. */
static const struct {
	const char *key;
	msd_err (*take)(struct msd_request *r, struct msd_span object,
			struct msd_diag *d);
	bool is_guests; /* allowed for direct peers, which send options as clients do */
} options[] = {
	{"deadline_ms", take_deadline, true}, {"device", take_device, false},
	{"instance", take_instance, false},   {"names", take_names, true},
	{"repeat", take_repeat, false},       {"trace", take_trace, false},
};

static bool may_have(const struct msd_peer *peer, size_t option)
{
	return peer->guest == NULL || options[option].is_guests;
}

static msd_err take_option(struct msd_request *r, struct msd_span key,
			   struct msd_span object, struct msd_diag *d)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (msd_span_is(key, options[i].key) && may_have(r->peer, i))
			return options[i].take(r, object, d);
	}
	if (r->peer->guest == NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "option %.*s: a direct channel supports only deadline_ms "
			    "and names; ask the daemon",
			    (int)(key.n < 80 ? key.n : 80), (const char *)key.p);
}

/* There are few options: the scan bounds a map's pairs. */
static msd_err read_options(struct msd_request *r, struct msd_diag *d)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value key;
	struct msd_span object;
	msd_err err = MSD_OK;

	if (r->options.n == 0)
		return MSD_OK;
	if (!msd_map_open(r->options, &c, &n))
		return msd_diag_set(d, MSD_BAD_REQUEST, "options: expected a map");
	for (uint32_t i = 0; err == MSD_OK && i < n; i++) {
		if (msd_value_read(&c, &key, d) != MSD_OK || key.kind != MSD_K_STR)
			return msd_diag_set(d, MSD_BAD_REQUEST, "options: bad key");
		if (!msd_object_parse(&c, &object))
			return msd_diag_set(d, MSD_BAD_REQUEST, "options: cut off");
		err = take_option(r, key.as.str, object, d);
	}
	return err;
}

/* Parse all parts of a request; nothing is checked. */
static msd_err read_request(const struct msd_worker *w, struct msd_request *r,
			    const struct msd_in *in, struct msd_diag *d)
{
	struct msd_span module, function;

	memcpy(r->bytes, in->bytes, in->n_bytes);
	r->method = msd_method_find(in->body.method);
	r->is_measured = r->method == MSD_M_MODULE_PROFILE;
	r->params = move_span(in->body.params, in->bytes, r->bytes);
	r->options = move_span(in->body.options, in->bytes, r->bytes);
	const bool is_named =
		r->method == MSD_M_CALL && read_target(r->params, &module, &function);
	if (is_named && msd_span_is(module, w->name))
		r->func = msd_funcs_peek(&w->funcs, function);
	if (r->peer->guest != NULL) {
		const msd_err err =
			msd_direct_peer_check(r, is_named ? &function : NULL, d);
		if (err != MSD_OK)
			return err;
	}
	if (r->func != NULL && r->options.n == 0)
		msd_plan_learn(r->peer, in, r->func);
	return read_options(r, d);
}

/* Same as read_request(), for a cached body. */
static void use_plan(struct msd_request *r, struct msd_known *known)
{
	const struct msd_plan *plan = known->plan;

	if (known->n_places > 0) /* the places of the next call may differ */
		memcpy(r->bytes, known->bytes, known->n_bytes);
	known->n_users++;
	r->known = known;
	r->method = MSD_M_CALL;
	r->func = plan->func;
}

static void on_awake(uv_idle_t *handle)
{
	(void)handle; /* an active idle handle keeps the loop awake */
}

/* Take the payload of a direct peer's request, and count its memory. */
static void take_load(struct msd_worker *w, struct msd_request *r,
		      const struct msd_in *in)
{
	struct msd_direct_peer *g = r->peer->guest;

	r->came_ns = msd_wire_now_ns(&w->wire);
	(void)uv_idle_start(&w->awake, on_awake);
	if (in->payload_bytes > 0) {
		r->payload = g->coming;
		r->payload_bytes = in->payload_bytes;
		g->coming = (struct msd_slot){0};
	}
	r->held_bytes = r->payload.bytes + in->n_bytes + sizeof(*r);
	g->held_bytes += r->held_bytes;
	g->body_bytes += r->held_bytes - r->payload.bytes;
	msd_ledger_writer_come(w, r);
}

bool msd_worker_queue(struct msd_worker *w, struct msd_peer *peer,
		      const struct msd_in *in)
{
	struct msd_request *r =
		take_spare(w, in->known != NULL ? in->known->n_bytes : in->n_bytes);
	msd_err err = MSD_OK;

	if (r == NULL)
		return false;
	*r = (struct msd_request){.link = r->link,
				  .peer = peer,
				  .id = in->body.id,
				  .bytes = r->bytes,
				  .cap = r->cap};
	if (w->batch.within_ns > 0)
		r->came_ns = msd_now_ns();
	if (peer->guest != NULL)
		take_load(w, r, in);
	msd_fair_queue_put(w, r);
	peer->n_queued++;
	if (in->known != NULL) {
		use_plan(r, in->known);
	} else {
		err = read_request(w, r, in, &w->diag);
	}
	if (err != MSD_OK) {
		msd_worker_reply_error(r, err, &w->diag);
		msd_ledger_writer_end(w, r, err);
		msd_worker_recycle(w, r);
	}
	if (is_laden(peer) && !peer->is_paused) {
		peer->is_paused = true;
		msd_conn_pause(&peer->conn, MSD_PAUSE_REQUESTS, true);
	}
	return true;
}

void msd_worker_write_error(struct msd_buf *out, const struct msd_request *r,
			    msd_err err, const struct msd_diag *d)
{
	struct msd_diag told = *d; /* borrows the text */

	told.code = err;
	msd_body_begin_response(out, r->id, false);
	msd_pack_diag(out, &told);
	msd_pack_nil(out);
}

void msd_worker_reply_error(const struct msd_request *r, msd_err err,
			    const struct msd_diag *d)
{
	struct msd_out *o = msd_out_new();

	if (o == NULL) {
		msd_conn_close(&r->peer->conn, MSD_NOMEM, "out of memory for a reply");
		return;
	}
	msd_worker_write_error(&o->body, r, err, d);
	msd_conn_send(&r->peer->conn, o);
}

void msd_worker_cancel(struct msd_worker *w, struct msd_peer *peer, uint64_t id)
{
	MSD_LIST_EACH (it, &peer->queue) {
		struct msd_request *r = request_of(it);
		if (r->id != id)
			continue;
		(void)msd_diag_set(&w->diag, MSD_CANCELLED,
				   "cancelled before it started");
		msd_worker_reply_error(r, MSD_CANCELLED, &w->diag);
		msd_ledger_writer_end(w, r, MSD_CANCELLED);
		msd_worker_recycle(w, r);
		return;
	}
}

void msd_worker_forget(struct msd_worker *w, struct msd_peer *peer)
{
	MSD_LIST_EACH_SAFE (it, &peer->queue) {
		msd_ledger_writer_end(w, request_of(it), MSD_ERR_COUNT);
		msd_worker_recycle(w, request_of(it));
	}
}
