/*
 * A result with objects arrives while one allocation after the other fails: the call is
 * answered once, the worker stays, and at the end nothing is kept (world_end()).
 */
#include <criterion/criterion.h>

#include "proto/body.h"
#include "proto/value.h"
#include "tests/fuzz/fake_child.h"
#include "tests/fuzz/supervisor_world.h"
#include "tests/support/fail_alloc.h"

static struct world world;
static const struct msd_buf nothing;

static void say_hello(struct client *c)
{
	struct msd_buf b = {0};

	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "objects");
	msd_pack_bool(&b, true);
	(void)client_ask(c, "session.hello", 1, &b, &nothing, 0);
	msd_buf_finish(&b);
	world_settle(&world);
}

static void answer(const struct msd_buf *result)
{
	struct msd_buf b = {0};
	struct fake *f = fake_at(0);

	cr_assert_not_null(f);
	cr_assert_eq(f->n_open, 1);
	msd_body_begin_response(&b, fake_take(f, 0), false);
	msd_pack_nil(&b);
	msd_buf_put(&b, result->p, result->n);
	fake_send(f, b.p, b.n, -1);
	msd_buf_finish(&b);
}

static void open_module(struct client *c)
{
	struct msd_buf b = {0};

	client_load(&world, c, "a", 1, false);
	world_settle(&world);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "functions");
	msd_pack_array(&b, 0);
	answer(&b);
	msd_buf_finish(&b);
	world_settle(&world);
}

static uint64_t call(struct client *c)
{
	struct msd_buf b = {0};

	msd_pack_cstr(&b, "a:f");
	const uint64_t id = client_ask(c, "call", 1, &b, &nothing, 0);
	msd_buf_finish(&b);
	world_settle(&world);
	return id;
}

/* [[], [object, {1: object}]] */
static void answer_with_objects(void)
{
	struct msd_buf b = {0};

	msd_pack_array(&b, 2);
	msd_pack_array(&b, 0);
	msd_pack_array(&b, 2);
	msd_pack_object(&b, (struct msd_handle){0, 1}, true,
			msd_span_of("ffi.Function"));
	msd_pack_map_value(&b, 1);
	msd_pack_int(&b, 1);
	msd_pack_object(&b, (struct msd_handle){1, 1}, false,
			msd_span_of("test.Point"));
	answer(&b);
	msd_buf_finish(&b);
}

/* True if an allocation of the supervisor has failed. */
static bool run_failing(long k)
{
	msd_fail_alloc(k);
	for (int i = 0; i < 4; i++)
		(void)uv_run(&world.server.loop, UV_RUN_NOWAIT);
	return msd_fail_alloc_stop();
}

Test(object_no_memory, a_result_with_objects_is_answered_once_and_nothing_leaks)
{
	struct client *c = &world.clients[0];
	bool has_failed = true;
	long k = 0;

	for (; has_failed; k++) {
		world_begin(&world);
		client_connect(&world, c);
		say_hello(c);
		open_module(c);
		const uint64_t id = call(c);
		answer_with_objects();
		has_failed = run_failing(k);
		world_settle(&world);
		cr_expect_eq(c->answers[id], 1, "allocation %ld", k);
		cr_expect_not_null(fake_at(0), "allocation %ld", k);
		world_end(&world);
	}
	cr_expect_gt(k, 3, "the objects take memory");
}
