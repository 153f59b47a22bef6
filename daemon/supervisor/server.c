#include "daemon/supervisor/server.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/loop/work.h"
#include "daemon/segments/segpool.h"
#include "daemon/supervisor/descriptors.h"
#include "daemon/supervisor/edge/listen/listener.h"
#include "daemon/supervisor/edge/listen/proxy_accept.h"
#include "daemon/supervisor/edge/listen/tls_accept.h"
#include "daemon/supervisor/edge/session/handle_disposal.h"
#include "daemon/supervisor/edge/session/memory_pressure.h"
#include "daemon/supervisor/edge/session/memory_share.h"
#include "daemon/supervisor/edge/session/sessions.h"
#include "daemon/supervisor/handover_workers.h"
#include "daemon/supervisor/http/http.h"
#include "daemon/supervisor/machine.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/readiness.h"
#include "daemon/supervisor/module/stats/call_log_dump.h"
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/rpc/rpc.h"
#include "daemon/supervisor/threads.h"
#include "daemon/supervisor/wiring.h"
#include "proto/base/inherited.h"

/*
 * Happy path: init, then main adds listeners and modules, then run. SIGTERM drains:
 * new connections and requests are rejected, modules finish their requests, workers
 * exit, the loop stops. Failures: workers that do not exit within limits.drain_ms are
 * killed; a second signal skips the wait.
 */

#define TICK_MS 5000u
#define END_AT_ONCE_MS 500u           /* time to reap killed workers */
#define DISMISS_MS 250u               /* time for connections that are being accepted */
#define END_PATIENCE_MS 5000u         /* additional timeout for the service manager */
#define KEEP_WARM_BYTES (64ull << 20) /* of idle tensor memory, per module */

msd_err msd_server_reload(struct msd_server *s, struct msd_buf *ret, struct msd_diag *d)
{
	/* For the service manager the stop has begun; READY=1 would undo it. */
	const bool is_told = !s->registry.is_leaving;

	if (is_told)
		msd_sd_notify_reloading(&s->sd);
	msd_err err = msd_reload(s, ret, d);
	if (is_told)
		msd_server_tell_ready(s);
	return err;
}

/* Extend the service manager's timeout by @ms. */
static void tell_stopping(const struct msd_server *s, uint64_t ms, const char *status)
{
	msd_sd_notify(&s->sd, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%llu\nSTATUS=%s",
		      (unsigned long long)(ms + END_PATIENCE_MS) * 1000, status);
}

/* Tell load balancers early to send no more calls; serve the calls that arrive in the
 * meantime. */
static void leave(struct msd_server *s)
{
	s->registry.is_leaving = true;
	msd_log(MSD_LOG_INFO, "daemon_drain_delay", "delay_ms=%llu",
		(unsigned long long)s->limits.drain_delay_ms);
	msd_deadline_set(&s->deadlines, &s->drain, s->limits.drain_delay_ms);
	msd_rpc_leave(&s->edge);
	tell_stopping(s, s->limits.drain_delay_ms,
		      "draining soon: not ready, still serving");
}

static void on_signal(struct msd_signals *signals, int number)
{
	struct msd_server *s = MSD_CONTAINER_OF(signals, struct msd_server, signals);

	if (number == SIGHUP) {
		struct msd_buf changes = {0};
		struct msd_diag d = {0};

		msd_log(MSD_LOG_INFO, "daemon_signal", "name=SIGHUP");
		(void)msd_server_reload(s, &changes, &d); /* it has logged the error */
		msd_buf_finish(&changes);
		msd_diag_finish(&d);
		return;
	}
	if (number == SIGUSR1) {
		msd_log(MSD_LOG_INFO, "daemon_signal", "name=SIGUSR1");
		msd_call_log_dump_tell(&s->registry);
		return;
	}
	msd_log(MSD_LOG_INFO, "daemon_signal", "number=%d", number);
	if (s->registry.is_leaving || s->limits.drain_delay_ms == 0) {
		msd_server_drain(s, s->is_draining);
	} else {
		leave(s);
	}
}

static void on_freed(void *server)
{
	struct msd_server *s = server;

	msd_memory_trim_look(&s->thrift);
}

/* The module is idle: limit the memory that it keeps for the next request. */
static void rest(struct msd_worker_group *group)
{
	msd_segpool_trim(&group->in, KEEP_WARM_BYTES);
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		if (group->replicas[i].process != NULL)
			msd_process_cool(group->replicas[i].process);
	}
}

static void tell_status(const struct msd_server *s)
{
	msd_sd_notify(&s->sd, "STATUS=%u modules, %u connections",
		      s->registry.n_modules, s->edge.n_sessions);
}

