/* The convention of launches, on a backend that only writes down what it was asked. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "runtime/device/launch.h"

static struct msd_launch seen; /* of the last launch */
static union {
	int64_t i64;
	int32_t i32;
	double f64;
	float f32;
	void *p;
	uint8_t bytes[8];
} seen_values[16];

static msd_err record(struct msd_dev_program *program, size_t index,
		      const struct msd_launch *launch, struct msd_diag *d)
{
	(void)program, (void)index, (void)d;
	seen = *launch;
	for (size_t i = 0; i < launch->kernel->n_args; i++) {
		memcpy(&seen_values[i], launch->values[i],
		       (launch->kernel->args[i].bits + 7u) / 8u);
	}
	return MSD_OK;
}

static const struct msd_device_ops recorder = {.abi = MSD_DEVICE_ABI,
					       .type = MSD_DEV_OPENCL,
					       .name = "opencl",
					       .launch = record};
static struct msd_dev dev = {.ops = &recorder, .device = {MSD_DEV_OPENCL, 0}};

static const struct msd_dtype handle = {MSD_DT_HANDLE, 64, 1};
static const struct msd_dtype int32 = {MSD_DT_INT, 32, 1};
static const struct msd_dtype int64 = {MSD_DT_INT, 64, 1};
static const struct msd_dtype uint32 = {MSD_DT_UINT, 32, 1};
static const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
static const struct msd_dtype float64 = {MSD_DT_FLOAT, 64, 1};

#define TAGS(...)                                                                      \
	(const char *const[])                                                          \
	{                                                                              \
		__VA_ARGS__, NULL                                                      \
	}
#define NO_TAGS ((const char *const[]){NULL})

struct kernel {
	struct msd_kernel k;
	struct msd_dtype args[16];
	struct msd_span tags[16];
	struct msd_launch_plan plan;
	struct msd_diag d;
};

static msd_err make(struct kernel *out, const struct msd_dtype *args, size_t n,
		    const char *const *tags)
{
	*out = (struct kernel){.k = {.name = {(const uint8_t *)"k", 1}}};
	if (n > 0)
		memcpy(out->args, args, n * sizeof(*args));
	out->k.args = out->args;
	out->k.n_args = n;
	out->k.tags = out->tags;
	for (; tags[out->k.n_tags] != NULL; out->k.n_tags++) {
		out->tags[out->k.n_tags] =
			(struct msd_span){(const uint8_t *)tags[out->k.n_tags],
					  strlen(tags[out->k.n_tags])};
	}
	return msd_launch_plan_make(&out->k, &out->plan, &out->d);
}

static msd_err run(struct kernel *k, const struct msd_any *args, int32_t n)
{
	return msd_launch_run(&k->plan, &dev, NULL, 0, args, n, &k->d);
}

static void finish(struct kernel *k)
{
	msd_launch_plan_finish(&k->plan);
	msd_diag_finish(&k->d);
}

static struct msd_any pointer(void *p)
{
	return (struct msd_any){.type = MSD_T_POINTER, .as.p = p};
}

static void expect_text(struct kernel *k, const char *text)
{
	cr_expect_str_eq(msd_diag_text(&k->d), text);
	finish(k);
}

Test(launch, tags_come_in_any_order)
{
	struct kernel k;
	const struct msd_any args[] = {msd_int(2), msd_int(3), msd_int(5), msd_int(7)};

	cr_assert_eq(
		make(&k, NULL, 0,
		     TAGS("threadIdx.y", "blockIdx.z", "blockIdx.x", "threadIdx.x")),
		MSD_OK);
	cr_assert_eq(run(&k, args, 4), MSD_OK);
	cr_expect(seen.grid[0] == 5 && seen.grid[1] == 1 && seen.grid[2] == 3);
	cr_expect(seen.block[0] == 7 && seen.block[1] == 2 && seen.block[2] == 1);
	finish(&k);
}

