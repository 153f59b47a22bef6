/* What the zoo has no function for. Built like it: foreign code, no project headers. */
#include <sched.h>

#include "tests/modules/ffi.h"

static dltensor *tensor_of(const any *a)
{
	return a->type == T_DLTENSOR ? a->v.p
				     : (dltensor *)(void *)((char *)a->v.p + 24);
}

/* addone(A: float32[n], B: float32[n]) */
FUNCTION(addone)
{
	if (n != 2)
		return fail("TypeError", "addone takes 2 arguments");
	const float *a = tensor_of(&args[0])->data;
	float *b = tensor_of(&args[1])->data;
	for (int64_t i = 0; i < tensor_of(&args[1])->shape[0]; i++)
		b[i] = a[i] + 1.0f;
	return 0;
}

/* Writes nothing: what is in an output then was there before. */
FUNCTION(lazy)
{
	return 0;
}

/* wait(flag: float32[1]): until the test stores something there; returns 0. */
FUNCTION(wait)
{
	if (n != 1)
		return fail("TypeError", "wait takes 1 argument");
	const int32_t *flag = tensor_of(&args[0])->data;
	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	ret->type = T_INT;
	return 0;
}

/* same(object): the argument itself. */
FUNCTION(same)
{
	if (n != 1 || args[0].type < 64)
		return fail("TypeError", "same takes an object");
	*ret = args[0];
	__atomic_add_fetch((uint64_t *)args[0].v.p, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Tensor objects that are never freed: more references than anybody drops. */
typedef struct {
	object head;
	dltensor t;
} tensor;
#define STATIC_HEAD                                                                    \
	{                                                                              \
		.count = 1000 | (uint64_t)1 << 32, .type = T_TENSOR                    \
	}

/* [[0, 1, 2], [3, 4, 5]] transposed by its strides. */
FUNCTION(transposed)
{
	static float data[] = {0, 1, 2, 3, 4, 5};
	static int64_t shape[] = {3, 2};
	static int64_t strides[] = {1, 3};
	static tensor t = {STATIC_HEAD, {data, 1, 0, 2, 2, 32, 1, shape, strides, 0}};

	ret->type = T_TENSOR;
	ret->v.p = &t;
	return 0;
}

/* The bool of TVM up to 0.22: {uint, 1 bit}, a byte an element; from the second byte
 * on. */
FUNCTION(old_bools)
{
	static uint8_t data[] = {9, 1, 0, 1};
	static int64_t shape[] = {3};
	static tensor t = {STATIC_HEAD, {data, 1, 0, 1, 1, 1, 1, shape, NULL, 1}};

	ret->type = T_TENSOR;
	ret->v.p = &t;
	return 0;
}

/* Not a tensor of the host. */
FUNCTION(elsewhere)
{
	static int64_t shape[] = {1};
	static tensor t = {STATIC_HEAD, {shape, 2, 0, 1, 2, 32, 1, shape, NULL, 0}};

	ret->type = T_TENSOR;
	ret->v.p = &t;
	return 0;
}

FUNCTION(no_utf8)
{
	ret->type = T_SMALL_STR;
	ret->small_len = 2;
	ret->v.small[0] = (char)0xff;
	ret->v.small[1] = (char)0xfe;
	return 0;
}
