/*
 * The input is a sequence of what clients, workers and the clock do to a supervisor, a
 * byte each and what that needs: connect, ask, cancel, vanish, answer, lie, die, wait.
 * Whatever it is, each request is answered once and in the end everything is given
 * back: supervisor_world.h.
 */
#include <string.h>

#include "proto/result_of.h"
#include "proto/value.h"
#include "tests/fuzz/fake_child.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/session_worker.h"
#include "tests/fuzz/supervisor_world.h"
#include "tests/support/clock.h"

static struct world world;
static struct msd_cur input;
static struct client *client; /* who does what clients do */
static const struct msd_buf nothing;

static const char *a_name(uint8_t byte)
{
	static const char *const names[] = {"a", "b", "c", "nobody"};

	return names[byte % 4];
}

static void look(uint8_t byte)
{
	static const char *const methods[] = {"ping",
					      "server.info",
					      "module.list",
					      "module.wait",
					      "module.describe",
					      "module.logs",
					      "function.list",
					      "what"};
	struct msd_buf b = {0};
	const bool has_name = byte % 8 >= 3;

	if (has_name)
		msd_pack_cstr(&b, a_name(byte / 8));
	(void)client_ask(client, methods[byte % 8], has_name, &b, &nothing, 0);
	msd_buf_finish(&b);
}

/* How long its request may take. */
static void put_deadline(struct msd_buf *options, uint8_t byte)
{
	static const uint64_t all[] = {0, 1, 100, 3000};

	if (byte % 8 >= 4)
		return;
	msd_pack_map(options, 1);
	msd_pack_cstr(options, "deadline_ms");
	msd_pack_uint(options, all[byte % 4]);
}

static void put_floats(struct msd_buf *b, enum msd_where where, uint32_t bytes)
{
	const struct msd_wire_tensor t = {.where = where,
					  .dtype = {.code = 2, .bits = 32, .lanes = 1},
					  .bytes = bytes,
					  .ndim = 1,
					  .shape = {bytes / 4}};
	msd_pack_tensor(b, &t);
}

/* The same in a segment that may be lent. */
static void put_lent(struct msd_buf *b, enum msd_where where, uint8_t byte)
{
	const struct msd_wire_tensor t = {.where = where,
					  .dtype = {.code = 2, .bits = 32, .lanes = 1},
					  .segment = 1 + byte % 4,
					  .offset = 128u * (byte / 4),
					  .bytes = 256,
					  .ndim = 1,
					  .shape = {64}};
	msd_pack_tensor(b, &t);
}

static void lend(uint8_t byte)
{
	static const int seals[] = {F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
				    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL |
					    F_SEAL_WRITE,
				    F_SEAL_SHRINK, 0};
	struct msd_buf b = {0};

	if (byte % 4 == 3) {
		msd_pack_uint(&b, byte / 16);
		(void)client_ask(client, "segment.remove", 1, &b, &nothing, 0);
	} else {
		client_lend(client, 4096u * (byte / 16), seals[byte / 4 % 4]);
	}
	msd_buf_finish(&b);
}

/* call of a function by its name, with what comes to hand. */
static void call(uint8_t byte)
{
	struct msd_buf b = {0}, options = {0};
	const uint8_t what = msd_cur_u8(&input), size = msd_cur_u8(&input);
	const uint32_t bytes = (what & 1) != 0 ? 128u * (size % 40u) * (size % 40u) : 0;
	uint32_t n = 2;

	msd_pack_cstr(&b, byte % 4 == 0 ? "a:f" : byte % 4 == 1 ? "b:f" : "c:g");
	put_floats(&b, MSD_AT_INLINE, bytes);
	if ((what & 2) != 0 && ++n > 0)
		put_floats(&b, MSD_AT_OUT, 64u * size);
	if ((what & 4) != 0 && client->n_tensor > 0 && ++n > 0)
		msd_buf_put(&b, client->tensor, client->n_tensor);
	if ((what & 64) != 0 && ++n > 0)
		put_lent(&b, MSD_AT_SEGMENT, size);
	if ((what & 128) != 0 && ++n > 0)
		put_lent(&b, MSD_AT_OUT, byte);
	put_deadline(&options, what / 8);
	(void)client_ask(client, "call", n, &b, &options, bytes);
	msd_buf_finish(&b);
	msd_buf_finish(&options);
}

/* The methods whose handles are somebody's own. */
static void use_handle(uint8_t byte)
{
	struct msd_buf b = {0};
	uint32_t n = 1;
	const char *method = "function.free";

	switch (byte % 8) {
	case 0:
		method = "tensor.alloc";
		msd_pack_cstr(&b, a_name(byte / 8));
		msd_pack_dtype(&b,
			       (struct msd_dtype){.code = 2, .bits = 32, .lanes = 1});
		msd_pack_shape(&b, (const int64_t[]){byte}, 1);
		n = 3;
		break;
	case 1:
	case 2:
		method = byte % 8 == 1 ? "tensor.free" : "tensor.copy";
		msd_buf_put(&b, client->tensor, client->n_tensor);
		if (byte % 8 == 2 && b.n > 0 && ++n > 0)
			put_floats(&b, MSD_AT_OUT, 4u * byte);
		break;
	case 3:
		method = "module.instance";
		msd_pack_cstr(&b, a_name(byte / 8));
		break;
	case 4:
		method = "instance.free";
		msd_buf_put(&b, client->object, client->n_object);
		break;
	case 5:
		method = "function.get";
		msd_pack_cstr(&b, a_name(byte / 8));
		msd_pack_cstr(&b, "f");
		n = 2;
		break;
	case 6:
		method = "call";
		msd_buf_put(&b, client->object, client->n_object);
		break;
	default:
		msd_buf_put(&b, client->object, client->n_object);
	}
	if (b.n > 0)
		(void)client_ask(client, method, n, &b, &nothing, 0);
	msd_buf_finish(&b);
}

