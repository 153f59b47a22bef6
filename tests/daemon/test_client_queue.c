#include <criterion/criterion.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/module/queue/client_queue.h"

/* Two clients, and a module with two workers that are no processes. */
struct scene {
	struct msd_module_registry registry;
	struct msd_limits limits;
	struct msd_module module;
	struct msd_replica replicas[2];
	struct msd_process processes[2];
	struct msd_client clients[2];
};

static void scene_init(struct scene *s)
{
	struct msd_worker_group *group = &s->module.group;

	*s = (struct scene){0};
	s->registry.limits = &s->limits;
	group->registry = &s->registry;
	group->replicas = s->replicas;
	group->n_replicas = 2;
	msd_list_init(&group->client_queues);
	msd_list_init(&group->background);
	msd_list_init(&group->all_client_queues);
	msd_list_init(&s->module.receiving);
	for (unsigned i = 0; i < 2; i++) {
		msd_replica_init(&s->replicas[i], group, i + 1);
		s->processes[i] =
			(struct msd_process){.replica = &s->replicas[i], .refs = 1};
		s->replicas[i].process = &s->processes[i];
		msd_client_init(&s->clients[i], NULL);
	}
}

/* A request of no client: nothing is owed to anybody when it is freed. */
static struct msd_req *queue(struct scene *s, struct msd_client_queue *client_queue)
{
	struct msd_req *r = msd_req_new(NULL, 0, MSD_M_CALL);

	msd_module_adopt(&s->module, r);
	msd_client_queue_append(client_queue, r);
	return r;
}

static bool is_in(struct msd_list *list, const struct msd_client_queue *client_queue)
{
	MSD_LIST_EACH (it, list) {
		if (it == &client_queue->link)
			return true;
	}
	return false;
}

/* How many of the first lane's are taken before it is the second's turn, when each call
 * is expected to take @us. */
static unsigned count_turn(uint32_t us)
{
	struct scene s;
	struct msd_req *taken[40];
	unsigned n = 0, n_first = 0;

	scene_init(&s);
	s.module.group.pace.us[0] = us;
	for (unsigned i = 0; i < 20; i++) {
		for (unsigned k = 0; k < 2; k++) {
			(void)queue(&s, msd_client_queue_get(&s.clients[k],
							     &s.module.group));
		}
	}
	struct msd_client_queue *a =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	while (s.module.group.client_queues.next == &a->link) {
		taken[n++] = msd_client_queue_pop(a);
		n_first++;
	}
	while (!msd_list_is_empty(&s.module.group.client_queues)) {
		taken[n++] = msd_client_queue_pop(
			MSD_CONTAINER_OF(s.module.group.client_queues.next,
					 struct msd_client_queue, link));
	}
	cr_expect_eq(n, 40, "none is left out");
	while (n > 0)
		msd_req_release(taken[--n]);
	msd_client_leave(&s.clients[0]);
	msd_client_leave(&s.clients[1]);
	msd_client_queue_free(a);
	msd_client_queue_free(msd_client_queue_get(&s.clients[1], &s.module.group));
	return n_first;
}

Test(client_queue, a_turn_is_one_call_or_some_that_are_fast)
{
	cr_expect_eq(count_turn(0), 1, "nobody knows how long they take");
	cr_expect_eq(count_turn(1), MSD_CLIENT_QUEUE_TURN_US);
	cr_expect_eq(count_turn(MSD_CLIENT_QUEUE_TURN_US - 1), 2);
	cr_expect_eq(count_turn(MSD_CLIENT_QUEUE_TURN_US), 1);
	cr_expect_eq(count_turn(1000), 1);
}

