/* runtime.cuTensorMapEncodeTiled, and the device that a thread's calls mean. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "runtime/abi/exports.h"
#include "runtime/device/memory.h"
#include "runtime/packed/global.h"
#include "tests/runtime/cuda/cuda_support.h"
#include "tests/runtime/cuda/stub.h"

/* A device with memory and room for a map. */
struct site {
	struct msd_dev *dev;
	void *p;
	_Alignas(64) uint64_t map[16];
};

static void site_open(struct site *s)
{
	struct msd_diag d = {0};

	*s = (struct site){.dev = cuda_open(0)};
	cr_assert_eq(msd_dev_alloc(s->dev, 4096, &s->p, &d), MSD_OK);
}

static void site_close(struct site *s)
{
	msd_dev_free(s->dev, s->p, 4096);
	msd_dev_close(s->dev);
	expect_clean();
}

static void *encode_elsewhere(void *arg)
{
	struct site *s = arg;
	const struct map_request request = map_request(s->map, s->p);

	return map_encode(&request) == 0 ? NULL : arg;
}

Test(cuda_tensor_map, is_made_by_any_thread)
{
	pthread_t thread;
	struct site s;
	void *failed = &s;

	site_open(&s);
	cr_assert_eq(pthread_create(&thread, NULL, encode_elsewhere, &s), 0);
	cr_assert_eq(pthread_join(thread, &failed), 0);
	cr_expect_null(failed);
	cr_expect_neq(s.map[0], 0);
	site_close(&s);
}

Test(cuda_tensor_map, without_a_device_is_refused)
{
	_Alignas(64) uint64_t map[16];
	const struct map_request request = map_request(map, map);

	cr_expect_neq(map_encode(&request), 0);
	expect_clean();
}

/* The first word of the map that the stand-in makes begins with the type's number. */
static uint64_t word_of(struct site *s, const char *dtype, bool has_forced,
			int64_t forced)
{
	struct map_request r = map_request(s->map, s->p);

	r.dtype = dtype;
	r.has_forced = has_forced;
	r.forced = forced;
	r.swizzle = 0;
	s->map[0] = 0;
	return map_encode(&r) == 0 ? s->map[0] : 0;
}

Test(cuda_tensor_map, type_can_be_forced)
{
	struct site s;

	site_open(&s);
	const uint64_t plain = word_of(&s, "float32", false, 0);
	cr_expect_eq(word_of(&s, "float32", true, -1), plain);
	cr_expect_neq(word_of(&s, "float32", true, 11), 0);
	cr_expect_neq(word_of(&s, "float32", true, 11), plain);
	cr_expect_eq(word_of(&s, "float32", true, 16), 0);
	cr_expect_eq(word_of(&s, "float32", true, -2), 0);
	site_close(&s);
}

Test(cuda_tensor_map, of_four_bit_floats_is_packed)
{
	struct site s;

	site_open(&s);
	struct map_request r = map_request(s.map, s.p);
	r.dtype = "float4_e2m1fn";
	r.shape[0] = 128;
	r.box[0] = 128;
	cr_expect_eq(map_encode(&r), 0);
	r.box[0] = 64; /* 128 is all that the driver takes */
	cr_expect_neq(map_encode(&r), 0);
	site_close(&s);
}

static void expect_refused(struct map_request r, const char *why)
{
	cr_expect_neq(map_encode(&r), 0, "%s", why);
}

Test(cuda_tensor_map, that_cannot_be_is_refused)
{
	struct site s;
	struct map_request r;

	site_open(&s);
#define REFUSED(field, value)                                                          \
	r = map_request(s.map, s.p);                                                   \
	r.field = (value);                                                             \
	expect_refused(r, #field)
	REFUSED(stride, 100); /* no multiple of 16 */
	REFUSED(stride, -1);
	REFUSED(map, (char *)s.map + 8);
	REFUSED(address, (char *)s.p + 8);
	REFUSED(box[1], 257);
	REFUSED(box[0], 128); /* more than the swizzle's 128 bytes */
	REFUSED(steps[1], 9);
	REFUSED(interleave, 1); /* two dimensions are too few */
	REFUSED(swizzle, 7);
	REFUSED(dtype, "float8_e4m3fn x2");
#undef REFUSED
	site_close(&s);
}

static int set_device(int64_t id)
{
	struct msd_function *f = msd_global_find("__tvm_set_device");
	const struct msd_any args[] = {msd_int(MSD_DEV_CUDA), msd_int(id)};
	struct msd_any ret = msd_none();

	return f->call(f, args, 2, &ret);
}

/* Code that calls the driver or its runtime API itself does so after this. */
Test(cuda_tensor_map, setting_the_device_switches_the_context)
{
	struct msd_dev *first = cuda_open(0);
	struct msd_dev *second = cuda_open(1);

	cr_expect_eq(set_device(0), 0);
	cr_expect_eq(stub()->current_device(), 0);
	cr_expect_eq(set_device(1), 0);
	cr_expect_eq(stub()->current_device(), 1);
	cr_expect_neq(set_device(7), 0);
	cr_expect_eq(stub()->current_device(), 1);
	msd_dev_close(first);
	msd_dev_close(second);
	expect_clean();
}

static struct msd_any ask(const char *name)
{
	struct msd_function *f = msd_global_find(name);
	struct msd_any ret = msd_none();

	cr_assert_not_null(f, "%s", name);
	cr_assert_eq(f->call(f, NULL, 0, &ret), 0, "%s", name);
	return ret;
}

/* What a library launches itself goes to the stream of its device. */
Test(cuda_tensor_map, the_stream_is_that_of_the_device_that_was_set)
{
	struct msd_dev *first = cuda_open(0);
	struct msd_dev *second = cuda_open(1);

	cr_expect_eq(ask("runtime.GetCudaDeviceCount").as.i, 2);
	cr_expect_eq(set_device(1), 0);
	struct msd_any text = ask("runtime.GetCudaFreeMemory");
	struct msd_span said = {0};
	cr_expect(msd_any_str(&text, &said));
	cr_expect(msd_span_is(said, "Current CUDA memory is 8589934592 bytes free out "
				    "of 8589934592 bytes on device"),
		  "%.*s", (int)said.n, (const char *)said.p);
	msd_any_drop(&text);
	void *stream = ask("runtime.get_cuda_stream").as.p;
	cr_expect_not_null(stream);
	cr_expect_eq(stream, TVMFFIEnvGetStream(MSD_DEV_CUDA, 1));
	cr_expect_neq(stream, TVMFFIEnvGetStream(MSD_DEV_CUDA, 0));
	cr_expect_null(TVMFFIEnvGetStream(MSD_DEV_CPU, 0));
	msd_dev_close(first);
	msd_dev_close(second);
	expect_clean();
}
