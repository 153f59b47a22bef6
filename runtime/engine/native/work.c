#include "runtime/engine/native/work.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/pool/pool.h"

#define GRAIN_NS 20000.0
#define ALIGNMENT 64u

struct job {
	size_t n;
	msd_native_part *part;
	const void *ctx;
};

static int run_range(int task, struct msd_parallel_env *env, void *data)
{
	const struct job *job = data;
	const size_t n_tasks = (size_t)env->num_task;
	const size_t first = job->n * (size_t)task / n_tasks;
	const size_t end = job->n * ((size_t)task + 1) / n_tasks;

	if (first < end)
		job->part(job->ctx, first, end, (size_t)task);
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
	struct job job = {n, part, ctx};

	if (useful < 2 || threads < 2 || n < 2) {
		if (n > 0)
			part(ctx, 0, n, 0);
		return;
	}
	size_t tasks = useful < (double)threads ? (size_t)useful : threads;
	tasks = tasks < n ? tasks : n;
	(void)msd_pool_launch(run_range, &job, (int)tasks); /* parts cannot fail */
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
