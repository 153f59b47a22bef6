/*
 * A whole supervisor with clients on real sockets, a worker that is none and a false
 * clock: one client declares all tensor memory as its payload, others want a little.
 */
#include <criterion/criterion.h>
#include <sys/socket.h>

#include "daemon/supervisor/edge/session/memory_share.h"
#include "proto/body.h"
#include "proto/value.h"
#include "tests/fuzz/fake_child.h"
#include "tests/fuzz/supervisor_world.h"
#include "tests/support/clock.h"

#define ALL (1u << 18) /* max_payload of the world */
#define LITTLE 16u

static struct world world;
static struct client *slow, *other;
static const struct msd_buf nothing;

static void put_input(struct msd_buf *b, uint32_t bytes)
{
	const struct msd_wire_tensor t = {.where = MSD_AT_INLINE,
					  .dtype = {.code = 1, .bits = 8, .lanes = 1},
					  .bytes = bytes,
					  .ndim = 1,
					  .shape = {bytes}};

	msd_pack_cstr(b, "a:f");
	msd_pack_tensor(b, &t);
}

/* Ask, and keep the payload back: in *ret_held, which may be sent in pieces. */
static uint64_t declare(struct client *c, uint32_t bytes, struct msd_buf *ret_held)
{
	struct msd_buf b = {0};

	put_input(&b, bytes);
	const uint64_t id = client_ask(c, "call", 2, &b, &nothing, bytes);
	msd_buf_finish(&b);
	msd_buf_put(ret_held, c->going.p + c->going.n - bytes, bytes);
	c->going.n -= bytes;
	world_settle(&world);
	return id;
}

static uint64_t call(struct client *c, uint32_t bytes)
{
	struct msd_buf b = {0};

	put_input(&b, bytes);
	const uint64_t id = client_ask(c, "call", 2, &b, &nothing, bytes);
	msd_buf_finish(&b);
	world_settle(&world);
	return id;
}

/* The worker answers all that it has, with a module's functions or with no results.
 * Returns how many those were. */
static unsigned work(bool opens)
{
	struct fake *f = fake_at(0);
	unsigned n = 0;

	for (; f->n_open > 0; n++) {
		struct msd_buf b = {0};
		msd_body_begin_response(&b, fake_take(f, 0), false);
		msd_pack_nil(&b);
		if (opens) {
			msd_pack_map(&b, 1);
			msd_pack_cstr(&b, "functions");
			msd_pack_array(&b, 1);
			msd_pack_map(&b, 1);
			msd_pack_cstr(&b, "name");
			msd_pack_cstr(&b, "f");
		} else {
			msd_pack_array(&b, 2);
			msd_pack_array(&b, 0);
			msd_pack_nil(&b);
		}
		fake_send(f, b.p, b.n, -1);
		msd_buf_finish(&b);
		world_settle(&world);
	}
	return n;
}

/* Of the connection that came first. */
static const struct msd_req *received(void)
{
	return MSD_CONTAINER_OF(msd_list_first(&world.server.edge.everybody),
				struct msd_session, link)
		->receiving;
}

static void send_some(struct client *c, struct msd_buf *held, size_t n)
{
	msd_buf_put(&c->going, held->p, n);
	held->n -= n;
	memmove(held->p, held->p + n, held->n);
	for (int i = 0; i < 8; i++)
		world_settle(&world);
}

/* @ms pass, in steps as a loop that sleeps sees them; each brings @n bytes of @held. */
static void pass(uint64_t ms, struct msd_buf *held, size_t n)
{
	for (uint64_t at = 0; at < ms; at += 10) {
		clock_pass(10);
		send_some(slow, held, n);
	}
}

/* A module whose worker is open, and a budget that one payload may have whole. */
static void begin(void)
{
	world_begin(&world);
	world.server.budget.max_bytes = ALL;
	slow = &world.clients[0];
	other = &world.clients[1];
	client_connect(&world, slow);
	client_connect(&world, other);
	client_load(&world, other, "a", 1, false);
	cr_assert_eq(work(true), 1, "worker.open");
}

static void end(void)
{
	world_end(&world);
}

