/* The table of the daemon's figures, and the functions that read them. Nothing here
 * waits or fails: unknown numbers are 0. */
#include "daemon/supervisor/facts/figures.h"

#include <string.h>
#include <unistd.h>

#include "daemon/stream/wire.h"
#include "daemon/supervisor/edge/listen/tls_accept.h"
#include "daemon/supervisor/edge/methods/devices.h"
#include "daemon/supervisor/facts/figure_put.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/stats/rss.h"
#include "daemon/supervisor/request/budget.h"
#include "proto/limits.h"
#include "proto/value.h"

static uint32_t length(const struct msd_list *list)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, list) {
		n++;
	}
	return n;
}

static uint64_t read_protocol(const struct msd_edge *e)
{
	(void)e;
	return MSD_PROTOCOL_VERSION;
}

static uint64_t read_pid(const struct msd_edge *e)
{
	(void)e;
	return (uint64_t)getpid();
}

static uint64_t read_uptime(const struct msd_edge *e)
{
	return uv_now(e->loop) - e->started_ms;
}

static uint64_t read_start(const struct msd_edge *e)
{
	return e->started_unix_ms;
}

static uint64_t read_rss(const struct msd_edge *e)
{
	(void)e;
	return msd_rss_look(getpid());
}

static uint64_t read_connections(const struct msd_edge *e)
{
	return e->n_sessions;
}

static uint64_t read_connections_total(const struct msd_edge *e)
{
	return e->counts.connections;
}

static uint64_t read_handshakes(const struct msd_edge *e)
{
	return e->counts.handshakes;
}

static uint64_t read_modules(const struct msd_edge *e)
{
	return e->registry->n_modules;
}

static uint64_t read_requests(const struct msd_edge *e)
{
	return e->counts.requests;
}

static uint64_t read_calls(const struct msd_edge *e)
{
	return e->counts.calls + e->registry->n_direct_calls;
}

static uint64_t read_spin_hits(const struct msd_edge *e)
{
	return e->registry->spun.hits;
}

static uint64_t read_spin_misses(const struct msd_edge *e)
{
	return e->registry->spun.misses;
}

static uint64_t read_spin_waste(const struct msd_edge *e)
{
	return e->registry->spun.waste_ns;
}

static uint64_t read_errors(const struct msd_edge *e)
{
	return msd_counts_errors(&e->counts);
}

static uint64_t read_denied(const struct msd_edge *e)
{
	return e->rights.denials.total;
}

static uint64_t read_turns(const struct msd_edge *e)
{
	return e->wire->count.turns;
}

static uint64_t read_lag(const struct msd_edge *e)
{
	return msd_loop_lag_most_ms(e->deadlines->lag, uv_now(e->loop));
}

static uint64_t read_due(const struct msd_edge *e)
{
	return e->deadlines->lag.n_due;
}

static uint64_t read_late(const struct msd_edge *e)
{
	return e->deadlines->lag.sum_ms;
}

static uint64_t read_frames(const struct msd_edge *e)
{
	return e->wire->count.frames;
}

static uint64_t read_bytes_in(const struct msd_edge *e)
{
	return e->wire->count.bytes_in;
}

static uint64_t read_bytes_out(const struct msd_edge *e)
{
	return e->wire->count.bytes_out;
}

