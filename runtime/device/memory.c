/*
 * Cache of a device's memory between calls, as storage_pool.c does for the host:
 * small blocks by size class, large blocks by size. Blocks return to the driver when
 * more bytes are idle than were in use.
 *
 * Happy path: reuse a freed block, else allocate a slightly larger one from the
 * driver. If the driver has no memory, free this device's idle blocks, then those of
 * other devices, and finally request the exact size.
 */
#include "runtime/device/memory.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/grow.h"

/* Four classes per power of two, as in the pools of host memory. */
#define CLASS_BITS 2
#define N_CLASSES ((64 + 1) << CLASS_BITS)
#define MIN_BYTES 256u
#define MAX_BYTES ((size_t)1 << 46) /* a larger size is an error */
/* A quarter of a large block would waste much. Drivers allocate large memory from the
 * system in steps of this size. */
#define LARGE_BYTES ((size_t)16 * 1024 * 1024)
#define LARGE_STEP ((size_t)2 * 1024 * 1024)

/* Blocks, the last added at the end. */
struct blocks {
	struct block {
		void *p;
		size_t bytes;
	} * v;
	size_t n;
	size_t room;
};

struct msd_dev_pool {
	pthread_mutex_t lock;
	struct blocks idle[N_CLASSES];
	struct blocks idle_large;
	/* Used blocks of exact size: not cached when freed. */
	struct blocks exact;
	size_t idle_bytes;
	size_t used_bytes;
	size_t peak_bytes;
};

static bool blocks_push(struct blocks *list, void *p, size_t bytes)
{
	if (!msd_reserve(&list->v, &list->room, list->n + 1, sizeof(*list->v)))
		return false;
	list->v[list->n++] = (struct block){p, bytes};
	return true;
}

static void *blocks_remove(struct blocks *list, size_t i)
{
	void *p = list->v[i].p;

	list->v[i] = list->v[--list->n];
	return p;
}

/* Capacity of a block for @bytes, and its idle list; false if @bytes is too large. */
static bool capacity_of(struct msd_dev_pool *p, size_t bytes, size_t *ret,
			struct blocks **ret_idle)
{
	if (bytes > MAX_BYTES)
		return false;
	if (bytes > LARGE_BYTES) {
		*ret = (bytes + LARGE_STEP - 1) / LARGE_STEP * LARGE_STEP;
		*ret_idle = &p->idle_large;
		return true;
	}
	bytes = bytes > MIN_BYTES ? bytes : MIN_BYTES;
	const unsigned shift = 63 - (unsigned)__builtin_clzll(bytes);
	const size_t step = (size_t)1 << (shift - CLASS_BITS);
	const size_t steps = (bytes + step - 1) / step; /* 4 .. 8 */
	*ret = steps * step;
	*ret_idle =
		&p->idle[(shift << CLASS_BITS) + (unsigned)steps - (1u << CLASS_BITS)];
	return true;
}

msd_err msd_dev_pool_create(struct msd_dev *dev, struct msd_diag *d)
{
	struct msd_dev_pool *p = calloc(1, sizeof(*p));

	if (p == NULL || pthread_mutex_init(&p->lock, NULL) != 0) {
		free(p);
		return msd_diag_no_memory(d);
	}
	dev->pool = p;
	return MSD_OK;
}

static void list_trim(struct msd_dev *dev, struct blocks *list, size_t keep)
{
	struct msd_dev_pool *p = dev->pool;

	while (list->n > 0 && p->idle_bytes > keep) {
		p->idle_bytes -= list->v[list->n - 1].bytes;
		dev->ops->free(dev, list->v[--list->n].p);
	}
}

/* Return blocks to the driver, the large ones first, until at most @keep bytes are
 * idle. */
static void idle_trim(struct msd_dev *dev, size_t keep)
{
	struct msd_dev_pool *p = dev->pool;

	list_trim(dev, &p->idle_large, keep);
	for (unsigned c = N_CLASSES; c-- > 0 && p->idle_bytes > keep;)
		list_trim(dev, &p->idle[c], keep);
}

void msd_dev_pool_destroy(struct msd_dev *dev)
{
	struct msd_dev_pool *p = dev->pool;

	if (p == NULL)
		return;
	idle_trim(dev, 0);
	for (unsigned c = 0; c < N_CLASSES; c++)
		free(p->idle[c].v);
	free(p->idle_large.v);
	free(p->exact.v);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
	dev->pool = NULL;
}

void msd_dev_pool_trim(struct msd_dev *dev)
{
	(void)pthread_mutex_lock(&dev->pool->lock);
	idle_trim(dev, 0);
	(void)pthread_mutex_unlock(&dev->pool->lock);
}

static size_t idle_limit(const struct msd_dev_pool *p)
{
	size_t limit = 2 * p->peak_bytes;

	if (limit < MSD_DEV_IDLE_FLOOR_BYTES)
		limit = MSD_DEV_IDLE_FLOOR_BYTES;
	return limit > p->used_bytes ? limit - p->used_bytes : 0;
}

/* The last freed block of this size; NULL if there is none. */
static void *idle_take(struct msd_dev_pool *p, struct blocks *idle, size_t capacity)
{
	for (size_t i = idle->n; i-- > 0;) {
		if (idle->v[i].bytes != capacity)
			continue;
		p->idle_bytes -= capacity;
		return blocks_remove(idle, i);
	}
	return NULL;
}

