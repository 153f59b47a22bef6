/*
 * The worker's end of its channel: a module is open; the input is what the supervisor
 * says, cut as that of fuzz_replica.c (0 the body of a frame, 1 bytes as they are, 2
 * the body of a frame with a segment passed along). Each request is answered once and
 * in order; a peer that breaks the rules is ended, with all that was its own.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/worker_world.h"

#define MAX_OUT_BYTES (1u << 20)
#define SEGMENT_BYTES 4096

static int peer;
static struct msd_buf said; /* by the worker */
static size_t at;           /* of that, taken */

static void send_frame(struct msd_span body, int fd)
{
	world_send(peer, &(struct world_frame){.body = body, .fd = fd});
}

/* What it said since the last time: whole frames, in which ids go up. */
static unsigned count_answers(uint64_t *last_id)
{
	unsigned n_answers = 0;
	struct msd_body b;

	while (world_take(&said, &at, &b)) {
		MUST(b.kind != MSD_REQUEST);
		if (b.kind == MSD_RESPONSE) {
			*last_id = b.id;
			n_answers++;
		}
	}
	world_drop(&said, &at);
	return n_answers;
}

static struct msd_peer *connect_peer(void)
{
	int ends[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	peer = ends[1];
	MUST(msd_peer_open(&world_worker, ends[0], false, NULL) == MSD_OK);
	struct msd_peer *p =
		MSD_CONTAINER_OF(world_worker.peers.prev, struct msd_peer, link);
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
	const struct msd_span piece = {msd_cur_read(input, n), n};
	uint64_t id = 0, answered = 0;
	bool asks;

	if (n == 0 || !may_be_sent(piece, &asks, &id))
		return;
	if (what % 3 == 1) {
		world_send_bytes(peer, piece.p, piece.n, -1);
	} else if (what % 3 == 2) {
		pass_segment(piece);
	} else {
		send_frame(piece, -1);
	}
	world_turn(peer, &said);
	const unsigned n_answers = count_answers(&answered);
	/* After bytes that are no frame nobody knows what is one. */
	if (what % 3 == 0)
		MUST(n_answers <= 1 && (n_answers == 0 || (asks && answered == id)));
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_cur input = msd_cur_of((struct msd_span){data, n});

	if (world_worker.wire.rbuf == NULL)
		(void)world_begin();
	struct msd_peer *p = connect_peer();
	said.n = at = 0;
	while (input.left > 0 && !input.bad && world_worker.peers.prev == &p->link)
		hear(&input);
	const bool is_there = world_worker.peers.prev == &p->link;
	(void)close(peer);
	world_turn(peer, &said);
	MUST(world_worker.peers.next ==
	     world_worker.peers.prev); /* the channel's alone */
	MUST(world_is_idle());
	return is_there;
}
