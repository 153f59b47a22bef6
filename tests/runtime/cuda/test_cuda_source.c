/* Source through NVRTC, which needs no device; skipped without it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/device/cuda/image.h"
#include "runtime/device/cuda/nvrtc.h"
#include "runtime/device/cuda/source.h"

static bool has_nvrtc(void)
{
	struct msd_diag d = {0};
	int arch;
	const bool yes = msd_nvrtc(90, &arch, &d) != NULL;

	if (!yes)
		printf("skipped: %s\n", msd_diag_text(&d));
	msd_diag_finish(&d);
	return yes;
}

static bool has_headers(void)
{
	int arch;

	if (!has_nvrtc())
		return false;
	const bool yes = msd_nvrtc(90, &arch, NULL)->has_headers;
	if (!yes)
		printf("skipped: NVRTC is here without the toolkit's headers\n");
	return yes;
}

#define KERNEL                                                                         \
	"extern \"C\" __global__ void addone_kernel(float *a, float *b, long long n)"  \
	"{ long long i = blockIdx.x * 256ll + threadIdx.x;"                            \
	"  if (i < n) b[i] = a[i] + 1.0f; }"

Test(cuda_source, becomes_a_cubin_for_the_device)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	enum msd_cuda_code what;
	bool is_ptx;

	if (!has_nvrtc())
		return;
	cr_assert_eq(
		msd_cuda_source_compile(msd_span_of(KERNEL), 90, &out, &is_ptx, &d),
		MSD_OK, "%s", msd_diag_text(&d));
	const struct msd_span code = {out.p, out.n};
	cr_expect_not(is_ptx);
	cr_expect_eq(msd_cuda_image_check(msd_span_of("cubin"), code, &what, &d),
		     MSD_OK);
	cr_expect_eq(what, MSD_CUDA_CUBIN);
	cr_expect_not_null(memmem(out.p, out.n, "addone_kernel", 13));
	msd_buf_finish(&out);
}

/* What generated source begins with. */
Test(cuda_source, finds_the_toolkits_headers)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	bool is_ptx;

	if (!has_headers())
		return;
	cr_expect_eq(
		msd_cuda_source_compile(msd_span_of("#include <cuda/std/cstdint>\n"
						    "#include <cuda_fp16.h>\n" KERNEL),
					90, &out, &is_ptx, &d),
		MSD_OK, "%s", msd_diag_text(&d));
	msd_buf_finish(&out);
	msd_diag_finish(&d);
}

/* What TVM exports where neither driver nor compiler is: its preamble is missing. */
#define GENERATED                                                                      \
	"#include <cuda.h>\n#include <math.h>\n#include <cstdint>\n"                   \
	"#include <type_traits>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"     \
	"int twice(int x) { return 2 * x; }\n"                                         \
	"extern \"C\" __global__ void __launch_bounds__(256) k(\n"                     \
	"    const __grid_constant__ CUtensorMap map, half *a, __nv_bfloat16 *b,\n"    \
	"    float *c, int64_t n, __int128_t wide) {\n"                                \
	"  static_assert(std::is_same<int, int32_t>::value, \"\");\n"                  \
	"  a[0] = a[1] * a[2] + (half)twice(3); b[0] = b[1] + b[2];\n"                 \
	"  c[0] = -INFINITY; c[1] = (float)(wide >> 64);\n"                            \
	"  c[2] = (float)*(const int *)&map; __asm__ __volatile__(\"\");\n}\n"

Test(cuda_source, of_generated_kernels_gets_what_tvm_puts_before_it)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	bool is_ptx;

	if (!has_headers())
		return;
	cr_expect_eq(
		msd_cuda_source_compile(msd_span_of(GENERATED), 90, &out, &is_ptx, &d),
		MSD_OK, "%s", msd_diag_text(&d));
	cr_expect_not(is_ptx);
	msd_buf_finish(&out);
	msd_diag_finish(&d);
}

Test(cuda_source, for_a_newer_device_becomes_ptx)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	bool is_ptx;

	if (!has_nvrtc())
		return;
	cr_assert_eq(
		msd_cuda_source_compile(msd_span_of(KERNEL), 990, &out, &is_ptx, &d),
		MSD_OK, "%s", msd_diag_text(&d));
	cr_expect(is_ptx);
	cr_expect_not_null(memmem(out.p, out.n, ".entry addone_kernel", 20));
	msd_buf_finish(&out);
}

Test(cuda_source, that_is_wrong_comes_with_the_compilers_words)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	bool is_ptx;

	if (!has_nvrtc())
		return;
	cr_expect_eq(msd_cuda_source_compile(msd_span_of("int x = y;"), 90, &out,
					     &is_ptx, &d),
		     MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "module.cu(1): error"), "%s",
			   msd_diag_text(&d));
	msd_buf_finish(&out);
	msd_diag_finish(&d);
}

Test(cuda_source, for_a_device_before_all_that_it_knows_is_refused)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	bool is_ptx;

	if (!has_nvrtc())
		return;
	cr_expect_eq(
		msd_cuda_source_compile(msd_span_of(KERNEL), 10, &out, &is_ptx, &d),
		MSD_UNSUPPORTED);
	msd_buf_finish(&out);
	msd_diag_finish(&d);
}
