#include "daemon/loop/closer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/work.h"

/*
 * Happy path: an item becomes a job of a lane, the passer's or the one for our own
 * objects, and is freed by its thread.
 *
 * Failures: no thread can be started: the running threads do the work (our own objects
 * always have one), or msd_closer_is_crowded() starts the next one. Memory is short:
 * see the header. A close sleeps: a signal ends it; otherwise it keeps its thread, and
 * no more is read from its passer.
 */

#define OUR_OWN MSD_CLOSER_PASSERS        /* index behind the queues of passers */
#define WORKERS (MSD_CLOSER_PASSERS + 1u) /* closes of clients do not delay these */

struct queue {
	struct msd_work_lane lane;
	unsigned n;      /* unfinished items */
	uint64_t passer; /* owner while the queue is not empty */
};

struct gift {
	struct msd_work work;
	struct queue *queue;
	void *p; /* NULL: the item is a descriptor */
	size_t bytes;
	int advice; /* madvise() before the unmap */
	int fd;
	bool is_passed; /* counted in n_passed */
};

static struct {
	pthread_mutex_t lock;
	struct queue queues[MSD_CLOSER_PASSERS + 2];
	unsigned of_one, of_all;
	atomic_uint n_passed; /* unfinished closes of passed descriptors; written with
				 the lock held */
} closer = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .of_one = MSD_CLOSER_OF_ONE,
	    .of_all = MSD_CLOSER_OF_ALL};

/* Drop the pages first: other threads can map and fault meanwhile. munmap() of many
 * pages blocks them. */
static void unmap(const struct gift *g)
{
	(void)madvise(g->p, g->bytes, g->advice);
	(void)munmap(g->p, g->bytes);
}

static void give(struct msd_work *work)
{
	/* The kernel sends the bytes without us. A descriptor that is no socket does
	 * not have this option. */
	const struct linger none = {.l_onoff = 0};
	struct gift *g = MSD_CONTAINER_OF(work, struct gift, work);

	if (g->p != NULL) {
		unmap(g);
	} else {
		(void)setsockopt(g->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
		(void)close(g->fd);
	}
	(void)pthread_mutex_lock(&closer.lock);
	g->queue->n--;
	if (g->is_passed)
		closer.n_passed--;
	(void)pthread_mutex_unlock(&closer.lock);
	free(g);
}

/* Call with the lock held. Clients choose how many descriptors they pass, so their
 * queues get few threads. */
static void open_lane(struct queue *q)
{
	const bool is_own = q == &closer.queues[OUR_OWN];
	const bool is_ours = is_own || q == &closer.queues[WORKERS];

	if (q->lane.most == 0) {
		msd_work_lane_init(&q->lane, is_own ? MSD_WORK_RELEASE : MSD_WORK_CLOSE,
				   is_ours ? MSD_CLOSER_THREADS
					   : MSD_CLOSER_PASSED_THREADS);
	}
}

/* Call with the lock held. False if memory is short. */
static bool put(struct queue *q, struct gift g)
{
	struct gift *kept = malloc(sizeof(*kept));

	if (kept == NULL)
		return false;
	open_lane(q);
	*kept = g;
	kept->queue = q;
	kept->work = (struct msd_work){.run = give, .lane = &q->lane};
	q->n++;
	msd_work_submit(&kept->work);
	return true;
}

/* Call with the lock held. No thread may have been started when it was filled. */
static void start_missing(struct queue *q)
{
	if (q->n > 0)
		msd_work_retry(&q->lane);
}

static bool take(struct gift g)
{
	(void)pthread_mutex_lock(&closer.lock);
	const bool is_put = put(&closer.queues[OUR_OWN], g);

	(void)pthread_mutex_unlock(&closer.lock);
	return is_put;
}

/* Call with the lock held. Prefer the queue of @passer, then a free queue, then a
 * queue shared with another passer. */
static struct queue *queue_of(uint64_t passer)
{
	struct queue *found = NULL;

	if (passer == MSD_CLOSER_WORKERS)
		return &closer.queues[WORKERS];

	for (unsigned i = 0; i < MSD_CLOSER_PASSERS; i++) {
		struct queue *q = &closer.queues[i];

		if (q->n == 0) {
			found = q;
		} else if (q->passer == passer) {
			return q;
		}
	}
	return found != NULL ? found : &closer.queues[passer % MSD_CLOSER_PASSERS];
}

static void close_for(uint64_t passer, struct gift g)
{
	if (g.fd < 0)
		return;
	(void)pthread_mutex_lock(&closer.lock);
	struct queue *q = queue_of(passer);

	if (q->n == 0)
		q->passer = passer;
	if (put(q, g) && g.is_passed)
		closer.n_passed++;
	(void)pthread_mutex_unlock(&closer.lock);
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
	const struct queue *workers = &closer.queues[WORKERS];
	unsigned n_free = workers != of && workers->n == 0;

	for (unsigned i = 0; i < MSD_CLOSER_PASSERS; i++)
		n_free += &closer.queues[i] != of && closer.queues[i].n == 0;
	const unsigned each = closer.of_all / (MSD_CLOSER_PASSERS + 2);
	return closer.n_passed + each * (n_free + 1) <= closer.of_all;
}

bool msd_closer_is_crowded(uint64_t passer)
{
	if (atomic_load_explicit(&closer.n_passed, memory_order_relaxed) == 0)
		return false;
	(void)pthread_mutex_lock(&closer.lock);
	struct queue *q = queue_of(passer);
	start_missing(q);
	const bool is_crowded = closer.n_passed > closer.of_all ||
				q->n > closer.of_one || (q->n > 0 && !leaves_room(q));

	(void)pthread_mutex_unlock(&closer.lock);
	return is_crowded;
}

bool msd_closer_is_behind(void)
{
	(void)pthread_mutex_lock(&closer.lock);
	start_missing(&closer.queues[WORKERS]);
	const bool is_behind = closer.queues[OUR_OWN].n > MSD_CLOSER_BEHIND ||
			       queue_of(MSD_CLOSER_WORKERS)->n > MSD_CLOSER_BEHIND;

	(void)pthread_mutex_unlock(&closer.lock);
	return is_behind;
}

void msd_closer_allow(unsigned n)
{
	(void)pthread_mutex_lock(&closer.lock);
	closer.of_all = n == 0 || n / 4 > MSD_CLOSER_OF_ALL ? MSD_CLOSER_OF_ALL : n / 4;
	closer.of_one = closer.of_all / 2 > MSD_CLOSER_OF_ONE ? MSD_CLOSER_OF_ONE
							      : closer.of_all / 2;
	(void)pthread_mutex_unlock(&closer.lock);
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
