#include "daemon/supervisor/module_life.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/exit_status.h"
#include "daemon/log.h"
#include "daemon/supervisor/facts.h"
#include "daemon/supervisor/reply.h"
#include "daemon/supervisor/session.h"

/*
 * Happy path: start --opened--> ready; load requests are answered; unload drains,
 * kills, and the module is forgotten when its process is reaped. Failures:
 *  - the worker refuses the artifact: whoever loads it is told the whole cause, and the
 *    module is forgotten; without somebody to tell it is FAILED
 *  - the worker dies, or is not ready in time: FAILED, with its log
 *  - death when READY: requests that it had are answered WORKER_LOST, the others wait
 * for the next worker: at once for the first, then with back-off; too many: QUARANTINED
 *  - the worker lost its device (its exit status says so): the same, with GPU_FAULT and
 *    always at once
 */

#define BACKOFF_FIRST_MS 50u
#define BACKOFF_MOST_MS 30000u
#define HEALTHY_MS 60000u

static void move(struct msd_module *m, enum msd_module_state to)
{
	msd_log(MSD_LOG_INFO, "module", "name=%s state=%s was=%s", m->name,
		msd_module_state_name(to), msd_module_state_name(m->state));
	m->state = to;
}

static void keep_error(struct msd_module *m, msd_err err, const char *text)
{
	free(m->error);
	m->error = strdup(text);
	m->error_code = err;
}

void msd_module_send_segment(struct msd_module *m, uint16_t index, int fd,
			     uint64_t bytes)
{
	struct msd_out *o = msd_out_new();

	if (o == NULL)
		return;
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	msd_body_begin_notification(&o->body, "worker.segment");
	msd_pack_array(&o->body, 3);
	msd_pack_cstr(&o->body, "in");
	msd_pack_uint(&o->body, index);
	msd_pack_uint(&o->body, bytes);
	msd_conn_send(&m->process->channel, o);
}

static void on_load_timeout(struct msd_deadline *node)
{
	struct msd_module *m = MSD_CONTAINER_OF(node, struct msd_module, timer);

	if (m->process != NULL)
		msd_process_kill(m->process, "it was not ready in time");
}

static void send_open(struct msd_module *m)
{
	struct msd_out *o = msd_out_new();
	struct msd_req *r = msd_req_new(NULL, 0, MSD_M_WORKER_OPEN);

	if (o == NULL || r == NULL) {
		msd_out_destroy(o);
		if (r != NULL)
			msd_req_free(r);
		msd_process_kill(m->process, "out of memory");
		return;
	}
	r->module = m;
	r->wid = ++m->next_wid;
	r->state = MSD_REQ_SENT;
	r->on_response = msd_module_on_opened;
	msd_list_append(&m->sent, &r->link);
	msd_body_begin_request(&o->body, r->wid, "worker.open", false);
	msd_pack_array(&o->body, 1);
	msd_pack_map(&o->body, m->device.type != 0 ? 8 : 7);
	if (m->device.type != 0) {
		msd_pack_cstr(&o->body, "device");
		msd_pack_device(&o->body, m->device);
	}
	msd_pack_cstr(&o->body, "name");
	msd_pack_cstr(&o->body, m->name);
	msd_pack_cstr(&o->body, "file");
	msd_pack_cstr(&o->body, m->file);
	msd_pack_cstr(&o->body, "graph");
	msd_pack_uint(&o->body, m->graph_bytes);
	msd_pack_cstr(&o->body, "params");
	msd_pack_uint(&o->body, m->params_bytes);
	msd_pack_cstr(&o->body, "threads");
	msd_pack_uint(&o->body, m->server->threads);
	msd_pack_cstr(&o->body, "max_out");
	msd_pack_uint(&o->body, m->server->limits.max_memory);
	msd_pack_cstr(&o->body, "max_data");
	msd_pack_uint(&o->body, m->server->limits.max_worker_memory);
	msd_conn_send(&m->process->channel, o);
}

