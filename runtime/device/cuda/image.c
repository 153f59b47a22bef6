#include "runtime/device/cuda/image.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN 64u
#define FATBIN_MAGIC 0xBA55ED50u
#define FATBIN_HEADER_BYTES 16u
#define ELF_HEADER_BYTES 64u
#define SECTION_BYTES 64u
#define SEGMENT_BYTES 56u
/* Section types without bytes in the file: ELF's own and, in relocatable code, those
 * of variables in global, local and shared memory. */
#define SECTION_NOBITS 8u
#define SECTION_CUDA_GLOBAL 0x70000007u
#define SECTION_CUDA_LOCAL 0x70000009u
#define SECTION_CUDA_SHARED 0x7000000au
#define TYPE_RELOCATABLE 1u
#define ABI_OF_13 8u /* e_ident[EI_ABIVERSION] of cubins since CUDA 13 */

static bool fits(uint64_t offset, uint64_t n, size_t size)
{
	return offset <= size && n <= size - offset;
}

static bool has_no_bytes(uint32_t type)
{
	return type == SECTION_NOBITS || type == SECTION_CUDA_GLOBAL ||
	       type == SECTION_CUDA_LOCAL || type == SECTION_CUDA_SHARED;
}

/* Check a table of @count entries of @entry bytes at @at, and the range of each
 * entry. */
static bool table_fits(struct msd_span code, uint64_t at, uint16_t count,
		       size_t offset_at, size_t size_at, size_t entry, bool is_sections)
{
	if (!fits(at, (uint64_t)count * entry, code.n))
		return false;
	for (uint16_t i = 0; i < count; i++) {
		const uint8_t *row = code.p + at + i * entry;
		if (is_sections && has_no_bytes(msd_le32(row + 4)))
			continue;
		if (!fits(msd_le64(row + offset_at), msd_le64(row + size_at), code.n))
			return false;
	}
	return true;
}

static bool cubin_fits(struct msd_span code)
{
	if (code.n < ELF_HEADER_BYTES || code.p[4] != 2 /* 64 bits */)
		return false;
	const uint16_t n_segments = msd_le16(code.p + 56);
	const uint16_t n_sections = msd_le16(code.p + 60);
	if ((n_segments > 0 && msd_le16(code.p + 54) != SEGMENT_BYTES) ||
	    (n_sections > 0 && msd_le16(code.p + 58) != SECTION_BYTES))
		return false;
	return table_fits(code, msd_le64(code.p + 32), n_segments, 8, 32, SEGMENT_BYTES,
			  false) &&
	       table_fits(code, msd_le64(code.p + 40), n_sections, 24, 32,
			  SECTION_BYTES, true);
}

static bool fatbin_fits(struct msd_span code)
{
	if (code.n < FATBIN_HEADER_BYTES)
		return false;
	return fits(msd_le16(code.p + 6), msd_le64(code.p + 8), code.n);
}

static msd_err is_cut(const char *what, struct msd_span code, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "the %s is damaged: it names more than its %zu bytes", what,
			    code.n);
}

msd_err msd_cuda_image_check(struct msd_span format, struct msd_span code,
			     enum msd_cuda_code *ret, struct msd_diag *d)
{
	if (code.n == 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "the code is empty");
	if (msd_span_begins(code, "\x7f"
				  "ELF")) {
		*ret = MSD_CUDA_CUBIN;
		return cubin_fits(code) ? MSD_OK : is_cut("cubin", code, d);
	}
	if (code.n >= 4 && msd_le32(code.p) == FATBIN_MAGIC) {
		*ret = MSD_CUDA_FATBIN;
		return fatbin_fits(code) ? MSD_OK : is_cut("fatbin", code, d);
	}
	if (msd_span_is(format, "ptx")) {
		*ret = MSD_CUDA_PTX;
	} else if (msd_span_is(format, "cuda")) {
		*ret = MSD_CUDA_SOURCE;
	} else {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "code of format %.*s that is neither a cubin nor a "
				    "fatbin",
				    (int)(format.n < 32 ? format.n : 32),
				    (const char *)format.p);
	}
	if (memchr(code.p, '\0', code.n) != NULL &&
	    memchr(code.p, '\0', code.n) != code.p + code.n - 1)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "a NUL within the text");
	return MSD_OK;
}

const char *msd_cuda_image_doubt(struct msd_span code, int driver_major,
				 msd_err *ret_err)
{
	const bool is_cubin =
		code.n >= ELF_HEADER_BYTES && msd_span_begins(code, "\x7f"
								    "ELF");

	*ret_err = MSD_UNSUPPORTED;
	if (is_cubin && msd_le16(code.p + 16) == TYPE_RELOCATABLE) {
		return "the cubin is relocatable (nvcc -dc, -rdc=true) and has to be "
		       "linked before it can be loaded";
	}
	if (is_cubin && code.p[8] >= ABI_OF_13 && driver_major > 0 && driver_major < 13)
		return "the cubin is of CUDA 13 or later, and the driver is older";
	*ret_err = MSD_BAD_ARTIFACT;
	return "the code is damaged, or of a later CUDA than the driver";
}

char *msd_cuda_image_copy(struct msd_span code)
{
	char *copy = NULL;

	if (code.n < SIZE_MAX - 2 * ALIGN)
		copy = aligned_alloc(ALIGN, (code.n + ALIGN) & ~(size_t)(ALIGN - 1));
	if (copy == NULL)
		return NULL;
	memcpy(copy, code.p, code.n);
	memset(copy + code.n, 0, ((code.n + ALIGN) & ~(size_t)(ALIGN - 1)) - code.n);
	return copy;
}
