#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/work.h"
#include "daemon/supervisor/tls/handshake.h"

#define N 3u /* one more than have a thread */

/* A library that remembers which thread did what. */
static pthread_t loops;
static atomic_int on_loop, on_threads, contexts, states;
static msd_err fate;
static uv_sem_t came, gate;

static char context;
static uv_loop_t loop;
static struct msd_tasks tasks;
static struct msd_deadlines deadlines;
static struct msd_handshakes all;
static struct msd_tls tls;
static int clients[N];
static unsigned n_failed, n_entered, n_done;

static void note(void)
{
	atomic_fetch_add(pthread_equal(pthread_self(), loops) ? &on_loop : &on_threads,
			 1);
}

static void context_hold(struct msd_tls_context *c)
{
	(void)c;
	atomic_fetch_add(&contexts, 1);
}

static void context_close(struct msd_tls_context *c)
{
	if (c != NULL)
		atomic_fetch_sub(&contexts, 1);
}

static void close_state(struct msd_transport *t)
{
	note();
	atomic_fetch_sub(&states, 1);
	t->state = NULL;
	(void)close(t->fd);
}

static const struct msd_transport_ops ops = {.close = close_state};

static msd_err accept_on(struct msd_tls_context *c, int fd, struct msd_transport *ret,
			 struct msd_diag *d)
{
	(void)c;
	(void)d;
	note();
	atomic_fetch_add(&states, 1);
	*ret = (struct msd_transport){.ops = &ops, .fd = fd, .state = &came};
	return MSD_OK;
}

static msd_err handshake(struct msd_transport *t, struct msd_diag *d)
{
	uv_sem_post(&came);
	uv_sem_wait(&gate);
	note();
	if (fate == MSD_OK)
		return MSD_OK;
	atomic_fetch_sub(&states, 1);
	t->state = NULL;
	return msd_diag_set(d, fate, "so it is");
}

static const struct msd_tls_library library = {.context_hold = context_hold,
					       .context_close = context_close,
					       .accept = accept_on,
					       .handshake = handshake};

static void on_failed(struct msd_handshake *h, enum msd_handshake_fault fault,
		      const char *why)
{
	(void)h;
	(void)why;
	n_failed += fault == MSD_HANDSHAKE_TLS || fault == MSD_HANDSHAKE_GONE;
}

static void on_done(struct msd_handshake *h, struct msd_transport *t)
{
	(void)h;
	n_done++;
	if (t == NULL)
		return;
	n_entered++;
	t->ops->close(t);
}

static void set_up(void)
{
	loops = pthread_self();
	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(uv_sem_init(&came, 0), 0);
	cr_assert_eq(uv_sem_init(&gate, 0), 0);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&deadlines, &tasks);
	tls = (struct msd_tls){.library = &library, .context = (void *)&context};
	msd_handshakes_init(&all, &loop, &deadlines, &tls);
	all.on_failed = on_failed;
	all.on_done = on_done;
}

/* Its first record is there. */
static void connect_one(unsigned i)
{
	static const uint8_t record[] = {0x16, 3, 1, 0, 1, 1};
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	cr_assert_eq(write(pair[1], record, sizeof(record)), (ssize_t)sizeof(record));
	clients[i] = pair[1];
	cr_assert_eq(
		msd_handshake_start(&all, pair[0], 0, (struct msd_peer_id){0}, NULL),
		MSD_OK);
}

static void finish(unsigned n)
{
	while (uv_run(&loop, UV_RUN_ONCE) != 0)
		;
	cr_expect_eq(n_done, n);
	msd_deadlines_close(&deadlines);
	msd_tasks_close(&tasks);
	msd_work_close();
	cr_expect_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
	cr_expect_eq(uv_loop_close(&loop), 0);
	cr_expect_eq(contexts, 0);
	cr_expect_eq(states, 0);
}

Test(handshake, state_of_one_that_fails_is_made_and_freed_on_its_thread, .init = set_up,
     .timeout = 60)
{
	fate = MSD_PROTOCOL;
	uv_sem_post(&gate);
	connect_one(0);
	while (n_failed == 0)
		cr_assert_neq(uv_run(&loop, UV_RUN_ONCE), 0);
	(void)close(clients[0]); /* it was told, and need not linger */
	finish(1);
	cr_expect_eq(on_threads, 2);
	cr_expect_eq(on_loop, 0);
}

Test(handshake, state_of_one_that_is_done_is_made_on_its_thread, .init = set_up,
     .timeout = 60)
{
	uv_sem_post(&gate);
	connect_one(0);
	finish(1);
	cr_expect_eq(n_entered, 1);
	cr_expect_eq(on_threads, 2);
	cr_expect_eq(on_loop, 1, "its transport was closed here");
	(void)close(clients[0]);
}

/* Of two the threads work, one waits for them. */
Test(handshake, end_while_threads_work_leaves_nothing, .init = set_up, .timeout = 60)
{
	for (unsigned i = 0; i < N; i++)
		connect_one(i);
	while (contexts + states < (int)N)
		cr_assert_neq(uv_run(&loop, UV_RUN_ONCE), 0);
	uv_sem_wait(&came);
	uv_sem_wait(&came);
	msd_handshakes_close(&all);
	uv_sem_post(&gate);
	uv_sem_post(&gate);
	finish(N);
	cr_expect_eq(n_failed, N);
	cr_expect_eq(n_entered, 0);
	for (unsigned i = 0; i < N; i++)
		(void)close(clients[i]);
}
