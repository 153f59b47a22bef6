/*
 * doctor: what a round trip costs here, what the daemon adds to it, and what is
 * unusual.
 *
 * Happy path: bytes go to and fro between this process and a child, then pings between
 * it and the daemon; in between a second passes in which the machine is looked at.
 * Failures: what cannot be measured is left out.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/doctor.h"
#include "client/cli/overhead.h"
#include "client/cli/report.h"
#include "client/cli/session.h"
#include "proto/clock.h"

#define ROUNDS 1001u
#define BYTES 64u
#define LOOK_MS 1000

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median(uint64_t *ns)
{
	qsort(ns, ROUNDS, sizeof(*ns), by_size);
	return (int64_t)ns[ROUNDS / 2];
}

static void echo(int fd)
{
	char bytes[BYTES];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		if (write(fd, bytes, (size_t)n) != n)
			break;
	}
	_exit(0);
}

static bool trip(int fd)
{
	char bytes[BYTES] = {0};

	return write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
	       recv(fd, bytes, sizeof(bytes), MSG_WAITALL) == (ssize_t)sizeof(bytes);
}

/* The least that a question and its answer can cost between two processes here; 0: it
 * could not be measured. */
static int64_t measure_floor(void)
{
	uint64_t ns[ROUNDS];
	int fds[2];
	unsigned i = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return 0;
	const pid_t child = fork();
	if (child == 0) {
		(void)close(fds[0]);
		echo(fds[1]);
	}
	(void)close(fds[1]);
	for (; child > 0 && i < ROUNDS; i++) {
		const uint64_t start_ns = msd_now_ns();
		if (!trip(fds[0]))
			break;
		ns[i] = msd_now_ns() - start_ns;
	}
	(void)close(fds[0]);
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	return i == ROUNDS ? median(ns) : 0;
}

static enum msd_exit measure_ping(modser_client *client, int64_t *ret)
{
	uint64_t ns[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
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
	*ret = median(ns);
	return MSD_EXIT_OK;
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

/* What was done between two answers of server.info; the second is @info. */
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

/* Its process is one of this machine: it listens where this client has found it. */
static bool is_here(const struct msd_cli *cli)
{
	const char *host = cli->host != NULL ? cli->host : getenv("MODSER_HOST");

	if (host == NULL || host[0] == '\0')
		return true;
	/* Of several, nobody knows here which has answered. */
	return strchr(host, ',') == NULL && (strncmp(host, "unix:", 5) == 0 ||
					     strstr(host, "://127.0.0.1:") != NULL);
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

/* Of the worker that has most of them. */
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

static enum msd_exit ask_modules(modser_client *client, struct msd_doctor_facts *f)
{
	modser_result *result = NULL;
	enum msd_exit code = MSD_EXIT_OK;

	if (modser_request(client, "module.list", NULL, 0, NULL, &result) ==
	    MODSER_OK) {
		const modser_value *modules = modser_result_value(result);
		if (modules->kind == MODSER_TUPLE && f->is_same_machine)
			f->threads = most_threads(modules);
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

/* What is shown. */
struct report {
	int64_t floor_ns, ping_ns;
	struct msd_overhead modules[MSD_OVERHEAD_MODULES];
	char ratios[MSD_OVERHEAD_MODULES][32];
	modser_value pairs[MSD_OVERHEAD_MODULES][10], maps[MSD_OVERHEAD_MODULES];
	size_t n_modules;
};

/* Of each module that was called: how long a call ran, what was added to that. */
static modser_value put_modules(struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_modules; i++) {
		const struct msd_overhead *o = &r->modules[i];
		if (o->calls < 1 || o->run_s <= 0)
			continue;
		(void)snprintf(r->ratios[n], sizeof(r->ratios[n]), "%.2f",
			       (o->all_s + o->run_s) / o->run_s);
		const modser_value pairs[10] = {
			modser_str("module"),
			modser_str(o->module),
			modser_str("calls"),
			modser_int((int64_t)o->calls),
			modser_str("run_ns"),
			modser_int((int64_t)(o->run_s / o->calls * 1e9)),
			modser_str("added_ns"),
			modser_int((int64_t)(o->all_s / o->calls * 1e9)),
			modser_str("ratio"),
			modser_str(r->ratios[n])};
		memcpy(r->pairs[n], pairs, sizeof(pairs));
		r->maps[n] = (modser_value){.kind = MODSER_MAP,
					    .as.tuple = {.item = r->pairs[n], .n = 5}};
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

static enum msd_exit examine(const struct msd_cli *cli, modser_client *client,
			     struct report *r)
{
	struct msd_doctor_look before, after;
	struct msd_doctor_facts f = {.seconds = LOOK_MS / 1000,
				     .is_same_machine = is_here(cli)};
	struct msd_buf unusual = {0};
	enum msd_exit code;
	const long n = sysconf(_SC_NPROCESSORS_ONLN);

	r->floor_ns = measure_floor();
	code = measure_ping(client, &r->ping_ns);
	f.n_cores = n > 0 ? (uint32_t)n : 0;
	if (code == MSD_EXIT_OK)
		code = ask_info(client, &f);
	msd_doctor_look("", f.pid, &before);
	(void)poll(NULL, 0, LOOK_MS);
	msd_doctor_look("", f.pid, &after);
	if (code == MSD_EXIT_OK)
		code = ask_info(client, &f);
	if (code == MSD_EXIT_OK)
		code = ask_modules(client, &f);
	if (code == MSD_EXIT_OK)
		code = ask_overhead(client, r->modules, &r->n_modules);
	if (code == MSD_EXIT_OK) {
		msd_doctor_judge(&before, &after, &f, &unusual);
		if (unusual.n > 0)
			unusual.n--; /* the last line ends without one */
		msd_buf_put_u8(&unusual, '\0');
		if (unusual.bad) {
			code = msd_report_no_memory();
		} else {
			show(cli, r, &unusual);
		}
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
