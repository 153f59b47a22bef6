/*
 * A whole supervisor whose tasks have a false clock: each step takes a quarter of the
 * time that an iteration has for tasks. A client sends a large tensor in chunks.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/work.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/http/conn/http_conn.h"
#include "daemon/supervisor/http/http_session.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/infer/infer_state.h"
#include "proto/body.h"
#include "proto/value.h"
#include "tests/fuzz/fake_child.h"
#include "tests/fuzz/supervisor_world.h"

#define STEPS 4u /* in an iteration */
#define TENSOR_BYTES (16u * MSD_INFER_PUT_BYTES)
#define MOST_BYTES (8u * TENSOR_BYTES)

static struct world world;
static struct msd_http http;
static int fd;
static uint64_t now_ns;

static uint64_t clock_ns(void)
{
	return now_ns += MSD_TASKS_TURN_US * 1000u / STEPS;
}

/* A module `a` with a function `f` of one tensor. */
static void open_module(void)
{
	struct fake *f = fake_at(0);
	struct msd_buf b = {0};

	cr_assert_eq(f->n_open, 1);
	msd_body_begin_response(&b, fake_take(f, 0), false);
	msd_pack_nil(&b);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "functions");
	msd_pack_array(&b, 1);
	msd_pack_map(&b, 3);
	msd_pack_pair_str(&b, "name", "f");
	msd_pack_pair_str(&b, "style", "prim");
	msd_pack_cstr(&b, "params");
	msd_pack_array(&b, 1);
	msd_pack_map(&b, 4);
	msd_pack_pair_str(&b, "name", "A");
	msd_pack_pair_str(&b, "kind", "tensor");
	msd_pack_pair_str(&b, "dtype", "uint8");
	msd_pack_cstr(&b, "shape");
	msd_pack_array(&b, 1);
	msd_pack_int(&b, -1);
	fake_send(f, b.p, b.n, -1);
	msd_buf_finish(&b);
	world_settle(&world);
}

static void begin(void)
{
	struct msd_edge *e = &world.server.edge;
	struct msd_principal who = msd_principal_of(MSD_ADDRESS_UNIX, false);
	int ends[2];

	world_begin(&world);
	world.server.limits.max_memory = world.server.budget.max_bytes = MOST_BYTES;
	world.server.limits.max_payload = MOST_BYTES;
	world.server.limits.max_connection_memory = MOST_BYTES;
	world.server.limits.max_peer_memory = MOST_BYTES;
	e->peers.account.max_bytes = MOST_BYTES;
	world.server.wire.tasks.clock_ns = clock_ns;
	client_connect(&world, &world.clients[0]);
	client_load(&world, &world.clients[0], "a", 1, false);
	open_module();
	http = (struct msd_http){.edge = e};
	msd_work_lane_init(&http.json, MSD_WORK_INTERACTIVE, MSD_HTTP_JSON_THREADS);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	struct msd_client_peer *peer = msd_accept_reserve_slot(e, ends[0], &who);
	cr_assert_not_null(peer);
	msd_http_conn_open(&http, msd_transport_of_socket(ends[0], true), who, peer);
	fd = ends[1];
}

static void end(void)
{
	if (fd >= 0)
		(void)close(fd);
	world_settle(&world);
	world_end(&world);
}

/* Run the loop until all of it is sent. */
static void say(const void *p, size_t n)
{
	for (const uint8_t *at = p; n > 0;) {
		const ssize_t sent = send(fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		cr_assert(sent > 0 || errno == EAGAIN, "it is closed");
		if (sent > 0) {
			at += sent;
			n -= (size_t)sent;
		}
		(void)uv_run(&world.server.loop, UV_RUN_NOWAIT);
	}
}

static void say_tensor(void)
{
	static uint8_t bytes[TENSOR_BYTES];
	char text[256], head[512];
	const int n = snprintf(text, sizeof(text),
			       "{\"inputs\":[{\"name\":\"A\",\"datatype\":\"UINT8\","
			       "\"shape\":[%u],\"parameters\":"
			       "{\"binary_data_size\":%u}}]}",
			       TENSOR_BYTES, TENSOR_BYTES);

	(void)snprintf(head, sizeof(head),
		       "POST /v2/models/a:f/infer HTTP/1.1\r\nHost: x\r\n"
		       "Inference-Header-Content-Length: %d\r\n"
		       "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x\r\n",
		       n, (unsigned)n, text, TENSOR_BYTES);
	say(head, strlen(head));
	say(bytes, sizeof(bytes));
	say("\r\n0\r\n\r\n", 7);
}

/* The inputs that are being copied; NULL: none are. */
static const struct msd_infer *copying(void)
{
	MSD_LIST_EACH (it, &world.server.edge.everybody) {
		struct msd_session *s = MSD_CONTAINER_OF(it, struct msd_session, link);
		if (s->front->fill != msd_infer_fill)
			continue;
		const struct msd_infer *i =
			MSD_CONTAINER_OF(s, struct msd_http_session, session)->infer;
		if (i != NULL && msd_task_is_queued(&i->putting))
			return i;
	}
	return NULL;
}

static void begin_to_copy(void)
{
	say_tensor();
	/* A thread reserves its room. */
	for (unsigned i = 0; i < 1000 && copying() == NULL; i++) {
		(void)uv_run(&world.server.loop,
			     msd_work_is_busy() ? UV_RUN_ONCE : UV_RUN_NOWAIT);
	}
	cr_assert_not_null(copying());
}

Test(infer_in_steps, a_tensor_of_chunks_is_copied_in_steps, .init = begin, .fini = end)
{
	unsigned n_turns = 0;

	begin_to_copy();
	for (const struct msd_infer *i; (i = copying()) != NULL; n_turns++) {
		const uint64_t before = i->put.bytes;

		(void)uv_run(&world.server.loop, UV_RUN_NOWAIT);
		if (copying() != NULL) {
			cr_assert_leq(i->put.bytes - before,
				      STEPS * MSD_INFER_PUT_BYTES);
		}
	}
	cr_expect_geq(n_turns, TENSOR_BYTES / MSD_INFER_PUT_BYTES / STEPS - 2);
	world_settle(&world);
	cr_expect_eq(fake_at(0)->n_open, 1, "the call is sent");
}

Test(infer_in_steps, who_leaves_meanwhile_calls_nothing, .init = begin, .fini = end)
{
	begin_to_copy();
	(void)close(fd);
	fd = -1;
	world_settle(&world);
	for (unsigned i = 0; i < 1000 && world.server.edge.n_sessions > 1; i++)
		(void)uv_run(&world.server.loop, UV_RUN_NOWAIT);
	cr_expect_eq(world.server.edge.n_sessions, 1);
	cr_expect_eq(fake_at(0)->n_open, 0);
}
