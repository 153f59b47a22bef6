/*
 * The worker's end of its channel: a module is open; the input is what the supervisor
 * says, cut as that of fuzz_replica.c (0 the body of a frame, 1 bytes as they are, 2
 * the body of a frame with a segment passed along). Each request is answered once and
 * in order; a peer that breaks the rules is ended, with all that was its own.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/worker/process.h"
#include "daemon/worker/queue.h"
#include "proto/value.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/pass_fd.h"

#define MAX_OUT_BYTES (1u << 20)
#define SEGMENT_BYTES 4096
#define TURNS 4

static uv_loop_t loop;
static struct msd_worker worker;
static int peer;
static struct msd_buf said; /* by the worker */

static void send_bytes(const uint8_t *p, size_t n, int fd)
{
	struct iovec iov = {(void *)(uintptr_t)p, n};

	(void)pass_fd(peer, &iov, 1, fd, MSG_DONTWAIT);
}

static void send_frame(struct msd_span body, int fd)
{
	struct msd_buf b = {0};
	uint8_t head[MSD_FRAME_HEADER_BYTES];

	msd_frame_write((struct msd_frame){.body_bytes = (uint32_t)body.n}, head);
	msd_buf_put(&b, head, sizeof(head));
	msd_buf_put(&b, body.p, body.n);
	send_bytes(b.p, b.n, fd);
	msd_buf_finish(&b);
}

static void turn(void)
{
	uint8_t bytes[4096];
	ssize_t n;

	for (int i = 0; i < TURNS; i++) {
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		while ((n = recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
			msd_buf_put(&said, bytes, (size_t)n);
	}
}

/* What it said since the last time: whole frames, in which ids go up. */
static unsigned count_answers(uint64_t *last_id)
{
	unsigned n_answers = 0;
	size_t at = 0;

	while (said.n - at >= MSD_FRAME_HEADER_BYTES) {
		struct msd_frame f;
		struct msd_body b;
		MUST(msd_frame_read(said.p + at, MSD_MAX_REPLY_BODY_BYTES, 0, &f,
				    NULL) == MSD_OK);
		if (said.n - at - MSD_FRAME_HEADER_BYTES < f.body_bytes)
			break;
		at += MSD_FRAME_HEADER_BYTES;
		MUST(msd_body_read((struct msd_span){said.p + at, f.body_bytes}, NULL,
				   &b, NULL) == MSD_OK);
		at += f.body_bytes;
		MUST(b.kind != MSD_REQUEST);
		if (b.kind == MSD_RESPONSE) {
			*last_id = b.id;
			n_answers++;
		}
	}
	said.n -= at;
	memmove(said.p, said.p + at, said.n);
	return n_answers;
}

static int artifact(void)
{
	char bytes[65536];
	ssize_t n;
	const int from = open(MSD_ZOO "/results.so", O_RDONLY | O_CLOEXEC);
	const int to = memfd_create("artifact", MFD_CLOEXEC);

	MUST(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		MUST(write(to, bytes, (size_t)n) == n);
	(void)close(from);
	return to;
}

/* Once: the worker opens its module, as the supervisor asks on the real channel. */
static void begin(void)
{
	struct msd_buf b = {0};
	uint64_t id = 0;
	int ends[2];

	MUST(uv_loop_init(&loop) == 0);
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	peer = ends[1];
	const struct msd_process_given given = {
		.channel_fd = ends[0], .artifact_fd = artifact(), .door_fd = -1};
	MUST(msd_worker_start(&worker, &loop, &given, NULL) == MSD_OK);
	msd_body_begin_request(&b, 1, "worker.open", false);
	msd_pack_array(&b, 1);
	msd_pack_map(&b, 3);
	msd_pack_cstr(&b, "name");
	msd_pack_cstr(&b, "m");
	msd_pack_cstr(&b, "file");
	msd_pack_cstr(&b, "results.so");
	msd_pack_cstr(&b, "threads");
	msd_pack_uint(&b, 1);
	send_frame((struct msd_span){b.p, b.n}, -1);
	msd_buf_finish(&b);
	turn();
	MUST(count_answers(&id) == 1 && worker.module != NULL);
}

static struct msd_peer *connect_peer(void)
{
	int ends[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	peer = ends[1];
	MUST(msd_peer_open(&worker, ends[0], false, NULL) == MSD_OK);
	struct msd_peer *p = MSD_CONTAINER_OF(worker.peers.prev, struct msd_peer, link);
	p->out.pool.max_bytes = MAX_OUT_BYTES;
	p->residents.max_bytes = MAX_OUT_BYTES;
	return p;
}

static void pass_segment(struct msd_span body)
{
	const int fd = memfd_create("in", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0 && posix_fallocate(fd, 0, SEGMENT_BYTES) == 0);
	MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
	send_frame(body, fd);
	(void)close(fd);
}

/* Whether it is a request, and its id: the worker must answer it. worker.open is left
 * out: what is wrong with it ends the process, which is right. */
static bool may_be_sent(struct msd_span body, bool *ret_asks, uint64_t *ret_id)
{
	struct msd_body b;

	*ret_asks = false;
	if (msd_body_read(body, NULL, &b, NULL) != MSD_OK)
		return true;
	*ret_asks = b.kind == MSD_REQUEST;
	*ret_id = b.id;
	return b.kind != MSD_REQUEST || !msd_span_is(b.method, "worker.open");
}

static void hear(struct msd_cur *input)
{
	const uint8_t what = msd_cur_u8(input);
	const size_t wanted = msd_cur_u16(input);
	const size_t n = wanted < input->left ? wanted : input->left;
	const struct msd_span piece = {msd_cur_take(input, n), n};
	uint64_t id = 0, answered = 0;
	bool asks;

	if (n == 0 || !may_be_sent(piece, &asks, &id))
		return;
	if (what % 3 == 1) {
		send_bytes(piece.p, piece.n, -1);
	} else if (what % 3 == 2) {
		pass_segment(piece);
	} else {
		send_frame(piece, -1);
	}
	turn();
	const unsigned n_answers = count_answers(&answered);
	/* After bytes that are no frame nobody knows what is one. */
	if (what % 3 == 0)
		MUST(n_answers <= 1 && (n_answers == 0 || (asks && answered == id)));
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_cur input = msd_cur_of((struct msd_span){data, n});

	if (worker.wire.rbuf == NULL)
		begin();
	struct msd_peer *p = connect_peer();
	said.n = 0;
	while (input.left > 0 && !input.bad && worker.peers.prev == &p->link)
		hear(&input);
	const bool is_there = worker.peers.prev == &p->link;
	(void)close(peer);
	turn();
	MUST(worker.peers.next == worker.peers.prev); /* the channel's alone */
	MUST(msd_list_is_empty(&worker.queue));
	return is_there;
}
