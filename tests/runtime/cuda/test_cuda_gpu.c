/* A real device and its driver. Everything is skipped, aloud, without one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/device/cuda/api.h"
#include "runtime/device/memory.h"
#include "tests/runtime/cuda/cuda_place.h"

static struct msd_dev *gpu_open(void)
{
	struct msd_diag d = {0};
	struct msd_dev *dev = NULL;

	if (msd_dev_open((struct msd_device){MSD_DEV_CUDA, 0}, &dev, &d) != MSD_OK)
		printf("skipped: %s\n", msd_diag_text(&d));
	msd_diag_finish(&d);
	return dev;
}

/* A fixture whose code may not be for this device: skipped when the driver says so. */
static bool gpu_place(struct place *p, struct msd_dev *dev, const char *file)
{
	msd_err err;

	if (!place_open(p, dev, file, &err))
		return false;
	if (err == MSD_OK)
		return true;
	cr_expect(err == MSD_BAD_ARTIFACT || err == MSD_UNSUPPORTED, "%s: %s", file,
		  msd_diag_text(&p->lib.d));
	printf("skipped: %s: %s\n", file, msd_diag_text(&p->lib.d));
	place_close(p);
	return false;
}

Test(cuda_gpu, operators_of_08_give_their_values)
{
	static const char *const files[] = {"tvm-0.8/cuda_ops/cuda_ops_ptx.so",
					    "tvm-0.8/cuda_ops/cuda_ops_cubin.so",
					    "tvm-0.8/cuda_ops/cuda_ops_fatbin.so"};
	static const char *const addone[] = {"addone_x", "addone_y"};
	static const char *const matmul[] = {"matmul_a", "matmul_b", "matmul_c"};
	struct msd_dev *dev = gpu_open();
	struct place p;

	for (size_t i = 0; dev != NULL && i < 3; i++) {
		if (!gpu_place(&p, dev, files[i]))
			continue;
		expect_arrays(&p, "addone", addone, 2, 0);
		expect_arrays(&p, "matmul", matmul, 3, 1e-4);
		expect_scale_shift(&p);
		place_close(&p);
	}
	msd_dev_close(dev);
}

Test(cuda_gpu, dynamic_shared_memory_works)
{
	static const char *const names[] = {"x", "y"};
	struct msd_dev *dev = gpu_open();
	struct place p;

	if (dev != NULL &&
	    gpu_place(&p, dev, "tvm-0.8/cuda_dynshared/cuda_dynshared_ptx.so")) {
		expect_arrays(&p, "reverse_dyn", names, 2, 0);
		place_close(&p);
	}
	if (dev != NULL && gpu_place(&p, dev, "tvm-0.27/rev256_cuda.so")) {
		expect_rev256(&p);
		place_close(&p);
	}
	msd_dev_close(dev);
}

Test(cuda_gpu, modules_of_027_give_their_values)
{
	static const char *const files[] = {
		"tvm-0.27/addone_cuda.so", "tvm-0.27/addone_cuda_cubin.so",
		"tvm-0.27/addone_cuda_ptx.so", "tvm-0.27/addone_cuda_src.so"};
	struct msd_dev *dev = gpu_open();
	struct place p;

	for (size_t i = 0; dev != NULL && i < 4; i++) {
		if (!gpu_place(&p, dev, files[i]))
			continue;
		expect_addone(&p);
		place_close(&p);
	}
	if (dev != NULL && gpu_place(&p, dev, "tvm-0.27/axpb_cuda.so")) {
		expect_axpb(&p);
		place_close(&p);
	}
	msd_dev_close(dev);
}

#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
/* Writes to an address that nobody has. */
#define PTX_BAD                                                                        \
	PTX_HEAD ".visible .entry bad() {\n"                                           \
		 ".reg .b64 %a; .reg .b32 %v;\n"                                       \
		 "mov.u64 %a, 64; mov.u32 %v, 1;\n"                                    \
		 "st.global.u32 [%a], %v; ret; }\n"
/* Takes the dynamic shared memory that it is given and does nothing. */
#define PTX_SHARED                                                                     \
	PTX_HEAD ".extern .shared .align 16 .b8 sh[];\n"                               \
		 ".visible .entry idle() {\n"                                          \
		 ".reg .b32 %r; mov.u32 %r, sh; st.shared.u32 [%r], %r; ret; }\n"

