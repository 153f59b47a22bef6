/*
 * bench_iteration: the longest iteration of a supervisor's loop, in processor time,
 * while much work comes at once. The supervisor is whole; its clients are in this
 * process, and its workers are fake.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "daemon/supervisor/memory_trim.h"
#include "proto/body.h"
#include "proto/value.h"
#include "tests/fuzz/fake_child.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/supervisor_world.h"

#define CLIENTS 3u
#define CALLS 250u /* of each client */
#define CALL_BYTES (600u * 1024u)
#define WAITS 16u /* of each client: the daemon permits no more */
#define MODULES 240u
#define MODULES_OF_ONE 60u /* loads of one connection */
#define TURNS 5000u

static struct world world;
static const struct msd_buf nothing;

static double cpu_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Run iterations until @is_over; print the longest. */
static void measure(const char *what, bool (*is_over)(void))
{
	double longest = 0, all = 0;
	unsigned n = 0;

	for (; n < TURNS && !is_over(); n++) {
		const double began = cpu_ms();
		(void)uv_run(&world.server.loop, UV_RUN_NOWAIT);
		const double took = cpu_ms() - began;
		all += took;
		longest = took > longest ? took : longest;
	}
	MUST(n < TURNS);
	(void)printf("%-44s longest iteration %7.2f ms  (%u iterations, %.1f ms)\n",
		     what, longest, n, all);
}

static void begin(void)
{
	memset(&world, 0, sizeof(world));
	world_begin(&world);
	struct msd_limits *limits = &world.server.limits;
	limits->max_in_flight = 2 * CALLS;
	limits->max_modules = MODULES + 1;
	limits->max_connection_memory = limits->max_peer_memory =
		limits->max_total_memory = UINT32_MAX;
	world.server.edge.peers.account.max_bytes = UINT32_MAX;
	for (unsigned i = 0; i < WORLD_CLIENTS; i++)
		client_connect(&world, &world.clients[i]);
}

static void open_module(void)
{
	struct fake *f = fake_at(0);
	struct msd_buf b = {0};

	MUST(f != NULL && f->n_open == 1);
	msd_body_begin_response(&b, fake_take(f, 0), false);
	msd_pack_nil(&b);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "functions");
	msd_pack_array(&b, 0);
	fake_send(f, b.p, b.n, -1);
	msd_buf_finish(&b);
}

static struct client *last_client(void)
{
	return &world.clients[CLIENTS];
}

static bool are_gone(void)
{
	return world.server.edge.n_sessions == 1;
}

/* Calls wait for a module that is not ready, and their clients leave. */
static void measure_bodies(void)
{
	static char bytes[CALL_BYTES];

	begin();
	client_load(&world, last_client(), "a", 1, false);
	for (unsigned i = 0; i < CLIENTS * CALLS; i++) {
		struct msd_buf b = {0};
		msd_pack_cstr(&b, "a:f");
		msd_pack_str(&b, bytes, sizeof(bytes));
		(void)client_ask(&world.clients[i % CLIENTS], "call", 2, &b, &nothing,
				 0);
		msd_buf_finish(&b);
		world_settle(&world);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		while (world.clients[i].going.n > 0)
			world_settle(&world);
	}
	const uint64_t held = world.server.edge.peers.account.used_bytes;
	for (unsigned i = 0; i < CLIENTS; i++)
		client_leave(&world.clients[i]);
	char what[64];
	(void)snprintf(what, sizeof(what), "%llu MiB of queued calls are released",
		       (unsigned long long)held >> 20);
	measure(what, are_gone);
	world_end(&world);
}

static bool is_idle(void)
{
	for (unsigned i = 0; i < WORLD_CLIENTS; i++) {
		const struct client *c = &world.clients[i];
		char byte;
		/* The last answer is a frame; it may lie in the socket. */
		if (recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
			return false;
	}
	return uv_backend_timeout(&world.server.loop) != 0;
}

/* Many requests wait for one module, which becomes ready. */
static void measure_waits(void)
{
	struct msd_buf name = {0};

	begin();
	client_load(&world, last_client(), "a", 1, false);
	msd_pack_cstr(&name, "a");
	for (unsigned i = 0; i < CLIENTS * WAITS; i++) {
		(void)client_ask(&world.clients[i % CLIENTS], "module.wait", 1, &name,
				 &nothing, 0);
		world_settle(&world);
	}
	open_module();
	measure("48 waits for one module end", is_idle);
	msd_buf_finish(&name);
	world_end(&world);
}

static bool is_listed(void)
{
	char byte;

	return recv(last_client()->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static void measure_list(void)
{
	char name[16];

	begin();
	for (unsigned i = 0; i < MODULES; i++) {
		struct client *c = &world.clients[i / MODULES_OF_ONE % CLIENTS];
		if (i % MODULES_OF_ONE == 0) { /* its numbers of requests end */
			client_leave(c);
			world_settle(&world);
			client_connect(&world, c);
		}
		(void)snprintf(name, sizeof(name), "m%u", i);
		client_load(&world, c, name, 1, false);
	}
	MUST(world.server.registry.n_modules == MODULES);
	(void)client_ask(last_client(), "module.list", 0, &nothing, &nothing, 0);
	(void)send(last_client()->fd, last_client()->going.p, last_client()->going.n,
		   MSG_NOSIGNAL);
	last_client()->going.n = 0;
	measure("module.list of 240 modules", is_listed);
	world_end(&world);
}

int main(void)
{
	struct rlimit files;

	msd_memory_trim_prepare();
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	measure_bodies();
	measure_waits();
	measure_list();
	return 0;
}
