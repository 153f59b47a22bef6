#include "daemon/supervisor/module/log_ring.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/house.h"

/*
 * Happy path: bytes come and go into the ring; whoever follows waits at the end of it,
 * and is answered with all that came in one piece. Failures: nothing comes, and the
 * answer is empty when its time is up; the module goes, and msd_module_free() says so.
 */

static void answer(const struct msd_module *m, struct msd_req *r, uint64_t from)
{
	struct msd_buf b = {0};

	msd_log_ring_put_answer(m, from, &b);
	msd_req_answer(r, &b);
	msd_buf_finish(&b);
	msd_req_release(r);
}

/* All of them have what was there before these @n bytes. */
static void answer_followers(struct msd_module *m, size_t n)
{
	struct msd_list *it;

	while ((it = msd_list_first(&m->followers)) != NULL) {
		answer(m, MSD_CONTAINER_OF(it, struct msd_req, link), m->log_total - n);
	}
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
		return; /* a log is not worth failing for */
	keep(m, p, n);
	m->log_total += n;
	answer_followers(m, n);
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
	/* A module may print anything; the wire's text is UTF-8. */
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

	answer(r->module, r, UINT64_MAX);
}

void msd_log_ring_follow(struct msd_module *m, struct msd_req *r, uint64_t wait_ms)
{
	r->module = m;
	r->due.node.on_due = on_waited; /* it has no other time to keep */
	msd_req_set_due(r, m->crew.house->deadlines, wait_ms);
	msd_list_append(&m->followers, &r->link);
}