static msd_err run_ptx(struct msd_dev *dev, const char *ptx, const char *name,
		       const struct msd_launch *like, struct msd_diag *d)
{
	struct msd_kernel kernel = {.name = msd_span_of(name)};
	struct msd_device_blob blob = {msd_span_of("ptx"), msd_span_of(ptx), &kernel,
				       1};
	struct msd_launch launch = *like;
	struct msd_dev_program *program;
	msd_err err = dev->ops->load(dev, &blob, &program, d);

	if (err != MSD_OK)
		return err;
	launch.kernel = &kernel;
	err = dev->ops->launch(program, 0, &launch, d);
	if (err == MSD_OK)
		err = msd_dev_sync(dev, d);
	dev->ops->unload(program);
	return err;
}

static const struct msd_launch one_block = {
	.grid = {1, 1, 1},
	.block = {1, 1, 1},
	.cluster = {1, 1, 1},
	.preferred_cluster = {1, 1, 1},
};

Test(cuda_gpu, a_kernel_that_faults_is_a_gpu_fault_and_stays_one)
{
	struct msd_dev *dev = gpu_open();
	struct msd_diag d = {0};
	void *p;

	if (dev == NULL)
		return;
	cr_expect_eq(run_ptx(dev, PTX_BAD, "bad", &one_block, &d), MSD_GPU_FAULT, "%s",
		     msd_diag_text(&d));
	cr_expect_eq(dev->ops->alloc(dev, 256, &p, &d), MSD_GPU_FAULT, "%s",
		     msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_dev_close(dev);
}

static void expect_nearly_all(struct msd_dev *dev, size_t bytes)
{
	struct msd_diag d = {0};
	void *all = NULL;
	void *more = NULL;

	cr_assert_eq(msd_dev_alloc(dev, bytes, &all, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	cr_expect_eq(dev->ops->fill(dev, (char *)all + bytes - 4096, 7, 4096, &d),
		     MSD_OK);
	cr_expect_eq(msd_dev_sync(dev, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_expect_eq(msd_dev_alloc(dev, bytes / 4, &more, &d), MSD_NOMEM);
	cr_expect_not_null(strstr(msd_diag_text(&d), "bytes"), "%s", msd_diag_text(&d));
	msd_dev_free(dev, all, bytes);
	msd_diag_finish(&d);
}

/* What was given back is there again, whatever its size was. */
Test(cuda_gpu, memory_is_given_nearly_to_its_end)
{
	struct msd_dev *dev = gpu_open();
	size_t free_bytes = 0;
	size_t total_bytes = 0;

	if (dev == NULL)
		return;
	struct msd_diag d = {0};
	cr_assert_eq(dev->ops->enter(dev, &d), MSD_OK);
	cr_assert_eq(msd_cuda_api(&d)->mem_info(&free_bytes, &total_bytes), 0);
	printf("%zu of %zu bytes are free\n", free_bytes, total_bytes);
	expect_nearly_all(dev, free_bytes / 100 * 97);
	expect_nearly_all(dev, free_bytes / 100 * 95);
	msd_dev_close(dev);
}

Test(cuda_gpu, shared_memory_beyond_48_KiB_is_granted)
{
	struct msd_dev *dev = gpu_open();
	struct msd_launch launch = one_block;
	struct msd_diag d = {0};

	if (dev == NULL)
		return;
	launch.shared_bytes = 64 * 1024;
	cr_expect_eq(run_ptx(dev, PTX_SHARED, "idle", &launch, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_dev_close(dev);
}

Test(cuda_gpu, cooperative_and_dependent_launches_run)
{
	struct msd_dev *dev = gpu_open();
	struct msd_launch launch = one_block;
	struct msd_diag d = {0};

	if (dev == NULL)
		return;
	launch.shared_bytes = 16;
	launch.is_cooperative = true;
	cr_expect_eq(run_ptx(dev, PTX_SHARED, "idle", &launch, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	launch.is_cooperative = false;
	launch.is_programmatic = true;
	cr_expect_eq(run_ptx(dev, PTX_SHARED, "idle", &launch, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_dev_close(dev);
}

Test(cuda_gpu, ptx_that_does_not_compile_comes_with_the_log)
{
	struct msd_dev *dev = gpu_open();
	struct msd_diag d = {0};

	if (dev == NULL)
		return;
	cr_expect_eq(run_ptx(dev, PTX_HEAD "nonsense\n", "k", &one_block, &d),
		     MSD_UNSUPPORTED, "%s", msd_diag_text(&d));
	cr_expect_not_null(strstr(msd_diag_text(&d), "its log:"), "%s",
			   msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_dev_close(dev);
}