/* CPU time that this process has used. */
static uint64_t read_cpu(const struct msd_edge *e)
{
	uv_rusage_t u;

	(void)e;
	if (uv_getrusage(&u) != 0)
		return 0;
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static uint64_t read_pulls(const struct msd_edge *e)
{
	return length(&e->pulls);
}

static uint64_t read_pulls_total(const struct msd_edge *e)
{
	return e->counts.pulls;
}

static uint64_t read_draining(const struct msd_edge *e)
{
	return e->registry->is_leaving;
}

static uint64_t read_waiting(const struct msd_edge *e)
{
	return length(&e->space_waiters);
}

static uint64_t read_held_bytes(const struct msd_edge *e)
{
	return e->peers.account.used_bytes;
}

static uint64_t read_tensor_bytes(const struct msd_edge *e)
{
	return e->budget->used_bytes;
}

static uint64_t read_segments(const struct msd_edge *e)
{
	return e->loans.n;
}

static uint64_t read_segment_bytes(const struct msd_edge *e)
{
	return e->loans.bytes;
}

static uint64_t read_upload_bytes(const struct msd_edge *e)
{
	return e->upload_bytes;
}

static uint64_t read_peers(const struct msd_edge *e)
{
	return length(&e->peers.all);
}

static uint64_t read_visits(const struct msd_edge *e)
{
	return e->counts.http_connections - e->counts.http_ended;
}

static uint64_t read_http_connections(const struct msd_edge *e)
{
	return e->counts.http_connections;
}

static uint64_t read_http_requests(const struct msd_edge *e)
{
	return e->counts.http_requests;
}

static uint64_t read_http_unreadable(const struct msd_edge *e)
{
	return e->counts.http_unreadable;
}

static uint64_t read_rpc_sessions(const struct msd_edge *e)
{
	return e->counts.rpc_started - e->counts.rpc_ended;
}

static uint64_t read_rpc_started(const struct msd_edge *e)
{
	return e->counts.rpc_started;
}

static uint64_t read_rpc_died(const struct msd_edge *e)
{
	return e->counts.rpc_died;
}

static uint64_t read_rpc_refused(const struct msd_edge *e)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < MSD_RPC_REFUSAL_COUNT; i++)
		n += e->counts.rpc_refused[i];
	return n;
}

static uint64_t read_rpc_tracker(const struct msd_edge *e)
{
	return e->counts.is_at_rpc_tracker;
}

static uint64_t read_rpc_tracker_failures(const struct msd_edge *e)
{
	return e->counts.rpc_tracker_failures;
}

static uint64_t read_held_back(const struct msd_edge *e)
{
	return length(&e->held_back);
}

#define COUNTER(name, help)                                                            \
	{                                                                              \
		name, help, MSD_COUNTER, MSD_UNIT_NONE                                 \
	}
#define GAUGE(name, help)                                                              \
	{                                                                              \
		name, help, MSD_GAUGE, MSD_UNIT_NONE                                   \
	}

