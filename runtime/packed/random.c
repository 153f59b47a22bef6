/*
 * tvm.contrib.random.*: tensors filled with random numbers. Each thread has a
 * Mersenne Twister. The distributions consume its words as the C++ library of TVM's
 * builds does, so a call with seeds returns TVM's numbers.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "artifact/provides/packed.h"
#include "proto/base/half.h"
#include "runtime/device/device.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"
#include "runtime/value/element.h"

#define WORDS 624
#define SHIFT 397

struct engine { /* MT19937 */
	uint32_t state[WORDS];
	unsigned at;
	bool seeded;
};

static _Thread_local struct engine shared;
static _Thread_local struct engine of_seeds;

static void engine_seed(struct engine *e, uint32_t seed)
{
	e->state[0] = seed;
	for (uint32_t i = 1; i < WORDS; i++) {
		e->state[i] =
			1812433253u * (e->state[i - 1] ^ e->state[i - 1] >> 30) + i;
	}
	e->at = WORDS;
	e->seeded = true;
}

static void engine_turn(struct engine *e)
{
	for (unsigned i = 0; i < WORDS; i++) {
		const uint32_t y = (e->state[i] & 0x80000000u) |
				   (e->state[(i + 1) % WORDS] & 0x7fffffffu);

		e->state[i] = e->state[(i + SHIFT) % WORDS] ^ y >> 1 ^
			      ((y & 1) != 0 ? 0x9908b0dfu : 0);
	}
	e->at = 0;
}

static uint32_t engine_next(struct engine *e)
{
	if (e->at >= WORDS)
		engine_turn(e);
	uint32_t y = e->state[e->at++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* In [0, 1) */
static float next_float(struct engine *e)
{
	const float v = (float)engine_next(e) / 0x1p32F;

	return v < 1 ? v : nextafterf(1, 0);
}

static double next_double(struct engine *e)
{
	const double low = engine_next(e);
	const double v = (low + engine_next(e) * 0x1p32) / 0x1p64;

	return v < 1 ? v : nextafter(1, 0);
}

/* The thread's engine, initially seeded from the system. */
static struct engine *engine_shared(void)
{
	uint32_t seed;

	if (!shared.seeded) {
		if (getentropy(&seed, sizeof(seed)) != 0)
			seed = (uint32_t)time(NULL);
		engine_seed(&shared, seed);
	}
	return &shared;
}

static uint64_t mix(uint64_t v)
{
	v += 0x9e3779b97f4a7c15u;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
	v = (v ^ v >> 27) * 0x94d049bb133111ebu;
	return v ^ v >> 31;
}

/* Two seeds before the arguments: equal seeds produce equal numbers in every call;
 * two zeros mean unseeded. */
static struct engine *engine_of(int64_t seed, int64_t seed2)
{
	const uint64_t a = (uint64_t)seed;

	if (seed == 0 && seed2 == 0)
		return engine_shared();
	const uint64_t both = mix(a) ^ (mix((uint64_t)seed2) + 0x9e3779b97f4a7c15u +
					(a << 6) + (a >> 2));
	engine_seed(&of_seeds, (uint32_t)(both >> 32 ^ both));
	return &of_seeds;
}

static bool elements_of(const struct msd_dltensor *t, uint64_t *ret)
{
	if (msd_shape_elements(t->shape, (size_t)t->ndim, ret))
		return true;
	(void)msd_abi_raise("ValueError", "the shape is not valid");
	return false;
}

struct draw {
	struct engine *engine;
	float a; /* low, or mean */
	float b; /* high, or deviation */
	float *out;
	uint64_t n;
};

/* ([seed, seed2,] a, b, out float32) */
static bool draw_open(struct msd_args args, struct draw *ret)
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	const int32_t first = args.n - 3;
	int64_t seed[2] = {0, 0};
	struct msd_dltensor *t;
	double a;
	double b;

	if (args.n != 3 && !msd_args_count(args, 5, 5))
		return false;
	if (first == 2 &&
	    (!msd_args_int(args, 0, &seed[0]) || !msd_args_int(args, 1, &seed[1])))
		return false;
	if (!msd_args_float(args, first, &a) || !msd_args_float(args, first + 1, &b) ||
	    !msd_args_host_compact_tensor(args, first + 2, &t))
		return false;
	if (!msd_dtype_eq(t->dtype, float32))
		return msd_args_refuse(args, first + 2, "a float32 tensor") == 0;
	*ret = (struct draw){engine_of(seed[0], seed[1]), (float)a, (float)b,
			     msd_dltensor_at(t), 0};
	return elements_of(t, &ret->n);
}

/* ([seed, seed2,] low, high, out) */
static int uniform(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	struct draw d;
	(void)self;
	(void)ret;

	if (!draw_open((struct msd_args){args, n}, &d))
		return -1;
	if (!(d.b > d.a))
		return msd_abi_raise("ValueError", "high must be bigger than low");
	for (uint64_t i = 0; i < d.n; i++)
		d.out[i] = next_float(d.engine) * (d.b - d.a) + d.a;
	return 0;
}

/* Generate two normal numbers by the polar method. The second one is the first that
 * the method produces. */
static void next_normals(struct engine *e, float *ret_first, float *ret_second)
{
	float x;
	float y;
	float r2;

	do {
		x = 2 * next_float(e) - 1;
		y = 2 * next_float(e) - 1;
		r2 = x * x + y * y;
	} while (r2 > 1 || r2 == 0);
	const float scale = sqrtf(-2 * logf(r2) / r2);
	*ret_first = y * scale;
	*ret_second = x * scale;
}

/* ([seed, seed2,] mean, deviation, out) */
static int normal(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct draw d;
	float v[2];
	(void)self;
	(void)ret;

	if (!draw_open((struct msd_args){args, n}, &d))
		return -1;
	if (!(d.b > 0)) {
		return msd_abi_raise("ValueError",
				     "standard deviation must be positive");
	}
	for (uint64_t i = 0; i < d.n; i++) {
		if (i % 2 == 0)
			next_normals(d.engine, &v[0], &v[1]);
		d.out[i] = v[i % 2] * d.b + d.a;
	}
	return 0;
}

/* (low, high, out): integers of at most 32 bits; the limits are clamped to the
 * dtype's range */
static int randint(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	int64_t low;
	int64_t high;
	uint64_t elements;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 3, 3) || !msd_args_int(a, 0, &low) ||
	    !msd_args_int(a, 1, &high) || !msd_args_host_compact_tensor(a, 2, &t) ||
	    !elements_of(t, &elements))
		return -1;
	const bool is_signed = t->dtype.code == MSD_DT_INT;
	const unsigned bits = t->dtype.bits;
	if ((!is_signed && t->dtype.code != MSD_DT_UINT) || t->dtype.lanes != 1 ||
	    (bits != 8 && bits != 16 && bits != 32))
		return msd_args_refuse(a, 2, "a tensor of integers of 8 to 32 bits");
	const int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
	const int64_t end = (int64_t)1 << (is_signed ? bits - 1 : bits);
	low = low > least ? low : least;
	high = high < end ? high : end;
	if (high <= low)
		return msd_abi_raise("ValueError", "high must be bigger than low");
	struct engine *e = engine_shared();
	for (uint64_t i = 0; i < elements; i++) {
		msd_number_store(t->dtype, msd_dltensor_at(t), (int64_t)i,
				 low + engine_next(e) % (high - low));
	}
	return 0;
}

