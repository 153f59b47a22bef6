/*
 * doctor: measures the cost of a round trip and of the daemon, and reports unusual
 * conditions.
 *
 * Happy path: alternately, bytes travel between this process and a child, and pings
 * between it and the daemon. Then the machine is observed for a second. Failures: a
 * measurement that fails is left out.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/doctor/doctor.h"
#include "client/cli/measure/latency_baseline.h"
#include "client/cli/measure/overhead.h"
#include "client/cli/measure/process_scan.h"
#include "client/cli/session.h"
#include "client/cli/verbs/report.h"
#include "proto/base/clock.h"
#include "proto/base/proc.h"

#define ROUNDS 9u
#define LOOK_MS 1000

/* Measure the median of a round of pings. */
static enum msd_exit measure_ping(modser_client *client, int64_t *ret)
{
	uint64_t ns[MSD_FLOOR_TRIPS];

	for (unsigned i = 0; i < MSD_FLOOR_TRIPS; i++) {
		modser_result *result = NULL;
		const uint64_t start_ns = msd_now_ns();
		if (modser_request(client, "ping", NULL, 0, NULL, &result) !=
		    MODSER_OK) {
			const enum msd_exit code = msd_report_result(client, result);
			modser_result_free(result);
			return code;
		}
		ns[i] = msd_now_ns() - start_ns;
		modser_result_free(result);
	}
	*ret = msd_floor_median(ns);
	return MSD_EXIT_OK;
}

static int64_t least(int64_t a, int64_t b)
{
	return a == 0 || b < a ? b : a;
}

/* The minimum of each, measured alternately, so that both have the same chance of an
 * idle machine. A ping is also a round trip, so it is an upper bound of the floor. */
static enum msd_exit measure(modser_client *client, bool by_tcp, int64_t *ret_floor,
			     int64_t *ret_ping)
{
	enum msd_exit code = MSD_EXIT_OK;
	int64_t floor = 0, ping = 0;

	for (unsigned i = 0; i < ROUNDS && code == MSD_EXIT_OK; i++) {
		const int64_t trip = msd_floor_round(by_tcp);
		int64_t it = 0;
		code = measure_ping(client, &it);
		floor = trip > 0 ? least(floor, trip) : floor;
		ping = least(ping, it);
	}
	*ret_floor = floor > ping ? ping : floor;
	*ret_ping = ping;
	return code;
}

static int64_t number_of(const modser_value *map, const char *key)
{
	const modser_value *v = modser_find(map, key);

	return v != NULL && v->kind == MODSER_INT ? v->as.i : 0;
}

static int64_t landlock_of(const modser_value *info)
{
	const modser_value *sandbox = modser_find(info, "sandbox");

	if (sandbox == NULL || sandbox->kind != MODSER_MAP)
		return -1;
	return number_of(sandbox, "landlock");
}

/* Compute the work between two answers of server.info; the second is @info. */
static void take_info(struct msd_doctor_facts *f, const modser_value *info)
{
	const modser_value *group = modser_find(info, "control_group");

	f->requests = (uint64_t)number_of(info, "requests") - f->requests;
	f->calls = (uint64_t)number_of(info, "calls") - f->calls;
	f->lag_ms = (uint64_t)number_of(info, "loop_lag_ms");
	f->landlock = landlock_of(info);
	f->pid = number_of(info, "pid");
	f->has_group = group != NULL && group->kind == MODSER_MAP;
}

static const char *host_of(const struct msd_cli *cli)
{
	return cli->host != NULL ? cli->host : getenv("MODSER_HOST");
}

/* True if the daemon is on this machine: the client connects to a local address. */
static bool is_here(const struct msd_cli *cli)
{
	const char *host = host_of(cli);

	if (host == NULL || host[0] == '\0')
		return true;
	/* In a list of addresses, the answering one is not known here. */
	return strchr(host, ',') == NULL && (strncmp(host, "unix:", 5) == 0 ||
					     strstr(host, "://127.0.0.1:") != NULL);
}

static bool is_by_tcp(const struct msd_cli *cli)
{
	const char *host = host_of(cli);

	return host != NULL && strstr(host, "://") != NULL;
}

static enum msd_exit ask_info(modser_client *client, struct msd_doctor_facts *f)
{
	modser_result *result = NULL;
	enum msd_exit code = MSD_EXIT_OK;

