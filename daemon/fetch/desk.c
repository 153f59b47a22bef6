#include "daemon/fetch/desk.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/fetch/job.h"
#include "proto/method.h"
#include "proto/value.h"

/*
 * Happy path: fetch.get begins a job; fetch.progress says several times a second how
 * far each is, which the supervisor takes for a sign that it goes on; the response has
 * the memfd with it. Failures: a job's is its response's error; what breaks CHANNEL.md
 * ends the process, as the supervisor's end does.
 */

#define PROGRESS_MS 200u
#define MAX_QUEUED_BYTES (16u << 20)

static struct msd_job *job_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_job, link);
}

static void send_or_die(struct msd_desk *desk, struct msd_out *o)
{
	if (o == NULL || o->body.bad) {
		msd_out_destroy(o);
		msd_conn_close(&desk->channel, MSD_NOMEM, "out of memory");
	} else {
		msd_conn_send(&desk->channel, o);
	}
}

static void answer_error(struct msd_desk *desk, uint64_t id, const struct msd_diag *d)
{
	struct msd_out *o = msd_out_new();

	if (o != NULL) {
		msd_body_begin_response(&o->body, id, false);
		msd_pack_error(&o->body, d->code, msd_diag_text(d));
		msd_pack_nil(&o->body);
	}
	send_or_die(desk, o);
}

static void answer_fetched(struct msd_desk *desk, struct msd_job *job)
{
	const char *file = msd_job_file(job), *etag = msd_job_etag(job);
	struct msd_out *o = msd_out_new();

	if (o != NULL) {
		if (!job->is_had)
			o->fd = msd_landing_take_fd(&job->landing);
		msd_body_begin_response(&o->body, job->id, false);
		msd_pack_nil(&o->body);
		msd_pack_map(&o->body, 3 + (etag != NULL));
		msd_pack_cstr(&o->body, "bytes");
		msd_pack_uint(&o->body, job->is_had ? 0 : job->landing.bytes);
		msd_pack_cstr(&o->body, "sha256");
		msd_pack_bin(&o->body, job->digest.b, MSD_DIGEST_BYTES);
		msd_pack_cstr(&o->body, "file");
		msd_pack_text(&o->body, file, strlen(file));
		if (etag != NULL) {
			msd_pack_cstr(&o->body, "etag");
			msd_pack_text(&o->body, etag, strlen(etag));
		}
	}
	send_or_die(desk, o);
}

static void on_ended(struct msd_job *job, msd_err err, struct msd_diag *d)
{
	struct msd_desk *desk = job->user;

	msd_list_remove(&job->link);
	if (err == MSD_OK) {
		answer_fetched(desk, job);
	} else {
		answer_error(desk, job->id, d);
	}
	if (msd_list_is_empty(&desk->jobs))
		(void)uv_timer_stop(&desk->progress);
}

static const struct msd_job_ops job_ops = {.on_ended = on_ended};

static void on_progress_due(uv_timer_t *timer)
{
	struct msd_desk *desk = timer->data;

	MSD_LIST_EACH (it, &desk->jobs) {
		const struct msd_job *job = job_of(it);
		struct msd_out *o = msd_out_new();
		uint64_t total;

		if (o != NULL) {
			const uint64_t bytes = msd_job_progress(job, &total);

			msd_body_begin_notification(&o->body, "fetch.progress");
			msd_pack_array(&o->body, 3);
			msd_pack_uint(&o->body, job->id);
			msd_pack_uint(&o->body, bytes);
			msd_pack_uint(&o->body, total);
		}
		send_or_die(desk, o);
	}
}

/* An optional hash of the map, or several in a row. */
static msd_err read_digests(const msgpack_object *map, const char *key,
			    struct msd_span *ret, struct msd_diag *d)
{
	const msgpack_object *value = msd_map_find(map, key);
	msd_err err = value != NULL ? msd_object_bin(value, key, ret, d) : MSD_OK;

	if (err == MSD_OK && ret->n % MSD_DIGEST_BYTES != 0)
		err = msd_diag_set(d, MSD_BAD_REQUEST, "%s: no SHA-256", key);
	return err;
}

/* [{uri, sha256?, have?, etag?, etag_sha256?, max_bytes, stall_ms, retry_ms}] */
static msd_err read_ask(struct msd_desk *desk, struct msd_span params,
			struct msd_job_ask *ret, struct msd_span *ret_uri,
			struct msd_span *ret_etag, struct msd_diag *d)
{
	static const char *const known[] = {"uri",      "sha256",      "have",
					    "etag",     "etag_sha256", "max_bytes",
					    "stall_ms", "retry_ms",    NULL};
	const msgpack_object *list, *map;
	struct msd_span digest = {0}, of_etag = {0};
	msd_err err = msd_unpack(&desk->unpack, params, &list, d);