Test(client_queue, takes_turns_with_the_others)
{
	struct scene s;

	scene_init(&s);
	struct msd_client_queue *a =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	struct msd_client_queue *b =
		msd_client_queue_get(&s.clients[1], &s.module.group);
	cr_assert_eq(msd_client_queue_get(&s.clients[0], &s.module.group), a);
	cr_assert_eq(msd_client_queue_find(&s.clients[1], &s.module.group), b);
	struct msd_req *a1 = queue(&s, a);
	struct msd_req *a2 = queue(&s, a);
	struct msd_req *b1 = queue(&s, b);
	cr_expect_eq(s.module.group.n_queued, 3);
	cr_expect_eq(s.module.group.client_queues.next, &a->link);
	cr_expect_eq(msd_client_queue_pop(a), a1);
	cr_expect_eq(s.module.group.client_queues.next, &b->link);
	cr_expect_eq(msd_client_queue_pop(b), b1);
	cr_expect_not(is_in(&s.module.group.client_queues, b), "it has nothing left");
	cr_expect_eq(msd_client_queue_pop(a), a2);
	cr_expect(msd_list_is_empty(&s.module.group.client_queues));
	cr_expect_eq(s.module.group.n_queued, 0);
	msd_req_release(a1);
	msd_req_release(a2);
	msd_req_release(b1);
	msd_client_queue_free(a);
	msd_client_queue_free(b);
}

/* Queue a call that needs no order and is due at @due_ms; 0: it has no deadline. */
static struct msd_req *queue_due(struct scene *s, struct msd_client_queue *client_queue,
				 uint64_t due_ms)
{
	struct msd_req *r = msd_req_new(NULL, 0, MSD_M_CALL);

	msd_module_adopt(&s->module, r);
	r->at.is_unordered = true;
	r->due.is_clients = due_ms > 0;
	r->due.node.at_ms = due_ms;
	msd_client_queue_append(client_queue, r);
	return r;
}

Test(client_queue, what_needs_no_order_goes_by_its_deadline)
{
	struct scene s;

	scene_init(&s);
	struct msd_client_queue *client_queue =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	struct msd_req *any_time = queue_due(&s, client_queue, 0);
	struct msd_req *ordered = queue(&s, client_queue);
	struct msd_req *late = queue_due(&s, client_queue, 900);
	struct msd_req *later = queue_due(&s, client_queue, 0);
	struct msd_req *soon = queue_due(&s, client_queue, 300);
	struct msd_req *as_soon = queue_due(&s, client_queue, 300);
	struct msd_req *const order[] = {any_time, ordered, soon, as_soon, late, later};

	for (unsigned i = 0; i < 6; i++) {
		struct msd_req *r = msd_client_queue_pop(client_queue);
		cr_expect_eq(r, order[i], "place %u", i);
		msd_req_release(r);
	}
	cr_expect_eq(s.module.group.n_queued, 0);
	msd_client_queue_free(client_queue);
}

Test(client_queue, stays_at_home_while_something_is_held_or_queued_there)
{
	struct scene s;

	scene_init(&s);
	struct msd_client_queue *client_queue =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	struct msd_replica *home = &s.replicas[1];
	struct msd_req *r = queue(&s, client_queue);
	msd_client_queue_bind(client_queue, home);
	cr_expect(is_in(&home->client_queues, client_queue));
	cr_expect(msd_list_is_empty(&s.module.group.client_queues));
	msd_client_queue_hold(&s.clients[0], home->process, MSD_CLIENT_OBJECT_TENSOR,
			      0);
	cr_expect_eq(msd_client_queue_pop(client_queue), r);
	msd_req_release(r);
	cr_expect_eq(client_queue->home, home, "an object is held there");
	r = queue(&s, client_queue);
	msd_client_queue_release(&s.clients[0], home->process, MSD_CLIENT_OBJECT_TENSOR,
				 0);
	cr_expect_eq(client_queue->home, home, "a request waits for it");
	msd_req_release(r);
	cr_expect_null(client_queue->home);
	cr_expect_eq(home->n_bound, 0);
	msd_client_queue_free(client_queue);
}