static void on_tick(uv_timer_t *timer)
{
	struct msd_server *s = timer->data;
	const uint64_t passed_ms = uv_now(&s->loop) - s->ticked_ms;
	const bool was_away = passed_ms > TICK_MS + MSD_AWAY_LEAST_MS;

	s->ticked_ms = uv_now(&s->loop);
	msd_memory_pressure_end_stuck(&s->edge, was_away ? passed_ms - TICK_MS : 0);
	if (!msd_tasks_are_queued(&s->wire.tasks)) /* on_freed() does it after them */
		msd_memory_trim_look(&s->thrift);
	tell_status(s);
	msd_cgroups_tidy(&s->groups);
	msd_handover_workers_settle(&s->registry);
	MSD_LIST_EACH (it, &s->registry.modules) {
		struct msd_module *m = MSD_CONTAINER_OF(it, struct msd_module, link);
		if (msd_module_in_flight(m) == 0)
			rest(&m->group);
	}
}

static void on_watchdog(uv_timer_t *timer)
{
	const struct msd_server *s = timer->data;

	msd_sd_notify(&s->sd, "WATCHDOG=1");
}

/* Tell connected clients that the daemon stops, and for a while also connections that
 * are being accepted. Returns true if some are left. */
static bool dismiss(struct msd_server *s)
{
	const uint64_t now_ms = uv_now(&s->loop);

	if (s->dismissed_ms == 0) {
		s->dismissed_ms = now_ms;
		msd_listeners_close(&s->edge, false);
	}
	const bool is_left = msd_sessions_dismiss(&s->edge);
	const bool is_coming = !msd_tls_accept_is_empty(&s->edge) ||
			       !msd_list_is_empty(&s->edge.comers);

	return (is_left || is_coming) && now_ms - s->dismissed_ms < DISMISS_MS;
}

static bool is_drained(const struct msd_server *s)
{
	return s->is_draining && s->registry.n_modules == 0 &&
	       msd_rpc_is_drained(&s->edge) &&
	       (s->is_ending ||
		(!msd_keeper_is_busy(&s->keeper) && s->fetcher.n_processes == 0));
}

/* Drained, except for clients to notify and replies that are still being read. Send
 * these as long as the clients read them. */
static void on_tick_drain(uv_timer_t *timer)
{
	struct msd_server *s = timer->data;

	if (!is_drained(s))
		return;
	const bool is_left = dismiss(s);
	const bool is_owing = msd_sessions_flush(&s->edge);
	if ((!is_left && !is_owing) || s->is_ending)
		uv_stop(&s->loop);
}

/* Runs in a later loop iteration: the caller may be in the middle of a session or a
 * module. */
void msd_server_check_drained(struct msd_server *s)
{
	if (is_drained(s))
		(void)uv_timer_start(&s->tick, on_tick_drain, 0, 20);
}

static void on_drain_over(struct msd_deadline *node)
{
	struct msd_server *s = MSD_CONTAINER_OF(node, struct msd_server, drain);

	msd_server_drain(s, s->is_draining);
}

static enum msd_task_result retry_space(struct msd_task *t)
{
	struct msd_server *s = MSD_CONTAINER_OF(t, struct msd_server, space);

	return msd_memory_share_retry(&s->edge) ? MSD_TASK_AGAIN : MSD_TASK_DONE;
}

