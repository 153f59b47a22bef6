/*
 * A guest's end of its own channel to a worker: a module is open; the input is what the
 * client says, in pieces as those of fuzz_peer.c (0 the body of a frame, 1 bytes as
 * they are, 2 the body of a frame with a descriptor, 3 one with a payload), and 4: the
 * supervisor has it leave. No request has more than one answer, and they keep their
 * order; when it is gone nothing is left of it, its supervisor is told so once, and the
 * ledger says that nothing runs and has counted each answer to a request.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/segments/ledger.h"
#include "proto/value.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/worker_world.h"

#define PAYLOAD_BYTES 64u
#define NUMBER 1u

static int channel, client, theirs; /* the last is the worker's end, once more */
static struct msd_buf said;         /* to the client */
static size_t at;                   /* of that, taken */
static struct msd_buf said_back;    /* to the supervisor */
static struct msd_ledger *ledger;

static void tell(struct msd_buf *b, int fd)
{
	world_send(channel, &(struct world_frame){.body = {b->p, b->n}, .fd = fd});
	msd_buf_finish(b);
}

static void share_ledger(void)
{
	struct msd_buf b = {0};
	const int fd = memfd_create("ledger", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0 && posix_fallocate(fd, 0, sizeof(*ledger)) == 0);
	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(ledger != MAP_FAILED);
	msd_body_begin_notification(&b, "worker.segment");
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "ledger");
	msd_pack_uint(&b, 0);
	msd_pack_uint(&b, sizeof(*ledger));
	tell(&b, fd);
	(void)close(fd);
}

/* @fd, an end of a pair, is to come. */
static void send_peer(int fd)
{
	struct msd_buf b = {0};

	msd_body_begin_notification(&b, "worker.peer");
	msd_pack_array(&b, 7);
	msd_pack_uint(&b, NUMBER);
	msd_pack_uint(&b, 8);
	msd_pack_uint(&b, 4096);
	msd_pack_uint(&b, 0);
	msd_pack_uint(&b, 1000);
	msd_pack_uint(&b, 1000);
	msd_pack_nil(&b);
	tell(&b, fd);
	ledger->leaving = 0;
}

/* It is to leave. */
static void take_back(void)
{
	ledger->leaving = msd_ledger_bit(NUMBER);
	MUST(shutdown(theirs, SHUT_RD) == 0);
}

static bool is_there(void)
{
	return world_worker.peers.prev != world_worker.peers.next;
}

static void come(void)
{
	int ends[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	client = ends[1];
	send_peer(ends[0]);
	theirs = ends[0];
	world_turn(client, &said);
	MUST(is_there());
}

/* How many answers it got: each to a request, in the order of those. */
static unsigned hear_answers(void)
{
	struct msd_body b;
	unsigned n = 0;

	while (world_take(&said, &at, &b)) {
		MUST(b.kind != MSD_REQUEST);
		n += b.kind == MSD_RESPONSE;
	}
	world_drop(&said, &at);
	return n;
}

static bool is_request(struct msd_span body)
{
	struct msd_body b;

	return msd_body_read(body, NULL, &b, NULL) == MSD_OK && b.kind == MSD_REQUEST;
}

static void say(struct msd_cur *input)
{
	const uint8_t what = msd_cur_u8(input) % 5;
	const size_t wanted = msd_cur_u16(input);
	const size_t n = wanted < input->left ? wanted : input->left;
	const struct msd_span piece = {msd_cur_read(input, n), n};

	if (n == 0)
		return;
	if (what == 1) {
		world_send_bytes(client, piece.p, piece.n, -1);
	} else if (what == 4) {
		take_back();
	} else {
		world_send(client,
			   &(struct world_frame){.body = piece,
						 .payload_bytes =
							 what == 3 ? PAYLOAD_BYTES : 0,
						 .fd = what == 2 ? channel : -1});
	}
	world_turn(client, &said);
	const unsigned answers = hear_answers();
	if (what != 1) /* after bytes that are no frame nobody knows what is one */
		MUST(answers <= 1 && (answers == 0 || is_request(piece)));
}

static uint64_t count_ended(void)
{
	uint64_t n = 0;

	for (unsigned row = 0; row < MSD_LEDGER_ROWS; row++) {
		for (unsigned code = 0; code < MSD_LEDGER_CODES; code++)
			n += ledger->rows[row].ended[code];
	}
	return n;
}

/* Its end was told, and nothing else. */
static void hear_of_its_end(void)
{
	struct msd_body b;
	size_t from = 0;

	world_turn(channel, &said_back);
	MUST(world_take(&said_back, &from, &b) && b.kind == MSD_NOTIFICATION &&
	     msd_span_is(b.method, "worker.peer"));
	MUST(from == said_back.n);
	said_back.n = 0;
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_cur input = msd_cur_of((struct msd_span){data, n});

	if (ledger == NULL) {
		channel = world_begin();
		share_ledger();
	}
	said.n = said_back.n = at = 0;
	come();
	const uint64_t before = count_ended();
	while (input.left > 0 && !input.bad && is_there())
		say(&input);
	const bool was_there = is_there();
	MUST(was_there || count_ended() >= before);
	(void)close(client);
	(void)close(theirs);
	hear_of_its_end();
	MUST(!is_there() && world_is_idle());
	MUST(ledger->who == 0 && ledger->deadline_ns == 0);
	return was_there;
}
