/*
 * Happy path: a job goes into its lane, behind the jobs of its round, and wakes a
 * thread. The thread puts the finished job into `over` and wakes the loop, which
 * gives its place in the lane to the next job and calls done(). Failures: no extra
 * thread can be started: the permanent threads do the work, or the next begin,
 * submit or retry starts one. A job never returns (a file system that hangs): it
 * keeps its thread and its place in the lane.
 */
#include "daemon/loop/work.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES (1024u * 1024u)
#define WAKE_SIGNAL SIGURG /* ignored where no handler is set */

struct pool {
	struct msd_list lanes; /* msd_work_lane.link: those with waiting jobs */
	pthread_cond_t wanted;
	unsigned n_free; /* threads without a job, also those that start */
	unsigned n_threads;
	unsigned n_stay; /* permanent threads */
	unsigned n_most;
	int nice;
	bool is_woken; /* a signal interrupts its jobs */
};

#define POOL(class, most)                                                              \
	.lanes = {&work.pools[class].lanes, &work.pools[class].lanes},                 \
	.wanted = PTHREAD_COND_INITIALIZER, .n_most = (most)

static struct {
	pthread_mutex_t lock;
	struct pool pools[MSD_WORK_CLASSES];
	struct msd_list over; /* msd_work.link: run() has returned */
	unsigned n_over;
	/* Loop's thread only. */
	uv_async_t heard;
	bool is_open;    /* the handle is on a loop */
	unsigned n_left; /* begun and not done */
} work = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.pools = {[MSD_WORK_INTERACTIVE] = {POOL(MSD_WORK_INTERACTIVE,
						 MSD_WORK_STAY_INTERACTIVE)},
		  [MSD_WORK_BULK] = {POOL(MSD_WORK_BULK, MSD_WORK_STAY_BULK),
				     .nice = MSD_WORK_NICE},
		  [MSD_WORK_RELEASE] = {POOL(MSD_WORK_RELEASE, MSD_WORK_MOST_RELEASE)},
		  [MSD_WORK_CLOSE] = {POOL(MSD_WORK_CLOSE, MSD_WORK_MOST_CLOSE),
				      .is_woken = true}},
	.over = {&work.over, &work.over},
};

static struct msd_work *work_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_work, link);
}

static struct msd_work_lane *lane_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_work_lane, link);
}

static struct pool *pool_of(const struct msd_work_lane *lane)
{
	return &work.pools[lane->class];
}

/* Linux has a priority per thread. A thread that has lowered it may not raise it
 * again, so classes share no threads. */
static void lower_priority(const struct pool *p)
{
	const id_t self = (id_t)gettid();

	if (p->nice > 0) {
		(void)setpriority(PRIO_PROCESS, self,
				  getpriority(PRIO_PROCESS, self) + p->nice);
	}
}

static void on_wake(int signal)
{
	(void)signal; /* the signal only has to interrupt the system call */
}

/* Send this thread a signal periodically. Without it closes sleep longer. */
static bool start_waking(timer_t *ret)
{
	const struct timespec each = {.tv_nsec = MSD_WORK_WAKE_US * 1000L};
	const struct itimerspec when = {.it_interval = each, .it_value = each};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = WAKE_SIGNAL};
	struct sigaction action = {.sa_handler = on_wake, .sa_flags = SA_RESTART}, now;
	sigset_t set;

	/* In a worker the module may have set the handler. */
	if (sigaction(WAKE_SIGNAL, NULL, &now) != 0 ||
	    (now.sa_handler == SIG_DFL && sigaction(WAKE_SIGNAL, &action, NULL) != 0))
		return false;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, WAKE_SIGNAL);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	event._sigev_un._tid = gettid();
	return timer_create(CLOCK_MONOTONIC, &event, ret) == 0 &&
	       timer_settime(*ret, 0, &when, NULL) == 0;
}

/* Call with the lock held, as all functions up to work_all(). */
static bool may_run(const struct msd_work_lane *lane, const struct msd_work *w)
{
	unsigned n = 0;

	if (lane->of_one == 0)
		return true;
	MSD_LIST_EACH (it, &lane->running)
		n += work_of(it)->owner == w->owner;
	return n < lane->of_one;
}

static struct msd_work *first_of(const struct msd_work_lane *lane)
{
	if (lane->most > 0 && lane->n_running >= lane->most)
		return NULL;
	MSD_LIST_EACH (it, &lane->waiting) {
		if (may_run(lane, work_of(it)))
			return work_of(it);
	}
	return NULL;
}

/* The lane is behind the others of its class then. */
static void withdraw(struct msd_work *w)
{
	struct msd_work_lane *lane = w->lane;

	msd_list_remove(&w->link);
	msd_list_remove(&lane->link);
	w->is_waiting = false;
	if (--lane->n_waiting > 0)
		msd_list_append(&pool_of(lane)->lanes, &lane->link);
}

static struct msd_work *take(struct pool *p)
{
	MSD_LIST_EACH (it, &p->lanes) {
		struct msd_work_lane *lane = lane_of(it);
		struct msd_work *w = first_of(lane);
		if (w == NULL)
			continue;
		withdraw(w);
		msd_list_append(&lane->running, &w->link);
		lane->turn = w->turn;
		lane->n_running++;
		return w;
	}
	return NULL;
}

static void work_one(struct pool *p, struct msd_work *w)
{
	struct msd_work_lane *lane = w->lane;
	const bool is_told = w->done != NULL;

	if (!is_told)
		msd_list_remove(&w->link); /* run() may free it */
	p->n_free--;
	(void)pthread_mutex_unlock(&work.lock);
	w->run(w);
	(void)pthread_mutex_lock(&work.lock);
	p->n_free++;
	if (!is_told) {
		lane->n_running--;
		return;
	}
	msd_list_remove(&w->link);
	msd_list_append(&work.over, &w->link);
	work.n_over++;
	(void)uv_async_send(&work.heard);
}

