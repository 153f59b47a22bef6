/* Launches as the driver gets them. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/launch.h"
#include "runtime/device/memory.h"
#include "tests/runtime/cuda/cuda_support.h"
#include "tests/runtime/cuda/stub.h"

/* One kernel of the stand-in, loaded. */
struct one {
	struct msd_dev *dev;
	struct msd_kernel kernel;
	struct msd_device_blob blob;
	struct msd_dev_program *program;
	struct msd_launch_plan plan;
	struct msd_diag d;
};

/* What a kernel's code says of itself, for one_load. */
static const char *code_text = ".version 9.0 .entry";

#define BOUNDED                                                                        \
	".version 9.0\n.target sm_90\n.address_size 64\n"                              \
	".visible .entry stub_nothing() .maxntid 128, 1, 1\n"                          \
	"{ .shared .align 4 .b8 buf[16384]; ret; }\n"

static msd_err one_load(struct one *o, const char *name, struct msd_dtype *types,
			size_t n_types, struct msd_span *tags, size_t n_tags)
{
	static int32_t a_map[] = {1};

	*o = (struct one){.dev = cuda_open(0)};
	(void)cache_fresh();
	o->kernel = (struct msd_kernel){.name = msd_span_of(name),
					.extra = strcmp(name, "stub_map") == 0 ? a_map
									       : NULL,
					.args = types,
					.n_args = n_types,
					.tags = tags,
					.n_tags = n_tags};
	o->blob = (struct msd_device_blob){msd_span_of("ptx"), msd_span_of(code_text),
					   &o->kernel, 1};
	return o->dev->ops->load(o->dev, &o->blob, &o->program, &o->d);
}

static void one_open(struct one *o, const char *name, struct msd_dtype *types,
		     size_t n_types, struct msd_span *tags, size_t n_tags)
{
	msd_err err = one_load(o, name, types, n_types, tags, n_tags);

	if (err == MSD_OK)
		err = msd_launch_plan_make(&o->kernel, &o->plan, &o->d);
	cr_assert(err == MSD_OK, "%s", msd_diag_text(&o->d));
}

static msd_err one_run(struct one *o, const struct msd_any *args, int32_t n)
{
	return msd_launch_run(&o->plan, o->dev, o->program, 0, args, n, &o->d);
}

static void one_close(struct one *o)
{
	msd_launch_plan_finish(&o->plan);
	o->dev->ops->unload(o->program);
	msd_diag_finish(&o->d);
	msd_dev_close(o->dev);
	cache_remove();
	expect_clean();
}

Test(cuda_launch, extents_come_from_tags_in_any_order)
{
	struct msd_span tags[] = {msd_span_of("threadIdx.z"), msd_span_of("blockIdx.y"),
				  msd_span_of("threadIdx.x"), msd_span_of("blockIdx.x"),
				  msd_span_of("threadIdx.x")};
	const struct msd_any args[] = {msd_int(2), msd_int(3), msd_int(9), msd_int(0),
				       msd_int(5)};
	unsigned grid[3], block[3], shared;
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, 5);
	cr_expect_eq(one_run(&o, args, 5), MSD_OK, "%s", msd_diag_text(&o.d));
	stub()->last_launch(grid, block, &shared);
	cr_expect_arr_eq(grid, ((unsigned[]){1, 3, 1}), sizeof(grid));
	cr_expect_arr_eq(block, ((unsigned[]){5, 1, 2}), sizeof(block));
	cr_expect_eq(shared, 0);
	one_close(&o);
}

Test(cuda_launch, every_scalar_arrives_by_its_type)
{
	struct msd_dtype types[] = {
		{MSD_DT_HANDLE, 64, 1}, {MSD_DT_INT, 32, 1},   {MSD_DT_UINT, 32, 1},
		{MSD_DT_INT, 64, 1},    {MSD_DT_FLOAT, 32, 1}, {MSD_DT_FLOAT, 64, 1},
	};
	const double want[] = {-7, 4000000000.0, -5000000000.0, 0.25, 1e300};
	double got[5];
	struct one o;
	void *p;

	one_open(&o, "stub_show", types, 6, NULL, 0);
	cr_assert_eq(msd_dev_alloc(o.dev, sizeof(got), &p, &o.d), MSD_OK);
	const struct msd_any args[] = {{.type = MSD_T_POINTER, .as.p = p},
				       msd_int(-7),
				       msd_int(4000000000),
				       msd_int(-5000000000),
				       msd_float(0.25),
				       msd_float(1e300)};
	cr_expect_eq(one_run(&o, args, 6), MSD_OK, "%s", msd_diag_text(&o.d));
	cr_expect_eq(msd_dev_copy(NULL, got, o.dev, p, sizeof(got), &o.d), MSD_OK);
	cr_expect_eq(msd_dev_sync(o.dev, &o.d), MSD_OK);
	cr_expect_arr_eq(got, want, sizeof(got));
	msd_dev_free(o.dev, p, sizeof(got));
	one_close(&o);
}

