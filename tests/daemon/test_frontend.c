#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/methods/devices.h"
#include "daemon/supervisor/edge/session/frame_session.h"
#include "daemon/supervisor/edge/session/frontend.h"
#include "daemon/supervisor/edge/session/sessions.h"
#include "daemon/supervisor/module/life/registry.h"
#include "proto/unpack.h"
#include "proto/value.h"

/* A client's connection to an edge without a daemon around it and without modules. */
static uv_loop_t loop;
static struct msd_wire wire;
static struct msd_deadlines deadlines;
static struct msd_limits limits;
static struct msd_unpack unpack;
static struct msd_module_registry registry;
static struct msd_budget budget;
static struct msd_devices devices;
static struct msd_edge edge;
static char worker_path[] = "/nowhere/to/be/found";
static unsigned n_gone;
static int peer; /* the client's end */
static uint8_t said[8192];
static size_t n_said;

static void on_session_gone(struct msd_edge *e)
{
	(void)e;
	n_gone++;
}

static void begin(enum msd_address_kind kind)
{
	int ends[2];

#define SET(field, option, when, value, sentence) limits.field = (value);
	MSD_LIMIT_MAP(SET)
#undef SET
	(void)uv_loop_init(&loop);
	cr_assert_eq(msd_wire_init(&wire, &loop, NULL), MSD_OK);
	msd_deadlines_init(&deadlines, &wire.tasks);
	msd_devices_init(&devices, NULL, &deadlines, worker_path);
	msd_list_init(&registry.modules);
	edge = (struct msd_edge){.loop = &loop,
				 .wire = &wire,
				 .deadlines = &deadlines,
				 .limits = &limits,
				 .unpack = &unpack,
				 .registry = &registry,
				 .budget = &budget,
				 .devices = &devices,
				 .on_session_gone = on_session_gone};
	msd_frontend_init(&edge);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	peer = ends[1];
	msd_accept_open(&edge, ends[0], msd_principal_of(kind, false));
}

static void on_local_socket(void)
{
	begin(MSD_ADDRESS_UNIX);
}

static void over_tcp(void)
{
	begin(MSD_ADDRESS_TCP);
}

static void turn(void)
{
	for (int i = 0; i < 4; i++)
		(void)uv_run(&loop, UV_RUN_NOWAIT);
	ssize_t n = read(peer, said + n_said, sizeof(said) - n_said);
	n_said += n > 0 ? (size_t)n : 0;
}

static void end(void)
{
	msd_sessions_close_all(&edge);
	turn();
	cr_expect(msd_list_is_empty(&edge.sessions));
	cr_expect_eq(edge.n_sessions, 0);
	cr_expect_eq(n_gone, 1, "the end is told once");
	cr_expect_eq(edge.peers.account.used_bytes, 0, "all was given back");
	cr_expect(msd_list_is_empty(&edge.peers.all));
	msd_deadlines_close(&deadlines);
	msd_wire_close(&wire);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0, "no handle is left");
	msd_wire_finish(&wire);
	msd_unpack_finish(&unpack);
	msd_devices_finish(&devices);
	close(peer);
}

/* Send @o with @payload announced and nothing of it sent. */
static void send_frame(struct msd_out *o, uint64_t payload)
{
	msd_frame_write(
		(struct msd_frame){(uint32_t)(o->body.n - MSD_FRAME_HEADER_BYTES),
				   payload},
		o->body.p);
	cr_assert_eq(write(peer, o->body.p, o->body.n), (ssize_t)o->body.n);
	msd_out_destroy(o);
	turn();
}

static struct msd_out *request(uint64_t id, const char *method, size_t n_params)
{
	struct msd_out *o = msd_out_new();

	msd_body_begin_request(&o->body, id, method, false);
	msd_pack_array(&o->body, n_params);
	return o;
}

/* What was said holds @text. */
static bool heard(const char *text)
{
	return memmem(said, n_said, text, strlen(text)) != NULL;
}

static bool is_open(void)
{
	return !msd_list_is_empty(&edge.sessions);
}

