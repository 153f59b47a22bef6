/* A worker in this process with two peers: one whose calls have plans, one without. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/worker/calls/plan.h"
#include "daemon/worker/process.h"
#include "daemon/worker/queue.h"
#include "proto/body.h"
#include "proto/frame.h"

#define TURNS 4

static uv_loop_t loop;
static struct msd_worker worker;

struct side {
	int fd;
	struct msd_peer *peer;
	struct msd_buf said;  /* the last frames */
	struct msd_body last; /* the last response in it; kind 0: none */
	bool has_ended;
};

static void send_body(int fd, struct msd_span body)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];

	msd_frame_write((struct msd_frame){.body_bytes = (uint32_t)body.n}, head);
	cr_assert_eq(write(fd, head, sizeof(head)), (ssize_t)sizeof(head));
	cr_assert_eq(write(fd, body.p, body.n), (ssize_t)body.n);
}

static void read_last(struct side *s)
{
	struct msd_frame f;
	struct msd_body b;

	for (size_t at = 0; at < s->said.n; at += f.body_bytes) {
		cr_assert_eq(msd_frame_read(s->said.p + at, MSD_MAX_REPLY_BODY_BYTES, 0,
					    &f, NULL),
			     MSD_OK);
		at += MSD_FRAME_HEADER_BYTES;
		cr_assert_eq(
			msd_body_read((struct msd_span){s->said.p + at, f.body_bytes},
				      NULL, &b, NULL),
			MSD_OK);
		if (b.kind == MSD_RESPONSE)
			s->last = b;
	}
}

