/*
 * A device's memory kept between calls, as storage_pool.c keeps the host's: blocks by
 * size class, given back to the driver when more waits than was in use.
 */
#include "runtime/device/memory.h"

#include <pthread.h>
#include <stdlib.h>

/* Four classes per power of two, as the pools of host memory have. */
#define CLASS_BITS 2
#define N_CLASSES ((64 + 1) << CLASS_BITS)
#define MIN_BYTES 256u
#define MAX_BYTES ((size_t)1 << 46) /* more is a mistake */

struct idle {
	void **blocks; /* the last freed is at the end */
	size_t n;
	size_t room;
};

struct msd_dev_pool {
	pthread_mutex_t lock;
	struct idle idle[N_CLASSES];
	size_t idle_bytes;
	size_t used_bytes;
	size_t peak_bytes;
};

static bool class_of(size_t bytes, unsigned *ret_class, size_t *ret_capacity)
{
	unsigned shift;

	if (bytes > MAX_BYTES)
		return false;
	bytes = bytes > MIN_BYTES ? bytes : MIN_BYTES;
	shift = 63 - (unsigned)__builtin_clzll(bytes);
	size_t step = (size_t)1 << (shift - CLASS_BITS);
	size_t steps = (bytes + step - 1) / step; /* 4 .. 8 */
	*ret_class = (shift << CLASS_BITS) + (unsigned)steps - (1u << CLASS_BITS);
	*ret_capacity = steps * step;
	return true;
}

static size_t capacity_of_class(unsigned class)
{
	return (size_t)((class & ((1u << CLASS_BITS) - 1)) + (1u << CLASS_BITS))
	       << ((class >> CLASS_BITS) - CLASS_BITS);
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

/* Give blocks back to the driver, the largest first, until at most @keep wait. */
static void idle_trim(struct msd_dev *dev, size_t keep)
{
	struct msd_dev_pool *p = dev->pool;

	for (unsigned c = N_CLASSES; c-- > 0 && p->idle_bytes > keep;) {
		while (p->idle[c].n > 0 && p->idle_bytes > keep) {
			p->idle_bytes -= capacity_of_class(c);
			dev->ops->free(dev, p->idle[c].blocks[--p->idle[c].n]);
		}
	}
}

void msd_dev_pool_destroy(struct msd_dev *dev)
{
	struct msd_dev_pool *p = dev->pool;

	if (p == NULL)
		return;
	idle_trim(dev, 0);
	for (unsigned c = 0; c < N_CLASSES; c++)
		free(p->idle[c].blocks);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
	dev->pool = NULL;
}

static size_t idle_limit(const struct msd_dev_pool *p)
{
	size_t limit = 2 * p->peak_bytes;

	if (limit < MSD_DEV_IDLE_FLOOR_BYTES)
		limit = MSD_DEV_IDLE_FLOOR_BYTES;
	return limit > p->used_bytes ? limit - p->used_bytes : 0;
}

static msd_err take(struct msd_dev *dev, unsigned class, size_t capacity, void **ret,
		    struct msd_diag *d)
{
	struct msd_dev_pool *p = dev->pool;
	struct idle *idle = &p->idle[class];

	if (idle->n > 0) {
		p->idle_bytes -= capacity;
		*ret = idle->blocks[--idle->n];
		return MSD_OK;
	}
	msd_err err = dev->ops->alloc(dev, capacity, ret, d);
	if (err == MSD_NOMEM && p->idle_bytes > 0) {
		idle_trim(dev, 0);
		err = dev->ops->alloc(dev, capacity, ret, d);
	}
	return err;
}

msd_err msd_dev_alloc(struct msd_dev *dev, size_t bytes, void **ret, struct msd_diag *d)
{
	struct msd_dev_pool *p = dev->pool;
	unsigned class;
	size_t capacity;

	if (!class_of(bytes, &class, &capacity)) {
		return msd_diag_set(d, MSD_NOMEM, "%s:%d: no memory for %zu bytes",
				    dev->ops->name, dev->device.id, bytes);
	}
	(void)pthread_mutex_lock(&p->lock);
	msd_err err = take(dev, class, capacity, ret, d);
	if (err == MSD_OK) {
		p->used_bytes += capacity;
		if (p->used_bytes > p->peak_bytes)
			p->peak_bytes = p->used_bytes;
	}
	(void)pthread_mutex_unlock(&p->lock);
	return err;
}

/* Keep @block; false when the list cannot grow. */
static bool idle_push(struct idle *idle, void *block)
{
	if (idle->n == idle->room) {
		size_t room = idle->room > 0 ? 2 * idle->room : 8;
		void **more = reallocarray(idle->blocks, room, sizeof(*more));
		if (more == NULL)
			return false;
		idle->blocks = more;
		idle->room = room;
	}
	idle->blocks[idle->n++] = block;
	return true;
}

void msd_dev_free(struct msd_dev *dev, void *block, size_t bytes)
{
	struct msd_dev_pool *p = dev->pool;
	unsigned class;
	size_t capacity;

	if (block == NULL || !class_of(bytes, &class, &capacity))
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->used_bytes -= capacity;
	if (idle_push(&p->idle[class], block)) {
		p->idle_bytes += capacity;
	} else {
		dev->ops->free(dev, block);
	}
	idle_trim(dev, idle_limit(p));
	(void)pthread_mutex_unlock(&p->lock);
}

/* A storage on a device, with what it takes to give its memory back. */
struct dev_storage {
	struct msd_storage storage;
	struct msd_dev *dev; /* a reference of its own */
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
	void *p;

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
	msd_obj_unref(&s->obj); /* the tensor holds it */
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
	if (err == MSD_OK) /* the host's copy goes now */
		err = msd_dev_sync(dev, d);
	if (err != MSD_OK) {
		msd_obj_unref(&there->obj);
		return err;
	}
	msd_any_drop(v);
	*v = msd_of_obj(&there->obj);
	return MSD_OK;
}
