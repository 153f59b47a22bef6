#include "tests/daemon/queue_scene.h"

#include <criterion/criterion.h>

#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/queue/queue.h"
#include "daemon/supervisor/module/queue/ready_timeout.h"

uint64_t told[MOST_TOLD];
msd_err codes[MOST_TOLD];
unsigned n_told;

static void reply_error(struct msd_client *c, uint64_t id, const struct msd_diag *why)
{
	(void)c;
	cr_assert_lt(n_told, MOST_TOLD);
	codes[n_told] = why->code;
	told[n_told++] = id;
}

static void on_done(struct msd_client *c, const struct msd_req *r)
{
	(void)c;
	(void)r;
}

static const struct msd_client_ops client_ops = {.reply_error = reply_error,
						 .on_done = on_done};

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	(void)r;
	(void)msd_diag_set(d, MSD_DEADLINE, "late");
}

static void on_answered(struct msd_req *r)
{
	(void)r;
}

static void on_freed(struct msd_req *r)
{
	if (r->at.client_queue != NULL)
		msd_client_queue_left(r);
}

static const struct msd_req_ops req_ops = {.explain_due = explain_due,
					   .has_waited = msd_ready_timeout_is_over,
					   .on_answered = on_answered,
					   .on_freed = on_freed};

static void on_refused(struct msd_worker_group *group)
{
	MSD_CONTAINER_OF(group, struct scene, group)->n_ends++;
}

static const struct msd_worker_group_ops group_ops = {.on_refused = on_refused};

void scene_init(struct scene *s)
{
	*s = (struct scene){0};
	(void)uv_loop_init(&s->loop);
	msd_tasks_init(&s->tasks, &s->loop);
	msd_deadlines_init(&s->deadlines, &s->tasks);
	s->registry.loop = &s->loop;
	s->registry.deadlines = &s->deadlines;
	s->registry.limits = &s->limits;
	s->group.registry = &s->registry;
	s->group.ops = &group_ops;
	s->group.replicas = &s->replica;
	s->group.n_replicas = 1;
	msd_list_init(&s->group.client_queues);
	msd_list_init(&s->group.background);
	msd_list_init(&s->group.all_client_queues);
	msd_list_init(&s->group.refused);
	msd_replica_init(&s->replica, &s->group, 1);
	for (unsigned i = 0; i < 2; i++) {
		msd_client_init(&s->clients[i], &client_ops);
		s->clients[i].peer = (struct msd_peer_id){MSD_PEER_USER, i + 1, NULL};
	}
	n_told = 0;
}

void scene_finish(struct scene *s)
{
	for (unsigned i = 0; i < 2; i++) {
		msd_client_leave(&s->clients[i]);
		msd_queue_leave(&s->clients[i]);
	}
	cr_expect_eq(s->group.n_queued, 0);
	cr_expect_eq(s->group.queued_us, 0);
	cr_expect(msd_list_is_empty(&s->group.all_client_queues));
	cr_expect(msd_list_is_empty(&s->group.refused));
	msd_task_cancel(&s->group.refusal);
	msd_deadline_clear(&s->deadlines, &s->group.ready_timer);
	msd_deadlines_close(&s->deadlines);
	msd_tasks_close(&s->tasks);
	(void)uv_run(&s->loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&s->loop), 0);
}

struct msd_client_queue *lane_of(struct scene *s, unsigned client)
{
	return msd_client_queue_get(&s->clients[client], &s->group);
}

struct msd_req *queue(struct scene *s, unsigned client, uint64_t id, bool may_kill)
{
	struct msd_req *r = msd_req_new(&s->clients[client], id, MSD_M_CALL);

	r->ops = &req_ops;
	r->due.is_clients = may_kill;
	s->group.pace.us[0] = 7;
	msd_client_queue_append(lane_of(s, client), r);
	return r;
}

void queue_nobodys(struct scene *s, unsigned client)
{
	struct msd_req *r = msd_req_new(NULL, 0, MSD_M_TENSOR_FREE);

	r->ops = &req_ops;
	msd_client_queue_append(lane_of(s, client), r);
}

void step(struct scene *s)
{
	cr_assert(msd_task_is_queued(&s->group.refusal), "there is more to look at");
	cr_assert(msd_tasks_step(&s->tasks));
}

void run(struct scene *s)
{
	while (msd_task_is_queued(&s->group.refusal))
		step(s);
}

void expect_queued(const struct scene *s, uint32_t n)
{
	cr_expect_eq(s->group.n_queued, n);
	cr_expect_eq(s->group.queued_us, 7 * n);
}

void expect_left(struct scene *s, unsigned client, unsigned n, const uint64_t ids[])
{
	struct msd_client_queue *client_queue = lane_of(s, client);
	unsigned i = 0;

	cr_expect_eq(client_queue->refused, MSD_REFUSED_NONE);
	cr_expect_null(client_queue->why);
	cr_expect(msd_list_is_empty(&client_queue->passed));
	cr_expect_eq(client_queue->n_requests, n);
	MSD_LIST_EACH (it, &client_queue->requests) {
		cr_assert_lt(i, n);
		cr_expect_eq(MSD_CONTAINER_OF(it, struct msd_req, link)->client.id,
			     ids[i++]);
	}
	cr_expect_eq(i, n);
}

void expect_told(unsigned n, const uint64_t ids[], msd_err code)
{
	cr_assert_eq(n_told, n);
	for (unsigned i = 0; i < n; i++) {
		cr_expect_eq(told[i], ids[i]);
		cr_expect_eq(codes[i], code);
	}
}