static void fill_elements(void *to, unsigned bits, uint64_t n)
{
	struct engine *e = engine_shared();
	uint8_t *out = to;

	for (uint64_t i = 0; i < n; i++) {
		const double v = next_double(e) * 9 + 1;

		if (bits == 8) {
			out[i] = (uint8_t)v;
		} else if (bits == 16) {
			((uint16_t *)(void *)out)[i] = msd_half_from_float((float)v);
		} else if (bits == 32) {
			((float *)(void *)out)[i] = (float)v;
		} else {
			((double *)(void *)out)[i] = v;
		}
	}
}

/* Fill @n elements on a device by a copy of host memory. */
static int fill_device(const struct msd_dltensor *t, uint64_t n)
{
	struct msd_dev *dev = msd_dev_peek(t->device);
	const size_t bytes = msd_dltensor_bytes(t);
	struct msd_diag d = {0};
	void *host;

	if (dev == NULL)
		return msd_abi_raise("ValueError", "the device is not open");
	host = malloc(bytes > 0 ? bytes : 1);
	if (host == NULL)
		return msd_abi_no_memory();
	fill_elements(host, t->dtype.bits, n);
	msd_err err = msd_dev_copy(dev, msd_dltensor_at(t), NULL, host, bytes, &d);
	if (err == MSD_OK)
		err = msd_dev_sync(dev, &d);
	free(host);
	if (err != MSD_OK)
		(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return err == MSD_OK ? 0 : -1;
}

/* (out): values from 1 to 10; depends only on the element size */
static int random_fill(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	uint64_t elements;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 1, 1) || !msd_args_compact_tensor(a, 0, &t) ||
	    !elements_of(t, &elements))
		return -1;
	const unsigned bits = t->dtype.bits;
	if (t->dtype.lanes != 1 ||
	    (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return msd_args_refuse(a, 0, "a tensor of 8, 16, 32 or 64 bits each");
	if (t->device.type != MSD_DEV_CPU && t->device.type != MSD_DEV_CUDA_HOST)
		return fill_device(t, elements);
	fill_elements(msd_dltensor_at(t), bits, elements);
	return 0;
}

/* (seed): seed this thread's engine */
static int seed(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t v;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 1, 1) || !msd_args_int(a, 0, &v))
		return -1;
	engine_seed(&shared, (uint32_t)v);
	return 0;
}

const struct msd_global msd_globals_random[] = MSD_GLOBAL_TABLE(MSD_PACKED_RANDOM);