static const struct msd_figure daemon_rows[] = {
	{.key = "server", .put = msd_figure_put_server},
	{.key = "version", .put = msd_figure_put_version},
	{.key = "protocol", .read = read_protocol},
	{.key = "pid", .read = read_pid},
	{.key = "uptime_ms", .read = read_uptime},
	{.read = read_start,
	 .family = {"process_start_time_seconds",
		    "Time when the daemon started, since 1970.", MSD_GAUGE,
		    MSD_UNIT_MS}},
	{.key = "rss_bytes",
	 .read = read_rss,
	 .family = GAUGE("process_resident_memory_bytes",
			 "Resident memory of the supervisor.")},
	{.key = "listen", .put = msd_figure_put_listeners},
	{.key = "connections",
	 .read = read_connections,
	 .family = GAUGE("modserd_connections", "Client connections that are open.")},
	{.key = "connections_total",
	 .read = read_connections_total,
	 .family = COUNTER("modserd_connections_accepted",
			   "Accepted client connections, including refused ones.")},
	{.read = read_handshakes,
	 .family = COUNTER("modserd_tls_handshakes", "TLS handshakes that succeeded.")},
	{.read = msd_tls_accept_n,
	 .family = GAUGE("modserd_tls_handshakes_in_progress",
			 "TLS handshakes in progress.")},
	{.key = "handshakes", .put = msd_figure_put_handshakes},
	{.key = "modules",
	 .read = read_modules,
	 .family = GAUGE("modserd_modules",
			 "Modules, including loading and draining ones.")},
	{.key = "requests",
	 .read = read_requests,
	 .family = COUNTER("modserd_requests", "Completely received requests.")},
	{.key = "calls",
	 .read = read_calls,
	 .family =
		 COUNTER("modserd_requests_to_modules", "Requests sent to a module.")},
	{.key = "errors", .read = read_errors},
	{.key = "spin_hits",
	 .read = read_spin_hits,
	 .family = COUNTER("modserd_spin_hits",
			   "Polls of a direct channel that found a call.")},
	{.key = "spin_misses",
	 .read = read_spin_misses,
	 .family = COUNTER("modserd_spin_misses",
			   "Polls of a direct channel that found no call.")},
	{.key = "spin_waste_ns",
	 .read = read_spin_waste,
	 .family = {"modserd_spin_wasted_seconds",
		    "Processor time of polls that found no call.", MSD_COUNTER,
		    MSD_UNIT_NS}},
	{.key = "denied",
	 .read = read_denied,
	 .family = COUNTER("modserd_permission_denied",
			   "Requests refused because the user lacks the right.")},
	{.key = "turns",
	 .read = read_turns,
	 .family = COUNTER("modserd_event_loop_iterations",
			   "Iterations of the supervisor's event loop.")},
	{.key = "loop_lag_ms",
	 .read = read_lag,
	 .family =
		 {"modserd_event_loop_lag_seconds",
		  "Maximum delay of the event loop in the last ten to twenty seconds.",
		  MSD_GAUGE, MSD_UNIT_MS}},
	{.read = read_due,
	 .family = COUNTER("modserd_event_loop_due",
			   "Timers of the event loop that were due.")},
	{.read = read_late,
	 .family = {"modserd_event_loop_late_seconds", "Total delay of these timers.",
		    MSD_COUNTER, MSD_UNIT_MS}},
	{.key = "frames",
	 .read = read_frames,
	 .family = COUNTER("modserd_frames",
			   "Received frames, including those of workers.")},
	{.key = "bytes_in",
	 .read = read_bytes_in,
	 .family = COUNTER("modserd_received_bytes",
			   "Received bytes, including those of workers.")},
	{.key = "bytes_out",
	 .read = read_bytes_out,
	 .family = COUNTER("modserd_sent_bytes",
			   "Sent bytes, including those to workers.")},
	{.key = "cpu_us",
	 .read = read_cpu,
	 .family = {"process_cpu_seconds", "Processor time of the supervisor.",
		    MSD_COUNTER, MSD_UNIT_US}},
	{.read = read_pulls,
	 .family = GAUGE("modserd_pulls_in_flight", "Current pulls.")},
	{.read = read_pulls_total,
	 .family = COUNTER("modserd_pulls", "Pulls requested by clients.")},
	{.read = read_draining,
	 .family = GAUGE("modserd_draining", "1 while the daemon drains, else 0.")},
	{.read = read_waiting,
	 .family = GAUGE("modserd_requests_waiting_for_memory",
			 "Requests that wait for tensor memory.")},
	{.key = "control_group", .put = msd_figure_put_group},
	{.key = "held", .put = msd_figure_put_held},
	{.key = "http", .put = msd_figure_put_http},
	{.key = "tvm_rpc", .put = msd_figure_put_rpc},
	{.key = "limits", .put = msd_figure_put_limits},
	{.key = "devices", .put = msd_figure_put_found},
	{.key = "absent", .put = msd_figure_put_found},
	{.key = "machine", .put = msd_figure_put_found},
	{.key = "eras", .put = msd_figure_put_found},
	{.key = "kinds", .put = msd_figure_put_found},
	{.key = "symbols", .put = msd_figure_put_found},
	{.key = "slots", .put = msd_figure_put_found},
	{.key = "sandbox", .put = msd_figure_put_sandbox},
	{.key = "packed_functions", .put = msd_figure_put_found},
};

static const struct msd_figure held_rows[] = {
	{.key = "bytes",
	 .read = read_held_bytes,
	 .family = GAUGE("modserd_held_bytes",
			 "Bytes of requests and replies of all connections.")},
	{.key = "tensor_bytes",
	 .read = read_tensor_bytes,
	 .family = GAUGE("modserd_tensor_bytes",
			 "Tensor bytes of all requests in flight.")},
	{.key = "upload_bytes",
	 .read = read_upload_bytes,
	 .family = GAUGE("modserd_upload_bytes",
			 "Bytes of uploads that are not loaded yet.")},
	{.key = "segments",
	 .read = read_segments,
	 .family = GAUGE("modserd_client_segments", "Shared segments of clients.")},
	{.key = "segment_bytes",
	 .read = read_segment_bytes,
	 .family = GAUGE("modserd_client_segment_bytes",
			 "Bytes of shared segments of clients.")},
	{.key = "peers",
	 .read = read_peers,
	 .family = GAUGE("modserd_peers", "Users and addresses that are connected.")},
	{.key = "held_back",
	 .read = read_held_back,
	 .family = GAUGE("modserd_connections_paused",
			 "Connections that the daemon does not read because they hold "
			 "too much memory.")},
};