/* Most daemons have no control group; log that once. */
static void divide_group(struct msd_server *s)
{
	struct msd_diag d = {0};

	if (msd_cgroups_open(&s->groups, "", !s->keeps_workers, &d) == MSD_OK) {
		msd_log(MSD_LOG_INFO, "daemon_control_group",
			"path=\"%s\" processes=%s memory=%s", s->groups.path,
			s->groups.has_pids ? "yes" : "no",
			s->groups.has_memory ? "yes" : "no");
	} else {
		msd_log(MSD_LOG_DEBUG, "daemon_control_group", "why=\"%s\"",
			msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

msd_err msd_server_init(struct msd_server *s, struct msd_diag *d)
{
	msd_err err = msd_inherited_raise_file_size(MSD_MIN_SEGMENT_BYTES, d);
	const int rc = err == MSD_OK ? uv_loop_init(&s->loop) : 0;

	if (err != MSD_OK)
		return err;
	if (rc != 0)
		return msd_diag_set(d, MSD_IO, "event loop: %s", uv_strerror(rc));
	if (s->worker_user_name != NULL) /* threads keep their first user */
		err = msd_child_user_become(s->worker_user_name, &s->worker_user, d);
	if (err != MSD_OK)
		return err;
	msd_reaper_init(&s->reaper, &s->loop);
	err = msd_threads_start(&s->reaper.starter, s->n_files, d);
	if (err != MSD_OK)
		return err;
	msd_limits_size(&s->limits, msd_machine_memory("", uv_get_total_memory()),
			uv_available_parallelism());
	divide_group(s);
	const int last_fd = msd_descriptors_raise(&s->limits);
	err = msd_wire_init(&s->wire, &s->loop, d);
	s->wire.last_fd = last_fd;
	if (err == MSD_OK)
		err = msd_signals_open(&s->signals, &s->loop, on_signal, d);
	if (err != MSD_OK)
		return err;
	msd_deadlines_init(&s->deadlines, &s->wire.tasks);
	msd_server_connect_parts(s);
	msd_memory_trim_init(&s->thrift, &s->loop, &s->edge.peers.account);
	s->wire.tasks.on_freed = on_freed;
	s->wire.tasks.user = s;
	s->drain.on_due = on_drain_over;
	s->space = (struct msd_task){.step = retry_space, .class = MSD_TASK_ANSWER};
	(void)uv_timer_init(&s->loop, &s->tick);
	s->tick.data = s;
	s->ticked_ms = uv_now(&s->loop);
	(void)uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS);
	(void)uv_timer_init(&s->loop, &s->watchdog);
	s->watchdog.data = s;
	if (s->sd.watchdog_ms > 0) {
		(void)uv_timer_start(&s->watchdog, on_watchdog, s->sd.watchdog_ms,
				     s->sd.watchdog_ms);
	}
	return MSD_OK;
}

void msd_server_drain(struct msd_server *s, bool now)
{
	if (!s->is_draining) {
		s->is_draining = true;
		s->registry.is_leaving = true;
		s->registry.is_closing = true;
		msd_log(MSD_LOG_INFO, "daemon_drain", "modules=%u connections=%u",
			s->registry.n_modules, s->edge.n_sessions);
		msd_deadline_set(&s->deadlines, &s->drain, s->limits.drain_ms);
		msd_listeners_close(&s->edge, true);
		tell_stopping(s, s->limits.drain_ms, "finishing requests in flight");
		msd_fetcher_drain(&s->fetcher);
	}
	if (now && s->is_ending) {
		uv_stop(&s->loop); /* remaining children die with the supervisor */
		return;
	}
	s->is_ending = now;
	if (now)
		msd_deadline_set(&s->deadlines, &s->drain, END_AT_ONCE_MS);
	msd_rpc_drain(&s->edge, now);
	MSD_LIST_EACH_SAFE (it, &s->registry.modules) {
		struct msd_module *m = MSD_CONTAINER_OF(it, struct msd_module, link);
		if (now)
			msd_module_kill(m, "the daemon was told to exit at once");
		msd_module_unload(m);
	}
	msd_server_check_drained(s);
}

void msd_server_tell_ready(struct msd_server *s)
{
	msd_sd_notify(&s->sd, "READY=1");
	tell_status(s);
}

int msd_server_run(struct msd_server *s)
{
	(void)uv_run(&s->loop, UV_RUN_DEFAULT);
	return s->exit_code;
}

static void close_handle(uv_handle_t *handle, void *ctx)
{
	(void)ctx;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

bool msd_server_finish(struct msd_server *s)
{
	msd_listeners_close(&s->edge, false);
	s->wire.tasks.on_freed = NULL; /* the process exit frees all memory */
	msd_proxy_accept_close(&s->edge);
	msd_tls_accept_close(&s->edge);
	while (!msd_list_is_empty(&s->edge.sessions) ||
	       !msd_tls_accept_is_empty(&s->edge) ||
	       !msd_list_is_empty(&s->edge.comers) || !msd_rpc_is_empty(&s->edge)) {
		/* A finished handshake still opens a session. */
		msd_sessions_close_all(&s->edge);
		msd_rpc_close(&s->edge);
		(void)uv_run(&s->loop, UV_RUN_NOWAIT);
	}
	msd_http_finish(&s->edge);
	msd_rpc_finish(&s->edge);
	msd_readiness_finish(&s->registry);
	msd_handle_disposal_finish(&s->edge);
	msd_call_log_finish(&s->registry.call_log);
	msd_call_log_finish(&s->registry.slow_log);
	msd_wanted_finish(&s->wanted);
	msd_source_pollers_finish(&s->source_pollers);
	msd_keeper_close(&s->keeper);
	msd_trust_check_finish(&s->fetcher.vouch);
	msd_reaper_close(&s->reaper);
	msd_devices_close(&s->devices);
	msd_device_gauges_close(&s->gauges);
	msd_cgroups_close(&s->groups);
	msd_deadlines_close(&s->deadlines);
	msd_wire_close(&s->wire);
	msd_signals_close(&s->signals);
	msd_work_close();
	uv_walk(&s->loop, close_handle, NULL);
	(void)uv_run(&s->loop, UV_RUN_NOWAIT);
	/* A thread that is still busy would wake the loop. */
	const bool is_over = !msd_work_is_busy() && uv_loop_close(&s->loop) == 0;
	msd_wire_finish(&s->wire);
	msd_unpack_finish(&s->unpack);
	msd_devices_finish(&s->devices);
	msd_device_gauges_finish(&s->gauges);
	msd_answer_desk_finish(&s->answers);
	free(s->worker_path);
	msd_tls_finish(&s->tls);
	msd_handover_workers_close(&s->registry);
	msd_sd_finish(&s->sd);
	msd_reload_finish(&s->reload);
	msd_rights_finish(&s->edge.rights);
	free(s->fetcher.path);
	return is_over;
}