	if (modser_request(client, "server.info", NULL, 0, NULL, &result) ==
	    MODSER_OK) {
		take_info(f, modser_result_value(result));
	} else {
		code = msd_report_result(client, result);
	}
	modser_result_free(result);
	return code;
}

/* Threads of the worker with the most. */
static uint64_t most_threads(const modser_value *modules)
{
	uint64_t most = 0;

	for (size_t i = 0; i < modules->as.tuple.n; i++) {
		const uint64_t n = msd_doctor_threads(
			"", number_of(&modules->as.tuple.item[i], "pid"));
		most = n > most ? n : most;
	}
	return most;
}

static void find_busiest(const modser_value *modules, struct msd_doctor_facts *f)
{
	for (size_t i = 0; i < modules->as.tuple.n; i++) {
		const modser_value *m = &modules->as.tuple.item[i];
		const modser_value *name = modser_find(m, "name");
		const uint64_t ms = (uint64_t)number_of(m, "busy_ms");

		if (ms <= f->busy_ms || name == NULL || name->kind != MODSER_STR)
			continue;
		f->busy_ms = ms;
		(void)snprintf(f->busy, sizeof(f->busy), "%s", name->as.str.p);
	}
}

static enum msd_exit ask_modules(modser_client *client, struct msd_doctor_facts *f)
{
	modser_result *result = NULL;
	enum msd_exit code = MSD_EXIT_OK;

	if (modser_request(client, "module.list", NULL, 0, NULL, &result) ==
	    MODSER_OK) {
		const modser_value *modules = modser_result_value(result);
		if (modules->kind == MODSER_TUPLE && f->is_same_machine)
			f->threads = most_threads(modules);
		if (modules->kind == MODSER_TUPLE)
			find_busiest(modules, f);
	} else {
		code = msd_report_result(client, result);
	}
	modser_result_free(result);
	return code;
}

static enum msd_exit ask_overhead(modser_client *client, struct msd_overhead *ret,
				  size_t *ret_n)
{
	modser_result *result = NULL;
	enum msd_exit code = MSD_EXIT_OK;

	if (modser_request(client, "server.metrics", NULL, 0, NULL, &result) ==
	    MODSER_OK) {
		const modser_value *text = modser_result_value(result);
		*ret_n = msd_overhead_read(
			text->kind == MODSER_STR ? text->as.str.p : "", ret);
	} else {
		code = msd_report_result(client, result);
	}
	modser_result_free(result);
	return code;
}

/* The printed report. */
struct report {
	int64_t floor_ns, ping_ns;
	struct msd_overhead before[MSD_OVERHEAD_MODULES];
	struct msd_overhead modules[MSD_OVERHEAD_MODULES];
	char ratios[MSD_OVERHEAD_MODULES][32];
	modser_value pairs[MSD_OVERHEAD_MODULES][14], maps[MSD_OVERHEAD_MODULES];
	size_t n_before, n_modules;
};

static modser_value mean_ns(double seconds, double calls)
{
	return modser_int((int64_t)(seconds / calls * 1e9));
}

/* For each called module: the run time and wait of a call, and the added time as a
 * multiple of the floor. */
static modser_value put_modules(struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_modules; i++) {
		const struct msd_overhead *o = &r->modules[i];
		if (o->calls < 1)
			continue;
		if (r->floor_ns > 0) {
			(void)snprintf(r->ratios[n], sizeof(r->ratios[n]), "%.2f",
				       o->added_s / o->calls * 1e9 /
					       (double)r->floor_ns);
		}
		const modser_value pairs[14] = {
			modser_str("module"),
			modser_str(o->module),
			modser_str("calls"),
			modser_int((int64_t)o->calls),
			modser_str("of"),
			modser_str(o->is_recent ? "this second" : "all its time"),
			modser_str("run_ns"),
			mean_ns(o->run_s, o->calls),
			modser_str("wait_ns"),
			mean_ns(o->wait_s, o->calls),
			modser_str("added_ns"),
			mean_ns(o->added_s, o->calls),
			modser_str("ratio"),
			modser_str(r->ratios[n])};
		memcpy(r->pairs[n], pairs, sizeof(pairs));
		r->maps[n] = (modser_value){.kind = MODSER_MAP,
					    .as.tuple = {.item = r->pairs[n], .n = 7}};
		n++;
	}
	return (modser_value){.kind = MODSER_TUPLE,
			      .as.tuple = {.item = r->maps, .n = n}};
}