Test(front, answers_a_request, .init = on_local_socket, .fini = end)
{
	struct msd_frame frame;
	struct msd_body body;

	send_frame(request(7, "ping", 0), 0);
	cr_assert_gt(n_said, MSD_FRAME_HEADER_BYTES);
	cr_assert_eq(msd_frame_read(said, 4096, 4096, &frame, NULL), MSD_OK);
	cr_assert_eq(msd_body_read((struct msd_span){said + MSD_FRAME_HEADER_BYTES,
						     frame.body_bytes},
				   NULL, &body, NULL),
		     MSD_OK);
	cr_expect_eq(body.kind, MSD_RESPONSE);
	cr_expect_eq(body.id, 7);
	cr_expect_eq(edge.counts.requests, 1);
	cr_expect_eq(msd_counts_errors(&edge.counts), 0);
}

Test(front, ends_a_connection_that_sends_a_response, .init = on_local_socket,
     .fini = end)
{
	struct msd_out *o = msd_out_new();

	msd_body_begin_response(&o->body, 1, false);
	msd_pack_nil(&o->body);
	msd_pack_nil(&o->body);
	send_frame(o, 0);
	cr_expect(heard("session.close"));
	cr_expect_not(is_open());
}

Test(front, ends_a_connection_that_notifies_of_more_than_cancel,
     .init = on_local_socket, .fini = end)
{
	struct msd_out *o = msd_out_new();

	msd_body_begin_notification(&o->body, "ping");
	msd_pack_array(&o->body, 0);
	send_frame(o, 0);
	cr_expect(heard("cancel"));
	cr_expect_not(is_open());
}

Test(front, refuses_what_a_principal_may_not_before_its_payload_comes, .init = over_tcp,
     .fini = end)
{
	struct msd_out *o = request(1, "module.upload", 1);

	msd_pack_cstr(&o->body, "write");
	send_frame(o, 1u << 20);
	cr_expect(heard("REFUSED"));
	cr_expect(is_open(), "the payload is read and dropped when it comes");
	cr_expect_eq(edge.counts.requests, 0, "and nothing else is done for it");
}

Test(front, keeps_what_is_the_daemons_own_from_clients, .init = on_local_socket,
     .fini = end)
{
	send_frame(request(1, "worker.release", 0), 0);
	cr_expect(heard("REFUSED"));
	send_frame(request(2, "no.such", 0), 0);
	cr_expect(heard("UNKNOWN_METHOD"));
	cr_expect_eq(msd_counts_errors(&edge.counts), 2);
}

Test(front, a_call_to_no_module_leaves_nothing_in_flight, .init = on_local_socket,
     .fini = end)
{
	struct msd_out *o = request(1, "call", 1);

	msd_pack_cstr(&o->body, "none:at_all");
	send_frame(o, 0);
	cr_expect(heard("NOT_FOUND"));
	const struct msd_frame_session *f = MSD_CONTAINER_OF(
		edge.sessions.next, struct msd_frame_session, session.watch_link);
	cr_expect_eq(f->session.client.n_in_flight, 0);
}

Test(front, tells_one_connection_too_many_why)
{
	int ends[2];

	begin(MSD_ADDRESS_UNIX);
	const int first = peer;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	peer = ends[1];
	limits.max_connections = 1;
	msd_accept_open(&edge, ends[0], msd_principal_of(MSD_ADDRESS_UNIX, false));
	turn();
	cr_expect(heard("--max-connections"));
	cr_expect_eq(edge.n_sessions, 1, "the others stay");
	n_gone = 0;
	close(first);
	end();
}

static void send_text(const char *text)
{
	cr_assert_eq(write(peer, text, strlen(text)), (ssize_t)strlen(text));
	turn();
}

Test(front, tells_who_speaks_http_in_http_where_it_is, .init = over_tcp, .fini = end)
{
	send_text("GET / HTTP/1.1\r\n\r\n");
	cr_assert(n_said > 8 && memcmp(said, "HTTP/1.1", 8) == 0);
	cr_expect(heard("modserd's own protocol"));
	cr_expect_not(heard("session.close"));
	cr_expect_not(is_open());
}

Test(front, puts_no_text_between_the_frames_of_who_has_sent_one,
     .init = on_local_socket, .fini = end)
{
	send_frame(request(1, "ping", 0), 0);
	send_text("GET / HTTP/1.1\r\n\r\n");
	cr_expect(heard("session.close"));
	cr_expect_not(heard("HTTP/1.1"));
}
