#include "daemon/wire/aside.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Happy path: what is to be given back goes into a ring; a thread is started unless one
 * is idle by the time it looks; threads take from the ring until it is empty.
 * Failures: no thread can be started: those that run do it, or the next one that can
 * be; the ring is full: see the header.
 */

#define STACK_BYTES (256u * 1024u) /* a thread that only makes system calls */

struct gift {
	void *p; /* NULL: a descriptor */
	size_t bytes;
	int advice; /* about the pages, before they are unmapped */
	int fd;
};

static struct {
	pthread_mutex_t lock;
	struct gift ring[MSD_ASIDE_MAX];
	unsigned first; /* of the ring */
	atomic_uint n;  /* of them that wait; changed with the lock held */
	unsigned n_threads;
} aside = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

static void *give_all(void *unused)
{
	(void)unused;
	(void)pthread_mutex_lock(&aside.lock);
	while (aside.n > 0) {
		const struct gift g = aside.ring[aside.first];

		aside.first = (aside.first + 1) % MSD_ASIDE_MAX;
		aside.n--;
		(void)pthread_mutex_unlock(&aside.lock);
		give(&g);
		(void)pthread_mutex_lock(&aside.lock);
	}
	aside.n_threads--;
	(void)pthread_mutex_unlock(&aside.lock);
	return NULL;
}

/* With the lock held. */
static void start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (aside.n_threads >= MSD_ASIDE_THREADS || pthread_attr_init(&attr) != 0)
		return;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (pthread_create(&thread, &attr, give_all, NULL) == 0)
		aside.n_threads++;
	(void)pthread_attr_destroy(&attr);
}

/* False when there is no room. */
static bool take(struct gift g)
{
	(void)pthread_mutex_lock(&aside.lock);
	const bool has_room = aside.n < MSD_ASIDE_MAX;

	if (has_room) {
		aside.ring[(aside.first + aside.n++) % MSD_ASIDE_MAX] = g;
		start_thread();
	}
	(void)pthread_mutex_unlock(&aside.lock);
	return has_room;
}

bool msd_aside_is_crowded(void)
{
	return atomic_load_explicit(&aside.n, memory_order_relaxed) > MSD_ASIDE_MAX / 2;
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