	if (err == MSD_OK)
		err = msd_params_check(list, "fetch.get", 1, 1, d);
	if (err != MSD_OK)
		return err;
	map = &list->via.array.ptr[0];
	err = msd_map_check(map, "fetch.get", known, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "uri", ret_uri, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "max_bytes", UINT64_MAX, &ret->max_bytes, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "stall_ms", UINT32_MAX, &ret->how.stall_ms, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "retry_ms", UINT32_MAX, &ret->how.retry_ms, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "etag", ret_etag, d);
	if (err == MSD_OK)
		err = read_digests(map, "have", &ret->have, d);
	if (err == MSD_OK)
		err = read_digests(map, "etag_sha256", &of_etag, d);
	if (err == MSD_OK)
		err = read_digests(map, "sha256", &digest, d);
	ret->has_digest = digest.n == MSD_DIGEST_BYTES;
	if (ret->has_digest)
		memcpy(ret->digest.b, digest.p, MSD_DIGEST_BYTES);
	if (of_etag.n == MSD_DIGEST_BYTES)
		memcpy(ret->etag_digest.b, of_etag.p, MSD_DIGEST_BYTES);
	return err;
}

static msd_err begin_job(struct msd_desk *desk, const struct msd_body *b,
			 struct msd_diag *d)
{
	struct msd_job_ask ask = {0};
	struct msd_span uri = {0}, etag = {0};
	struct msd_job *job = NULL;
	msd_err err = read_ask(desk, b->params, &ask, &uri, &etag, d);

	if (err != MSD_OK)
		return err;
	char *text = strndup((const char *)uri.p, uri.n);
	char *tag = etag.n > 0 ? strndup((const char *)etag.p, etag.n) : NULL;
	if (text == NULL || (etag.n > 0 && tag == NULL)) {
		err = msd_diag_no_memory(d);
	} else {
		ask.uri = text;
		ask.etag = tag;
		err = msd_job_begin(&desk->net, &ask, &job_ops, desk, b->id, &job, d);
	}
	free(text);
	free(tag);
	if (err != MSD_OK)
		return err;
	msd_list_append(&desk->jobs, &job->link);
	if (!uv_is_active((uv_handle_t *)&desk->progress)) {
		(void)uv_timer_start(&desk->progress, on_progress_due, PROGRESS_MS,
				     PROGRESS_MS);
	}
	return MSD_OK;
}

static void on_request(struct msd_desk *desk, const struct msd_body *b)
{
	struct msd_diag d = {0};
	msd_err err;

	if (msd_method_find(b->method) == MSD_M_FETCH_GET) {
		err = begin_job(desk, b, &d);
	} else {
		err = msd_diag_set(&d, MSD_UNKNOWN_METHOD, "only fetch.get is");
	}
	if (err != MSD_OK)
		answer_error(desk, b->id, &d);
	msd_diag_finish(&d);
}

/* cancel [id]: of one that has ended meanwhile nobody wants to hear. */
static void on_cancel(struct msd_desk *desk, struct msd_span params)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value id;

	if (!msd_array_open(params, &c, &n) || n != 1 ||
	    msd_value_read(&c, &id, NULL) != MSD_OK || id.kind != MSD_K_INT)
		return;
	MSD_LIST_EACH (it, &desk->jobs) {
		if (job_of(it)->id == (uint64_t)id.as.i) {
			msd_job_cancel(job_of(it));
			return;
		}
	}
}

static void on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_desk *desk = c->user;
	const struct msd_body *b = &in->body;

	if (b->kind == MSD_REQUEST) {
		on_request(desk, b);
	} else if (b->kind == MSD_NOTIFICATION &&
		   msd_method_find(b->method) == MSD_M_CANCEL) {
		on_cancel(desk, b->params);
	}
}

/* What is on its way has nobody to go to. */
static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	(void)c;
	(void)why;
	_exit(err == MSD_OK ? 0 : 1);
}

static const struct msd_conn_ops channel_ops = {.on_frame = on_frame,
						.on_closed = on_closed};

msd_err msd_desk_open(struct msd_desk *desk, uv_loop_t *loop, int channel_fd,
		      struct msd_diag *d)
{
	const struct msd_conn_limits limits = {
		.max_body_bytes = MSD_MAX_BODY_BYTES,
		.max_queued_bytes = MAX_QUEUED_BYTES,
	};
	msd_err err = msd_wire_init(&desk->wire, loop, d);

	desk->loop = loop;
	msd_list_init(&desk->jobs);
	if (err == MSD_OK)
		err = msd_net_init(&desk->net, loop, d);
	if (err != MSD_OK)
		return err;
	(void)uv_timer_init(loop, &desk->progress);
	desk->progress.data = desk;
	return msd_conn_open(&desk->channel, &desk->wire,
			     msd_transport_of_socket(channel_fd, true), &channel_ops,
			     &limits, desk, d);
}