Test(share, a_payload_that_does_not_come_leaves_others_room_and_goes_on, .init = begin,
     .fini = end)
{
	struct msd_buf held = {0}, sent = {0};
	const uint64_t id = declare(slow, ALL, &held);

	(void)call(other, LITTLE);
	pass(MSD_MEMORY_SHARE_PATIENCE_MS - 100, &held, 0);
	cr_expect_eq(work(false), 0, "all memory is declared");
	pass(200, &held, 0);
	cr_expect_eq(work(false), 1);
	msd_buf_put(&sent, held.p, held.n);
	send_some(slow, &held, ALL - 8);
	cr_assert_not_null(received());
	cr_expect_eq(memcmp(received()->placement.slot.p, sent.p, ALL - 8), 0);
	send_some(slow, &held, 8);
	cr_expect_eq(work(false), 1);
	cr_expect_eq(slow->answers[id], 1);
	msd_buf_finish(&sent);
	msd_buf_finish(&held);
}

Test(share, a_trickle_leaves_others_room, .init = begin, .fini = end)
{
	struct msd_buf held = {0};
	const uint64_t id = declare(slow, ALL, &held);

	(void)call(other, LITTLE);
	pass(MSD_MEMORY_SHARE_PATIENCE_MS + 100, &held, 1);
	cr_expect_eq(work(false), 1);
	send_some(slow, &held, held.n);
	cr_expect_eq(work(false), 1);
	cr_expect_eq(slow->answers[id], 1);
	msd_buf_finish(&held);
}

/* It has the rest again, and is silent again. */
Test(share, a_payload_that_is_reduced_waits_behind_others_for_its_rest, .init = begin,
     .fini = end)
{
	struct msd_buf held = {0};

	(void)declare(slow, ALL, &held);
	(void)call(other, LITTLE);
	pass(MSD_MEMORY_SHARE_PATIENCE_MS + 100, &held, 0);
	cr_expect_eq(work(false), 1);
	send_some(slow, &held, ALL / 2); /* its share: it has all again */
	cr_expect_eq(received()->placement.missing_bytes, 0);
	(void)call(other, LITTLE);
	cr_expect_eq(work(false), 0);
	pass(MSD_MEMORY_SHARE_PATIENCE_MS + 100, &held, 0);
	cr_expect_eq(work(false), 1);
	cr_expect_gt(received()->placement.missing_bytes, 0);
	send_some(slow, &held, held.n);
	cr_expect_eq(work(false), 1);
	msd_buf_finish(&held);
}

Test(share, a_payload_that_lacks_its_end_is_refused_for_others, .init = begin,
     .fini = end)
{
	struct msd_buf held = {0};
	const uint64_t id = declare(slow, ALL, &held);

	send_some(slow, &held, ALL - 8);
	(void)call(other, LITTLE);
	pass(MSD_MEMORY_SHARE_PATIENCE_MS + 100, &held, 0);
	cr_expect_eq(slow->answers[id], 0, "it may have stumbled");
	pass(1000, &held, 0);
	cr_expect_eq(slow->answers[id], 1);
	cr_expect_eq(work(false), 1);
	send_some(slow, &held, held.n); /* is dropped, and it goes on */
	const uint64_t again = call(slow, LITTLE);
	cr_expect_eq(work(false), 1);
	cr_expect_eq(slow->answers[again], 1);
	msd_buf_finish(&held);
}

Test(share, a_slow_payload_keeps_all_while_nobody_waits, .init = begin, .fini = end)
{
	struct msd_buf held = {0};
	const uint64_t id = declare(slow, ALL, &held);

	pass(5000, &held, 8);
	cr_expect_eq(received()->placement.missing_bytes, 0);
	send_some(slow, &held, held.n);
	cr_expect_eq(work(false), 1);
	cr_expect_eq(slow->answers[id], 1);
	msd_buf_finish(&held);
}

/* Each has a part of what the other waits for. */
Test(share, two_that_wait_for_each_other_do_not_wait_for_ever, .init = begin,
     .fini = end)
{
	struct client *third = &world.clients[2];
	struct msd_buf held = {0}, others = {0};

	client_connect(&world, third);
	const uint64_t first = declare(slow, ALL, &held);
	const uint64_t second = declare(third, ALL, &others);
	pass(MSD_MEMORY_SHARE_PATIENCE_MS + 100, &held, 0);
	send_some(slow, &held, held.n);
	send_some(third, &others, others.n);
	for (unsigned i = 0; i < 80 && third->answers[second] == 0; i++) {
		clock_pass(500);
		send_some(slow, &held, 0);
		(void)work(false);
	}
	cr_expect_eq(slow->answers[first], 1);
	cr_expect_eq(third->answers[second], 1);
	msd_buf_finish(&others);
	msd_buf_finish(&held);
}