Test(launch, last_of_repeated_tags_counts)
{
	struct kernel k;
	const struct msd_any args[] = {msd_int(2), msd_int(3), msd_int(5)};

	cr_assert_eq(
		make(&k, NULL, 0, TAGS("threadIdx.x", "blockIdx.x", "threadIdx.x")),
		MSD_OK);
	cr_assert_eq(run(&k, args, 3), MSD_OK);
	cr_expect(seen.block[0] == 5 && seen.grid[0] == 3);
	finish(&k);
}

Test(launch, extent_of_zero_is_one)
{
	struct kernel k;
	const struct msd_any args[] = {msd_int(0), msd_int(0)};

	cr_assert_eq(make(&k, NULL, 0, TAGS("blockIdx.x", "tir.use_dyn_shared_memory")),
		     MSD_OK);
	cr_assert_eq(run(&k, args, 2), MSD_OK);
	cr_expect(seen.grid[0] == 1 && seen.shared_bytes == 0);
	finish(&k);
}

Test(launch, flags_take_no_value)
{
	struct kernel k;
	const struct msd_any args[] = {msd_int(4), msd_int(1024)};

	cr_assert_eq(make(&k, NULL, 0,
			  TAGS("tirx.use_cooperative_launch", "blockIdx.x",
			       "tir.use_programtic_dependent_launch",
			       "tirx.use_dyn_shared_memory")),
		     MSD_OK);
	cr_assert_eq(run(&k, args, 2), MSD_OK);
	cr_expect(seen.is_cooperative && seen.is_programmatic);
	cr_expect(seen.grid[0] == 4 && seen.shared_bytes == 1024);
	finish(&k);
}

Test(launch, clusters_are_read)
{
	struct kernel k;
	const struct msd_any args[] = {msd_int(2), msd_int(4)};

	cr_assert_eq(
		make(&k, NULL, 0, TAGS("clusterCtaIdx.x", "preferredClusterCtaIdx.y")),
		MSD_OK);
	cr_assert_eq(run(&k, args, 2), MSD_OK);
	cr_expect(seen.cluster[0] == 2 && seen.preferred_cluster[1] == 4);
	finish(&k);
}

Test(launch, values_are_packed_by_their_type)
{
	const struct msd_dtype types[] = {handle,  int32,   int64, uint32,
					  float32, float64, handle};
	struct kernel k;
	int here;
	const struct msd_any args[] = {pointer(&here),     msd_int(-2),
				       msd_int(1ll << 40), msd_int(0xffffffffll),
				       msd_float(1.5),     msd_float(2.5),
				       msd_none()};

	cr_assert_eq(make(&k, types, 7, NO_TAGS), MSD_OK);
	cr_assert_eq(run(&k, args, 7), MSD_OK);
	cr_expect_eq(seen_values[0].p, &here);
	cr_expect_eq(seen_values[1].i32, -2);
	cr_expect_eq(seen_values[2].i64, 1ll << 40);
	cr_expect_eq((uint32_t)seen_values[3].i32, 0xffffffffu);
	cr_expect_eq(seen_values[4].f32, 1.5f);
	cr_expect_eq(seen_values[5].f64, 2.5);
	cr_expect_null(seen_values[6].p);
	finish(&k);
}

static const struct {
	struct msd_dtype type;
	struct msd_any arg;
	uint64_t want;
} scalars[] = {
	{{MSD_DT_INT, 8, 1}, {.type = MSD_T_INT, .as.i = -2}, 0xfe},
	{{MSD_DT_UINT, 8, 1}, {.type = MSD_T_INT, .as.i = 200}, 200},
	{{MSD_DT_INT, 16, 1}, {.type = MSD_T_INT, .as.i = -2}, 0xfffe},
	{{MSD_DT_UINT, 16, 1}, {.type = MSD_T_INT, .as.i = 60000}, 60000},
	{{MSD_DT_UINT, 64, 1}, {.type = MSD_T_INT, .as.i = -1}, UINT64_MAX},
	{{MSD_DT_UINT, 1, 1}, {.type = MSD_T_INT, .as.i = 2}, 1},
	{{MSD_DT_BOOL, 8, 1}, {.type = MSD_T_BOOL, .as.i = 1}, 1},
	{{MSD_DT_FLOAT, 16, 1}, {.type = MSD_T_FLOAT, .as.f = -1.5}, 0xbe00},
	{{MSD_DT_FLOAT, 16, 1}, {.type = MSD_T_INT, .as.i = 2}, 0x4000},
	{{MSD_DT_BFLOAT, 16, 1}, {.type = MSD_T_FLOAT, .as.f = 1.5}, 0x3fc0},
	{{MSD_DT_BFLOAT, 16, 1}, {.type = MSD_T_FLOAT, .as.f = NAN}, 0x7fc0},
	{{MSD_DT_FLOAT, 64, 1}, {.type = MSD_T_INT, .as.i = 1}, 0x3ffull << 52},
};

