/*
 * A fatbin: a header, then members one behind the other, each with a header of its own.
 *   u32 0xBA55ED50; u16 1; u16 bytes of this header; u64 bytes of all members
 *   u16 kind, 1 PTX or 2 cubin; u16; u32 bytes of this header; u64 bytes behind it;
 *   u32 compressed bytes; u32; u16 minor; u16 major; u32 architecture; u32; u32;
 *   u64 flags; u64; u64 bytes when decompressed
 */
#include <stdlib.h>

#include "artifact/gpu/private.h"

#define MAGIC 0xBA55ED50u
#define HEADER_BYTES 16u
#define MEMBER_BYTES 64u
#define KIND_PTX 1u
#define KIND_CUBIN 2u
#define FLAG_64BIT 0x1u
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_VARIANT_A 0x100000u

bool msd_fatbin_is(struct msd_span code)
{
	return code.n >= 4 && msd_le32(code.p) == MAGIC;
}

static msd_err cut(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "the fatbin is cut in %s", what);
}

/* Read the fields of the member's header. */
static void take_header(const uint8_t *h, struct msd_gpu_image *image)
{
	const uint64_t flags = msd_le64(h + 40);
	const uint16_t kind = msd_le16(h);

	image->kind = kind == KIND_PTX     ? MSD_GPU_PTX
		      : kind == KIND_CUBIN ? MSD_GPU_CUBIN
					   : MSD_GPU_OTHER;
	image->arch.sm = msd_le32(h + 28) <= 9999 ? msd_le32(h + 28) : 0;
	image->arch.variant = (flags & FLAG_VARIANT_A) != 0 ? 'a' : 0;
	image->address_bits = (flags & FLAG_64BIT) != 0 ? 64 : 32;
	if (image->kind == MSD_GPU_PTX) {
		image->isa_major = msd_le16(h + 26);
		image->isa_minor = msd_le16(h + 24);
	}
	if ((flags & FLAG_ZSTD) != 0) {
		image->compression = "zstd";
	} else if ((flags & FLAG_LZ4) != 0) {
		image->compression = "LZ4";
	}
}

/* PTX of a fatbin is padded with NULs. */
static struct msd_span without_padding(struct msd_span text)
{
	while (text.n > 0 && text.p[text.n - 1] == '\0')
		text.n--;
	return text;
}

static msd_err read_member(struct msd_cur *c, struct msd_gpu_image *image,
			   struct msd_diag *d)
{
	const uint8_t *h = msd_cur_read(c, MEMBER_BYTES);

	if (h == NULL)
		return cut(d, "a member's header");
	const uint32_t header_bytes = msd_le32(h + 4);
	const uint64_t bytes = msd_le64(h + 8);
	if (header_bytes < MEMBER_BYTES || bytes > SIZE_MAX)
		return cut(d, "a member's header");
	(void)msd_cur_read(c, header_bytes - MEMBER_BYTES);
	struct msd_span data = {msd_cur_read(c, (size_t)bytes), (size_t)bytes};
	if (c->bad)
		return cut(d, "a member");
	take_header(h, image);
	image->bytes = bytes;
	if (image->compression != NULL || data.n == 0)
		return MSD_OK;
	if (image->kind == MSD_GPU_PTX)
		return msd_ptx_read(without_padding(data), image, d);
	return msd_cubin_is(data) ? msd_cubin_read(data, image, d) : MSD_OK;
}

msd_err msd_fatbin_read(struct msd_span file, struct msd_gpu_code *code,
			struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(file);
	const uint8_t *h = msd_cur_read(&c, HEADER_BYTES);
	msd_err err = MSD_OK;

	if (h == NULL)
		return cut(d, "its header");
	if (msd_le16(h + 4) != 1) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "a fatbin of version %u",
				    msd_le16(h + 4));
	}
	if (msd_le16(h + 6) < HEADER_BYTES)
		return cut(d, "its header");
	(void)msd_cur_read(&c, msd_le16(h + 6) - HEADER_BYTES);
	if (c.bad || msd_le64(h + 8) > c.left)
		return cut(d, "its members");
	c.left = (size_t)msd_le64(h + 8);
	code->images = calloc(MSD_GPU_MAX_IMAGES, sizeof(*code->images));
	if (code->images == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory for a fatbin");
	while (err == MSD_OK && c.left > 0) {
		if (code->n_images == MSD_GPU_MAX_IMAGES) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "a fatbin of more than %u members",
					    MSD_GPU_MAX_IMAGES);
		}
		size_t i = code->n_images++;
		err = read_member(&c, &code->images[i], d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "member %zu", i);
	}
	return err;
}