/* All that the worker says to @body. */
static void ask(struct side *s, struct msd_span body)
{
	uint8_t bytes[4096];
	ssize_t n;

	s->said.n = 0;
	s->last = (struct msd_body){0};
	send_body(s->fd, body);
	for (int i = 0; i < TURNS; i++) {
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		while ((n = recv(s->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
			msd_buf_put(&s->said, bytes, (size_t)n);
		s->has_ended = s->has_ended || n == 0;
	}
	read_last(s);
}

static struct side connect_side(bool has_plans)
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	cr_assert_eq(msd_peer_open(&worker, ends[0], false, NULL), MSD_OK);
	struct side s = {.fd = ends[1]};
	s.peer = MSD_CONTAINER_OF(worker.peers.prev, struct msd_peer, link);
	if (!has_plans)
		s.peer->conn.limits.memory = NULL;
	return s;
}

static void disconnect_side(struct side *s)
{
	(void)close(s->fd);
	for (int i = 0; i < TURNS; i++)
		(void)uv_run(&loop, UV_RUN_NOWAIT);
	msd_buf_finish(&s->said);
}

static int artifact(void)
{
	char bytes[65536];
	ssize_t n;
	const int from = open(MSD_ZOO "/results.so", O_RDONLY | O_CLOEXEC);
	const int to = memfd_create("artifact", MFD_CLOEXEC);

	cr_assert(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		cr_assert_eq(write(to, bytes, (size_t)n), n);
	(void)close(from);
	return to;
}

static void begin(struct msd_buf *b, uint64_t id, const char *method, size_t n)
{
	*b = (struct msd_buf){0};
	msd_body_begin_request(b, id, method, false);
	msd_pack_array(b, n);
}

static void open_module(void)
{
	struct msd_buf b;
	int ends[2];

	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	const struct msd_process_given given = {
		.channel_fd = ends[0], .artifact_fd = artifact(), .door_fd = -1};
	cr_assert_eq(msd_worker_start(&worker, &loop, &given, NULL), MSD_OK);
	struct side channel = {.fd = ends[1]};
	begin(&b, 1, "worker.open", 1);
	msd_pack_map(&b, 3);
	msd_pack_pair_str(&b, "name", "m");
	msd_pack_pair_str(&b, "file", "results.so");
	msd_pack_pair_uint(&b, "threads", 1);
	ask(&channel, (struct msd_span){b.p, b.n});
	cr_assert_eq(channel.last.error.n, 1);
	msd_buf_finish(&b);
	msd_buf_finish(&channel.said);
}

TestSuite(plan, .init = open_module);

/* A call of every kind of argument that fits: those that are read and those that are
 * looked up. */
static struct msd_buf make_call(const struct msd_wire_tensor *resident)
{
	struct msd_buf b;
	const struct msd_wire_tensor out = {.where = MSD_AT_OUT,
					    .dtype = {2, 32, 1},
					    .bytes = 8,
					    .ndim = 1,
					    .shape = {2}};

	begin(&b, 9, "call", 6);
	msd_pack_cstr(&b, "m:count");
	msd_pack_int(&b, -3);
	msd_pack_cstr(&b, "text");
	msd_pack_float(&b, 0.5);
	msd_pack_tensor(&b, &out);
	msd_pack_tensor(&b, resident);
	return b;
}

/* A resident tensor of two float32, which the peer's first is called. */
static struct msd_wire_tensor alloc_resident(struct side *s)
{
	struct msd_wire_value v;
	struct msd_wire_tensor t;
	struct msd_buf b;
	const int64_t shape[] = {2};

	begin(&b, 1, "tensor.alloc", 3);
	msd_pack_cstr(&b, "m");
	msd_pack_dtype(&b, (struct msd_dtype){2, 32, 1});
	msd_pack_shape(&b, shape, 1);
	ask(s, (struct msd_span){b.p, b.n});
	msd_buf_finish(&b);
	struct msd_cur c = msd_cur_of(s->last.result);
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert_eq(v.kind, MSD_K_TENSOR);
	cr_assert_eq(msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, &t, NULL),
		     MSD_OK);
	return t;
}

static void expect_same_span(struct msd_span a, struct msd_span b, size_t bit)
{
	cr_assert_eq(a.n, b.n, "bit %zu", bit);
	cr_assert(a.n == 0 || memcmp(a.p, b.p, a.n) == 0, "bit %zu", bit);
}

static void expect_same_answers(const struct side *a, const struct side *b, size_t bit)
{
	cr_assert_eq(a->has_ended, b->has_ended, "bit %zu", bit);
	cr_assert_eq(a->last.kind, b->last.kind, "bit %zu", bit);
	cr_assert_eq(a->last.id, b->last.id, "bit %zu", bit);
	expect_same_span(a->last.error, b->last.error, bit);
	expect_same_span(a->last.result, b->last.result, bit);
}

/* How often a call comes until it has a plan and has run by it: its function is known
 * from the first on, it is remembered with the third. */
#define OFTEN 4

/* Both get the call, then it with @bit changed. */
static void try_bit(size_t bit, size_t *ret_bits)
{
	struct side sides[] = {connect_side(true), connect_side(false)};

	for (int i = 0; i < 2; i++) {
		const struct msd_wire_tensor t = alloc_resident(&sides[i]);
		struct msd_buf b = make_call(&t);
		for (int times = 0; times < OFTEN; times++) {
			ask(&sides[i], (struct msd_span){b.p, b.n});
			cr_assert_eq(sides[i].last.error.n, 1, "%.*s",
				     (int)sides[i].last.error.n,
				     (const char *)sides[i].last.error.p);
		}
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ask(&sides[i], (struct msd_span){b.p, b.n});
		*ret_bits = 8 * b.n;
		msd_buf_finish(&b);
	}
	expect_same_answers(&sides[0], &sides[1], bit);
	disconnect_side(&sides[0]);
	disconnect_side(&sides[1]);
}

Test(plan, a_changed_bit_of_a_remembered_call_is_answered_as_without_plans)
{
	size_t bits = 1;

	for (size_t bit = 0; bit < bits; bit++)
		try_bit(bit, &bits); /* it asserts through expect_same_answers() */
	cr_assert_gt(bits, 1000);
}

Test(plan, a_call_that_comes_again_has_one)
{
	struct side s = connect_side(true);
	const struct msd_wire_tensor t = alloc_resident(&s);
	struct msd_buf b = make_call(&t);

	for (int times = 0; times < OFTEN; times++)
		ask(&s, (struct msd_span){b.p, b.n});
	const struct msd_known *known =
		msd_memory_find(&s.peer->memory, (struct msd_span){b.p, b.n}, 0);
	cr_assert_not_null(known);
	cr_assert_eq(((const struct msd_plan *)known->plan)->n_args, 5);
	cr_assert_eq(known->n_users, 0);
	disconnect_side(&s);
	msd_buf_finish(&b);
}

Test(plan, a_handle_is_looked_up_by_each_call)
{
	struct side s = connect_side(true);
	const struct msd_wire_tensor t = alloc_resident(&s);
	struct msd_buf b = make_call(&t), gone;
	struct msd_body_error e;

	for (int times = 0; times < OFTEN; times++)
		ask(&s, (struct msd_span){b.p, b.n});
	begin(&gone, 1, "tensor.free", 1);
	msd_pack_tensor(&gone, &t);
	ask(&s, (struct msd_span){gone.p, gone.n});
	cr_assert_eq(s.last.error.n, 1);
	ask(&s, (struct msd_span){b.p, b.n});
	cr_assert(msd_body_error_read(s.last.error, &e));
	cr_assert_eq(e.code, MSD_STALE_HANDLE);
	disconnect_side(&s);
	msd_buf_finish(&b);
	msd_buf_finish(&gone);
}

Test(plan, an_unknown_function_and_options_have_none)
{
	struct side s = connect_side(true);
	struct msd_buf unknown, with;

	begin(&unknown, 1, "call", 1);
	msd_pack_cstr(&unknown, "m:nothing");
	with = (struct msd_buf){0};
	msd_body_begin_request(&with, 1, "call", true);
	msd_pack_array(&with, 1);
	msd_pack_cstr(&with, "m:int");
	msd_pack_map(&with, 1);
	msd_pack_pair_uint(&with, "deadline_ms", 60000);
	for (int times = 0; times < OFTEN; times++) {
		ask(&s, (struct msd_span){unknown.p, unknown.n});
		ask(&s, (struct msd_span){with.p, with.n});
	}
	cr_assert_eq(s.last.error.n, 1);
	cr_assert_eq(s.peer->memory.n_known, 0);
	disconnect_side(&s);
	msd_buf_finish(&unknown);
	msd_buf_finish(&with);
}
