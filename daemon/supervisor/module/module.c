#include "daemon/supervisor/module/module.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/source/source_job.h"

/*
 * What a module is apart from its life: who waits for it is answered as its state says,
 * its log is kept in a ring, and in the end it is freed.
 */

void msd_module_free(struct msd_module *m)
{
	struct msd_house *house = m->crew.house;

	msd_deadline_clear(house->deadlines, &m->drain);
	while (!msd_list_is_empty(&m->receiving)) {
		struct msd_req *r =
			MSD_CONTAINER_OF(m->receiving.next, struct msd_req, link);
		msd_req_refuse(r, MSD_DRAINING, "the module was unloaded");
	}
	while (!msd_list_is_empty(&m->crew.all_lanes)) {
		msd_lane_free(MSD_CONTAINER_OF(m->crew.all_lanes.next, struct msd_lane,
					       all_link));
	}
	msd_list_remove(&m->link);
	if (m->predecessor != NULL)
		m->predecessor->successor = NULL;
	if (m->successor != NULL)
		m->successor->predecessor = NULL;
	msd_segpool_finish(&m->crew.in);
	msd_deadline_clear(house->deadlines, &m->bring_timer);
	msd_source_job_free(m->bringing);
	msd_source_finish(&m->crew.source);
	msd_facts_finish(&m->crew.facts);
	free(m->crew.name);
	free(m->crew.file);
	free(m->error);
	free(m->log);
	free(m->crew.replicas);
	free(m->crew.choices);
	free(m->life.workers);
	free(m);
	house->n_modules--;
	house->on_gone(house);
}

void msd_module_answer_all(struct msd_list *requests, msd_err err, const char *text)
{
	struct msd_list *it;

	while ((it = msd_list_first(requests)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		if (err == MSD_OK) {
			msd_req_answer_nil(r);
		} else {
			msd_req_answer_error(r, err, text);
		}
		msd_req_release(r);
	}
}

static void answer_waiter(const struct msd_module *m, struct msd_req *r)
{
	struct msd_buf b = {0};

	if (m->life.state == MSD_STATE_READY) {
		msd_pack_map(&b, 3);
		msd_pack_cstr(&b, "name");
		msd_pack_cstr(&b, m->crew.name);
		msd_pack_cstr(&b, "state");
		msd_pack_cstr(&b, msd_module_state_name(m->life.state));
		msd_pack_cstr(&b, "functions");
		msd_pack_uint(&b, m->crew.facts.n_functions);
		msd_req_answer(r, &b);
		msd_buf_finish(&b);
	} else {
		msd_req_answer_error(r, m->error_code,
				     m->error != NULL ? m->error
						      : "the module is gone");
	}
	msd_req_release(r);
}

void msd_module_answer_waiters(struct msd_module *m)
{
	struct msd_list *it;

	while ((it = msd_list_first(&m->waiters)) != NULL)
		answer_waiter(m, MSD_CONTAINER_OF(it, struct msd_req, link));
}

void msd_module_wait(struct msd_module *m, struct msd_req *r)
{
	if (m->life.state == MSD_STATE_LOADING ||
	    m->life.state == MSD_STATE_RESTARTING) {
		msd_list_append(&m->waiters, &r->link);
	} else if (m->life.state == MSD_STATE_DRAINING) {
		msd_req_refuse(r, MSD_DRAINING, "the module is being unloaded");
	} else
		answer_waiter(m, r);
}

uint32_t msd_module_in_flight(const struct msd_module *m)
{
	uint32_t n = m->crew.n_queued;

	for (uint32_t i = 0; i < m->crew.n_replicas; i++)
		n += m->crew.replicas[i].n_sent;
	return n;
}

void msd_module_log(struct msd_module *m, const char *p, size_t n)
{
	if (m->log == NULL)
		m->log = malloc(MSD_LOG_BYTES);
	if (m->log == NULL)
		return; /* a log is not worth failing for */
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

void msd_module_log_read(const struct msd_module *m, struct msd_buf *out)
{
	size_t start = (m->log_at + MSD_LOG_BYTES - m->log_n) % MSD_LOG_BYTES;
	size_t first =
		MSD_LOG_BYTES - start < m->log_n ? MSD_LOG_BYTES - start : m->log_n;

	if (m->log_n == 0)
		return;
	msd_buf_put(out, m->log + start, first);
	msd_buf_put(out, m->log, m->log_n - first);
}