/* The result of one of the last requests, of the next, or of none. */
static void put_name(struct msd_buf *b, uint8_t byte)
{
	const struct msd_result_of r = {.id = client->n_asked + 2 - byte % 16,
					.n_path = byte / 16 % 4,
					.path = {byte / 64, 0, 0}};

	msd_pack_result_of(b, &r);
}

/* A request whose result may be named, and which may name those of others. */
static void promise(uint8_t byte)
{
	static const char *const methods[] = {
		"call", "module.instance", "tensor.alloc", "function.get",
		"ping", "module.wait",     "tensor.copy",  "call"};
	const uint8_t what = msd_cur_u8(&input), names = msd_cur_u8(&input);
	const uint32_t payload = (what & 1) != 0 ? 128 : 0;
	struct msd_buf b = {0}, options = {0};
	uint32_t n = 1;

	msd_pack_map(&options, 1u + ((what & 2) != 0));
	msd_pack_cstr(&options, "promised");
	msd_pack_bool(&options, (what & 4) != 0);
	if ((what & 2) != 0) {
		msd_pack_cstr(&options, byte % 2 != 0 ? "deadline_ms" : "instance");
		put_name(&options, what);
	}
	if (byte % 8 == 7 || byte % 8 == 6) {
		put_name(&b, what / 8);
	} else {
		msd_pack_cstr(&b, byte % 8 == 0 ? "a:f" : a_name(byte / 8));
	}
	for (; n <= byte / 8 % 4 && byte % 8 != 4; n++)
		put_name(&b, (uint8_t)(names / n));
	if (payload > 0 && ++n > 0)
		put_floats(&b, MSD_AT_INLINE, payload);
	(void)client_ask(client, methods[byte % 8], n, &b, &options, payload);
	msd_buf_finish(&b);
	msd_buf_finish(&options);
}

static void cancel(uint8_t byte)
{
	struct msd_buf b = {0};

	msd_pack_uint(&b,
		      byte % 8 < client->n_asked ? client->n_asked - byte % 8 : byte);
	(void)client_ask(client, "cancel", 1, &b, &nothing, 0);
	msd_buf_finish(&b);
}

static void unload(uint8_t byte)
{
	struct msd_buf b = {0};

	msd_pack_cstr(&b, a_name(byte));
	(void)client_ask(client, "module.unload", 1, &b, &nothing, 0);
	msd_buf_finish(&b);
}

/* Bytes of the input as they are; from then on nobody expects anything of it. */
static void go_wild(uint8_t byte)
{
	const size_t n = byte < input.left ? byte : input.left;

	client->is_wild = true;
	if (n > 0)
		msd_buf_put(&client->going, msd_cur_read(&input, n), n);
}

static void do_as_client(uint8_t op, uint8_t byte)
{
	switch (op % 16) {
	case 0:
		look(byte);
		break;
	case 1:
		promise(byte);
		break;
	case 2:
		client_load(&world, client, a_name(byte % 3), 1 + byte / 4 % 3,
			    byte / 16 % 2 != 0);
		break;
	case 3:
		unload(byte);
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		call(byte);
		break;
	case 8:
	case 9:
	case 10:
		use_handle(byte);
		break;
	case 11:
		cancel(byte);
		break;
	case 12:
		client_leave(client);
		break;
	case 13:
		client->is_deaf = client->may_be_ended = true;
		break;
	case 14:
		go_wild(byte);
		break;
	default:
		lend(byte);
		break;
	}
}

static void wait_a_while(uint8_t byte)
{
	static const uint64_t all[] = {1, 60, 1100, 6000, 15000, 61000, 130000, 1};

	if (byte % 8 >= 3) { /* who has not asked by then, or reads nothing, is ended */
		for (unsigned i = 0; i < WORLD_CLIENTS; i++) {
			world.clients[i].may_be_ended = world.clients[i].is_deaf ||
							world.clients[i].n_asked == 0 ||
							world.clients[i].may_be_ended;
		}
	}
	clock_pass(all[byte % 8]);
}

static void step(uint8_t op)
{
	const uint8_t byte = msd_cur_u8(&input);
	struct fake *f = fake_at(op / 64u + byte / 64u);

	client = &world.clients[op / 16 % WORLD_CLIENTS];
	if (op >= 192) {
		if (f != NULL)
			session_worker_does(f, op, byte, &input);
	} else if (op >= 160) {
		wait_a_while(byte);
	} else if (op >= 150) {
		fake_may_start = byte % 4 != 0;
	} else if (client->fd < 0) {
		client_connect(&world, client);
	} else if (client->is_deaf) {
		client->is_deaf = false;
	} else if (client_is_fit(client)) {
		do_as_client(op, byte);
	}
	world_settle(&world);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	input = msd_cur_of((struct msd_span){data, n});
	world_begin(&world);
	for (int i = 0; i < 200 && input.left > 0; i++)
		step(msd_cur_u8(&input));
	world_end(&world);
	return 1;
}
