/*
 * The supervisor's end of a worker's channel: a module is open and has been asked one
 * of everything; the input is what its worker says then. One piece after the other: a
 * byte that tells what it is (0 the body of a frame, 1 bytes as they are, 2 the body of
 * a frame with a segment passed along, 3 the worker's end, 4 time that passes), two
 * that tell how long it is. What was asked is answered once, whatever comes, and what
 * came costs the worker alone.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/body.h"
#include "proto/value.h"
#include "tests/fuzz/fake_child.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/supervisor_world.h"
#include "tests/support/clock.h"

#define OUT_BYTES 64u
#define SEGMENT_BYTES 4096

static struct world world;
static const struct msd_buf nothing;

static void answer_open(void)
{
	struct msd_buf b = {0};
	struct fake *f = fake_at(0);

	MUST(f != NULL && f->n_open == 1);
	msd_body_begin_response(&b, fake_take(f, 0), false);
	msd_pack_nil(&b);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "functions");
	msd_pack_array(&b, 0);
	fake_send(f, b.p, b.n, -1);
	msd_buf_finish(&b);
}

static void ask_call(struct client *c)
{
	const struct msd_wire_tensor out = {
		.where = MSD_AT_OUT,
		.dtype = {.code = 2, .bits = 32, .lanes = 1},
		.bytes = OUT_BYTES,
		.ndim = 1,
		.shape = {OUT_BYTES / 4}};
	struct msd_buf b = {0};

	msd_pack_cstr(&b, "a:f");
	msd_pack_tensor(&b, &out);
	msd_pack_tensor(&b, &out);
	(void)client_ask(c, "call", 3, &b, &nothing, 0);
	msd_buf_finish(&b);
}

/* Ids of the channel: worker.open was 1; call 2, tensor.alloc 3, module.instance 4, and
 * calls again, so that answers may be known: 5 to 8. */
static void ask_everything(struct client *c)
{
	const int64_t shape[] = {OUT_BYTES / 4};
	struct msd_buf b = {0};

	ask_call(c);
	msd_pack_cstr(&b, "a");
	msd_pack_dtype(&b, (struct msd_dtype){.code = 2, .bits = 32, .lanes = 1});
	msd_pack_shape(&b, shape, 1);
	(void)client_ask(c, "tensor.alloc", 3, &b, &nothing, 0);
	b.n = 0;
	msd_pack_cstr(&b, "a");
	(void)client_ask(c, "module.instance", 1, &b, &nothing, 0);
	msd_buf_finish(&b);
	for (int i = 0; i < 4; i++)
		ask_call(c);
}

static void pass_segment(struct fake *f, struct msd_span body)
{
	const int fd = memfd_create("out", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0 && posix_fallocate(fd, 0, SEGMENT_BYTES) == 0);
	MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
	fake_send(f, body.p, body.n, fd);
	(void)close(fd);
}

static void say(struct msd_cur *input)
{
	const uint8_t what = msd_cur_u8(input);
	const size_t wanted = msd_cur_u16(input);
	const size_t n = wanted < input->left ? wanted : input->left;
	const struct msd_span piece = {msd_cur_read(input, n), n};
	struct fake *f = fake_at(0);

	if (f == NULL || n == 0)
		return;
	switch (what % 5) {
	case 0:
		fake_send(f, piece.p, piece.n, -1);
		break;
	case 1:
		(void)send(f->channel, piece.p, piece.n, MSG_NOSIGNAL | MSG_DONTWAIT);
		break;
	case 2:
		pass_segment(f, piece);
		break;
	case 3:
		fake_exit(f);
		break;
	default:
		clock_pass(wanted);
	}
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_cur input = msd_cur_of((struct msd_span){data, n});
	struct client *c = &world.clients[0];

	world_begin(&world);
	client_connect(&world, c);
	client_load(&world, c, "a", 1, false);
	world_settle(&world);
	answer_open();
	world_settle(&world);
	const unsigned number = fake_at(0)->number;
	ask_everything(c);
	world_settle(&world);
	while (input.left > 0 && !input.bad) {
		say(&input);
		world_settle(&world);
	}
	/* Accepted: the worker was believed. */
	struct fake *f = fake_at(0);
	const bool is_believed = f != NULL && f->number == number && !f->is_killed;
	world_end(&world);
	return is_believed;
}