Test(client_queue, a_loose_one_takes_turns_beside_the_one_with_a_home)
{
	struct scene s;

	scene_init(&s);
	struct msd_client_queue *client_queue =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	struct msd_client_queue *loose = msd_client_queue_get_kind(
		&s.clients[0], &s.module.group, MSD_CLIENT_QUEUE_LOOSE);
	cr_assert_eq(msd_client_queue_find_kind(&s.clients[0], &s.module.group,
						MSD_CLIENT_QUEUE_LOOSE),
		     loose);
	cr_assert_eq(msd_client_queue_find(&s.clients[0], &s.module.group),
		     client_queue);
	struct msd_req *kept = queue(&s, client_queue);
	struct msd_req *free_to_go = queue(&s, loose);
	msd_client_queue_bind(client_queue, &s.replicas[0]);
	cr_expect(is_in(&s.replicas[0].client_queues, client_queue));
	cr_expect(is_in(&s.module.group.client_queues, loose));
	msd_client_queue_hold(&s.clients[0], &s.processes[0], MSD_CLIENT_OBJECT_TENSOR,
			      0);
	cr_expect_eq(client_queue->n_held[MSD_CLIENT_OBJECT_TENSOR], 1);
	cr_expect_eq(loose->n_held[MSD_CLIENT_OBJECT_TENSOR], 0);
	msd_req_release(kept);
	msd_req_release(free_to_go);
	msd_client_queue_free(client_queue);
	msd_client_queue_free(loose);
}

Test(client_queue, what_is_held_elsewhere_changes_nothing)
{
	struct scene s;

	scene_init(&s);
	struct msd_client_queue *client_queue =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	msd_client_queue_hold(&s.clients[0], &s.processes[0], MSD_CLIENT_OBJECT_TENSOR,
			      0);
	cr_expect_eq(client_queue->n_held[MSD_CLIENT_OBJECT_TENSOR], 0,
		     "a lane without a home holds nothing");
	msd_client_queue_bind(client_queue, &s.replicas[0]);
	msd_client_queue_hold(&s.clients[0], &s.processes[0], MSD_CLIENT_OBJECT_TENSOR,
			      0);
	msd_client_queue_release(&s.clients[0], &s.processes[1],
				 MSD_CLIENT_OBJECT_TENSOR, 0);
	cr_expect_eq(client_queue->n_held[MSD_CLIENT_OBJECT_TENSOR], 1);
	msd_client_queue_release(&s.clients[1], &s.processes[0],
				 MSD_CLIENT_OBJECT_TENSOR, 0);
	msd_client_queue_release(NULL, &s.processes[0], MSD_CLIENT_OBJECT_TENSOR, 0);
	msd_client_queue_release(&s.clients[0], NULL, MSD_CLIENT_OBJECT_TENSOR, 0);
	cr_expect_eq(client_queue->n_held[MSD_CLIENT_OBJECT_TENSOR], 1);
	msd_client_queue_free(client_queue);
	cr_expect_eq(s.replicas[0].n_bound, 0);
}

Test(client_queue, a_lost_home_frees_its_lanes_for_others)
{
	struct scene s;

	scene_init(&s);
	struct msd_client_queue *a =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	struct msd_client_queue *b =
		msd_client_queue_get(&s.clients[1], &s.module.group);
	struct msd_req *r = queue(&s, a);
	msd_client_queue_bind(a, &s.replicas[0]);
	msd_client_queue_bind(b, &s.replicas[1]);
	msd_client_queue_hold(&s.clients[0], &s.processes[0], MSD_CLIENT_OBJECT_TENSOR,
			      0);
	msd_client_queue_hold(&s.clients[1], &s.processes[1], MSD_CLIENT_OBJECT_TENSOR,
			      0);
	s.processes[0].replica = NULL;
	msd_client_queues_unbind(&s.replicas[0]);
	cr_expect_null(a->home);
	cr_expect_eq(b->home, &s.replicas[1]);
	cr_expect(is_in(&s.module.group.client_queues, a));
	msd_client_queue_release(&s.clients[0], &s.processes[0],
				 MSD_CLIENT_OBJECT_TENSOR, 0);
	cr_expect_eq(a->n_held[MSD_CLIENT_OBJECT_TENSOR], 0,
		     "it was lost with its worker");
	cr_expect_eq(s.replicas[0].n_bound, 0);
	msd_req_release(r);
	msd_client_queue_free(a);
	msd_client_queue_free(b);
}

