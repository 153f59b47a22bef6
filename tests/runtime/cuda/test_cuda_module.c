/* Modules of both eras on the stand-in driver, from blob to values; what is kept on
 * disk and what is refused. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/cuda/cuda_place.h"
#include "tests/runtime/cuda/cuda_support.h"
#include "tests/runtime/cuda/stub.h"

Test(cuda_module, operators_of_08_run_from_every_format)
{
	static const char *const files[] = {"tvm-0.8/cuda_ops/cuda_ops_ptx.so",
					    "tvm-0.8/cuda_ops/cuda_ops_cubin.so",
					    "tvm-0.8/cuda_ops/cuda_ops_fatbin.so"};
	static const char *const addone[] = {"addone_x", "addone_y"};
	static const char *const matmul[] = {"matmul_a", "matmul_b", "matmul_c"};
	struct msd_dev *dev = cuda_open(0);
	struct place p;

	(void)cache_fresh();
	for (size_t i = 0; i < 3 && place_open(&p, dev, files[i], NULL); i++) {
		expect_arrays(&p, "addone", addone, 2, 0);
		expect_arrays(&p, "matmul", matmul, 3, 1e-4);
		expect_scale_shift(&p);
		place_close(&p);
	}
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
}

Test(cuda_module, dynamic_shared_memory_of_08_is_passed)
{
	static const char *const names[] = {"x", "y"};
	struct msd_dev *dev = cuda_open(0);
	unsigned grid[3], block[3], shared;
	struct place p;

	(void)cache_fresh();
	if (place_open(&p, dev, "tvm-0.8/cuda_dynshared/cuda_dynshared_ptx.so", NULL)) {
		expect_arrays(&p, "reverse_dyn", names, 2, 0);
		place_close(&p);
		stub()->last_launch(grid, block, &shared);
		cr_expect_eq(shared, 256);
		cr_expect_eq(block[0], 64);
	}
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
}

Test(cuda_module, addone_of_027_runs_from_every_format)
{
	static const char *const files[] = {"tvm-0.27/addone_cuda.so",
					    "tvm-0.27/addone_cuda_cubin.so",
					    "tvm-0.27/addone_cuda_ptx.so"};
	struct msd_dev *dev = cuda_open(1);
	struct place p;

	(void)cache_fresh();
	for (size_t i = 0; i < 3 && place_open(&p, dev, files[i], NULL); i++) {
		expect_addone(&p);
		place_close(&p);
	}
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
}

Test(cuda_module, scalars_and_temporaries_of_027_work)
{
	struct msd_dev *dev = cuda_open(0);
	struct place p;

	if (place_open(&p, dev, "tvm-0.27/axpb_cuda.so", NULL)) {
		expect_axpb(&p);
		place_close(&p);
	}
	if (place_open(&p, dev, "tvm-0.27/rev256_cuda.so", NULL)) {
		expect_rev256(&p);
		place_close(&p);
	}
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_module, launches_do_not_wait)
{
	struct msd_dev *dev = cuda_open(0);
	struct place p;

	if (place_open(&p, dev, "tvm-0.27/axpb_cuda.so", NULL)) {
		unsigned before = stub()->count("cuStreamQuery");
		expect_axpb(&p);
		cr_expect_eq(stub()->count("cuLaunchKernel"), 2);
		/* the test's own: after writing A, after zeroing, after reading */
		cr_expect_eq(stub()->count("cuStreamQuery") - before, 3);
		place_close(&p);
	}
	msd_dev_close(dev);
	expect_clean();
}

static unsigned n_entries(const char *directory, char *path, size_t n)
{
	unsigned count = 0;
	DIR *at = opendir(directory);

	for (const struct dirent *e; at != NULL && (e = readdir(at)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		count++;
		(void)snprintf(path, n, "%s/%s", directory, e->d_name);
	}
	if (at != NULL)
		(void)closedir(at);
	return count;
}

static bool ptx_again(struct msd_dev *dev)
{
	struct place p;

	if (!place_open(&p, dev, "tvm-0.27/addone_cuda_ptx.so", NULL))
		return false;
	expect_addone(&p);
	place_close(&p);
	return true;
}

Test(cuda_module, ptx_is_compiled_once_and_kept)
{
	const char *directory = cache_fresh();
	struct msd_dev *dev = cuda_open(0);
	char path[512];

	if (ptx_again(dev)) {
		cr_expect_eq(stub()->count("cuLinkComplete"), 1);
		cr_expect_eq(n_entries(directory, path, sizeof(path)), 1);
		(void)ptx_again(dev);
		cr_expect_eq(stub()->count("cuLinkComplete"), 1);
	}
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
}

Test(cuda_module, a_damaged_entry_is_built_again)
{
	const char *directory = cache_fresh();
	struct msd_dev *dev = cuda_open(0);
	char path[512] = "";

	if (ptx_again(dev)) {
		cr_assert_eq(n_entries(directory, path, sizeof(path)), 1);
		FILE *f = fopen(path, "r+");
		cr_assert_not_null(f);
		cr_assert_eq(fseek(f, -3, SEEK_END), 0);
		cr_assert_neq(fputc('!', f), EOF);
		cr_assert_eq(fclose(f), 0);
		(void)ptx_again(dev);
		cr_expect_eq(stub()->count("cuLinkComplete"), 2);
		(void)ptx_again(dev);
		cr_expect_eq(stub()->count("cuLinkComplete"), 2);
	}
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
}

/* Load @code, labelled @format, with one kernel @name. */
static msd_err blob_load(struct msd_dev *dev, const char *format, const char *code,
			 size_t n, const char *name, struct msd_diag *d)
{
	struct msd_kernel kernel = {
		.name = {(const uint8_t *)name, strlen(name)},
	};
	struct msd_device_blob blob = {
		.format = {(const uint8_t *)format, strlen(format)},
		.code = {(const uint8_t *)code, n},
		.kernels = &kernel,
		.n_kernels = 1,
	};
	struct msd_dev_program *program;
	msd_err err = dev->ops->load(dev, &blob, &program, d);

	if (err == MSD_OK)
		dev->ops->unload(program);
	return err;
}

Test(cuda_module, ptx_that_does_not_compile_comes_with_the_log)
{
	static const char code[] = ".version 9.0\nnonsense\n";
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};

	(void)cache_fresh();
	cr_expect_eq(blob_load(dev, "ptx", code, sizeof(code) - 1, "k", &d),
		     MSD_UNSUPPORTED);
	cr_expect_str_eq(msd_diag_text(&d),
			 "cuLinkAddData: CUDA_ERROR_INVALID_PTX (218), said by the "
			 "stand-in driver; its log:\nptxas fatal : stub: not PTX");
	msd_diag_finish(&d);
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
}

Test(cuda_module, a_kernel_that_is_not_in_the_code_fails_the_load)
{
	static const char code[] = ".version 9.0\n.entry k\n";
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};

	(void)cache_fresh();
	cr_expect_eq(blob_load(dev, "ptx", code, sizeof(code) - 1, "other", &d),
		     MSD_BAD_ARTIFACT);
	cr_expect_not_null(strstr(msd_diag_text(&d), "kernel other: "), "%s",
			   msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
}

Test(cuda_module, source_without_a_compiler_is_refused)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};

	(void)cache_fresh();
	cr_assert_eq(setenv("MODSERD_LIBNVRTC", "/nowhere/libnvrtc.so", 1), 0);
	cr_expect_eq(blob_load(dev, "cuda", "int x;", 6, "k", &d), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "no NVRTC"), "%s",
			   msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
}
