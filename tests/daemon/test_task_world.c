/*
 * A whole supervisor whose tasks have a false clock: each step takes a quarter of the
 * time that an iteration has for tasks. The tests count steps.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/socket.h>

#include "daemon/supervisor/module/life/module.h"
#include "proto/body.h"
#include "proto/value.h"
#include "tests/fuzz/fake_child.h"
#include "tests/fuzz/supervisor_world.h"

#define STEPS 4u /* in an iteration */
#define MANY 40u
#define WAITS 16u /* at most, of one client */

static struct world world;
static struct client *one, *other;
static const struct msd_buf nothing;
static uint64_t now_ns;

static uint64_t clock_ns(void)
{
	return now_ns += MSD_TASKS_TURN_US * 1000u / STEPS;
}

static void begin(void)
{
	world_begin(&world);
	world.server.limits.max_in_flight = 2 * MANY;
	world.server.limits.max_modules = MANY;
	world.server.wire.tasks.clock_ns = clock_ns;
	one = &world.clients[0];
	other = &world.clients[1];
	client_connect(&world, one);
	client_connect(&world, other);
	client_connect(&world, &world.clients[2]);
}

static void end(void)
{
	world_end(&world);
}

static uint64_t ask(struct client *c, const char *method, const char *name)
{
	struct msd_buf b = {0};

	if (name != NULL)
		msd_pack_cstr(&b, name);
	const uint64_t id = client_ask(c, method, name != NULL, &b, &nothing, 0);
	msd_buf_finish(&b);
	return id;
}

static struct msd_module *module(void)
{
	return MSD_CONTAINER_OF(msd_list_first(&world.server.registry.modules),
				struct msd_module, link);
}

static unsigned length(const struct msd_list *l)
{
	unsigned n = 0;

	MSD_LIST_EACH (it, l) {
		n++;
	}
	return n;
}

static struct msd_list *requests_of_first(void)
{
	return &MSD_CONTAINER_OF(msd_list_first(&world.server.edge.everybody),
				 struct msd_session, link)
			->client.requests;
}

/* Run iterations until @list, of @before elements, is empty or gone. Each iteration
 * takes at most STEPS. */
static void expect_steps(const struct msd_list *(*list)(void), unsigned before)
{
	const unsigned n = before;
	unsigned n_turns = 0;

	for (; before > 0 && n_turns < 1000; n_turns++) {
		(void)uv_run(&world.server.loop, UV_RUN_NOWAIT);
		const struct msd_list *l = list();
		const unsigned after = l != NULL ? length(l) : 0;
		cr_assert_leq(before - after, STEPS, "%u in one iteration",
			      before - after);
		before = after;
	}
	cr_expect_geq(n_turns, n / STEPS);
	cr_expect_eq(before, 0);
}

static const struct msd_list *waiting(void)
{
	return &module()->waiters.told;
}

static void open_module(void)
{
	struct fake *f = fake_at(0);
	struct msd_buf b = {0};

	cr_assert_eq(f->n_open, 1);
	msd_body_begin_response(&b, fake_take(f, 0), false);
	msd_pack_nil(&b);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "functions");
	msd_pack_array(&b, 0);
	fake_send(f, b.p, b.n, -1);
	msd_buf_finish(&b);
}

Test(tasks_of_a_supervisor, waits_that_end_together_are_answered_in_steps,
     .init = begin, .fini = end)
{
	client_load(&world, other, "a", 1, false);
	for (unsigned i = 0; i < 2 * WAITS; i++)
		(void)ask(i % 2 == 0 ? one : &world.clients[2], "module.wait", "a");
	world_settle(&world);
	cr_assert_geq(length(&module()->waiters.waiting), 2 * WAITS);
	open_module();
	for (unsigned i = 0; i < 100 && msd_list_is_empty(waiting()); i++)
		(void)uv_run(&world.server.loop, UV_RUN_NOWAIT);
	cr_assert_geq(length(waiting()), 2 * WAITS - STEPS);
	expect_steps(waiting, length(waiting()));
}

/* NULL: the session is gone. */
static const struct msd_list *queued(void)
{
	return world.server.edge.n_sessions > 2 ? requests_of_first() : NULL;
}

Test(tasks_of_a_supervisor, what_a_client_had_queued_is_released_in_steps,
     .init = begin, .fini = end)
{
	client_load(&world, other, "a", 1, false);
	for (unsigned i = 0; i < MANY; i++)
		(void)ask(one, "call", "a:f");
	world_settle(&world);
	cr_assert_eq(length(requests_of_first()), MANY);
	client_leave(one);
	expect_steps(queued, MANY);
	cr_expect_eq(module()->group.n_queued, 0);
}

Test(tasks_of_a_supervisor, a_list_of_many_modules_is_written_in_steps, .init = begin,
     .fini = end)
{
	const struct msd_answer_desk *desk = &world.server.answers;
	char name[8];

	for (unsigned i = 0; i < 2 * MSD_METHOD_LIST_PIECE + 1; i++) {
		(void)snprintf(name, sizeof(name), "m%u", i);
		client_load(&world, i % 2 == 0 ? one : other, name, 1, false);
	}
	struct msd_buf none = {0};
	const uint64_t id = client_ask(one, "module.list", 0, &none, &nothing, 0);
	(void)send(one->fd, one->going.p, one->going.n, MSG_NOSIGNAL);
	one->going.n = 0;
	for (unsigned i = 0; i < 100 && !msd_task_is_queued(&desk->next); i++)
		(void)uv_run(&world.server.loop, UV_RUN_NOWAIT);
	cr_assert(msd_task_is_queued(&desk->next));
	cr_expect_eq(desk->list.n, MSD_METHOD_LIST_PIECE);
	cr_expect_eq(one->answers[id], 0);
	world_settle(&world);
	cr_expect_eq(one->answers[id], 1);
	cr_expect_eq(desk->list.n, 2 * MSD_METHOD_LIST_PIECE + 1);
}