/* The load of stub_show(pointer, int, int, long, float, double) by @types. */
static void expect_misfit(struct msd_dtype *types, size_t n, const char *words)
{
	struct one o;

	cr_expect_eq(one_load(&o, "stub_show", types, n, NULL, 0), MSD_BAD_ARTIFACT);
	cr_expect_not_null(strstr(msd_diag_text(&o.d), words), "%s",
			   msd_diag_text(&o.d));
	one_close(&o);
}

Test(cuda_launch, a_kernel_that_takes_something_else_is_refused_at_the_load)
{
	struct msd_dtype types[] = {
		{MSD_DT_HANDLE, 64, 1}, {MSD_DT_INT, 32, 1},   {MSD_DT_INT, 32, 1},
		{MSD_DT_INT, 64, 1},    {MSD_DT_FLOAT, 32, 1}, {MSD_DT_FLOAT, 64, 1},
		{MSD_DT_INT, 32, 1},
	};

	expect_misfit(types, 5, "kernel stub_show: the code takes at least 6 ");
	expect_misfit(types, 7, "the code takes 6 parameters, but the module gives 7");
	types[3].bits = 32;
	expect_misfit(types, 6,
		      "parameter 3 has 8 bytes in the code, and the module "
		      "gives it 4");
}

/* Drivers before 12.4 do not tell: the stand-in shows what it got behind the last. */
Test(cuda_launch, parameters_that_the_module_does_not_give_are_zeros)
{
	struct msd_dtype types[] = {{MSD_DT_HANDLE, 64, 1}, {MSD_DT_INT, 32, 1}};
	double got[5];
	struct one o;
	void *p;

	cr_assert_eq(setenv("STUB_CUDA_NO_PARAMS", "1", 1), 0);
	one_open(&o, "stub_show", types, 2, NULL, 0);
	cr_assert_eq(msd_dev_alloc(o.dev, sizeof(got), &p, &o.d), MSD_OK);
	const struct msd_any args[] = {{.type = MSD_T_POINTER, .as.p = p}, msd_int(-7)};
	cr_expect_eq(one_run(&o, args, 2), MSD_OK, "%s", msd_diag_text(&o.d));
	cr_expect_eq(msd_dev_copy(NULL, got, o.dev, p, sizeof(got), &o.d), MSD_OK);
	cr_expect_eq(msd_dev_sync(o.dev, &o.d), MSD_OK);
	cr_expect_arr_eq(got, ((double[]){-7, 0, 0, 0, 0}), sizeof(got));
	msd_dev_free(o.dev, p, sizeof(got));
	one_close(&o);
}

Test(cuda_launch, a_tensor_map_is_the_parameter_itself)
{
	struct msd_dtype types[] = {{MSD_DT_HANDLE, 64, 1}};
	_Alignas(64) uint64_t map[16] = {0};
	struct one o;
	void *p;

	one_open(&o, "stub_map", types, 1, NULL, 0);
	cr_assert_eq(msd_dev_alloc(o.dev, 4096, &p, &o.d), MSD_OK);
	const struct map_request request = map_request(map, p);
	cr_assert_eq(map_encode(&request), 0);
	cr_expect_neq(map[0], 0);
	const struct msd_any arg = {.type = MSD_T_POINTER, .as.p = map};
	cr_expect_eq(one_run(&o, &arg, 1), MSD_OK, "%s", msd_diag_text(&o.d));
	cr_expect_eq(msd_dev_sync(o.dev, &o.d), MSD_OK);
	cr_expect_eq(stub()->last_map(), map[0]);
	msd_dev_free(o.dev, p, 4096);
	one_close(&o);
}

