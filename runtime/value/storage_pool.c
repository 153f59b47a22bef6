/*
 * Blocks by size class, with a list of idle blocks for each. Take pops an idle block
 * or allocates one; the last reference of a storage pushes its block back. The block
 * keeps the pool alive because a storage may outlive its VM.
 */
#include "runtime/value/storage_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/limits.h"
#include "runtime/value/value.h"

/* Four classes per power of two: at most a quarter of a block is unused, and unused
 * pages are never touched. */
#define CLASS_BITS 2
#define N_CLASSES ((64 + 1) << CLASS_BITS)

/* A storage followed by its memory (HEAD_BYTES later): one allocation. */
struct block {
	struct msd_storage storage;
	struct msd_storage_pool *pool;
	struct block *next; /* next idle block */
	size_t capacity;    /* bytes of memory */
	unsigned class;
};
#define HEAD_BYTES MSD_TENSOR_ALIGN
_Static_assert(sizeof(struct block) <= HEAD_BYTES, "the header fits in front");

struct msd_storage_pool {
	pthread_mutex_t lock;
	struct block *idle[N_CLASSES];
	size_t idle_bytes;
	size_t used_bytes;
	size_t peak_bytes; /* peak of used bytes */
	size_t n_used;     /* blocks */
	bool is_closed;
};

/* Smallest class with blocks that hold @bytes, and its capacity; false if @bytes is
 * too large. */
static bool class_of(size_t bytes, unsigned *ret_class, size_t *ret_capacity)
{
	size_t unit = MSD_TENSOR_ALIGN;
	unsigned shift;

	if (bytes > MSD_POOL_MAX_BYTES)
		return false;
	bytes = bytes > unit ? bytes : unit;
	shift = 63 - (unsigned)__builtin_clzll(bytes); /* 2^shift <= bytes */
	size_t step = (size_t)1 << (shift - CLASS_BITS);
	size_t steps = (bytes + step - 1) / step; /* 4 .. 8 */
	*ret_class = (shift << CLASS_BITS) + (unsigned)steps - (1u << CLASS_BITS);
	*ret_capacity = (steps * step + unit - 1) & ~(unit - 1);
	return true;
}

struct msd_storage_pool *msd_storage_pool_create(void)
{
	struct msd_storage_pool *p = calloc(1, sizeof(*p));

	if (p != NULL && pthread_mutex_init(&p->lock, NULL) != 0) {
		free(p);
		return NULL;
	}
	return p;
}

static void pool_free(struct msd_storage_pool *p)
{
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}

/* Free idle blocks, the largest first, until at most @keep_bytes are idle. */
static void idle_trim(struct msd_storage_pool *p, size_t keep_bytes)
{
	for (size_t c = N_CLASSES; c-- > 0 && p->idle_bytes > keep_bytes;) {
		while (p->idle[c] != NULL && p->idle_bytes > keep_bytes) {
			struct block *b = p->idle[c];

			p->idle[c] = b->next;
			p->idle_bytes -= b->capacity;
			free(b);
		}
	}
}

void msd_storage_pool_close(struct msd_storage_pool *p)
{
	if (p == NULL)
		return;
	(void)pthread_mutex_lock(&p->lock);
	idle_trim(p, 0);
	p->is_closed = true;
	bool is_last = p->n_used == 0;
	(void)pthread_mutex_unlock(&p->lock);
	if (is_last)
		pool_free(p);
}

/* Number of bytes that may be idle while @used are in use. */
static size_t idle_limit(const struct msd_storage_pool *p)
{
	size_t limit = 2 * p->peak_bytes;

	if (limit < MSD_POOL_FLOOR_BYTES)
		limit = MSD_POOL_FLOOR_BYTES;
	return limit > p->used_bytes ? limit - p->used_bytes : 0;
}

/* The storage's last reference is gone: its block becomes idle. */
static void block_delete(void *self, int flags)
{
	struct block *b = self;
	struct msd_storage_pool *p = b->pool;
	bool is_last;

	if ((flags & 2) == 0)
		return; /* a weak reference still needs the header */
	(void)pthread_mutex_lock(&p->lock);
	p->used_bytes -= b->capacity;
	p->n_used--;
	is_last = p->is_closed && p->n_used == 0;
	if (p->is_closed) {
		free(b);
	} else {
		b->next = p->idle[b->class];
		p->idle[b->class] = b;
		p->idle_bytes += b->capacity;
	}
	(void)pthread_mutex_unlock(&p->lock);
	if (is_last)
		pool_free(p);
}

static struct block *idle_pop(struct msd_storage_pool *p, unsigned class)
{
	struct block *b = p->idle[class];

	if (b != NULL) {
		p->idle[class] = b->next;
		p->idle_bytes -= b->capacity;
	}
	return b;
}

static struct block *block_new(struct msd_storage_pool *p, unsigned class,
			       size_t capacity)
{
	struct block *b = aligned_alloc(MSD_TENSOR_ALIGN, HEAD_BYTES + capacity);

	if (b == NULL)
		return NULL;
	b->pool = p;
	b->class = class;
	b->capacity = capacity;
	return b;
}

struct msd_storage *msd_storage_pool_allocate(struct msd_storage_pool *p, size_t bytes)
{
	size_t capacity;
	unsigned class;

	if (!class_of(bytes, &class, &capacity))
		return NULL;
	(void)pthread_mutex_lock(&p->lock);
	struct block *b = idle_pop(p, class);
	if (b == NULL) {
		size_t limit = idle_limit(p);

		idle_trim(p, limit > capacity ? limit - capacity : 0);
		b = block_new(p, class, capacity);
	}
	if (b != NULL) {
		p->used_bytes += capacity;
		p->n_used++;
		if (p->used_bytes > p->peak_bytes)
			p->peak_bytes = p->used_bytes;
	}
	(void)pthread_mutex_unlock(&p->lock);
	if (b == NULL)
		return NULL;
	b->storage = (struct msd_storage){
		.obj = {.counts = ((uint64_t)1 << 32) | 1,
			.type = MSD_T_STORAGE,
			.deleter = block_delete},
		.data = (char *)b + HEAD_BYTES,
		.bytes = bytes,
		.device = {MSD_DEV_CPU, 0},
	};
	return &b->storage;
}

size_t msd_storage_pool_idle(struct msd_storage_pool *p)
{
	(void)pthread_mutex_lock(&p->lock);
	size_t n = p->idle_bytes;
	(void)pthread_mutex_unlock(&p->lock);
	return n;
}
