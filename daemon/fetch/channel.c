#include "daemon/fetch/channel.h"

#include <stdlib.h>

#include "daemon/fetch/job.h"
#include "daemon/fetch/put_fetched.h"
#include "daemon/fetch/request.h"
#include "proto/method.h"
#include "proto/value.h"

/*
 * Happy path: fetch.get starts a job. fetch.progress reports each job several times a
 * second, and the supervisor uses it as a liveness signal. The response carries the
 * memfd. A job that depends on the machine's devices restarts when the device list
 * arrives. Failures: a failed job sends an error response. A violation of CHANNEL.md,
 * or the end of the supervisor, ends the process.
 */

#define PROGRESS_MS 200u
#define MAX_QUEUED_BYTES (16u << 20)

/* A fetch.get whose job ended and will be started again. */
struct waiting {
	struct msd_list link;
	uint64_t id;
	struct msd_buf asked;
};

static struct waiting *waiting_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct waiting, link);
}

static void waiting_free(struct waiting *w)
{
	msd_list_remove(&w->link);
	msd_buf_finish(&w->asked);
	free(w);
}

static struct msd_job *job_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_job, link);
}

static void send_or_die(struct msd_fetch_channel *desk, struct msd_out *o)
{
	if (o == NULL || o->body.bad) {
		msd_out_destroy(o);
		msd_conn_close(&desk->channel, MSD_NOMEM, "out of memory");
	} else {
		msd_conn_send(&desk->channel, o);
	}
}

static void answer_error(struct msd_fetch_channel *desk, uint64_t id,
			 const struct msd_diag *d)
{
	struct msd_out *o = msd_out_new();

	if (o != NULL) {
		msd_body_begin_response(&o->body, id, false);
		msd_pack_error(&o->body, d->code, msd_diag_text(d));
		msd_pack_nil(&o->body);
	}
	send_or_die(desk, o);
}

static void answer_fetched(struct msd_fetch_channel *desk, struct msd_job *job)
{
	struct msd_out *o = msd_out_new();

	if (o != NULL) {
		if (!job->plan.is_had)
			o->fd = msd_download_buffer_adopt_fd(&job->landing);
		msd_body_begin_response(&o->body, job->id, false);
		msd_pack_nil(&o->body);
		msd_put_fetched(&o->body, job);
	}
	send_or_die(desk, o);
}

static void ask_devices(struct msd_fetch_channel *desk)
{
	struct msd_out *o = msd_out_new();

	if (o != NULL) {
		msd_body_begin_request(&o->body, 0, "fetch.devices", false);
		msd_pack_array(&o->body, 0);
	}
	send_or_die(desk, o);
}

/* Queue the request until the device list arrives. MSD_NOMEM: it is not queued. */
static msd_err wait_for_devices(struct msd_fetch_channel *desk, struct msd_job *job,
				struct msd_diag *d)
{
	struct waiting *w = malloc(sizeof(*w));
	const bool is_first = msd_list_is_empty(&desk->waiting);

	if (w == NULL)
		return msd_diag_no_memory(d);
	w->id = job->id;
	w->asked = job->asked;
	job->asked = (struct msd_buf){0};
	msd_list_append(&desk->waiting, &w->link);
	if (is_first)
		ask_devices(desk);
	return MSD_OK;
}

static void on_ended(struct msd_job *job, msd_err err, struct msd_diag *d)
{
	struct msd_fetch_channel *desk = job->user;

	msd_list_remove(&job->link);
	if (err == MSD_OK) {
		answer_fetched(desk, job);
	} else if (!msd_job_needs_devices(job) ||
		   wait_for_devices(desk, job, d) != MSD_OK) {
		answer_error(desk, job->id, d);
	}
	if (msd_list_is_empty(&desk->jobs))
		(void)uv_timer_stop(&desk->progress);
}

static const struct msd_job_ops job_ops = {.on_ended = on_ended};

