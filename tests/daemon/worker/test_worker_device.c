/* A worker whose module has OpenCL code: tensors go to the device and come back.
 * Skipped aloud without an OpenCL device or without the artifacts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/daemon/worker/driver.h"

#define N 130 /* what two_level.so is called with here; any length will do */

static struct driver w;
static const struct msd_device cpu = {MSD_DEV_CPU, 0};
static const struct msd_device opencl = {MSD_DEV_OPENCL, 0};

static const char *library(void)
{
	static char path[4096];
	const char *dir = getenv("MODSERD_FIXTURES");

	(void)snprintf(path, sizeof(path), "%s%s/tvm-0.8/two_level/two_level.so",
		       dir != NULL ? dir : MSD_SOURCE_DIR,
		       dir != NULL ? "" : "/../shared/fixtures");
	if (access(path, R_OK) == 0)
		return path;
	printf("skipped: no %s\n", path);
	return NULL;
}

/* Opened on the first OpenCL device; false: skipped. */
static bool open_worker(void)
{
	const char *path = library();

	if (path == NULL)
		return false;
	driver_start(&w, path);
	driver_send_open(&w);
	if (strcmp(driver_error(&w), "OK") == 0)
		return true;
	cr_assert_str_eq(driver_error(&w), "UNSUPPORTED");
	printf("skipped: %s\n", driver_message(&w));
	return false;
}

static void alloc(struct msd_dtype dtype, int64_t n, struct msd_device device,
		  struct msd_wire_tensor *ret)
{
	struct msd_buf b = {0};

	(void)driver_begin(&w, &b, "tensor.alloc", false);
	msd_pack_array(&b, 4);
	msd_pack_cstr(&b, "m");
	msd_pack_dtype(&b, dtype);
	msd_pack_shape(&b, &n, 1);
	msd_pack_device(&b, device);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_tensor(&w, ret);
	cr_expect_eq(ret->device.type, device.type);
}

/* float32[N] that names no device, @where it is. */
static struct msd_wire_tensor anywhere(enum msd_where where)
{
	return (struct msd_wire_tensor){.where = where,
					.dtype = {MSD_DT_FLOAT, 32, 1},
					.bytes = N * sizeof(float),
					.ndim = 1,
					.shape = {N}};
}

static void put_out(struct msd_buf *b)
{
	const struct msd_wire_tensor t = anywhere(MSD_AT_OUT);

	msd_pack_tensor(b, &t);
}

static void fill(struct msd_buf *b, float value)
{
	struct msd_wire_tensor t = anywhere(MSD_AT_SEGMENT);
	float *p = driver_put(&w, b, &t);

	for (int i = 0; i < N; i++)
		p[i] = value;
}

static void expect_out(float value)
{
	struct msd_wire_tensor t;

	cr_assert_str_eq(driver_error(&w), "OK", "%s", driver_message(&w));
	driver_out(&w, 0, &t);
	cr_assert_eq(t.bytes, N * sizeof(float));
	for (int i = 0; i < N; i++)
		cr_assert_eq(((const float *)driver_at(&w, &t))[i], value);
}

Test(worker_device, host_tensors_go_to_the_device_and_come_back)
{
	struct msd_buf b = {0};

	if (!open_worker())
		return;
	for (int i = 0; i < 3; i++) {
		(void)driver_call(&w, &b, i == 1 ? "vecadd2" : "vecadd1", 3);
		fill(&b, 1.0f);
		fill(&b, (float)i);
		put_out(&b);
		driver_send(&w, &b);
		(void)driver_receive(&w);
		expect_out(1.0f + (float)i);
	}
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_device, resident_tensors_stay_on_the_device)
{
	const struct msd_dtype f32 = {MSD_DT_FLOAT, 32, 1};
	struct msd_wire_tensor sum;
	struct msd_buf b = {0};

	if (!open_worker())
		return;
	alloc(f32, N, opencl, &sum);
	for (int i = 0; i < 4; i++) { /* sum = sum + 2, where it lies */
		(void)driver_call(&w, &b, "vecadd1", 3);
		msd_pack_tensor(&b, &sum);
		fill(&b, 2.0f);
		msd_pack_tensor(&b, &sum);
		driver_send(&w, &b);
		(void)driver_receive(&w);
		cr_assert_str_eq(driver_error(&w), "OK", "%s", driver_message(&w));
	}
	(void)driver_call(&w, &b, "vecadd2", 3);
	msd_pack_tensor(&b, &sum);
	msd_pack_tensor(&b, &sum);
	put_out(&b);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	expect_out(16.0f);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_device, a_call_that_mixes_devices_names_both)
{
	const struct msd_dtype f32 = {MSD_DT_FLOAT, 32, 1};
	struct msd_wire_tensor host;
	struct msd_buf b = {0};

	if (!open_worker())
		return;
	alloc(f32, N, cpu, &host);
	(void)driver_call(&w, &b, "vecadd1", 3);
	fill(&b, 1.0f);
	msd_pack_tensor(&b, &host);
	put_out(&b);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "BAD_ARGUMENT");
	cr_expect_not_null(strstr(driver_message(&w),
				  "argument 0 is on opencl:0 and argument 1 on cpu:0"),
			   "%s", driver_message(&w));
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

