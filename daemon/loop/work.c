/*
 * Happy path: a job goes into its pool's queue, behind the jobs of its round, and
 * wakes a thread. The thread puts the finished job into `over` and wakes the loop,
 * which calls done(). Failures: no extra thread can be started: the permanent threads
 * do the work. A job never returns (a file system that hangs): it keeps its thread.
 */
#include "daemon/loop/work.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_BYTES (1024u * 1024u)

struct pool {
	struct msd_list waiting; /* msd_work.link, ordered by round */
	struct msd_list running;
	pthread_cond_t wanted;
	uint64_t turn; /* round of the last started job */
	unsigned n_waiting, n_idle, n_threads;
	unsigned n_stay; /* permanent threads */
	unsigned n_most;
	int nice;
};

#define POOL(which, most, niceness)                                                    \
	{                                                                              \
		.waiting = {&work.pools[which].waiting, &work.pools[which].waiting},   \
		.running = {&work.pools[which].running, &work.pools[which].running},   \
		.wanted = PTHREAD_COND_INITIALIZER, .n_most = (most),                  \
		.nice = (niceness)                                                     \
	}

static struct {
	pthread_mutex_t lock;
	struct pool pools[MSD_WORK_POOLS];
	struct msd_list over; /* msd_work.link: run() has returned */
	unsigned n_over;
	/* Loop's thread only. */
	uv_async_t heard;
	bool is_open;    /* the handle is on a loop */
	unsigned n_left; /* begun and not done */
} work = {.lock = PTHREAD_MUTEX_INITIALIZER,
	  .pools = {[MSD_WORK_PROMPT] = POOL(MSD_WORK_PROMPT, MSD_WORK_STAY_PROMPT, 0),
		    [MSD_WORK_BULK] =
			    POOL(MSD_WORK_BULK, MSD_WORK_STAY_BULK, MSD_WORK_NICE)},
	  .over = {&work.over, &work.over}};

static struct msd_work *work_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_work, link);
}

/* Linux has a priority per thread. A thread that has lowered it may not raise it
 * again, so the pools share no threads. */
static void lower_priority(const struct pool *p)
{
	const id_t self = (id_t)gettid();

	if (p->nice > 0) {
		(void)setpriority(PRIO_PROCESS, self,
				  getpriority(PRIO_PROCESS, self) + p->nice);
	}
}

/* Call with the lock held, as all functions up to work_all(). */
static bool may_run(const struct pool *p, const struct msd_work *w)
{
	unsigned n = 0;

	if (w->owner == MSD_WORK_OWN)
		return true;
	MSD_LIST_EACH (it, &p->running)
		n += work_of(it)->owner == w->owner;
	return n < MSD_WORK_OF_ONE;
}

static struct msd_work *take(struct pool *p)
{
	MSD_LIST_EACH (it, &p->waiting) {
		struct msd_work *w = work_of(it);
		if (!may_run(p, w))
			continue;
		msd_list_remove(&w->link);
		msd_list_append(&p->running, &w->link);
		p->turn = w->turn;
		p->n_waiting--;
		return w;
	}
	return NULL;
}

static void *work_all(void *of)
{
	struct pool *p = of;

	lower_priority(p);
	(void)pthread_mutex_lock(&work.lock);
	for (;;) {
		struct msd_work *w = take(p);
		if (w != NULL) {
			(void)pthread_mutex_unlock(&work.lock);
			w->run(w);
			(void)pthread_mutex_lock(&work.lock);
			msd_list_remove(&w->link);
			msd_list_append(&work.over, &w->link);
			work.n_over++;
			(void)uv_async_send(&work.heard);
		} else if (p->n_threads <= p->n_stay) {
			p->n_idle++;
			(void)pthread_cond_wait(&p->wanted, &work.lock);
			p->n_idle--;
		} else {
			break;
		}
	}
	p->n_threads--;
	(void)pthread_mutex_unlock(&work.lock);
	return NULL;
}