static void on_progress_due(uv_timer_t *timer)
{
	struct msd_fetch_channel *desk = timer->data;

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

/* Keep @params with the job: the job may have to be started again from them. */
static msd_err begin_job(struct msd_fetch_channel *desk, uint64_t id,
			 struct msd_span params, struct msd_diag *d)
{
	struct msd_fetch_request asked;
	struct msd_job *job = NULL;
	msd_err err = msd_fetch_request_read(&desk->unpack, params, &asked, d);

	asked.ask.machine = &desk->machine;
	asked.ask.room = &desk->room;
	asked.ask.arriving = desk->arriving;
	if (err == MSD_OK) {
		desk->room.max_bytes = asked.max_memory;
		err = msd_job_begin(&desk->net, &asked.ask, &job_ops, desk, id, &job,
				    d);
	}
	msd_fetch_request_finish(&asked);
	if (err != MSD_OK)
		return err;
	msd_buf_put(&job->asked, params.p, params.n);
	msd_list_append(&desk->jobs, &job->link);
	if (job->is_settled) {
		msd_job_settle(job, d);
		return MSD_OK;
	}
	if (!uv_is_active((uv_handle_t *)&desk->progress)) {
		(void)uv_timer_start(&desk->progress, on_progress_due, PROGRESS_MS,
				     PROGRESS_MS);
	}
	return MSD_OK;
}

static void on_request(struct msd_fetch_channel *desk, const struct msd_body *b)
{
	struct msd_diag d = {0};
	msd_err err;

	if (msd_method_find(b->method) == MSD_M_FETCH_GET) {
		err = begin_job(desk, b->id, b->params, &d);
	} else {
		err = msd_diag_set(&d, MSD_UNKNOWN_METHOD, "only fetch.get is");
	}
	if (err != MSD_OK)
		answer_error(desk, b->id, &d);
	msd_diag_finish(&d);
}

/* An error also counts as an answer: the devices are not requested again. */
static void on_devices(struct msd_fetch_channel *desk, const struct msd_body *b)
{
	struct msd_diag d = {0};

	if (msd_platform_read(&desk->unpack, b->result, &desk->machine, &d) != MSD_OK)
		desk->machine.is_known = true;
	msd_diag_finish(&d);
	while (!msd_list_is_empty(&desk->waiting)) {
		struct waiting *w = waiting_of(msd_list_first(&desk->waiting));
		const struct msd_span asked = {w->asked.p, w->asked.n};

		if (begin_job(desk, w->id, asked, &d) != MSD_OK)
			answer_error(desk, w->id, &d);
		msd_diag_finish(&d);
		waiting_free(w);
	}
}

/* Handle cancel [id]. If the job has already ended, ignore it. */
static void on_cancel(struct msd_fetch_channel *desk, struct msd_span params)
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
	MSD_LIST_EACH (it, &desk->waiting) {
		if (waiting_of(it)->id == (uint64_t)id.as.i) {
			waiting_free(waiting_of(it));
			return;
		}
	}
}

static void on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_fetch_channel *desk = c->user;
	const struct msd_body *b = &in->body;

	if (b->kind == MSD_REQUEST) {
		on_request(desk, b);
	} else if (b->kind == MSD_NOTIFICATION &&
		   msd_method_find(b->method) == MSD_M_CANCEL) {
		on_cancel(desk, b->params);
	} else if (b->kind == MSD_RESPONSE) {
		on_devices(desk, b);
	}
}

/* The supervisor is gone. Save unfinished downloads, so that a later fetch can resume
 * them. */
static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_fetch_channel *desk = c->user;

	(void)why;
	MSD_LIST_EACH (it, &desk->jobs) {
		msd_download_buffer_save(&job_of(it)->landing);
	}
	_exit(err == MSD_OK ? 0 : 1);
}

static const struct msd_conn_ops channel_ops = {.on_frame = on_frame,
						.on_closed = on_closed};

msd_err msd_fetch_channel_open(struct msd_fetch_channel *desk, uv_loop_t *loop,
			       int channel_fd, int arriving, struct msd_diag *d)
{
	const struct msd_conn_limits limits = {
		.max_body_bytes = MSD_MAX_BODY_BYTES,
		.max_queued_bytes = MAX_QUEUED_BYTES,
	};
	msd_err err = msd_wire_init(&desk->wire, loop, d);

	desk->loop = loop;
	desk->arriving = arriving;
	msd_list_init(&desk->jobs);
	msd_list_init(&desk->waiting);
	desk->machine = (struct msd_platform_machine){.arch = msd_platform_arch()};
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
