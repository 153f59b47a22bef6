/*
 * Happy path: a job goes into the queue, and a thread is started unless there are as
 * many as there may be; threads take from the queue until it is empty; an async handle
 * of the job's own wakes the loop.
 * Failures: no thread can be started: those that run do it; none runs: libuv's do.
 */
#include "daemon/wire/bulk.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_BYTES (1024u * 1024u)

static struct {
	pthread_mutex_t lock;
	struct msd_bulk *first, *last;
	unsigned n_threads, most_threads;
	unsigned n_left; /* begun and not done; the loop's thread alone */
} bulk = {.lock = PTHREAD_MUTEX_INITIALIZER, .most_threads = MSD_BULK_THREADS};

/* For the thread alone, as Linux has it; and for good, for who may lower the priority
 * of a thread may not raise it again: so these are no threads of libuv's. */
static void come_last(void)
{
	const id_t self = (id_t)gettid();

	(void)setpriority(PRIO_PROCESS, self,
			  getpriority(PRIO_PROCESS, self) + MSD_BULK_NICE);
}

/* With the lock held. */
static struct msd_bulk *take(void)
{
	struct msd_bulk *b = bulk.first;

	if (b != NULL)
		bulk.first = b->next;
	return b;
}

static void *work_all(void *unused)
{
	struct msd_bulk *b;

	(void)unused;
	come_last();
	(void)pthread_mutex_lock(&bulk.lock);
	while ((b = take()) != NULL) {
		(void)pthread_mutex_unlock(&bulk.lock);
		b->work(b);
		(void)uv_async_send(&b->by.over); /* it may be gone behind this */
		(void)pthread_mutex_lock(&bulk.lock);
	}
	bulk.n_threads--;
	(void)pthread_mutex_unlock(&bulk.lock);
	return NULL;
}

/* With the lock held. */
static void start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (bulk.n_threads >= bulk.most_threads || pthread_attr_init(&attr) != 0)
		return;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (pthread_create(&thread, &attr, work_all, NULL) == 0)
		bulk.n_threads++;
	(void)pthread_attr_destroy(&attr);
}

static void end(struct msd_bulk *b)
{
	bulk.n_left--;
	b->done(b);
}

static void on_closed(uv_handle_t *handle)
{
	end(handle->data);
}

static void on_over(uv_async_t *over)
{
	uv_close((uv_handle_t *)over, on_closed);
}

/* With the lock held. */
static void put(struct msd_bulk *b)
{
	b->next = NULL;
	if (bulk.first == NULL) {
		bulk.first = b;
	} else {
		bulk.last->next = b;
	}
	bulk.last = b;
}

void msd_bulk_allow(unsigned n)
{
	bulk.most_threads = n;
}

static void on_borrowed(uv_work_t *work)
{
	struct msd_bulk *b = work->data;

	b->work(b);
}

static void on_given_back(uv_work_t *work, int status)
{
	(void)status; /* nobody cancels it */
	end(work->data);
}

void msd_bulk_begin(uv_loop_t *loop, struct msd_bulk *b)
{
	bulk.n_left++;
	(void)pthread_mutex_lock(&bulk.lock);
	start_thread();
	if (bulk.n_threads > 0) {
		/* It does not fail: the loop has had handles of this kind before. */
		(void)uv_async_init(loop, &b->by.over, on_over);
		b->by.over.data = b;
		put(b);
	} else {
		b->by.borrowed.data = b;
		(void)uv_queue_work(loop, &b->by.borrowed, on_borrowed, on_given_back);
	}
	(void)pthread_mutex_unlock(&bulk.lock);
}

bool msd_bulk_is_busy(void)
{
	return bulk.n_left > 0;
}