static void on_not_started(struct msd_deadline *node)
{
	msd_module_on_lost(MSD_CONTAINER_OF(node, struct msd_module, timer));
}

void msd_module_start(struct msd_module *m)
{
	struct msd_diag d = {0};

	if (msd_process_spawn(m, &m->process, &d) != MSD_OK) {
		m->process = NULL;
		keep_error(m, d.code, msd_diag_text(&d));
		msd_diag_finish(&d);
		m->timer.on_due = on_not_started; /* later: never re-entrant */
		(void)msd_deadline_set(&m->server->deadlines, &m->timer, 0);
		return;
	}
	m->log_fresh = 0;
	m->timer.on_due = on_load_timeout;
	(void)msd_deadline_set(&m->server->deadlines, &m->timer,
			       m->server->limits.load_ms);
	send_open(m);
	msd_segpool_announce(&m->in);
}

/* The successor is READY: it takes the name, the old one drains. */
static void take_over(struct msd_module *m)
{
	struct msd_module *old = m->predecessor;

	if (old == NULL)
		return;
	m->predecessor = NULL;
	old->successor = NULL;
	msd_list_append(&m->server->modules, &m->link);
	msd_list_remove(&old->link);
	msd_module_unload(old);
}

void msd_module_on_opened(struct msd_req *r, struct msd_in *in)
{
	struct msd_module *m = r->module;
	struct msd_diag d = {0};

	if (!msd_reply_is_ok(in)) {
		msd_reply_error(in, &d);
		(void)msd_diag_wrap(&d, d.code, "load %s", m->name);
		keep_error(m, d.code, msd_diag_text(&d));
		msd_diag_finish(&d);
		return; /* it exits by itself, or the load timeout ends it */
	}
	if (msd_facts_keep(m, in->body.result, &d) != MSD_OK) {
		keep_error(m, MSD_INTERNAL, msd_diag_text(&d));
		msd_diag_finish(&d);
		msd_process_kill(m->process, "it described its module wrongly");
		return;
	}
	msd_deadline_clear(&m->server->deadlines, &m->timer);
	m->ready_ms = uv_now(&m->server->loop);
	m->is_open = true;
	free(m->error);
	m->error = NULL;
	if (m->state == MSD_STATE_DRAINING) {
		msd_module_pump(m);
		msd_module_check_idle(m);
		return;
	}
	move(m, MSD_STATE_READY);
	take_over(m);
	msd_module_answer_waiters(m);
	msd_module_ready_queued(m);
	msd_module_pump(m);
}

#define LAST_LINES 2

static void explain_death(struct msd_module *m, struct msd_process *p,
			  struct msd_buf *out)
{
	struct msd_buf log = {0};

	msd_process_describe_end(p, out);
	msd_module_log_read(m, &log);
	size_t old = log.n - m->log_fresh; /* what an earlier worker wrote */
	/* The last lines often say why: the module's own and the crash handler's. */
	while (log.n > old && (log.p[log.n - 1] == '\n' || log.p[log.n - 1] == '\r'))
		log.n--;
	size_t start = log.n;
	int lines = 0;
	while (start > old && log.n - start < 400 &&
	       (log.p[start - 1] != '\n' || ++lines < LAST_LINES))
		start--;
	if (log.n > start)
		msd_buf_printf(out, "; last words: %.*s", (int)(log.n - start),
			       (const char *)log.p + start);
	msd_buf_finish(&log);
}

static void lose(struct msd_req *r, msd_err err, const char *what, const char *how)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, err, "module %s: the worker %s (%s)", r->module->name,
			   what, how);
	r->module->n_errors += r->method == MSD_M_CALL ? 1u : 0u;
	msd_req_answer_error(r, err, msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_req_free(r);
}

/* Requests that the dead worker had: nobody will answer them now. It ran the first one;
 * of the others it may have run some whose answers it had not written yet. */