#define ALL UINT64_MAX /* more than anybody may have */

Test(client_queue, of_an_only_worker_counts_what_its_client_holds)
{
	struct scene s;

	scene_init(&s);
	s.module.group.n_replicas = 1;
	struct msd_client_queue *client_queue =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	msd_client_queue_hold(&s.clients[0], &s.processes[0],
			      MSD_CLIENT_OBJECT_INSTANCE, 0);
	cr_expect_eq(
		msd_client_queue_room(client_queue, MSD_CLIENT_OBJECT_INSTANCE, 3, ALL),
		2);
	cr_expect_eq(
		msd_client_queue_room(client_queue, MSD_CLIENT_OBJECT_TENSOR, 3, ALL),
		3);
	msd_client_queues_unbind(&s.replicas[0]);
	cr_expect_eq(
		msd_client_queue_room(client_queue, MSD_CLIENT_OBJECT_INSTANCE, 3, ALL),
		3, "lost with it");
	msd_client_queue_free(client_queue);
}

static void hold_tensor(struct scene *s, unsigned client)
{
	msd_client_queue_hold(&s->clients[client], &s->processes[0],
			      MSD_CLIENT_OBJECT_TENSOR, 0);
}

static uint64_t tensors(const struct msd_client_queue *queue, uint64_t max)
{
	return msd_client_queue_room(queue, MSD_CLIENT_OBJECT_TENSOR, max, ALL);
}

Test(client_queue, leaves_a_peer_twice_the_room_of_a_connection)
{
	struct scene s;
	struct msd_client third;

	scene_init(&s);
	s.module.group.n_replicas = 1;
	msd_client_init(&third, NULL);
	third.peer = (struct msd_peer_id){.kind = MSD_PEER_USER, .value = 1};
	struct msd_client_queue *a =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	struct msd_client_queue *b =
		msd_client_queue_get(&s.clients[1], &s.module.group);
	struct msd_client_queue *c = msd_client_queue_get(&third, &s.module.group);
	for (unsigned i = 0; i < 3; i++) {
		hold_tensor(&s, 0);
		hold_tensor(&s, 1);
	}
	cr_expect_eq(tensors(a, 3), 0, "its own");
	cr_expect_eq(tensors(a, 4), 1, "its own");
	hold_tensor(&s, 1);
	cr_expect_eq(tensors(a, 4), 1, "the peer's");
	hold_tensor(&s, 0);
	cr_expect_eq(tensors(b, 4), 0, "the peer's");
	cr_expect_eq(tensors(c, 4), 4, "another peer's");
	msd_client_queue_free(a);
	msd_client_queue_free(b);
	msd_client_queue_free(c);
}

Test(client_queue, leaves_the_next_peer_some_whoever_came_before)
{
	static const uint64_t rooms[] = {256, 256, 256, 128, 64, 32, 16, 8};
	enum { N = sizeof(rooms) / sizeof(rooms[0]) };
	struct scene s;
	struct msd_client others[N];
	struct msd_client_queue *client_queues[N];

	scene_init(&s);
	s.module.group.n_replicas = 1;
	for (unsigned i = 0; i < N; i++) {
		msd_client_init(&others[i], NULL);
		others[i].peer =
			(struct msd_peer_id){.kind = MSD_PEER_USER, .value = i + 1};
		client_queues[i] = msd_client_queue_get(&others[i], &s.module.group);
		cr_expect_eq(msd_client_queue_room(client_queues[i],
						   MSD_CLIENT_OBJECT_TENSOR, 256, 1024),
			     rooms[i], "peer %u", i);
		client_queues[i]->n_held[MSD_CLIENT_OBJECT_TENSOR] = rooms[i];
	}
	cr_expect_eq(msd_client_queue_room(client_queues[N - 1],
					   MSD_CLIENT_OBJECT_TENSOR, 512, 1024),
		     504, "a peer may have all where that is set");
	for (unsigned i = 0; i < N; i++)
		msd_client_queue_free(client_queues[i]);
}

