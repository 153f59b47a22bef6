#include <criterion/criterion.h>

#include "daemon/limits.h"
#include "daemon/stream/wire.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/module/queue/queue.h"
#include "daemon/supervisor/module/stats/log_ring.h"

#define MOST 8u
#define UNLOAD 100u
#define LOAD 101u

/* A module whose artifact has not come, and a client that has called it. */
struct scene {
	uv_loop_t loop;
	struct msd_wire wire;
	struct msd_deadlines deadlines;
	struct msd_limits limits;
	struct msd_module_registry registry;
	struct msd_client client;
	struct msd_module *m;
};

static uint64_t told[MOST]; /* ids of requests that were answered, in that order */
static msd_err codes[MOST];
static unsigned n_told, n_gone;

static void tell(uint64_t id, msd_err code)
{
	cr_assert_lt(n_told, MOST);
	codes[n_told] = code;
	told[n_told++] = id;
}

static void reply(struct msd_client *c, uint64_t id, const struct msd_buf *result)
{
	(void)c, (void)result;
	tell(id, MSD_OK);
}

static void reply_error(struct msd_client *c, uint64_t id, const struct msd_diag *why)
{
	(void)c;
	tell(id, why->code);
}

static void on_done(struct msd_client *c, const struct msd_req *r)
{
	(void)c, (void)r;
}

static const struct msd_client_ops client_ops = {
	.reply = reply, .reply_error = reply_error, .on_done = on_done};

static void on_gone(struct msd_module_registry *registry)
{
	(void)registry;
	n_gone++;
}

static struct msd_module *find(struct scene *s)
{
	struct msd_module *m = NULL;

	return msd_module_require(&s->registry, msd_span_of("m"), &m, NULL) == MSD_OK
		       ? m
		       : NULL;
}

static struct msd_module *load(struct scene *s)
{
	const struct msd_load how = {
		.file = "m.so", .source.fd = -1, .begins = MSD_LOAD_FETCHING};
	struct msd_module *m = NULL;

	cr_assert_eq(msd_module_load(&s->registry, msd_span_of("m"), &how, &m, NULL),
		     MSD_OK);
	return m;
}

static struct msd_req *ask(struct scene *s, uint64_t id, enum msd_method method)
{
	struct msd_req *r = msd_req_new(&s->client, id, method);

	msd_module_adopt(s->m, r);
	return r;
}

static void scene_init(struct scene *s, unsigned n_calls)
{
	*s = (struct scene){.limits = {.ready_wait_ms = 5000,
				       .load_ms = 120000,
				       .drain_ms = 10000,
				       .max_modules = 4,
				       .max_workers = 1,
				       .max_deaths = 5,
				       .max_memory = 1u << 20}};
	(void)uv_loop_init(&s->loop);
	cr_assert_eq(msd_wire_init(&s->wire, &s->loop, NULL), MSD_OK);
	msd_deadlines_init(&s->deadlines, &s->wire.tasks);
	s->registry = (struct msd_module_registry){.loop = &s->loop,
						   .wire = &s->wire,
						   .deadlines = &s->deadlines,
						   .limits = &s->limits,
						   .leaves_calls_uncounted = true,
						   .on_gone = on_gone};
	msd_list_init(&s->registry.modules);
	msd_list_init(&s->registry.warm.artifacts);
	msd_client_init(&s->client, &client_ops);
	n_told = n_gone = 0;
	s->m = load(s);
	for (uint64_t id = 1; id <= n_calls; id++)
		msd_module_submit(s->m, ask(s, id, MSD_M_TENSOR_ALLOC));
	cr_assert_eq(s->m->group.n_queued, n_calls);
}

static void scene_finish(struct scene *s)
{
	msd_client_leave(&s->client);
	msd_queue_leave(&s->client);
	while (find(s) != NULL)
		msd_module_unload(find(s));
	cr_expect_eq(s->registry.n_modules, 0);
	msd_deadlines_close(&s->deadlines);
	msd_wire_close(&s->wire);
	(void)uv_run(&s->loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&s->loop), 0);
	msd_wire_finish(&s->wire);
}

/* Do one step of @t, as the loop does. */
static void step_of(struct scene *s, struct msd_task *t)
{
	cr_assert(msd_task_is_queued(t), "there is more to do");
	msd_task_cancel(t);
	if (t->step(t) == MSD_TASK_AGAIN)
		msd_task_begin(&s->wire.tasks, t);
}

/* Look at one request. */
static void step(struct scene *s)
{
	step_of(s, &s->m->group.refusal);
}

static void unload(struct scene *s)
{
	struct msd_req *r = ask(s, UNLOAD, MSD_M_MODULE_UNLOAD);

	msd_waiters_wait(&s->m->unloaders, r);
	msd_module_unload(s->m);
}

