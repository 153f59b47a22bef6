#include "daemon/supervisor/module/stats/log_ring.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/life/registry.h"

/*
 * Happy path: output is appended to the ring; a follower waits at its end and gets
 * new output in turn. Failures: no output arrives, and the answer is empty after the
 * wait time. The module is unloaded, and its followers are notified.
 */

static void answer(const struct msd_module *m, struct msd_req *r, uint64_t from)
{
	struct msd_buf b = {0};

	msd_log_ring_put_answer(m, from, &b);
	msd_req_answer(r, &b);
	msd_buf_finish(&b);
	msd_req_release(r);
}

void msd_log_ring_tell(struct msd_waiters *f, struct msd_req *r)
{
	const struct msd_module *m = MSD_CONTAINER_OF(f, struct msd_module, followers);
	uint64_t from;

	if (m->is_over) {
		msd_req_refuse(r, MSD_DRAINING, "the module was unloaded");
		return;
	}
	memcpy(&from, r->job.params.p, sizeof(from));
	answer(m, r, from);
}

static void keep(struct msd_module *m, const char *p, size_t n)
{
	if (n > MSD_LOG_BYTES) {
		p += n - MSD_LOG_BYTES;
		n = MSD_LOG_BYTES;
	}
	size_t first = MSD_LOG_BYTES - m->log_at < n ? MSD_LOG_BYTES - m->log_at : n;
	memcpy(m->log + m->log_at, p, first);
	memcpy(m->log, p + first, n - first);
	m->log_at = (m->log_at + n) % MSD_LOG_BYTES;
	m->log_n = m->log_n + n < MSD_LOG_BYTES ? m->log_n + n : MSD_LOG_BYTES;
}

void msd_log_ring_put(struct msd_module *m, const char *p, size_t n)
{
	if (m->log == NULL)
		m->log = malloc(MSD_LOG_BYTES);
	if (m->log == NULL || n == 0)
		return; /* a missing log is no reason to fail */
	keep(m, p, n);
	m->log_total += n;
	msd_waiters_tell(&m->followers);
}

uint64_t msd_log_ring_read(const struct msd_module *m, uint64_t from,
			   struct msd_buf *out)
{
	const uint64_t oldest = m->log_total - m->log_n;

	from = from < oldest ? oldest : from;
	from = from < m->log_total ? from : m->log_total;
	const size_t n = (size_t)(m->log_total - from);
	const size_t start = (m->log_at + MSD_LOG_BYTES - n) % MSD_LOG_BYTES;
	const size_t first = MSD_LOG_BYTES - start < n ? MSD_LOG_BYTES - start : n;
	if (n > 0) {
		msd_buf_put(out, m->log + start, first);
		msd_buf_put(out, m->log, n - first);
	}
	return from;
}

void msd_log_ring_put_answer(const struct msd_module *m, uint64_t from,
			     struct msd_buf *out)
{
	struct msd_buf text = {0};
	const uint64_t at = msd_log_ring_read(m, from, &text);

	msd_pack_map(out, 3);
	msd_pack_cstr(out, "text");
	/* A module may print any bytes; text on the wire is UTF-8. */
	msd_pack_text(out, (const char *)text.p, text.n);
	msd_pack_cstr(out, "from");
	msd_pack_uint(out, at);
	msd_pack_cstr(out, "next");
	msd_pack_uint(out, m->log_total);
	out->bad |= text.bad;
	msd_buf_finish(&text);
}

static void on_waited(struct msd_deadline *node)
{
	struct msd_req *r = MSD_CONTAINER_OF(node, struct msd_req, due.node);

	if (!msd_req_lost_right(r))
		answer(r->module, r, UINT64_MAX);
}

bool msd_log_ring_follow(struct msd_module *m, struct msd_req *r, uint64_t wait_ms)
{
	msd_buf_put(&r->job.params, &m->log_total, sizeof(m->log_total));
	if (r->job.params.bad)
		return false;
	msd_req_hold(r, r->job.params.cap);
	r->module = m;
	r->due.node.on_due = on_waited; /* it has no other deadline */
	msd_req_set_due(r, m->group.registry->deadlines, wait_ms);
	msd_waiters_wait(&m->followers, r);
	return true;
}