Test(client_queue, the_bytes_of_a_peer_are_bounded_like_its_objects)
{
	struct scene s;

	scene_init(&s);
	s.module.group.n_replicas = 1;
	struct msd_client_queue *a =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	struct msd_client_queue *b =
		msd_client_queue_get(&s.clients[1], &s.module.group);
	msd_client_queue_hold(&s.clients[0], &s.processes[0], MSD_CLIENT_OBJECT_TENSOR,
			      700);
	cr_expect_eq(msd_client_queue_room(a, MSD_CLIENT_OBJECT_BYTES, 1000, ALL), 300);
	cr_expect_eq(msd_client_queue_room(b, MSD_CLIENT_OBJECT_BYTES, 1000, ALL),
		     1000);
	msd_client_queue_hold(&s.clients[1], &s.processes[0], MSD_CLIENT_OBJECT_TENSOR,
			      1000);
	cr_expect_eq(msd_client_queue_room(a, MSD_CLIENT_OBJECT_BYTES, 900, ALL), 100,
		     "the peer's");
	cr_expect_eq(msd_client_queue_room(a, MSD_CLIENT_OBJECT_BYTES,
					   UINT64_C(1) << 63, ALL),
		     (UINT64_C(1) << 63) - 700, "twice as much is all that there is");
	msd_client_queue_release(&s.clients[0], &s.processes[0],
				 MSD_CLIENT_OBJECT_TENSOR, 700);
	cr_expect_eq(msd_client_queue_room(a, MSD_CLIENT_OBJECT_BYTES, 1000, ALL),
		     1000);
	msd_client_queue_free(a);
	msd_client_queue_free(b);
}

Test(client_queue, the_backgrounds_waits_beside_the_others)
{
	struct scene s;

	scene_init(&s);
	struct msd_client_queue *client_queue =
		msd_client_queue_get(&s.clients[0], &s.module.group);
	struct msd_client_queue *background = msd_client_queue_get_kind(
		&s.clients[0], &s.module.group, MSD_CLIENT_QUEUE_BACKGROUND);
	struct msd_req *later = queue(&s, background);
	struct msd_req *now = queue(&s, client_queue);
	cr_expect(is_in(&s.module.group.background, background));
	cr_expect(is_in(&s.module.group.client_queues, client_queue));
	cr_expect_not(is_in(&s.module.group.client_queues, background));
	cr_expect_eq(s.module.group.n_queued, 2);
	cr_expect_eq(msd_client_queue_pop(background), later);
	cr_expect(msd_list_is_empty(&s.module.group.background), "it has nothing left");
	cr_expect_eq(msd_client_queue_pop(client_queue), now);
	cr_expect_eq(s.module.group.n_queued, 0);
	msd_req_release(later);
	msd_req_release(now);
	msd_client_queue_free(background);
	msd_client_queue_free(client_queue);
}

Test(client_queue, is_in_the_account_of_its_client)
{
	struct scene s;

	scene_init(&s);
	struct msd_client *c = &s.clients[0];
	struct msd_client_queue *client_queue =
		msd_client_queue_get(c, &s.module.group);
	struct msd_client_queue *loose =
		msd_client_queue_get_kind(c, &s.module.group, MSD_CLIENT_QUEUE_LOOSE);

	cr_expect_eq(msd_client_queue_get(c, &s.module.group), client_queue);
	cr_expect_eq(c->account.used_bytes, 2 * sizeof(*client_queue));
	cr_expect_eq(msd_account_kept(&c->account), 0, "nobody is stopped for it");
	msd_client_queue_free(client_queue);
	msd_client_queue_free(loose);
	cr_expect_eq(c->account.used_bytes, 0);
}