Test(module_end, refuses_one_at_a_time_and_then_tells_who_waits_for_it)
{
	struct scene s;

	scene_init(&s, 3);
	unload(&s);
	cr_expect_eq(n_told, 0, "none at once");
	cr_expect_null(find(&s), "its name is free");
	for (unsigned n = 1; n <= 2; n++) {
		step(&s);
		cr_expect_eq(n_told, n);
		cr_expect_eq(n_gone, 0);
	}
	step(&s);
	cr_assert_eq(n_told, 4);
	for (unsigned i = 0; i < 3; i++) {
		cr_expect_eq(told[i], i + 1);
		cr_expect_eq(codes[i], MSD_DRAINING);
	}
	cr_expect_eq(told[3], UNLOAD);
	cr_expect_eq(codes[3], MSD_OK);
	cr_expect_eq(n_gone, 1);
	scene_finish(&s);
}

static void tell_next(struct scene *s, struct msd_waiters *f)
{
	step_of(s, &f->next);
}

Test(module_end, tells_who_follows_its_log_in_turns_and_then_who_waits_for_it)
{
	struct scene s;

	scene_init(&s, 0);
	for (uint64_t id = 1; id <= 2; id++) {
		cr_assert(msd_log_ring_follow(s.m, ask(&s, id, MSD_M_MODULE_LOGS),
					      60000));
	}
	unload(&s);
	cr_assert_eq(n_told, 1);
	cr_expect_eq(codes[0], MSD_DRAINING);
	cr_expect_eq(n_gone, 0);
	tell_next(&s, &s.m->followers);
	cr_assert_eq(n_told, 3);
	cr_expect_eq(told[1], 2);
	cr_expect_eq(told[2], UNLOAD);
	cr_expect_eq(n_gone, 1);
	scene_finish(&s);
}

Test(module_end, tells_those_who_unload_it_in_turns)
{
	struct scene s;

	scene_init(&s, 0);
	msd_waiters_wait(&s.m->unloaders, ask(&s, 1, MSD_M_MODULE_UNLOAD));
	unload(&s);
	cr_expect_eq(n_told, 1);
	cr_expect_eq(n_gone, 0);
	tell_next(&s, &s.m->unloaders);
	cr_expect_eq(told[1], UNLOAD);
	cr_expect_eq(n_gone, 1);
	scene_finish(&s);
}

Test(module_end, is_at_once_where_nothing_is_queued)
{
	struct scene s;

	scene_init(&s, 0);
	unload(&s);
	cr_expect_eq(n_told, 1);
	cr_expect_eq(n_gone, 1);
	scene_finish(&s);
}

Test(module_end, comes_when_the_last_one_is_cancelled_meanwhile)
{
	struct scene s;

	scene_init(&s, 1);
	unload(&s);
	msd_req_apply(
		MSD_CONTAINER_OF(s.client.requests.next, struct msd_req, client.link),
		MSD_REQ_CANCELLED);
	cr_expect_eq(codes[0], MSD_CANCELLED);
	step(&s);
	cr_assert_eq(n_told, 2);
	cr_expect_eq(told[1], UNLOAD);
	cr_expect_eq(n_gone, 1);
	scene_finish(&s);
}

Test(module_end, another_one_has_its_name_while_it_refuses)
{
	struct scene s;

	scene_init(&s, 2);
	unload(&s);
	struct msd_module *next = load(&s);
	step(&s);
	step(&s);
	cr_expect_eq(n_told, 3);
	cr_expect_eq(n_gone, 1);
	cr_expect_eq(find(&s), next);
	scene_finish(&s);
}

Test(module_end, after_a_failed_load_is_told_first_to_who_loads)
{
	struct scene s;

	scene_init(&s, 2);
	msd_module_wait(s.m, ask(&s, LOAD, MSD_M_MODULE_LOAD));
	msd_module_fail(s.m, MSD_BAD_ARTIFACT, "no library");
	cr_assert_eq(n_told, 1);
	cr_expect_eq(told[0], LOAD);
	cr_expect_eq(codes[0], MSD_BAD_ARTIFACT);
	cr_expect_null(find(&s), "it is forgotten");
	step(&s);
	cr_expect_eq(n_told, 2);
	cr_expect_eq(n_gone, 0);
	step(&s);
	cr_expect_eq(n_told, 3);
	cr_expect_eq(codes[2], MSD_MODULE_FAILED);
	cr_expect_eq(n_gone, 1);
	scene_finish(&s);
}

Test(module_end, of_a_failed_one_comes_with_the_next_load)
{
	struct scene s;

	scene_init(&s, 2);
	msd_module_fail(s.m, MSD_BAD_ARTIFACT, "no library"); /* nobody loads it */
	cr_expect_eq(find(&s), s.m);
	struct msd_module *next = load(&s);
	cr_expect_eq(find(&s), next);
	cr_expect_eq(n_told, 0);
	step(&s);
	step(&s);
	cr_expect_eq(n_told, 2);
	cr_expect_eq(n_gone, 1);
	scene_finish(&s);
}
