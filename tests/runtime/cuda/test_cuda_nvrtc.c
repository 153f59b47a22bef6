/* Which of several compilers compiles source, with which headers and options: stand-ins
 * of 12.9 and 13.0 that lie beside headers of their releases, and tell what they got.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cuda/source.h"

/* Options and source as the compiler for @capability got them; to be freed. */
static char *compile(const char *source, int capability, bool *ret_is_ptx)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_cuda_source_compile(msd_span_of(source), capability, &out,
					     ret_is_ptx, &d),
		     MSD_OK, "%s", msd_diag_text(&d));
	char *got = strndup((const char *)out.p, out.n);
	cr_assert_not_null(got);
	msd_buf_finish(&out);
	return got;
}

static void expect_said(int capability, const char *words, bool want_ptx)
{
	bool is_ptx;
	char *got = compile("extern \"C\"", capability, &is_ptx);

	cr_expect_not_null(strstr(got, words), "no %s in:\n%s", words, got);
	cr_expect_eq(is_ptx, want_ptx);
	free(got);
}

Test(cuda_nvrtc, the_newest_that_knows_the_device_compiles)
{
	expect_said(90, "nvrtc-13.0/include", false);
	expect_said(100, "nvrtc-13.0/include", false);
}

Test(cuda_nvrtc, an_older_one_compiles_for_a_device_that_the_newest_has_dropped)
{
	expect_said(70, "--gpu-architecture=sm_70\n", false);
	expect_said(70, "nvrtc-12.9/include", false);
}

Test(cuda_nvrtc, a_device_that_none_knows_gets_ptx_of_the_newest)
{
	expect_said(103, "--gpu-architecture=compute_100\n", true);
	expect_said(103, "nvrtc-13.0/include", true);
}

Test(cuda_nvrtc, headers_of_another_release_are_not_taken)
{
	bool is_ptx;

	cr_assert_eq(setenv("CUDA_HOME", getenv("TEST_NVRTC_13"), 1), 0);
	char *got = compile("", 70, &is_ptx);
	cr_expect_null(strstr(got, "nvrtc-13.0"), "%s", got);
	free(got);
}

Test(cuda_nvrtc, one_that_is_newer_than_the_driver_is_left_alone)
{
	cr_assert_eq(setenv("STUB_CUDA_VERSION", "12090", 1), 0);
	cr_assert_eq(setenv("MODSERD_LIBCUDA", getenv("TEST_CUDA"), 1), 0);
	expect_said(90, "nvrtc-12.9/include", false);
}

Test(cuda_nvrtc, a_toolkit_without_its_cxx_library_is_told_as_that)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	bool is_ptx;

	cr_expect_eq(msd_cuda_source_compile(msd_span_of("#include <stub/absent>\n"),
					     90, &out, &is_ptx, &d),
		     MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "nvidia-cuda-cccl"), "%s",
			   msd_diag_text(&d));
	cr_expect_not_null(strstr(msd_diag_text(&d), "cuda/std/cstdint"), "%s",
			   msd_diag_text(&d));
	msd_buf_finish(&out);
	msd_diag_finish(&d);
}

Test(cuda_nvrtc, options_are_those_of_tvm)
{
	static const char *const want[] = {
		"-default-device\n",
		"--device-int128\n",
		"--use_fast_math\n",
		"--ptxas-options=--register-usage-level=10\n",
		"-U__CUDA_NO_HALF_OPERATORS__\n",
		"-U__CUDA_NO_BFLOAT162_OPERATORS__\n"};
	bool is_ptx;
	char *got = compile("", 90, &is_ptx);

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		cr_expect_not_null(strstr(got, want[i]), "no %s", want[i]);
	cr_expect_not_null(strstr(got, "--gpu-architecture=sm_90a\n"));
	free(got);
}

Test(cuda_nvrtc, a_tensor_map_is_defined_for_source_that_takes_one_and_does_not_say)
{
	bool is_ptx;
	char *takes = compile("void k(const CUtensorMap m);", 90, &is_ptx);
	char *says = compile("struct CUtensorMap { int x; };", 90, &is_ptx);
	char *none = compile("void k(int m);", 90, &is_ptx);

	cr_expect_not_null(strstr(takes, "struct alignas(64) CUtensorMap_st {"));
	cr_expect_null(strstr(says, "CUtensorMap_st"));
	cr_expect_null(strstr(none, "CUtensorMap_st"));
	free(takes);
	free(says);
	free(none);
}

static void key_of(int capability, struct msd_buf *ret)
{
	struct msd_diag d = {0};

	*ret = (struct msd_buf){0};
	cr_assert_eq(msd_cuda_source_key(capability, ret, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
}

Test(cuda_nvrtc, the_key_of_the_cache_has_the_compiler_and_its_options)
{
	struct msd_buf new, old;

	key_of(90, &new);
	key_of(70, &old);
	cr_expect_not_null(memmem(new.p, new.n, "NVRTC 13000 ", 12));
	cr_expect_not_null(memmem(old.p, old.n, "NVRTC 12090 ", 12));
	cr_expect_not_null(memmem(new.p, new.n, "--use_fast_math", 15));
	msd_buf_finish(&new);
	msd_buf_finish(&old);
}