/* Call with the lock held. Returns 0, or an errno. */
static int start_thread(struct pool *p)
{
	pthread_attr_t attr;
	pthread_t thread;
	int error = pthread_attr_init(&attr);

	if (error != 0)
		return error;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	error = pthread_create(&thread, &attr, work_all, p);
	if (error == 0)
		p->n_threads++;
	(void)pthread_attr_destroy(&attr);
	return error;
}

/* Call with the lock held. Returns 0, or an errno. */
static int start_all(struct pool *p, unsigned n, unsigned n_more)
{
	int error = 0;

	p->n_stay = n;
	p->n_most = n + n_more;
	while (error == 0 && p->n_threads < n)
		error = start_thread(p);
	return error;
}

static struct msd_work *take_over(void)
{
	struct msd_work *w = NULL;

	(void)pthread_mutex_lock(&work.lock);
	if (!msd_list_is_empty(&work.over)) {
		w = work_of(msd_list_first(&work.over));
		msd_list_remove(&w->link);
		work.n_over--;
	}
	(void)pthread_mutex_unlock(&work.lock);
	return w;
}

/* Handle only the jobs finished by now: done() may begin more. */
static void on_heard(uv_async_t *heard)
{
	struct msd_work *w;

	(void)pthread_mutex_lock(&work.lock);
	unsigned n = work.n_over;
	(void)pthread_mutex_unlock(&work.lock);
	for (; n > 0 && (w = take_over()) != NULL; n--) {
		if (--work.n_left == 0)
			uv_unref((uv_handle_t *)heard);
		w->done(w);
	}
}

/* Cannot fail: uv_loop_init() has made the descriptor that all async handles of the
 * loop share. */
static void hear(uv_loop_t *loop)
{
	if (work.is_open)
		return;
	work.is_open = true;
	(void)uv_async_init(loop, &work.heard, on_heard);
	uv_unref((uv_handle_t *)&work.heard);
}

int msd_work_open(uv_loop_t *loop, unsigned n_more)
{
	(void)pthread_mutex_lock(&work.lock);
	int error = start_all(&work.pools[MSD_WORK_PROMPT], MSD_WORK_STAY_PROMPT, 0);
	if (error == 0) {
		error = start_all(&work.pools[MSD_WORK_BULK], MSD_WORK_STAY_BULK,
				  n_more);
	}
	(void)pthread_mutex_unlock(&work.lock);
	if (error == 0)
		hear(loop);
	return error;
}

void msd_work_close(void)
{
	if (work.is_open)
		uv_close((uv_handle_t *)&work.heard, NULL);
	work.is_open = false;
}

/* Call with the lock held. The round after the owner's last waiting job, or the
 * current one. The search is cheap compared with any job. */
static uint64_t next_turn(const struct pool *p, const struct msd_work *w)
{
	for (struct msd_list *it = p->waiting.prev;
	     it != &p->waiting && w->owner != MSD_WORK_OWN; it = it->prev) {
		if (work_of(it)->owner == w->owner)
			return work_of(it)->turn + 1;
	}
	return p->turn;
}

/* Call with the lock held. */
static void put(struct pool *p, struct msd_work *w)
{
	struct msd_list *before = p->waiting.prev;

	w->turn = next_turn(p, w);
	while (before != &p->waiting && work_of(before)->turn > w->turn)
		before = before->prev;
	msd_list_append(before->next, &w->link);
	p->n_waiting++;
}

void msd_work_begin(uv_loop_t *loop, struct msd_work *w)
{
	struct pool *p = &work.pools[w->pool];

	hear(loop);
	if (work.n_left++ == 0)
		uv_ref((uv_handle_t *)&work.heard);
	(void)pthread_mutex_lock(&work.lock);
	put(p, w);
	if (p->n_waiting > p->n_idle && p->n_threads < p->n_most)
		(void)start_thread(p); /* on failure existing threads do the work */
	(void)pthread_cond_signal(&p->wanted);
	(void)pthread_mutex_unlock(&work.lock);
}

bool msd_work_is_busy(void)
{
	return work.n_left > 0;
}