/* Allocate from the driver; as a last resort without the pool's rounding. */
static msd_err driver_take(struct msd_dev *dev, size_t bytes, size_t capacity,
			   void **ret, struct msd_diag *d)
{
	struct msd_dev_pool *p = dev->pool;
	msd_err err = dev->ops->alloc(dev, capacity, ret, d);

	if (err != MSD_NOMEM)
		return err;
	/* Release this lock before taking those of other devices. The next attempt
	 * sets @d again. */
	msd_diag_finish(d);
	(void)pthread_mutex_unlock(&p->lock);
	msd_devices_trim();
	(void)pthread_mutex_lock(&p->lock);
	err = dev->ops->alloc(dev, capacity, ret, d);
	if (err != MSD_NOMEM || bytes == capacity || bytes == 0)
		return err;
	msd_diag_finish(d);
	err = dev->ops->alloc(dev, bytes, ret, d);
	if (err == MSD_OK && !blocks_push(&p->exact, *ret, bytes)) {
		dev->ops->free(dev, *ret);
		return msd_diag_no_memory(d);
	}
	return err;
}

msd_err msd_dev_alloc(struct msd_dev *dev, size_t bytes, void **ret, struct msd_diag *d)
{
	struct msd_dev_pool *p = dev->pool;
	struct blocks *idle;
	size_t capacity;
	msd_err err = MSD_OK;

	/* The memory would have another owner when the graph runs. */
	if (dev->is_capturing) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "it allocates memory of the device");
	}
	if (!capacity_of(p, bytes, &capacity, &idle)) {
		return msd_diag_set(d, MSD_NOMEM, "%s:%d: no memory for %zu bytes",
				    dev->ops->name, dev->device.id, bytes);
	}
	(void)pthread_mutex_lock(&p->lock);
	void *block = idle_take(p, idle, capacity);
	if (block == NULL)
		err = driver_take(dev, bytes, capacity, &block, d);
	if (err == MSD_OK) {
		*ret = block;
		p->used_bytes += capacity;
		if (p->used_bytes > p->peak_bytes)
			p->peak_bytes = p->used_bytes;
	}
	(void)pthread_mutex_unlock(&p->lock);
	return err;
}

/* Was it a block of exact size? If so, remove it from the list. */
static bool exact_take(struct msd_dev_pool *p, const void *block)
{
	for (size_t i = p->exact.n; i-- > 0;) {
		if (p->exact.v[i].p == block) {
			(void)blocks_remove(&p->exact, i);
			return true;
		}
	}
	return false;
}

void msd_dev_free(struct msd_dev *dev, void *block, size_t bytes)
{
	struct msd_dev_pool *p = dev->pool;
	struct blocks *idle;
	size_t capacity;

	if (block == NULL || !capacity_of(p, bytes, &capacity, &idle))
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->used_bytes -= capacity;
	if (!exact_take(p, block) && blocks_push(idle, block, capacity)) {
		p->idle_bytes += capacity;
	} else {
		dev->ops->free(dev, block);
	}
	idle_trim(dev, idle_limit(p));
	(void)pthread_mutex_unlock(&p->lock);
}

/* A storage on a device, with the data needed to free its memory. */
struct dev_storage {
	struct msd_storage storage;
	struct msd_dev *dev; /* own reference */
};

static void storage_delete(void *self, int flags)
{
	struct dev_storage *s = self;

	if (flags & 1) {
		msd_dev_free(s->dev, s->storage.data, s->storage.bytes);
		msd_dev_close(s->dev);
	}
	if (flags & 2)
		free(s);
}

msd_err msd_dev_storage(struct msd_dev *dev, size_t bytes, struct msd_storage **ret,
			struct msd_diag *d)
{
	struct dev_storage *s = calloc(1, sizeof(*s));
	void *p = NULL;

	if (s == NULL)
		return msd_diag_no_memory(d);
	msd_err err = msd_dev_alloc(dev, bytes, &p, d);
	if (err != MSD_OK) {
		free(s);
		return err;
	}
	s->storage = (struct msd_storage){
		.obj = {.counts = ((uint64_t)1 << 32) | 1,
			.type = MSD_T_STORAGE,
			.deleter = storage_delete},
		.data = p,
		.bytes = bytes,
		.device = dev->device,
	};
	s->dev = dev;
	msd_dev_ref(dev);
	*ret = &s->storage;
	return MSD_OK;
}

msd_err msd_dev_tensor(struct msd_dev *dev, struct msd_dtype dtype,
		       const int64_t *shape, size_t ndim, struct msd_tensor **ret,
		       struct msd_diag *d)
{
	struct msd_storage *s = NULL;
	struct msd_dltensor probe = {
		.ndim = (int32_t)ndim,
		.dtype = dtype,
		.shape = (int64_t *)(uintptr_t)shape,
	};
	msd_err err = msd_dev_storage(dev, msd_dltensor_bytes(&probe), &s, d);

	if (err != MSD_OK)
		return err;
	*ret = msd_tensor_view(s->data, dev->device, dtype, shape, ndim, &s->obj, NULL,
			       NULL);
	msd_obj_unref(&s->obj); /* the tensor holds a reference */
	return *ret != NULL ? MSD_OK : msd_diag_no_memory(d);
}

msd_err msd_dev_tensor_move(struct msd_dev *dev, struct msd_any *v, struct msd_diag *d)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	struct msd_tensor *there;
	msd_err err =
		msd_dev_tensor(dev, t->dtype, t->shape, (size_t)t->ndim, &there, d);

	if (err != MSD_OK)
		return err;
	err = msd_dev_copy(dev, there->dl.data, NULL, t->data, msd_dltensor_bytes(t),
			   d);
	if (err == MSD_OK) /* the host copy is freed now */
		err = msd_dev_sync(dev, d);
	if (err != MSD_OK) {
		msd_obj_unref(&there->obj);
		return err;
	}
	msd_any_drop(v);
	*v = msd_of_obj(&there->obj);
	return MSD_OK;
}
