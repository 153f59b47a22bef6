/*
 * The methods hello, server.info and server.metrics.
 *
 * Happy path: the result is written from the current state. server.info waits for the
 * devices: the first request starts a process, and msd_method_devices_known() answers
 * all waiting requests when it has ended.
 */
#include "daemon/limits.h"
#include "daemon/supervisor/edge/access/audit.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/devices.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "proto/unpack.h"

void msd_method_put_limits(struct msd_buf *b, const struct msd_limits *limits)
{
	uint32_t n = 0;

#define MSD_LIMIT_COUNT(field, option, when, value, sentence) n++;
	MSD_LIMIT_MAP(MSD_LIMIT_COUNT)
#undef MSD_LIMIT_COUNT
	msd_pack_map(b, n);
#define MSD_LIMIT_PUT(field, option, when, value, sentence)                            \
	msd_pack_pair_uint(b, option, limits->field);
	MSD_LIMIT_MAP(MSD_LIMIT_PUT)
#undef MSD_LIMIT_PUT
}

msd_err msd_method_hello(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_buf *b = &c->result;

	if (c->params->via.array.size > 0) {
		static const char *const known[] = {"client", "protocol", "token",
						    "objects", NULL};
		bool takes_objects = c->session->client.takes_objects;
		struct msd_span token = {0};
		const msgpack_object *o = &c->params->via.array.ptr[0];
		uint64_t protocol = MSD_PROTOCOL_VERSION;
		msd_err err = msd_map_check(o, "session.hello", known, d);
		if (err == MSD_OK)
			err = msd_map_uint(o, "protocol", UINT32_MAX, &protocol, d);
		if (err == MSD_OK && protocol != MSD_PROTOCOL_VERSION) {
			err = msd_diag_set(d, MSD_UNSUPPORTED,
					   "protocol %llu: this daemon speaks %u",
					   (unsigned long long)protocol,
					   MSD_PROTOCOL_VERSION);
		}
		if (err == MSD_OK)
			err = msd_map_str(o, "token", &token, d);
		if (err == MSD_OK)
			err = msd_map_bool(o, "objects", &takes_objects, d);
		const bool is_shown = msd_map_find(o, "token") != NULL;
		if (err == MSD_OK && is_shown)
			err = msd_authorization_show(c->session, token, d);
		if (err != MSD_OK)
			return err;
		if (is_shown)
			msd_audit_shown(c->session);
		c->session->client.takes_objects = takes_objects;
	}
	msd_pack_map(b, 5);
	msd_pack_pair_str(b, "server", "modserd");
	msd_pack_pair_str(b, "version", MSD_VERSION);
	msd_pack_pair_uint(b, "protocol", MSD_PROTOCOL_VERSION);
	msd_pack_cstr(b, "limits");
	msd_method_put_limits(b, c->session->edge->limits);
	msd_pack_cstr(b, "features");
	msd_pack_array(b, 7);
	msd_pack_cstr(b, "direct");
	msd_pack_cstr(b, "objects");
	msd_pack_cstr(b, "promises");
	msd_pack_cstr(b, "resident-tensors");
	msd_pack_cstr(b, "rights");
	msd_pack_cstr(b, "segments");
	msd_pack_cstr(b, "upload");
	return MSD_OK;
}

static void tell_info(struct msd_waiters *f, struct msd_req *r)
{
	struct msd_edge *e = MSD_CONTAINER_OF(f, struct msd_edge, info_waiters);
	struct msd_buf b = {0};

	e->put_info(e, &b);
	msd_req_answer(r, &b);
	msd_buf_finish(&b);
	msd_req_release(r);
}

void msd_method_devices_known(void *edge)
{
	msd_waiters_tell(&((struct msd_edge *)edge)->info_waiters);
}

msd_err msd_method_info(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct msd_req *r =
		msd_req_new_waiting(&c->session->client, c->in->body.id, c->method);

	if (r == NULL)
		return msd_diag_no_memory(d);
	c->later = true;
	e->info_waiters.tell = tell_info;
	msd_waiters_wait(&e->info_waiters, r);
	if (msd_devices_look(e->devices))
		msd_method_devices_known(e);
	return MSD_OK;
}

msd_err msd_method_metrics(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;

	return e->answer_in_chunks(e, c, d);
}