Test(launch, scalars_of_every_width_are_packed)
{
	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
		const struct msd_dtype types[] = {handle, scalars[i].type};
		const struct msd_any args[] = {msd_none(), scalars[i].arg};
		struct kernel k;
		uint64_t got = 0;

		cr_assert_eq(make(&k, types, 2, NO_TAGS), MSD_OK);
		cr_assert_eq(run(&k, args, 2), MSD_OK, "%zu", i);
		memcpy(&got, &seen_values[1], (scalars[i].type.bits + 7u) / 8u);
		cr_expect_eq(got, scalars[i].want, "%zu: %llx", i,
			     (unsigned long long)got);
		finish(&k);
	}
}

Test(launch, tensor_map_is_the_parameter_itself)
{
	const struct msd_dtype types[] = {handle};
	int32_t extra[] = {1};
	uint8_t map[128] = {1, 2, 3};
	const struct msd_any arg = pointer(map);
	const struct msd_any none = msd_none();
	struct kernel k;

	cr_assert_eq(make(&k, types, 1, NO_TAGS), MSD_OK);
	k.k.extra = extra;
	cr_assert_eq(run(&k, &arg, 1), MSD_OK);
	cr_expect_eq(seen_values[0].bytes[2], 3);
	cr_assert_eq(run(&k, &none, 1), MSD_BAD_ARGUMENT);
	expect_text(&k, "argument 0: expected a tensor map, got none");
}

Test(launch, address_from_a_client_is_refused)
{
	const struct msd_dtype types[] = {handle};
	const struct msd_any number = msd_int(0x1000);
	struct msd_dltensor host = {.device = {MSD_DEV_CPU, 0}};
	const struct msd_any tensor = {.type = MSD_T_DLTENSOR, .as.dl = &host};
	struct kernel k;

	cr_assert_eq(make(&k, types, 1, NO_TAGS), MSD_OK);
	cr_assert_eq(run(&k, &number, 1), MSD_BAD_ARGUMENT);
	cr_assert_eq(run(&k, &tensor, 1), MSD_BAD_ARGUMENT);
	expect_text(&k,
		    "argument 0: expected a tensor on the kernel's device, got tensor");
}

Test(launch, wrong_number_and_negative_extent_are_refused)
{
	const struct msd_any args[] = {msd_int(-1), msd_int(1)};
	struct kernel k;

	cr_assert_eq(make(&k, NULL, 0, TAGS("blockIdx.x")), MSD_OK);
	cr_assert_eq(run(&k, args, 2), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&k.d), "expected 0 arguments and 1 launch "
					      "parameters, got 2 in all");
	cr_assert_eq(run(&k, args, 1), MSD_BAD_ARGUMENT);
	expect_text(&k, "launch parameter 0: expected an int from 0 to 4294967295");
}

Test(launch, unknown_tag_and_type_fail_the_plan)
{
	const struct msd_dtype types[] = {{MSD_DT_FLOAT, 32, 4}};
	struct kernel k;

	cr_assert_eq(make(&k, NULL, 0, TAGS("warpIdx.x")), MSD_UNSUPPORTED);
	expect_text(&k, "kernel k: unknown launch parameter warpIdx.x");
	cr_assert_eq(make(&k, types, 1, NO_TAGS), MSD_UNSUPPORTED);
	expect_text(&k, "kernel k: parameter 0 is of type float32x4, which cannot be "
			"passed to a kernel");
}
