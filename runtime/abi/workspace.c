/*
 * TVMBackendAllocWorkspace and related functions: scratch memory of compiled code.
 *
 * Happy path: on the host each thread caches the blocks that it freed and reuses the
 * smallest that is large enough. On a device the device's own workspaces are used.
 */
#include "runtime/abi/workspace.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/bytes.h"
#include "proto/dtype.h"
#include "proto/limits.h"
#include "runtime/device/workspace.h"
#include "runtime/value/error.h"

#define MAX_IDLE 32 /* cached blocks per thread; if full, the smallest is freed */

/* Header before every block; its size is the alignment. */
struct block {
	_Alignas(MSD_TENSOR_ALIGN) size_t n_bytes;
};

struct idle {
	struct block *blocks[MAX_IDLE]; /* last freed block at the end */
	size_t n;
};

static _Thread_local struct idle *mine;
static pthread_key_t key; /* frees the blocks of a thread when it exits */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void idle_free(void *arg)
{
	struct idle *idle = arg;

	for (size_t i = 0; i < idle->n; i++)
		free(idle->blocks[i]);
	free(idle);
}

static void key_create(void)
{
	(void)pthread_key_create(&key, idle_free);
}

static struct idle *idle_of_thread(void)
{
	if (mine != NULL)
		return mine;
	(void)pthread_once(&once, key_create);
	mine = calloc(1, sizeof(*mine));
	if (mine != NULL && pthread_setspecific(key, mine) != 0) {
		free(mine);
		mine = NULL;
	}
	return mine;
}

static struct block *idle_take(struct idle *idle, size_t at)
{
	struct block *b = idle->blocks[at];

	idle->n--;
	for (size_t i = at; i < idle->n; i++)
		idle->blocks[i] = idle->blocks[i + 1];
	return b;
}

/* The smallest idle block that is large enough but not wastefully large. */
static struct block *idle_find(struct idle *idle, size_t n_bytes)
{
	size_t best = idle->n;

	for (size_t i = idle->n; i-- > 0;) {
		size_t size = idle->blocks[i]->n_bytes;
		if (size >= n_bytes && size / 2 <= n_bytes &&
		    (best == idle->n || size < idle->blocks[best]->n_bytes))
			best = i;
	}
	return best < idle->n ? idle_take(idle, best) : NULL;
}

static void *on_device(struct msd_device device, uint64_t n_bytes)
{
	struct msd_diag d = {0};
	void *p = NULL;
	msd_err err = msd_dev_workspace_alloc(device, n_bytes, &p, &d);

	if (err != MSD_OK)
		(void)msd_abi_raise_code(err, "workspace: %s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return err == MSD_OK ? p : NULL;
}

void *msd_workspace_alloc(int device_type, int device_id, uint64_t n_bytes,
			  int dtype_code_hint, int dtype_bits_hint)
{
	struct idle *idle = idle_of_thread();
	struct block *b = NULL;
	size_t total;

	(void)dtype_code_hint;
	(void)dtype_bits_hint;
	if (device_type != MSD_DEV_CPU)
		return on_device((struct msd_device){device_type, device_id}, n_bytes);
	if (n_bytes > SIZE_MAX / 2)
		goto no_memory;
	n_bytes = (n_bytes + MSD_TENSOR_ALIGN - 1) & ~(uint64_t)(MSD_TENSOR_ALIGN - 1);
	if (idle != NULL)
		b = idle_find(idle, n_bytes);
	if (b == NULL) {
		if (!msd_add_size(n_bytes, sizeof(*b), &total))
			goto no_memory;
		b = aligned_alloc(MSD_TENSOR_ALIGN, total);
		if (b == NULL)
			goto no_memory;
		b->n_bytes = n_bytes;
	}
	return b + 1;
no_memory:
	(void)msd_abi_raise_code(MSD_NOMEM, "no memory for a workspace of %llu bytes",
				 (unsigned long long)n_bytes);
	return NULL;
}

int msd_workspace_free(int device_type, int device_id, void *p)
{
	struct idle *idle = idle_of_thread();
	size_t smallest = 0;

	(void)device_id;
	if (p == NULL)
		return 0;
	if (device_type != MSD_DEV_CPU) {
		msd_dev_workspace_free(p);
		return 0;
	}
	struct block *b = (struct block *)p - 1;
	if (idle == NULL) {
		free(b);
		return 0;
	}
	if (idle->n == MAX_IDLE) {
		for (size_t i = 1; i < idle->n; i++) {
			if (idle->blocks[i]->n_bytes < idle->blocks[smallest]->n_bytes)
				smallest = i;
		}
		free(idle_take(idle, smallest));
	}
	idle->blocks[idle->n++] = b;
	return 0;
}