Test(cuda_launch, large_dynamic_shared_memory_is_asked_for_once)
{
	struct msd_span tags[] = {msd_span_of("threadIdx.x"),
				  msd_span_of("tirx.use_dyn_shared_memory")};
	const unsigned sizes[] = {48 * 1024, 100 * 1024, 60 * 1024, 200 * 1024};
	const unsigned asked[] = {0, 1, 1, 2};
	unsigned grid[3], block[3], shared;
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, 2);
	for (size_t i = 0; i < 4; i++) {
		const struct msd_any args[] = {msd_int(32), msd_int(sizes[i])};
		cr_expect_eq(one_run(&o, args, 2), MSD_OK, "%s", msd_diag_text(&o.d));
		stub()->last_launch(grid, block, &shared);
		cr_expect_eq(shared, sizes[i]);
		cr_expect_eq(stub()->count("cuFuncSetAttribute"), asked[i]);
	}
	one_close(&o);
}

Test(cuda_launch, more_shared_memory_than_the_device_has_is_refused)
{
	struct msd_span tags[] = {msd_span_of("tir.use_dyn_shared_memory")};
	const struct msd_any args[] = {msd_int(1 << 20)};
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, 1);
	cr_expect_eq(one_run(&o, args, 1), MSD_CALL_FAILED);
	cr_expect_not_null(strstr(msd_diag_text(&o.d),
				  "1048576 bytes of dynamic shared memory: "
				  "cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE (1)"),
			   "%s", msd_diag_text(&o.d));
	one_close(&o);
}

static void expect_run(struct msd_span *tags, size_t n_tags, const int64_t *values,
		       int32_t n, msd_err want, const char *words)
{
	struct msd_any args[4];
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, n_tags);
	for (int32_t i = 0; i < n; i++)
		args[i] = msd_int(values[i]);
	cr_expect_eq(one_run(&o, args, n), want, "%s", msd_diag_text(&o.d));
	if (want != MSD_OK) {
		cr_expect_not_null(strstr(msd_diag_text(&o.d), words), "%s",
				   msd_diag_text(&o.d));
	}
	one_close(&o);
}

/* The stand-in refuses what a device refuses: who asks gets the driver's words. */
Test(cuda_launch, bounds_of_a_device_are_bounds_here)
{
	struct msd_span tags[] = {msd_span_of("blockIdx.y"),
				  msd_span_of("threadIdx.z")};

	expect_run(tags, 2, (int64_t[]){65535, 64}, 2, MSD_OK, "");
	expect_run(tags, 2, (int64_t[]){65536, 1}, 2, MSD_CALL_FAILED, "(1)");
	expect_run(tags, 2, (int64_t[]){1, 65}, 2, MSD_CALL_FAILED, "(1)");
}

Test(cuda_launch, bounds_of_the_code_are_kept)
{
	struct msd_span tags[] = {msd_span_of("threadIdx.x")};

	code_text = BOUNDED;
	expect_run(tags, 1, (int64_t[]){128}, 1, MSD_OK, "");
	expect_run(tags, 1, (int64_t[]){129}, 1, MSD_CALL_FAILED, "(1)");
}

/* 48 KiB are for both; beyond, the dynamic part is asked for. */
Test(cuda_launch, static_shared_memory_counts)
{
	struct msd_span tags[] = {msd_span_of("tir.use_dyn_shared_memory")};

	code_text = BOUNDED;
	expect_run(tags, 1, (int64_t[]){32 * 1024}, 1, MSD_OK, "");
	expect_run(tags, 1, (int64_t[]){40 * 1024}, 1, MSD_OK, "");
	expect_run(tags, 1, (int64_t[]){211 * 1024}, 1, MSD_OK, "");
	expect_run(tags, 1, (int64_t[]){212 * 1024}, 1, MSD_CALL_FAILED,
		   "cuFuncSetAttribute");
}

Test(cuda_launch, a_cooperative_grid_that_does_not_fit_is_refused)
{
	struct msd_span tags[] = {msd_span_of("blockIdx.x"), msd_span_of("threadIdx.x"),
				  msd_span_of("tir.use_cooperative_launch")};

	expect_run(tags, 3, (int64_t[]){264, 1024}, 2, MSD_OK, "");
	expect_run(tags, 3, (int64_t[]){265, 1024}, 2, MSD_CALL_FAILED, "(720)");
}

