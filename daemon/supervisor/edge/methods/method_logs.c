#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/module/stats/log_ring.h"
#include "proto/unpack.h"

#define MOST_WAIT_MS 3600000u
/* Waiting requests per connection and module. One log line answers all of them. */
#define MOST_FOLLOWS 4u

/* Reply at once if the log has more than the client has read, else when a line is
 * added. */
static msd_err follow(struct msd_method_call *c, struct msd_module *m,
		      struct msd_diag *d)
{
	static const char *const known[] = {"from", "wait_ms", NULL};
	const msgpack_object *options = &c->params->via.array.ptr[1];
	uint64_t from = 0, wait_ms = 0;
	msd_err err = msd_map_check(options, "module.logs", known, d);

	if (err == MSD_OK)
		err = msd_map_uint(options, "from", UINT64_MAX, &from, d);
	if (err == MSD_OK)
		err = msd_map_uint(options, "wait_ms", MOST_WAIT_MS, &wait_ms, d);
	if (err != MSD_OK)
		return err;
	if (c->options.has_deadline && c->options.deadline_ms < wait_ms)
		wait_ms = c->options.deadline_ms;
	if (wait_ms == 0 || from < m->log_total) {
		msd_log_ring_put_answer(m, from, &c->result);
		return MSD_OK;
	}
	err = msd_client_may_wait(&c->session->client, c->method, m, MOST_FOLLOWS, d);
	if (err != MSD_OK)
		return err;
	struct msd_req *r =
		msd_req_new_waiting(&c->session->client, c->in->body.id, c->method);
	if (r == NULL)
		return msd_diag_no_memory(d);
	if (!msd_log_ring_follow(m, r, wait_ms)) {
		msd_req_release(r);
		return msd_diag_no_memory(d);
	}
	c->later = true;
	return MSD_OK;
}

msd_err msd_method_logs(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module *m;
	struct msd_buf log = {0};
	msd_err err = msd_method_module(c, &m, d);

	if (err != MSD_OK)
		return err;
	if (c->params->via.array.size > 1)
		return follow(c, m, d);
	(void)msd_log_ring_read(m, 0, &log);
	/* A module may print any bytes; text in the protocol is UTF-8. */
	msd_pack_text(&c->result, (const char *)log.p, log.n);
	msd_buf_finish(&log);
	return MSD_OK;
}
