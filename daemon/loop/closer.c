#include "daemon/loop/closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Happy path: an item goes into a queue, the passer's or the one for our own objects.
 * A thread starts unless the queue has its maximum of threads. Threads take items
 * until their queue is empty.
 *
 * Failures: no thread can be started: the running threads do the work (the queue of
 * our own objects always has one), or msd_closer_is_crowded() starts the next one.
 * Memory is short: see the header. A close sleeps: the signal of a timer ends it;
 * otherwise it keeps its thread, and no more is read from its passer.
 */

#define STACK_BYTES (256u * 1024u)        /* the thread only makes system calls */
#define OUR_OWN MSD_CLOSER_PASSERS        /* index behind the queues of passers */
#define WORKERS (MSD_CLOSER_PASSERS + 1u) /* closes of clients do not delay these */
#define WAKE_SIGNAL SIGURG                /* ignored where no handler is set */

struct gift {
	struct gift *next; /* next in the queue */
	void *p;           /* NULL: the item is a descriptor */
	size_t bytes;
	int advice; /* madvise() before the unmap */
	int fd;
	bool is_passed; /* counted in n_passed */
};

struct queue {
	struct gift *first, *last;
	unsigned n;        /* waiting items */
	unsigned n_giving; /* items taken and not done */
	unsigned n_threads;
	bool has_own;    /* one thread is permanent */
	uint64_t passer; /* owner while the queue is not empty */
};

static struct {
	pthread_mutex_t lock;
	struct queue queues[MSD_CLOSER_PASSERS + 2];
	unsigned of_one, of_all;
	pthread_cond_t filled; /* signals the queue of our own objects */
	atomic_uint n_passed;  /* unfinished closes of passed descriptors; written with
				  the lock held */
} aside = {.lock = PTHREAD_MUTEX_INITIALIZER,
	   .filled = PTHREAD_COND_INITIALIZER,
	   .of_one = MSD_CLOSER_OF_ONE,
	   .of_all = MSD_CLOSER_OF_ALL};

/* Clients choose how many descriptors they pass, so their queues get few threads. */
static unsigned most_threads(const struct queue *q)
{
	return q == &aside.queues[OUR_OWN] || q == &aside.queues[WORKERS]
		       ? MSD_CLOSER_THREADS
		       : MSD_CLOSER_PASSED_THREADS;
}

/* Drop the pages first: other threads can map and fault meanwhile. munmap() of many
 * pages blocks them. */
static void unmap(const struct gift *g)
{
	(void)madvise(g->p, g->bytes, g->advice);
	(void)munmap(g->p, g->bytes);
}