/* cpu_double(x, out) with a named place or none. */
static void call_double(const char *device)
{
	struct msd_buf b = {0};

	(void)driver_begin(&w, &b, "call", device != NULL);
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "m:cpu_double");
	fill(&b, 4.0f);
	put_out(&b);
	if (device != NULL) {
		msd_pack_map(&b, 1);
		msd_pack_cstr(&b, "device");
		msd_pack_device(&b, cpu);
	}
	driver_send(&w, &b);
	(void)driver_receive(&w);
}

Test(worker_device, host_functions_are_called_on_the_host)
{
	if (!open_worker())
		return;
	call_double(NULL);
	cr_assert_str_eq(driver_error(&w), "CALL_FAILED");
	cr_expect_not_null(strstr(driver_message(&w), "call it with the device cpu"));
	call_double("cpu");
	expect_out(8.0f);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

/* Send [from, to] and receive. */
static void copy(const struct msd_wire_tensor *from, const struct msd_wire_tensor *to)
{
	struct msd_buf b = {0};

	(void)driver_begin(&w, &b, "tensor.copy", false);
	msd_pack_array(&b, 2);
	msd_pack_tensor(&b, from);
	msd_pack_tensor(&b, to);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK", "%s", driver_message(&w));
}

/* Host to device, to another tensor there, to the host, and out. */
static void round_trip(struct msd_dtype dtype)
{
	struct msd_wire_tensor there, host,
		t = {.where = MSD_AT_SEGMENT, .dtype = dtype, .ndim = 1, .shape = {77}};
	struct msd_buf b = {0};
	uint8_t bytes[77 * 16];

	cr_assert(msd_dtype_bytes(dtype, 77, &t.bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31 + 5);
	alloc(dtype, 77, opencl, &there);
	alloc(dtype, 77, cpu, &host);
	(void)driver_begin(&w, &b, "tensor.copy", false);
	msd_pack_array(&b, 2);
	memcpy(driver_put(&w, &b, &t), bytes, t.bytes);
	msd_pack_tensor(&b, &there);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	copy(&there, &host);
	copy(&host, &there);
	struct msd_wire_tensor out = t;
	out.where = MSD_AT_OUT;
	out.offset = 0;
	out.segment = 0;
	copy(&there, &out);
	driver_tensor(&w, &out);
	cr_expect_eq(memcmp(driver_at(&w, &out), bytes, t.bytes), 0);
	driver_release(&w, &out);
}

Test(worker_device, every_dtype_goes_there_and_back)
{
	static const char *const names[] = {
		"bool",    "int8",     "uint8",   "int16",         "uint16",
		"int32",   "uint32",   "int64",   "uint64",        "float16",
		"float32", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2",
		"int4",    "complex64"};

	if (!open_worker())
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct msd_dtype dtype;
		cr_assert(msd_dtype_parse(names[i], strlen(names[i]), &dtype));
		round_trip(dtype);
	}
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

/* Fill a resident of @dtype on @device; what comes out is returned. */
static const void *filled(const char *name, struct msd_device device,
			  const struct msd_wire_value *value)
{
	struct msd_wire_tensor there, out;
	struct msd_dtype dtype;

	cr_assert(msd_dtype_parse(name, strlen(name), &dtype));
	alloc(dtype, 3, device, &there);
	driver_fill(&w, &there, value);
	if (strcmp(driver_error(&w), "OK") != 0)
		return NULL;
	out = there;
	out.where = MSD_AT_OUT;
	out.device = (struct msd_device){0};
	out.handle = (struct msd_handle){0};
	copy(&there, &out);
	driver_tensor(&w, &out);
	return driver_at(&w, &out);
}

Test(worker_device, fill_writes_one_number_everywhere)
{
	const struct msd_wire_value minus_two = {.kind = MSD_K_INT, .as.i = -2};
	const struct msd_wire_value half = {.kind = MSD_K_FLOAT, .as.f = 1.5};
	const struct msd_device places[] = {cpu, opencl};

	if (!open_worker())
		return;
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(
			((const int16_t *)filled("int16", places[i], &minus_two))[2],
			-2);
		cr_expect_eq(
			((const int64_t *)filled("int64", places[i], &minus_two))[1],
			-2);
		cr_expect_eq(((const float *)filled("float32", places[i], &half))[2],
			     1.5f);
		cr_expect_eq(((const uint16_t *)filled("float16", places[i], &half))[2],
			     0x3e00);
		cr_expect_eq(
			((const uint16_t *)filled("bfloat16", places[i], &half))[2],
			0x3fc0);
		cr_expect_null(filled("uint8", places[i], &minus_two));
		cr_expect_null(filled("int32", places[i], &half));
	}
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_device, an_absent_driver_refuses_the_load_by_name)
{
	const char *path = library();

	if (path == NULL)
		return;
	cr_assert_eq(setenv("MODSERD_LIBOPENCL", "libNotThere.so.1", 1), 0);
	driver_start(&w, path);
	driver_send_open(&w);
	cr_assert_str_eq(driver_error(&w), "UNSUPPORTED");
	cr_expect_not_null(strstr(driver_message(&w), "module 2 (opencl): no device "
						      "opencl:0: no OpenCL loader: "
						      "libNotThere.so.1"),
			   "%s", driver_message(&w));
	cr_assert_eq(driver_wait(&w), 3);
}
