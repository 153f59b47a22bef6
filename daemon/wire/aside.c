#include "daemon/wire/aside.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Happy path: what is to be given back goes into a queue, its passer's or that of what
 * is our own; a thread is started unless the queue has as many as it may; threads take
 * from their queue until it is empty.
 * Failures: no thread can be started: those that run do it (of what is our own, one
 * always does), or the next one that can be, which is tried when somebody asks whether
 * the queue is crowded; memory is short: see the header; a close sleeps: a timer's
 * signal ends it, or it stays for as long as it likes and its passer brings no more.
 */

#define STACK_BYTES (256u * 1024u)       /* a thread that only makes system calls */
#define OUR_OWN MSD_ASIDE_PASSERS        /* the queues behind those of passers */
#define WORKERS (MSD_ASIDE_PASSERS + 1u) /* no client's closes come before theirs */
#define WAKE_SIGNAL SIGURG /* means nothing to who has no handler for it */

struct gift {
	struct gift *next; /* behind it in the queue */
	void *p;           /* NULL: a descriptor */
	size_t bytes;
	int advice; /* about the pages, before they are unmapped */
	int fd;
	bool is_passed; /* it counts among those that were */
};

struct queue {
	struct gift *first, *last;
	unsigned n;        /* that wait */
	unsigned n_giving; /* taken from it and not done */
	unsigned n_threads;
	bool has_own;    /* one of them, that does not end */
	uint64_t passer; /* whose it is, while anything of it is left */
};

static struct {
	pthread_mutex_t lock;
	struct queue queues[MSD_ASIDE_PASSERS + 2];
	unsigned of_one, of_all;
	pthread_cond_t filled; /* the queue of our own */
	atomic_uint n_passed; /* closes of passers that have not ended; changed with the
				 lock held */
} aside = {.lock = PTHREAD_MUTEX_INITIALIZER,
	   .filled = PTHREAD_COND_INITIALIZER,
	   .of_one = MSD_ASIDE_OF_ONE,
	   .of_all = MSD_ASIDE_OF_ALL};

/* Nobody knows how many there are: a client's are its own doing, and have few. */
static unsigned most_threads(const struct queue *q)
{
	return q == &aside.queues[OUR_OWN] || q == &aside.queues[WORKERS]
		       ? MSD_ASIDE_THREADS
		       : MSD_ASIDE_PASSED_THREADS;
}

/* Pages first, for that lets other threads map and fault meanwhile; munmap() of many
 * holds them up. */
static void unmap(const struct gift *g)
{
	(void)madvise(g->p, g->bytes, g->advice);
	(void)munmap(g->p, g->bytes);
}

static void give(const struct gift *g)
{
	/* Its bytes are sent without us; what is no socket has no such option. */
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
	(void)signal; /* to come is all that it is for */
}

/* This thread gets a signal every so often. Without it closes sleep longer. */
static bool start_waking(timer_t *ret)
{
	const struct timespec each = {.tv_nsec = MSD_ASIDE_WAKE_US * 1000L};
	const struct itimerspec when = {.it_interval = each, .it_value = each};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = WAKE_SIGNAL};
	struct sigaction action = {.sa_handler = on_wake, .sa_flags = SA_RESTART}, now;
	sigset_t set;

	/* In a worker it may be the module's. */
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

/* With the lock held. */
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

/* What is our own is known to end: nothing needs to wake it. */
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

/* With the lock held. Returns 0, or an errno. */
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

/* With the lock held. */
static void start_thread(struct queue *q)
{
	if (q->n_threads < most_threads(q))
		(void)start(q, give_all);
}

/* With the lock held: there was no thread to be had when the queue was filled. */
static void start_missing(struct queue *q)
{
	if (q->n > 0 && q->n_threads == 0)
		start_thread(q);
}

int msd_aside_open(void)
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

/* With the lock held. False when memory is short. */
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

/* With the lock held: whose it is, else one that is nobody's, else one of others'. */
static struct queue *queue_of(uint64_t passer)
{
	struct queue *found = NULL;

	if (passer == MSD_ASIDE_WORKERS)
		return &aside.queues[WORKERS];

	for (unsigned i = 0; i < MSD_ASIDE_PASSERS; i++) {
		struct queue *q = &aside.queues[i];

		if (not_ended(q) == 0) {
			found = q;
		} else if (q->passer == passer) {
			return q;
		}
	}
	return found != NULL ? found : &aside.queues[passer % MSD_ASIDE_PASSERS];
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

void msd_aside_close_passed(int fd, uint64_t passer)
{
	close_for(passer, (struct gift){.fd = fd, .is_passed = true});
}

void msd_aside_close_socket(int fd, uint64_t passer)
{
	close_for(passer, (struct gift){.fd = fd});
}

/* With the lock held: one read of each that may still come, and of who asks, has room;
 * of less where there is less. */
static bool leaves_room(const struct queue *of)
{
	const struct queue *workers = &aside.queues[WORKERS];
	unsigned n_free = workers != of && not_ended(workers) == 0;

	for (unsigned i = 0; i < MSD_ASIDE_PASSERS; i++)
		n_free += &aside.queues[i] != of && not_ended(&aside.queues[i]) == 0;
	const unsigned each = aside.of_all / (MSD_ASIDE_PASSERS + 2);
	return aside.n_passed + each * (n_free + 1) <= aside.of_all;
}

bool msd_aside_is_crowded(uint64_t passer)
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

bool msd_aside_is_behind(void)
{
	(void)pthread_mutex_lock(&aside.lock);
	start_missing(&aside.queues[WORKERS]);
	const bool is_behind = aside.queues[OUR_OWN].n > MSD_ASIDE_BEHIND ||
			       queue_of(MSD_ASIDE_WORKERS)->n > MSD_ASIDE_BEHIND;

	(void)pthread_mutex_unlock(&aside.lock);
	return is_behind;
}

void msd_aside_allow(unsigned n)
{
	(void)pthread_mutex_lock(&aside.lock);
	aside.of_all = n == 0 || n / 4 > MSD_ASIDE_OF_ALL ? MSD_ASIDE_OF_ALL : n / 4;
	aside.of_one = aside.of_all / 2 > MSD_ASIDE_OF_ONE ? MSD_ASIDE_OF_ONE
							   : aside.of_all / 2;
	(void)pthread_mutex_unlock(&aside.lock);
}

void msd_aside_close(int fd)
{
	if (fd >= 0)
		(void)take((struct gift){.fd = fd});
}

void msd_aside_close_own(int fd)
{
	if (fd >= 0 && !take((struct gift){.fd = fd}))
		(void)close(fd);
}

bool msd_aside_wants_unix(const char *release)
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

void msd_aside_unmap(void *p, size_t bytes)
{
	give_pages(p, bytes, MADV_DONTNEED);
}

void msd_aside_discard(void *p, size_t bytes)
{
	give_pages(p, bytes, MADV_REMOVE);
}