static void lose_sent(struct msd_module *m, bool was_fault, const char *how)
{
	const msd_err err = was_fault ? MSD_GPU_FAULT : MSD_WORKER_LOST;
	const char *what = was_fault ? "lost its device before this request"
				     : "died during this request";
	struct msd_list *it;

	while ((it = msd_list_first(&m->sent)) != NULL) {
		lose(MSD_CONTAINER_OF(it, struct msd_req, link), err, what, how);
		if (!was_fault)
			what = "died with this request sent to it, perhaps not begun";
	}
	m->n_sent = 0;
}

/* A client waits for the answer to its load. */
static bool is_loaders(const struct msd_module *m)
{
	MSD_LIST_EACH (it, &m->waiters) {
		if (MSD_CONTAINER_OF(it, struct msd_req, link)->method ==
		    MSD_M_MODULE_LOAD)
			return true;
	}
	return false;
}

static void fail_load(struct msd_module *m, const char *how)
{
	/* A refusal is told whole; of a death there are logs to ask for. A replacement
	 * that failed leaves no trace. */
	const bool is_forgotten =
		(m->error != NULL && is_loaders(m)) || m->predecessor != NULL;
	struct msd_diag d = {0};

	if (m->error == NULL) {
		(void)msd_diag_set(&d, MSD_MODULE_FAILED,
				   "load %s: the worker died before it was ready (%s)",
				   m->name, how);
		keep_error(m, MSD_MODULE_FAILED, msd_diag_text(&d));
		msd_diag_finish(&d);
	}
	move(m, MSD_STATE_FAILED);
	msd_log(MSD_LOG_WARN, "load-failed", "name=%s why=\"%s\"", m->name,
		m->error != NULL ? m->error : "out of memory");
	msd_module_answer_waiters(m);
	msd_module_refuse_queued(m, MSD_MODULE_FAILED,
				 m->error != NULL ? m->error : "the load failed");
	if (is_forgotten)
		msd_module_free(m);
}

static void on_backoff_over(struct msd_deadline *node)
{
	msd_module_start(MSD_CONTAINER_OF(node, struct msd_module, timer));
}

/* True when the deaths of the last minute are too many. */
static bool note_death(struct msd_module *m)
{
	const uint32_t room = sizeof(m->deaths_ms) / sizeof(m->deaths_ms[0]);
	uint64_t now = uv_now(&m->server->loop);
	uint64_t max = m->server->limits.max_deaths;

	max = max < 1 ? 1 : max > room ? room : max;
	m->deaths_ms[m->n_deaths++ % room] = now;
	if (m->ready_ms != 0 && now - m->ready_ms > HEALTHY_MS)
		m->n_backoffs = 0;
	if (m->n_deaths < max)
		return false;
	return now - m->deaths_ms[(m->n_deaths - max) % room] < 60000;
}

static void quarantine(struct msd_module *m, const char *how)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(
		&d, MSD_QUARANTINED,
		"module %s died too often, last: %s; load it again with replace "
		"when it is mended",
		m->name, how);
	keep_error(m, MSD_QUARANTINED, msd_diag_text(&d));
	move(m, MSD_STATE_QUARANTINED);
	msd_module_answer_waiters(m);
	msd_module_refuse_queued(m, MSD_QUARANTINED, msd_diag_text(&d));
	msd_diag_finish(&d);
}

/* How long the next restart waits: at first not at all. */
static uint64_t back_off(struct msd_module *m)
{
	if (m->n_backoffs++ == 0)
		return 0;
	uint32_t shift = m->n_backoffs - 2 < 10 ? m->n_backoffs - 2 : 10;
	uint64_t most = (uint64_t)BACKOFF_FIRST_MS << shift;
	if (most > BACKOFF_MOST_MS)
		most = BACKOFF_MOST_MS;
	/* Half fixed, half jitter: modules that died together do not come back
	 * together. */
	return most / 2 + (uint64_t)random() % (most / 2 + 1);
}