static void show(const struct msd_cli *cli, struct report *r,
		 const struct msd_buf *unusual)
{
	char ratio[32] = "";
	const char *said = unusual->p[0] != '\0' ? (const char *)unusual->p : "nothing";

	if (r->floor_ns > 0) {
		(void)snprintf(ratio, sizeof(ratio), "%.2f",
			       (double)r->ping_ns / (double)r->floor_ns);
	}
	const modser_value pairs[] = {modser_str("floor_ns"), modser_int(r->floor_ns),
				      modser_str("ping_ns"),  modser_int(r->ping_ns),
				      modser_str("ratio"),    modser_str(ratio),
				      modser_str("unusual"),  modser_str(said),
				      modser_str("modules"),  put_modules(r)};
	const modser_value map = {.kind = MODSER_MAP,
				  .as.tuple = {.item = pairs, .n = 5}};
	msd_session_print_value(cli, &map);
}

/* Take two snapshots of the machine, a moment apart. */
static void look_twice(struct msd_doctor_look looks[2], struct msd_doctor_facts *f)
{
	struct msd_process_scan seen[2];
	const int64_t own[] = {f->pid, getpid()};

	for (unsigned i = 0; i < 2; i++) {
		if (i > 0)
			(void)poll(NULL, 0, LOOK_MS);
		msd_process_scan_look("", &seen[i]);
		msd_doctor_look("", f->pid, &looks[i]);
	}
	f->own_ticks = msd_process_scan_own(&seen[0], &seen[1], own[0]) +
		       msd_process_scan_own(&seen[0], &seen[1], own[1]);
	msd_process_scan_busiest(&seen[0], &seen[1], own, 2, &f->busiest);
	msd_process_scan_finish(&seen[0]);
	msd_process_scan_finish(&seen[1]);
}

/* Request server.info twice, before and after the snapshots. */
static enum msd_exit look(modser_client *client, struct report *r,
			  struct msd_doctor_look looks[2], struct msd_doctor_facts *f)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);
	enum msd_exit code = ask_overhead(client, r->before, &r->n_before);

	if (code == MSD_EXIT_OK)
		code = ask_info(client, f);
	look_twice(looks, f);
	f->n_processors = n > 0 ? (uint32_t)n : 0;
	f->n_cores = msd_proc_processors("", f->pid);
	if (code == MSD_EXIT_OK)
		code = ask_info(client, f);
	if (code == MSD_EXIT_OK)
		code = ask_modules(client, f);
	if (code == MSD_EXIT_OK)
		code = ask_overhead(client, r->modules, &r->n_modules);
	return code;
}

static enum msd_exit examine(const struct msd_cli *cli, modser_client *client,
			     struct report *r)
{
	struct msd_doctor_look looks[2];
	struct msd_doctor_facts f = {.seconds = LOOK_MS / 1000,
				     .is_same_machine = is_here(cli)};
	struct msd_buf unusual = {0};
	enum msd_exit code = measure(client, is_by_tcp(cli), &r->floor_ns, &r->ping_ns);

	if (code == MSD_EXIT_OK)
		code = look(client, r, looks, &f);
	if (code != MSD_EXIT_OK)
		return code;
	msd_overhead_since(r->modules, r->n_modules, r->before, r->n_before);
	msd_doctor_judge(&looks[0], &looks[1], &f, &unusual);
	if (unusual.n > 0)
		unusual.n--; /* the last line has no newline */
	msd_buf_put_u8(&unusual, '\0');
	if (unusual.bad) {
		code = msd_report_no_memory();
	} else {
		show(cli, r, &unusual);
	}
	msd_buf_finish(&unusual);
	return code;
}

enum msd_exit msd_verb_doctor(const struct msd_cli *cli)
{
	modser_client *client = NULL;
	enum msd_exit code = msd_session_open(cli, &client);

	struct report *r = calloc(1, sizeof(*r));
	if (code == MSD_EXIT_OK)
		code = r != NULL ? examine(cli, client, r) : msd_report_no_memory();
	free(r);
	modser_close(client);
	return code;
}
