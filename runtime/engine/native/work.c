#include "runtime/engine/native/work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/pool/pool.h"

#define GRAIN_NS 8000.0
#define ALIGNMENT 64u
enum { PIECES = 8 /* of a thread */, MOST_SHARES = 64 };

/* Each thread has its share of the pieces, so that nodes after one another find what it
 * wrote in its cache. One that is done takes pieces of the others. */
struct job {
	size_t n, n_pieces, n_shares;
	msd_native_part *part;
	const void *ctx;
	atomic_size_t next[MOST_SHARES];
};

static size_t share_at(const struct job *j, size_t share)
{
	return j->n_pieces * share / j->n_shares;
}

static void run_share(struct job *j, size_t share, size_t thread)
{
	const size_t end = share_at(j, share + 1);
	size_t i;

	while ((i = atomic_fetch_add(&j->next[share], 1)) < end) {
		j->part(j->ctx, j->n * i / j->n_pieces, j->n * (i + 1) / j->n_pieces,
			thread);
	}
}

static int run_shares(int task, struct msd_parallel_env *env, void *data)
{
	struct job *job = data;
	const size_t thread = (size_t)task;

	(void)env;
	for (size_t i = 0; i < job->n_shares; i++)
		run_share(job, (thread + i) % job->n_shares, thread);
	return 0;
}

size_t msd_native_threads(void)
{
	const size_t n = msd_pool_size();

	return n > 0 ? n : 1;
}

void msd_native_each(size_t n, double ns, msd_native_part *part, const void *ctx)
{
	const double useful = (double)n * ns / GRAIN_NS;
	const size_t threads = msd_native_threads();

	if (useful < 2 || threads < 2 || n < 2) {
		if (n > 0)
			part(ctx, 0, n, 0);
		return;
	}
	size_t tasks = useful < (double)threads ? (size_t)useful : threads;
	tasks = tasks < n ? tasks : n;
	struct job job = {.n = n, .part = part, .ctx = ctx};
	job.n_pieces = tasks * PIECES < n ? tasks * PIECES : n;
	job.n_shares = tasks < MOST_SHARES ? tasks : MOST_SHARES;
	for (size_t i = 0; i < job.n_shares; i++)
		job.next[i] = share_at(&job, i);
	(void)msd_pool_offer(run_shares, &job, (int)tasks); /* parts cannot fail */
}

/* A block begins with its size, in one alignment. A claim may take a block within one
 * of wide.c, so two are kept, the larger one first. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *kept[2]; /* NULL: none, or it is in use */

static size_t size_of(const char *block)
{
	return block != NULL ? *(const size_t *)(const void *)block : 0;
}

/* The smaller block that has @bytes, else the larger one. */
static char *take_kept(size_t bytes)
{
	(void)pthread_mutex_lock(&lock);
	char **from = &kept[size_of(kept[1]) >= bytes ? 1 : 0];
	char *block = *from;

	*from = kept[1];
	kept[1] = NULL;
	(void)pthread_mutex_unlock(&lock);
	return block;
}

float *msd_native_scratch_take(size_t n)
{
	if (n > (SIZE_MAX - 2 * ALIGNMENT) / sizeof(float))
		return NULL;
	const size_t bytes =
		(n * sizeof(float) + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	char *block = take_kept(bytes);
	if (size_of(block) < bytes) {
		free(block);
		block = NULL;
	}
	if (block == NULL) {
		block = aligned_alloc(ALIGNMENT, bytes);
		if (block == NULL)
			return NULL;
		*(size_t *)(void *)block = bytes;
	}
	return (float *)(void *)(block + ALIGNMENT);
}

void msd_native_scratch_give(float *p)
{
	if (p == NULL)
		return;
	char *block = (char *)p - ALIGNMENT;

	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; i < 2; i++) {
		if (size_of(kept[i]) < size_of(block)) {
			char *smaller = kept[i];

			kept[i] = block;
			block = smaller;
		}
	}
	(void)pthread_mutex_unlock(&lock);
	free(block);
}