Test(cuda_launch, flags_become_attributes)
{
	struct msd_span tags[] = {msd_span_of("threadIdx.x"),
				  msd_span_of("tirx.use_cooperative_launch"),
				  msd_span_of("tirx.use_programtic_dependent_launch")};
	const struct msd_any args[] = {msd_int(32)};
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, 3);
	cr_expect_eq(one_run(&o, args, 1), MSD_OK, "%s", msd_diag_text(&o.d));
	cr_expect_eq(stub()->last_attributes(), 1u << 2 | 1u << 6);
	cr_expect_eq(stub()->count("cuLaunchKernelEx"), 1);
	one_close(&o);
}

Test(cuda_launch, clusters_beyond_eight_blocks_are_allowed_once)
{
	struct msd_span tags[] = {msd_span_of("clusterCtaIdx.x"),
				  msd_span_of("blockIdx.x"),
				  msd_span_of("preferredClusterCtaIdx.x")};
	const struct msd_any args[] = {msd_int(16), msd_int(64), msd_int(16)};
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, 3);
	for (int i = 0; i < 2; i++)
		cr_expect_eq(one_run(&o, args, 3), MSD_OK, "%s", msd_diag_text(&o.d));
	cr_expect_eq(stub()->last_attributes(), 1u << 4 | 1u << 11);
	cr_expect_eq(stub()->count("cuFuncSetAttribute"), 1);
	one_close(&o);
}

Test(cuda_launch, a_preferred_cluster_is_a_multiple_of_the_regular_one)
{
	struct msd_span tags[] = {msd_span_of("clusterCtaIdx.x"),
				  msd_span_of("blockIdx.x"),
				  msd_span_of("preferredClusterCtaIdx.x")};
	const struct {
		int64_t regular, preferred;
		msd_err err;
	} cases[] = {{2, 4, MSD_OK}, {1, 4, MSD_OK}, {4, 6, MSD_CALL_FAILED}};
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct msd_any args[] = {msd_int(cases[i].regular), msd_int(24),
					       msd_int(cases[i].preferred)};
		cr_expect_eq(one_run(&o, args, 3), cases[i].err, "%zu: %s", i,
			     msd_diag_text(&o.d));
	}
	one_close(&o);
}

Test(cuda_launch, a_launch_that_the_driver_refuses_names_its_shape)
{
	struct msd_span tags[] = {msd_span_of("threadIdx.x")};
	const struct msd_any args[] = {msd_int(2048)};
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, 1);
	cr_expect_eq(one_run(&o, args, 1), MSD_CALL_FAILED);
	cr_expect_str_eq(msd_diag_text(&o.d),
			 "grid 1 x 1 x 1, block 2048 x 1 x 1, 0 bytes of shared "
			 "memory: cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1), said "
			 "by the stand-in driver");
	one_close(&o);
}

Test(cuda_launch, a_fault_shows_at_the_next_wait_and_stays)
{
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, NULL, 0);
	stub()->fault_at(1);
	cr_expect_eq(one_run(&o, NULL, 0), MSD_OK);
	cr_expect_eq(msd_dev_sync(o.dev, &o.d), MSD_GPU_FAULT);
	cr_expect_str_eq(msd_diag_text(&o.d),
			 "cuStreamQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700), an "
			 "illegal memory access was encountered");
	cr_expect_eq(one_run(&o, NULL, 0), MSD_GPU_FAULT);
	cr_expect_eq(msd_dev_sync(o.dev, &o.d), MSD_GPU_FAULT);
	stub()->fault_at(0); /* a process would end here; the test wants to clean up */
	one_close(&o);
}

static void *launch_often(void *arg)
{
	struct one *o = arg;
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	for (int i = 0; i < 200 && err == MSD_OK; i++) {
		const struct msd_any args[] = {msd_int(32), msd_int(1024 * (i + 1))};
		err = msd_launch_run(&o->plan, o->dev, o->program, 0, args, 2, &d);
	}
	msd_diag_finish(&d);
	return err == MSD_OK ? NULL : o;
}

Test(cuda_launch, threads_do_not_lower_each_others_limits)
{
	struct msd_span tags[] = {msd_span_of("threadIdx.x"),
				  msd_span_of("tirx.use_dyn_shared_memory")};
	pthread_t threads[3];
	struct one o;

	one_open(&o, "stub_nothing", NULL, 0, tags, 2);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, launch_often, &o), 0);
	for (int i = 0; i < 3; i++) {
		void *failed = &o;
		(void)pthread_join(threads[i], &failed);
		cr_expect_null(failed);
	}
	one_close(&o);
}
