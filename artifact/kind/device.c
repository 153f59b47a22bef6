/*
 * Kinds with code for a device's driver. Most share one layout: format, kernels, code
 * (gpu/device_blob.h). Metal, Vulkan and WebGPU store the code of each kernel
 * separately. Their layouts have no version field, so the reader detects them by
 * their content.
 */
#include <string.h>

#include "artifact/gpu/device_blob.h"
#include "artifact/kind/look.h"
#include "artifact/kind/private.h"
#include "artifact/printable.h"

#define MAX_KERNELS_SAID 256u /* limit for one module; the rest is counted */

static void put_kernel(struct msd_buf *out, const struct msd_kernel *k)
{
	char dtype[MSD_DTYPE_NAME_MAX];

	msd_printable_put(out, k->name);
	msd_buf_printf(out, "(");
	for (size_t i = 0; i < k->n_args; i++) {
		msd_buf_printf(out, "%s%s", i > 0 ? ", " : "",
			       msd_dtype_format(k->args[i], dtype));
	}
	msd_buf_printf(out, ")");
	for (size_t i = 0; i < k->n_tags; i++) {
		msd_buf_printf(out, i > 0 ? ", " : " over ");
		msd_printable_put(out, k->tags[i]);
	}
}

static bool say_kernels(struct msd_payload_info *info, const struct msd_kernel *kernels,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!msd_payload_info_offer(info, kernels[i].name))
			return false;
	}
	for (size_t i = 0; i < n && i < MAX_KERNELS_SAID; i++) {
		struct msd_buf text = {0};

		put_kernel(&text, &kernels[i]);
		bool ok = !text.bad &&
			  msd_payload_info_add_bytes(info, "kernel",
						     (struct msd_span){text.p, text.n});
		msd_buf_finish(&text);
		if (!ok)
			return false;
	}
	return n <= MAX_KERNELS_SAID ||
	       msd_payload_info_add(info, "kernel", "%zu more", n - MAX_KERNELS_SAID);
}

/* Read an fmap and report each kernel. */
static msd_err read_kernels(struct msd_cur *c, enum msd_era era,
			    struct msd_payload_info *info, struct msd_diag *d)
{
	struct msd_kernel *kernels = NULL;
	size_t n = 0;
	msd_err err = msd_kernels_read(c, era, &kernels, &n, d);

	if (err == MSD_OK && info != NULL && !say_kernels(info, kernels, n))
		err = msd_diag_no_memory(d);
	msd_kernels_free(kernels, n);
	return err;
}

/* Detect the code's form from its first bytes: the format calls a fatbin "cubin". */
static const char *sniff(struct msd_span code)
{
	static const uint8_t fatbin[] = {0x50, 0xed, 0x55, 0xba};
	static const uint8_t elf[] = {0x7f, 'E', 'L', 'F'};
	static const uint8_t spirv[] = {0x03, 0x02, 0x23, 0x07};

	if (code.n < 4)
		return "";
	if (memcmp(code.p, fatbin, sizeof(fatbin)) == 0)
		return ", a fatbin";
	if (memcmp(code.p, elf, sizeof(elf)) == 0)
		return ", an ELF object";
	return memcmp(code.p, spirv, sizeof(spirv)) == 0 ? ", SPIR-V" : "";
}

msd_err msd_payload_device(struct msd_cur *c, enum msd_era era,
			   struct msd_payload_info *info, struct msd_diag *d)
{
	struct msd_device_blob b = {0};
	msd_err err = msd_device_blob_read(c, era, &b, d);

	if (err != MSD_OK || info == NULL) {
		msd_device_blob_finish(&b);
		return err;
	}
	if (!msd_payload_info_add_bytes(info, "format", b.format) ||
	    !msd_payload_info_add(info, "code", "%zu bytes%s", b.code.n,
				  sniff(b.code)) ||
	    !say_kernels(info, b.kernels, b.n_kernels))
		err = msd_diag_no_memory(d);
	msd_device_blob_finish(&b);
	return err;
}

/*
 * Three layouts without a version field: format, kernels and one text up to 0.12;
 * then version, texts, kernels, format up to 0.23; format, kernels, texts since. A
 * version starts with a digit and a format with a letter; the first and the last
 * differ by era.
 */
msd_err msd_payload_metal(struct msd_cur *c, enum msd_era era,
			  struct msd_payload_info *info, struct msd_diag *d)
{
	struct msd_cur ahead = *c;
	struct msd_span first = msd_cur_str64(&ahead);
	bool is_versioned = first.n > 0 && first.p[0] >= '0' && first.p[0] <= '9';
	msd_err err = msd_payload_str(c, info, is_versioned ? "version" : "format", d);

	if (err == MSD_OK && is_versioned)
		err = msd_payload_texts(c, info, "sources", d);
	if (err == MSD_OK)
		err = read_kernels(c, era, info, d);
	if (err != MSD_OK)
		return err;
	if (is_versioned)
		return msd_payload_str(c, info, "format", d);
	if (era == MSD_ERA_FFI)
		return msd_payload_texts(c, info, "sources", d);
	return msd_payload_bytes(c, info, "code", d);
}

/* map<str, { u32 flag; vec<u32> spirv }> */
static msd_err read_shaders(struct msd_cur *c, struct msd_payload_info *info,
			    struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, 20);

	for (size_t i = 0; i < n && !c->bad; i++) {
		(void)msd_cur_str64(c);
		(void)msd_cur_u32(c);
		size_t words = msd_cur_count64(c, sizeof(uint32_t));
		(void)msd_cur_read(c, words * sizeof(uint32_t));
	}
	if (c->bad)
		return msd_payload_truncated(d, "shaders");
	if (info != NULL && !msd_payload_info_add(info, "shaders", "%zu", n))
		return msd_diag_no_memory(d);
	return MSD_OK;
}

msd_err msd_payload_vulkan(struct msd_cur *c, enum msd_era era,
			   struct msd_payload_info *info, struct msd_diag *d)
{
	msd_err err = msd_payload_str(c, info, "format", d);

	if (err == MSD_OK)
		err = read_kernels(c, era, info, d);
	return err == MSD_OK ? read_shaders(c, info, d) : err;
}

msd_err msd_payload_webgpu(struct msd_cur *c, enum msd_era era,
			   struct msd_payload_info *info, struct msd_diag *d)
{
	msd_err err = read_kernels(c, era, info, d);

	return err == MSD_OK ? msd_payload_texts(c, info, "sources", d) : err;
}

/* Kernel details from the compiled code; only CUDA code can be read. */
static msd_err look_cuda(struct msd_span payload, enum msd_era era,
			 struct msd_gpu_code *gpu, struct msd_model *model,
			 struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(payload);
	struct msd_device_blob b = {0};
	msd_err err = msd_device_blob_read(&c, era, &b, d);

	(void)model;
	if (err == MSD_OK && msd_gpu_code_is(b.format, b.code))
		err = msd_gpu_code_read(b.code, gpu, d);
	msd_device_blob_finish(&b);
	return err;
}

const struct msd_look msd_look_cuda = {look_cuda, NULL};