/* After a fault of the device at once: nothing else than a fresh process clears it. */
static void restart(struct msd_module *m, bool was_fault)
{
	const uint64_t in_ms = was_fault ? 0 : back_off(m);
	move(m, MSD_STATE_RESTARTING);
	msd_log(MSD_LOG_INFO, "restart", "name=%s in_ms=%llu", m->name,
		(unsigned long long)in_ms);
	m->n_restarts++;
	msd_module_wait_queued(m);
	if (in_ms == 0) {
		msd_module_start(m);
		return;
	}
	m->timer.on_due = on_backoff_over;
	(void)msd_deadline_set(&m->server->deadlines, &m->timer, in_ms);
}

void msd_module_on_lost(struct msd_module *m)
{
	struct msd_buf how = {0};
	struct msd_process *p = m->process;

	msd_deadline_clear(&m->server->deadlines, &m->timer);
	if (p != NULL)
		explain_death(m, p, &how);
	else
		msd_buf_printf(&how, "%s", m->error != NULL ? m->error : "not started");
	msd_buf_put_u8(&how, 0);
	const char *text = how.bad ? "out of memory" : (const char *)how.p;
	const bool was_started = p != NULL;
	const bool was_fault = was_started && p->term_signal == 0 &&
			       p->exit_status == MSD_EXIT_GPU_FAULT;
	m->process = NULL;
	m->is_open = false;
	if (p != NULL) {
		msd_process_detach(p);
		msd_process_unref(p);
	}
	lose_sent(m, was_fault, text);
	if (m->state == MSD_STATE_DRAINING) {
		msd_module_refuse_queued(m, MSD_DRAINING,
					 "the module is being unloaded");
		msd_module_answer_all(&m->waiters, MSD_DRAINING,
				      "the module was unloaded");
		msd_module_answer_all(&m->unloaders, MSD_OK, NULL);
		msd_module_free(m);
	} else if (m->state == MSD_STATE_LOADING) {
		fail_load(m, text);
	} else {
		msd_log(MSD_LOG_WARN, "worker-lost", "name=%s how=\"%s\"", m->name,
			text);
		/* That no worker could be started is not the module's doing. */
		if (was_started && note_death(m))
			quarantine(m, text);
		else
			restart(m, was_fault);
	}
	msd_buf_finish(&how);
}

static void on_drain_over(struct msd_deadline *node)
{
	struct msd_module *m = MSD_CONTAINER_OF(node, struct msd_module, timer);

	msd_module_refuse_queued(m, MSD_DRAINING, "the module was unloaded");
	if (m->process != NULL)
		msd_process_kill(m->process, "the module was unloaded");
}

/* Somebody waits for an answer; what runs for a client that is gone does not count. */
static bool is_awaited(const struct msd_module *m)
{
	if (m->n_queued > 0 || !msd_list_is_empty(&m->receiving))
		return true;
	MSD_LIST_EACH (it, &m->sent) {
		if (MSD_CONTAINER_OF(it, struct msd_req, link)->session != NULL)
			return true;
	}
	return false;
}

void msd_module_check_idle(struct msd_module *m)
{
	if (m->state != MSD_STATE_DRAINING || m->process == NULL || is_awaited(m))
		return;
	msd_process_kill(m->process, "the module was unloaded");
}

void msd_module_unload(struct msd_module *m)
{
	if (m->state == MSD_STATE_DRAINING)
		return;
	if (m->successor != NULL)
		msd_module_unload(m->successor);
	bool has_worker = m->state == MSD_STATE_READY || m->process != NULL;
	move(m, MSD_STATE_DRAINING);
	msd_deadline_clear(&m->server->deadlines, &m->timer);
	if (!has_worker) { /* FAILED, QUARANTINED, or between two workers */
		msd_module_on_lost(m);
		return;
	}
	m->timer.on_due = on_drain_over;
	(void)msd_deadline_set(&m->server->deadlines, &m->timer,
			       m->server->limits.drain_ms);
	msd_module_check_idle(m);
}
