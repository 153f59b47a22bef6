#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cuda/image.h"

/* 64 bytes of ELF header, one section header, 32 bytes of section. */
static void cubin_fill(uint8_t b[static 160])
{
	memset(b, 0, 160);
	memcpy(b,
	       "\x7f"
	       "ELF\x02",
	       5);
	msd_put_le64(b + 40, 64); /* section table */
	msd_put_le16(b + 58, 64);
	msd_put_le16(b + 60, 1);
	msd_put_le32(b + 68, 1);
	msd_put_le64(b + 64 + 24, 128);
	msd_put_le64(b + 64 + 32, 32);
}

static msd_err check(const char *format, const void *p, size_t n,
		     enum msd_cuda_code *what)
{
	uint8_t *copy = malloc(n > 0 ? n : 1); /* exactly: reads beyond it show */

	memcpy(copy, p, n);
	msd_err err = msd_cuda_image_check(msd_span_of(format),
					   (struct msd_span){copy, n}, what, NULL);
	free(copy);
	return err;
}

Test(cuda_image, is_what_its_bytes_say)
{
	uint8_t fatbin[24] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 8};
	uint8_t cubin[160];
	enum msd_cuda_code what;

	cubin_fill(cubin);
	cr_expect_eq(check("cubin", fatbin, 24, &what), MSD_OK);
	cr_expect_eq(what, MSD_CUDA_FATBIN);
	cr_expect_eq(check("fatbin", cubin, 160, &what), MSD_OK);
	cr_expect_eq(what, MSD_CUDA_CUBIN);
	cr_expect_eq(check("ptx", "// text", 7, &what), MSD_OK);
	cr_expect_eq(what, MSD_CUDA_PTX);
	cr_expect_eq(check("cuda", "int x;", 6, &what), MSD_OK);
	cr_expect_eq(what, MSD_CUDA_SOURCE);
}

Test(cuda_image, cut_anywhere_is_refused)
{
	uint8_t fatbin[24] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 8};
	uint8_t cubin[160];
	enum msd_cuda_code what;

	cubin_fill(cubin);
	for (size_t n = 0; n < sizeof(cubin); n++)
		cr_expect_neq(check("cubin", cubin, n, &what), MSD_OK, "%zu", n);
	for (size_t n = 0; n < sizeof(fatbin); n++)
		cr_expect_neq(check("cubin", fatbin, n, &what), MSD_OK, "%zu", n);
}

Test(cuda_image, sizes_that_wrap_are_refused)
{
	uint8_t cubin[160];
	enum msd_cuda_code what;

	cubin_fill(cubin);
	msd_put_le64(cubin + 64 + 24, UINT64_MAX - 8);
	cr_expect_eq(check("cubin", cubin, 160, &what), MSD_BAD_ARTIFACT);
	cubin_fill(cubin);
	msd_put_le64(cubin + 40, UINT64_MAX - 63);
	cr_expect_eq(check("cubin", cubin, 160, &what), MSD_BAD_ARTIFACT);
}

/* nvcc -dc writes sizes of variables into sections that hold none of their bytes. */
Test(cuda_image, relocatable_code_with_large_variables_is_whole)
{
	const uint32_t types[] = {0x70000007, 0x70000009, 0x7000000a};
	uint8_t cubin[160];
	enum msd_cuda_code what;

	for (size_t i = 0; i < 3; i++) {
		cubin_fill(cubin);
		msd_put_le32(cubin + 68, types[i]);
		msd_put_le64(cubin + 64 + 32, 1 << 20);
		cr_expect_eq(check("cubin", cubin, 160, &what), MSD_OK, "%#x",
			     types[i]);
	}
}

static void expect_doubt(uint16_t type, uint8_t abi, int driver, msd_err want,
			 const char *words)
{
	uint8_t cubin[160];
	msd_err err;

	cubin_fill(cubin);
	cubin[8] = abi;
	msd_put_le16(cubin + 16, type);
	const char *got =
		msd_cuda_image_doubt((struct msd_span){cubin, 160}, driver, &err);
	cr_expect_not_null(strstr(got, words), "%s", got);
	cr_expect_eq(err, want);
}

Test(cuda_image, what_the_driver_calls_invalid_is_explained)
{
	expect_doubt(1, 7, 13, MSD_UNSUPPORTED, "relocatable");
	expect_doubt(2, 8, 12, MSD_UNSUPPORTED, "of CUDA 13 or later");
	expect_doubt(2, 8, 13, MSD_BAD_ARTIFACT, "damaged, or of a later CUDA");
	expect_doubt(2, 7, 12, MSD_BAD_ARTIFACT, "damaged, or of a later CUDA");
}

Test(cuda_image, a_format_nobody_knows_is_named)
{
	struct msd_diag d = {0};
	enum msd_cuda_code what;

	cr_expect_eq(msd_cuda_image_check(msd_span_of("hsaco"), msd_span_of("abc"),
					  &what, &d),
		     MSD_UNSUPPORTED);
	cr_expect_str_eq(msd_diag_text(&d), "code of format hsaco that is neither a "
					    "cubin nor a fatbin");
	msd_diag_finish(&d);
}

Test(cuda_image, text_with_a_nul_within_is_refused)
{
	enum msd_cuda_code what;

	cr_expect_eq(check("ptx", "//\0x", 4, &what), MSD_BAD_ARTIFACT);
	cr_expect_eq(check("ptx", "//x\0", 4, &what), MSD_OK);
}

Test(cuda_image, copies_end_with_a_nul)
{
	for (size_t n = 1; n < 200; n++) {
		uint8_t bytes[200];
		memset(bytes, 'x', sizeof(bytes));
		char *copy = msd_cuda_image_copy((struct msd_span){bytes, n});
		cr_assert_not_null(copy);
		cr_expect_eq(strlen(copy), n);
		cr_expect_eq((uintptr_t)copy % 64, 0);
		free(copy);
	}
}