static void *work_all(void *of)
{
	struct pool *p = of;
	timer_t timer;
	const bool is_woken = p->is_woken && start_waking(&timer);

	lower_priority(p);
	(void)pthread_mutex_lock(&work.lock);
	for (;;) {
		struct msd_work *w = take(p);
		if (w != NULL) {
			work_one(p, w);
		} else if (p->n_threads <= p->n_stay) {
			(void)pthread_cond_wait(&p->wanted, &work.lock);
		} else {
			break;
		}
	}
	p->n_free--;
	p->n_threads--;
	(void)pthread_mutex_unlock(&work.lock);
	if (is_woken)
		(void)timer_delete(timer);
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
	if (error == 0) {
		p->n_threads++;
		p->n_free++;
	}
	(void)pthread_attr_destroy(&attr);
	return error;
}

/* Call with the lock held. The number of jobs that threads could take now. */
static unsigned count_ready(const struct pool *p)
{
	unsigned n = 0;

	MSD_LIST_EACH (it, &p->lanes) {
		const struct msd_work_lane *lane = lane_of(it);
		const unsigned most =
			lane->most > 0 ? lane->most - lane->n_running : lane->n_waiting;
		n += most < lane->n_waiting ? most : lane->n_waiting;
	}
	return n;
}

/* Call with the lock held. If no thread can be started, existing ones do the work. */
static void wake(struct pool *p)
{
	const unsigned n = count_ready(p);

	if (n > p->n_free && p->n_threads < p->n_most)
		(void)start_thread(p);
	if (n > 0)
		(void)pthread_cond_signal(&p->wanted);
}

static struct msd_work *take_over(void)
{
	struct msd_work *w = NULL;

	(void)pthread_mutex_lock(&work.lock);
	if (!msd_list_is_empty(&work.over)) {
		w = work_of(msd_list_first(&work.over));
		msd_list_remove(&w->link);
		work.n_over--;
		w->lane->n_running--;
		wake(pool_of(w->lane));
	}
	(void)pthread_mutex_unlock(&work.lock);
	return w;
}

static void end(struct msd_work *w)
{
	w->is_begun = false;
	if (--work.n_left == 0)
		uv_unref((uv_handle_t *)&work.heard);
}

/* Handle only the jobs finished by now: done() may begin more. */
static void on_heard(uv_async_t *heard)
{
	struct msd_work *w;

	(void)heard;
	(void)pthread_mutex_lock(&work.lock);
	unsigned n = work.n_over;
	(void)pthread_mutex_unlock(&work.lock);
	for (; n > 0 && (w = take_over()) != NULL; n--) {
		end(w);
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

void msd_work_lane_init(struct msd_work_lane *lane, enum msd_work_class class,
			unsigned most)
{
	*lane = (struct msd_work_lane)MSD_WORK_LANE(*lane, class, most, 0);
}

int msd_work_open(enum msd_work_class class, unsigned n_stay, unsigned n_more)
{
	struct pool *p = &work.pools[class];
	int error = 0;

	(void)pthread_mutex_lock(&work.lock);
	p->n_stay = n_stay;
	p->n_most = n_stay + n_more;
	while (error == 0 && p->n_threads < n_stay)
		error = start_thread(p);
	(void)pthread_mutex_unlock(&work.lock);
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
static uint64_t next_turn(const struct msd_work_lane *lane, const struct msd_work *w)
{
	for (struct msd_list *it = lane->waiting.prev; it != &lane->waiting;
	     it = it->prev) {
		if (work_of(it)->owner == w->owner)
			return work_of(it)->turn + 1;
	}
	return lane->turn;
}

/* Call with the lock held. */
static void put(struct msd_work *w)
{
	struct msd_work_lane *lane = w->lane;
	struct msd_list *before = lane->waiting.prev;

	w->turn = next_turn(lane, w);
	while (before != &lane->waiting && work_of(before)->turn > w->turn)
		before = before->prev;
	msd_list_append(before->next, &w->link);
	w->is_waiting = true;
	if (lane->n_waiting++ == 0)
		msd_list_append(&pool_of(lane)->lanes, &lane->link);
}

void msd_work_submit(struct msd_work *w)
{
	(void)pthread_mutex_lock(&work.lock);
	put(w);
	wake(pool_of(w->lane));
	(void)pthread_mutex_unlock(&work.lock);
}

void msd_work_begin(uv_loop_t *loop, struct msd_work *w)
{
	hear(loop);
	if (work.n_left++ == 0)
		uv_ref((uv_handle_t *)&work.heard);
	w->is_begun = true;
	msd_work_submit(w);
}

void msd_work_retry(struct msd_work_lane *lane)
{
	(void)pthread_mutex_lock(&work.lock);
	wake(pool_of(lane));
	(void)pthread_mutex_unlock(&work.lock);
}

bool msd_work_cancel(struct msd_work *w)
{
	if (!w->is_begun)
		return true;
	(void)pthread_mutex_lock(&work.lock);
	const bool is_waiting = w->is_waiting;
	if (is_waiting)
		withdraw(w);
	(void)pthread_mutex_unlock(&work.lock);
	if (is_waiting)
		end(w);
	return is_waiting;
}

void msd_work_leave(struct msd_work *w, void (*dropped)(struct msd_work *w))
{
	if (msd_work_cancel(w)) {
		dropped(w);
	} else {
		w->done = dropped;
	}
}

bool msd_work_is_busy(void)
{
	return work.n_left > 0;
}