static void give(const struct gift *g)
{
	/* The kernel sends the bytes without us. A descriptor that is no socket does
	 * not have this option. */
	const struct linger none = {.l_onoff = 0};

	if (g->p != NULL) {
		unmap(g);
	} else {
		(void)setsockopt(g->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
		(void)close(g->fd);
	}
}

static void on_wake(int signal)
{
	(void)signal; /* the signal only has to interrupt the system call */
}

/* Send this thread a signal periodically. Without it closes sleep longer. */
static bool start_waking(timer_t *ret)
{
	const struct timespec each = {.tv_nsec = MSD_CLOSER_WAKE_US * 1000L};
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

/* Call with the lock held. */
static void empty(struct queue *q)
{
	while (q->n > 0) {
		struct gift *g = q->first;

		q->first = g->next;
		q->n--;
		q->n_giving++;
		(void)pthread_mutex_unlock(&aside.lock);
		give(g);
		(void)pthread_mutex_lock(&aside.lock);
		q->n_giving--;
		if (g->is_passed)
			aside.n_passed--;
		free(g);
	}
}

static void *give_all(void *of)
{
	struct queue *q = of;
	timer_t timer;
	const bool is_woken = start_waking(&timer);

	(void)pthread_mutex_lock(&aside.lock);
	empty(q);
	q->n_threads--;
	(void)pthread_mutex_unlock(&aside.lock);
	if (is_woken)
		(void)timer_delete(timer);
	return NULL;
}

/* Closes of our own objects always return, so no signal is needed. */
static void *give_always(void *of)
{
	struct queue *q = of;

	(void)pthread_mutex_lock(&aside.lock);
	for (;;) {
		empty(q);
		(void)pthread_cond_wait(&aside.filled, &aside.lock);
	}
	return NULL;
}

/* Call with the lock held. Returns 0, or an errno. */
static int start(struct queue *q, void *(*give_some)(void *of))
{
	pthread_attr_t attr;
	pthread_t thread;
	int error = pthread_attr_init(&attr);

	if (error != 0)
		return error;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	error = pthread_create(&thread, &attr, give_some, q);
	if (error == 0)
		q->n_threads++;
	(void)pthread_attr_destroy(&attr);
	return error;
}

/* Call with the lock held. */
static void start_thread(struct queue *q)
{
	if (q->n_threads < most_threads(q))
		(void)start(q, give_all);
}

/* Call with the lock held. No thread could be started when the queue was filled. */
static void start_missing(struct queue *q)
{
	if (q->n > 0 && q->n_threads == 0)
		start_thread(q);
}

int msd_closer_open(void)
{
	struct queue *q = &aside.queues[OUR_OWN];
	int error = 0;

	(void)pthread_mutex_lock(&aside.lock);
	if (!q->has_own)
		error = start(q, give_always);
	q->has_own = q->has_own || error == 0;
	(void)pthread_mutex_unlock(&aside.lock);
	return error;
}

/* Call with the lock held. False if memory is short. */
static bool put(struct queue *q, struct gift g)
{
	struct gift *kept = malloc(sizeof(*kept));

	if (kept == NULL)
		return false;
	*kept = g;
	if (q->n++ > 0) {
		q->last->next = kept;
	} else {
		q->first = kept;
	}
	q->last = kept;
	if (q->has_own)
		(void)pthread_cond_signal(&aside.filled);
	if (!q->has_own || q->n > 1)
		start_thread(q);
	return true;
}

static bool take(struct gift g)
{
	(void)pthread_mutex_lock(&aside.lock);
	const bool is_put = put(&aside.queues[OUR_OWN], g);

	(void)pthread_mutex_unlock(&aside.lock);
	return is_put;
}

static unsigned not_ended(const struct queue *q)
{
	return q->n + q->n_giving;
}

/* Call with the lock held. Prefer the queue of @passer, then a free queue, then a
 * queue shared with another passer. */
static struct queue *queue_of(uint64_t passer)
{
	struct queue *found = NULL;

	if (passer == MSD_CLOSER_WORKERS)
		return &aside.queues[WORKERS];

	for (unsigned i = 0; i < MSD_CLOSER_PASSERS; i++) {
		struct queue *q = &aside.queues[i];

		if (not_ended(q) == 0) {
			found = q;
		} else if (q->passer == passer) {
			return q;
		}
	}
	return found != NULL ? found : &aside.queues[passer % MSD_CLOSER_PASSERS];
}

static void close_for(uint64_t passer, struct gift g)
{
	if (g.fd < 0)
		return;
	(void)pthread_mutex_lock(&aside.lock);
	struct queue *q = queue_of(passer);

	if (not_ended(q) == 0)
		q->passer = passer;
	if (put(q, g) && g.is_passed)
		aside.n_passed++;
	(void)pthread_mutex_unlock(&aside.lock);
}

void msd_closer_close_passed(int fd, uint64_t passer)
{
	close_for(passer, (struct gift){.fd = fd, .is_passed = true});
}

void msd_closer_close_socket(int fd, uint64_t passer)
{
	close_for(passer, (struct gift){.fd = fd});
}

/*
 * Call with the lock held. True if there is room for one read of each passer that may
 * still send descriptors, including the caller. A lower total limit gives each passer
 * less room.
 */
static bool leaves_room(const struct queue *of)
{
	const struct queue *workers = &aside.queues[WORKERS];
	unsigned n_free = workers != of && not_ended(workers) == 0;

	for (unsigned i = 0; i < MSD_CLOSER_PASSERS; i++)
		n_free += &aside.queues[i] != of && not_ended(&aside.queues[i]) == 0;
	const unsigned each = aside.of_all / (MSD_CLOSER_PASSERS + 2);
	return aside.n_passed + each * (n_free + 1) <= aside.of_all;
}

bool msd_closer_is_crowded(uint64_t passer)
{
	if (atomic_load_explicit(&aside.n_passed, memory_order_relaxed) == 0)
		return false;
	(void)pthread_mutex_lock(&aside.lock);
	struct queue *q = queue_of(passer);
	start_missing(q);
	const bool is_crowded = aside.n_passed > aside.of_all ||
				not_ended(q) > aside.of_one ||
				(not_ended(q) > 0 && !leaves_room(q));

	(void)pthread_mutex_unlock(&aside.lock);
	return is_crowded;
}

bool msd_closer_is_behind(void)
{
	(void)pthread_mutex_lock(&aside.lock);
	start_missing(&aside.queues[WORKERS]);
	const bool is_behind = aside.queues[OUR_OWN].n > MSD_CLOSER_BEHIND ||
			       queue_of(MSD_CLOSER_WORKERS)->n > MSD_CLOSER_BEHIND;

	(void)pthread_mutex_unlock(&aside.lock);
	return is_behind;
}

void msd_closer_allow(unsigned n)
{
	(void)pthread_mutex_lock(&aside.lock);
	aside.of_all = n == 0 || n / 4 > MSD_CLOSER_OF_ALL ? MSD_CLOSER_OF_ALL : n / 4;
	aside.of_one = aside.of_all / 2 > MSD_CLOSER_OF_ONE ? MSD_CLOSER_OF_ONE
							    : aside.of_all / 2;
	(void)pthread_mutex_unlock(&aside.lock);
}

void msd_closer_close(int fd)
{
	if (fd >= 0)
		(void)take((struct gift){.fd = fd});
}

void msd_closer_close_own(int fd)
{
	if (fd >= 0 && !take((struct gift){.fd = fd}))
		(void)close(fd);
}

bool msd_closer_wants_unix(const char *release)
{
	char *end = NULL;
	const unsigned long major = strtoul(release, &end, 10);
	const unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return major < 6 || (major == 6 && minor < 10);
}

static void give_pages(void *p, size_t bytes, int advice)
{
	const struct gift g = {.p = p, .bytes = bytes, .advice = advice, .fd = -1};

	if (!take(g))
		unmap(&g);
}

void msd_closer_unmap(void *p, size_t bytes)
{
	give_pages(p, bytes, MADV_DONTNEED);
}

void msd_closer_discard(void *p, size_t bytes)
{
	give_pages(p, bytes, MADV_REMOVE);
}
