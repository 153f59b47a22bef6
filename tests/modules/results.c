/* One function for each kind of result, and echo(): what the host makes of them. */
#include <stdlib.h>
#include <string.h>

#include "ffi.h"

enum { STRONG_GONE = 1, MEMORY_FREE = 2 };

static void free_object(void *self, int flags)
{
	if (flags & MEMORY_FREE)
		free(self);
}

/* A new object with one reference and @bytes after its header. */
static object *new_object(int32_t type, size_t bytes)
{
	object *o = calloc(1, sizeof(*o) + bytes);

	if (o == NULL)
		abort();
	o->count = 1 | (uint64_t)1 << 32;
	o->type = type;
	o->deleter = free_object;
	return o;
}

static int give(any *ret, object *o)
{
	ret->type = o->type;
	ret->v.p = o;
	return 0;
}

typedef struct {
	object head;
	const void *data;
	size_t size;
	char bytes[];
} blob;

static object *new_blob(int32_t type, const void *data, size_t bytes, size_t count)
{
	blob *b = (blob *)(void *)new_object(type,
					     sizeof(blob) - sizeof(object) + bytes + 1);

	memcpy(b->bytes, data, bytes);
	b->data = b->bytes;
	b->size = count;
	return &b->head;
}

typedef struct {
	object head;
	dltensor t;
	int64_t shape[2];
	char data[64] __attribute__((aligned(64)));
} tensor;

static object *new_tensor(void)
{
	tensor *t = aligned_alloc(64, (sizeof(tensor) + 63) / 64 * 64);

	if (t == NULL)
		abort();
	memset(t, 0, sizeof(*t));
	t->head.count = 1 | (uint64_t)1 << 32;
	t->head.type = T_TENSOR;
	t->head.deleter = free_object;
	t->t = (dltensor){.data = t->data,
			  .device_type = 1,
			  .ndim = 2,
			  .code = 2,
			  .bits = 32,
			  .lanes = 1,
			  .shape = t->shape};
	t->shape[0] = 2;
	t->shape[1] = 3;
	for (int i = 0; i < 6; i++)
		((float *)(void *)t->data)[i] = (float)i + 0.5f;
	return &t->head;
}

typedef struct {
	object head;
	any *data;
	int64_t size, capacity;
	void (*data_deleter)(void *data);
	any items[3];
} array;

static void free_array(void *self, int flags)
{
	array *a = self;

	if (flags & STRONG_GONE) {
		for (int64_t i = 0; i < a->size; i++) {
			if (a->items[i].type >= 64)
				free(a->items[i].v.p);
		}
	}
	free_object(self, flags);
}

FUNCTION(none)
{
	return 0;
}

FUNCTION(int)
{
	ret->type = T_INT;
	ret->v.i = -42;
	return 0;
}

FUNCTION(bool)
{
	ret->type = T_BOOL;
	ret->v.i = 1;
	return 0;
}

FUNCTION(float)
{
	ret->type = T_FLOAT;
	ret->v.f = 2.5;
	return 0;
}

FUNCTION(dtype)
{
	ret->type = T_DTYPE;
	ret->v.dtype.code = 4;
	ret->v.dtype.bits = 16;
	ret->v.dtype.lanes = 1;
	return 0;
}

FUNCTION(device)
{
	ret->type = T_DEVICE;
	ret->v.device.type = 1;
	return 0;
}

FUNCTION(small_str)
{
	ret->type = T_SMALL_STR;
	ret->small_len = 3;
	memcpy(ret->v.small, "abc", 4);
	return 0;
}

FUNCTION(str)
{
	static const char text[] = "a string of some length \xc3\xa9";

	return give(ret, new_blob(T_STR, text, sizeof(text) - 1, sizeof(text) - 1));
}

FUNCTION(bytes)
{
	return give(ret, new_blob(T_BYTES, "\0\1\2\xff", 4, 4));
}

FUNCTION(shape)
{
	const int64_t shape[] = {2, 3, 4};

	return give(ret, new_blob(T_SHAPE, shape, sizeof(shape), 3));
}

FUNCTION(tensor)
{
	return give(ret, new_tensor());
}

FUNCTION(tuple)
{
	array *a = (array *)(void *)new_object(T_ARRAY, sizeof(array) - sizeof(object));

	a->head.deleter = free_array;
	a->data = a->items;
	a->size = a->capacity = 3;
	a->items[0] = (any){.type = T_INT, .v.i = 7};
	a->items[1] = (any){.type = T_TENSOR, .v.p = new_tensor()};
	a->items[2] = (any){.type = T_FLOAT, .v.f = 0.25};
	return give(ret, &a->head);
}

/* A type that no host knows. */
FUNCTION(alien)
{
	return give(ret, new_object(1000, 0));
}

/* echo(x): plain values come back as they are. */
FUNCTION(echo)
{
	if (n != 1)
		return fail("TypeError", "echo takes one argument");
	if (args[0].type >= 8)
		return fail("TypeError", "echo takes plain values");
	*ret = args[0];
	return 0;
}

/* count(...): how many arguments came. */
FUNCTION(count)
{
	ret->type = T_INT;
	ret->v.i = n;
	return 0;
}

/* kind(x): the type index that the host chose. */
FUNCTION(kind)
{
	ret->type = T_INT;
	ret->v.i = n == 1 ? args[0].type : -1;
	return 0;
}

/* aligned(tensor): the lowest bits of the address that the host gave. */
FUNCTION(aligned)
{
	if (n != 1 || args[0].v.p == NULL)
		return fail("TypeError", "aligned takes a tensor");
	const dltensor *t =
		args[0].type == T_DLTENSOR
			? args[0].v.p
			: (const dltensor *)(const void *)((char *)args[0].v.p + 24);

	ret->type = T_INT;
	ret->v.i = (int64_t)((uintptr_t)t->data & 127);
	return 0;
}