static const struct msd_figure http_rows[] = {
	{.key = "connections",
	 .read = read_visits,
	 .family = GAUGE("modserd_http_connections", "HTTP connections.")},
	{.key = "connections_total",
	 .read = read_http_connections,
	 .family = COUNTER("modserd_http_connections_accepted",
			   "Accepted HTTP connections.")},
	{.key = "requests",
	 .read = read_http_requests,
	 .family = COUNTER("modserd_http_requests", "Complete HTTP requests.")},
	{.key = "unreadable",
	 .read = read_http_unreadable,
	 .family = COUNTER("modserd_http_bad_requests",
			   "HTTP requests that could not be parsed.")},
};

static const struct msd_figure rpc_rows[] = {
	{.key = "sessions",
	 .read = read_rpc_sessions,
	 .family = GAUGE("modserd_rpc_sessions", "Sessions of TVM's RPC.")},
	{.key = "started",
	 .read = read_rpc_started,
	 .family = COUNTER("modserd_rpc_sessions_started",
			   "Sessions of TVM's RPC that got a process.")},
	{.key = "died",
	 .read = read_rpc_died,
	 .family = COUNTER("modserd_rpc_sessions_died",
			   "Sessions of TVM's RPC whose process died or was killed.")},
	{.key = "refused",
	 .read = read_rpc_refused,
	 .family = COUNTER("modserd_rpc_refused",
			   "Clients of TVM's RPC that got no session: a bad hello, a "
			   "wrong key, no free place.")},
	{.key = "tracker",
	 .read = read_rpc_tracker,
	 .family = GAUGE("modserd_rpc_tracker",
			 "1 while the daemon is registered at the tracker of "
			 "--tvm-rpc.")},
	{.key = "tracker_failures",
	 .read = read_rpc_tracker_failures,
	 .family = COUNTER("modserd_rpc_tracker_failures",
			   "Connections to that tracker that failed or ended.")},
};

const struct msd_figures msd_figures_daemon = {
	daemon_rows, sizeof(daemon_rows) / sizeof(*daemon_rows)};
const struct msd_figures msd_figures_http = {http_rows,
					     sizeof(http_rows) / sizeof(*http_rows)};
const struct msd_figures msd_figures_rpc = {rpc_rows,
					    sizeof(rpc_rows) / sizeof(*rpc_rows)};
const struct msd_figures msd_figures_held = {held_rows,
					     sizeof(held_rows) / sizeof(*held_rows)};

static size_t count_paths(const char *const *paths)
{
	size_t n = 0;

	while (paths != NULL && paths[n] != NULL)
		n++;
	return n;
}

static void put_paths(struct msd_buf *b, const char *const *paths)
{
	const size_t n = count_paths(paths);

	for (size_t i = 0; i < n; i++)
		msd_pack_text(b, paths[i], strlen(paths[i]));
}

void msd_sandbox_figure_put(const struct msd_edge *e, struct msd_buf *b)
{
	const struct msd_module_registry_sandbox *s = &e->registry->sandbox;
	const struct msd_span found = {e->devices->found.p, e->devices->found.n};
	const struct msd_span kernel = msd_map_value(found, "sandbox");
	const struct msd_span landlock = msd_map_value(kernel, "landlock");
	const struct msd_span seccomp = msd_map_value(kernel, "seccomp");
	const struct msd_span reads = msd_map_value(kernel, "reads");
	struct msd_cur paths;
	uint32_t n;

	if (landlock.n == 0 || seccomp.n == 0 || !msd_array_open(reads, &paths, &n)) {
		msd_pack_nil(b);
		return;
	}
	msd_pack_map(b, 4);
	msd_pack_cstr(b, "landlock");
	msd_buf_put(b, landlock.p, landlock.n);
	msd_pack_cstr(b, "seccomp");
	msd_buf_put(b, seccomp.p, seccomp.n);
	msd_pack_pair_str(b, "profile", msd_sandbox_word_name(s->word));
	msd_pack_cstr(b, "reads");
	msd_pack_array(b, n + count_paths(s->reads) + count_paths(s->writes));
	msd_buf_put(b, paths.p, paths.left);
	put_paths(b, s->reads);
	put_paths(b, s->writes);
}
