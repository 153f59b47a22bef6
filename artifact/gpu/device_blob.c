/*
 * Convert a device module's payload to kernels and code, and back. The reader keeps
 * every field, used or not (the repeated name, tags beyond the arguments), so that
 * the writer produces the same bytes.
 */
#include "artifact/gpu/device_blob.h"

#include <stdlib.h>

#include "artifact/printable.h"
#include "proto/dtype.h"

#define DTYPE_BYTES 4u
/* The shortest entry of an fmap: four empty strings or vectors. */
#define KERNEL_MIN_BYTES 32u
#define FORMAT_MAX_BYTES 32u

static msd_err truncated(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated list of kernels");
}

static msd_err read_args(struct msd_cur *c, struct msd_kernel *k, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, DTYPE_BYTES);

	k->args = calloc(n > 0 ? n : 1u, sizeof(*k->args));
	k->extra = calloc(n > 0 ? n : 1u, sizeof(*k->extra));
	if (k->args == NULL || k->extra == NULL)
		return msd_diag_no_memory(d);
	for (; k->n_args < n && !c->bad; k->n_args++) {
		struct msd_dtype *t = &k->args[k->n_args];

		t->code = msd_cur_u8(c);
		t->bits = msd_cur_u8(c);
		t->lanes = msd_cur_u16(c);
	}
	return c->bad ? truncated(d) : MSD_OK;
}

static msd_err read_tags(struct msd_cur *c, struct msd_kernel *k, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, sizeof(uint64_t));

	k->tags = calloc(n > 0 ? n : 1u, sizeof(*k->tags));
	if (k->tags == NULL)
		return msd_diag_no_memory(d);
	for (; k->n_tags < n && !c->bad; k->n_tags++)
		k->tags[k->n_tags] = msd_cur_str64(c);
	return c->bad ? truncated(d) : MSD_OK;
}

static msd_err read_kernel(struct msd_cur *c, enum msd_era era, struct msd_kernel *k,
			   struct msd_diag *d)
{
	k->name = msd_cur_str64(c);
	k->info_name = msd_cur_str64(c);
	msd_err err = read_args(c, k, d);
	if (err == MSD_OK)
		err = read_tags(c, k, d);
	if (err != MSD_OK || era == MSD_ERA_CLASSIC)
		return err;
	k->n_extra = msd_cur_count64(c, sizeof(int32_t));
	for (size_t i = 0; i < k->n_extra && !c->bad; i++) {
		int32_t extra = msd_cur_i32(c);

		if (i < k->n_args)
			k->extra[i] = extra;
	}
	return c->bad ? truncated(d) : MSD_OK;
}

msd_err msd_kernels_read(struct msd_cur *c, enum msd_era era, struct msd_kernel **ret,
			 size_t *ret_n, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, KERNEL_MIN_BYTES);
	msd_err err = c->bad ? truncated(d) : MSD_OK;

	if (err != MSD_OK)
		return err;
	struct msd_kernel *kernels = calloc(n > 0 ? n : 1u, sizeof(*kernels));
	if (kernels == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < n && err == MSD_OK; i++)
		err = read_kernel(c, era, &kernels[i], d);
	if (err != MSD_OK) {
		msd_kernels_free(kernels, n);
		return err;
	}
	*ret = kernels;
	*ret_n = n;
	return MSD_OK;
}

void msd_kernels_free(struct msd_kernel *kernels, size_t n)
{
	if (kernels == NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		free(kernels[i].args);
		free(kernels[i].extra);
		free(kernels[i].tags);
	}
	free(kernels);
}

static bool is_format(struct msd_span s)
{
	if (s.n == 0 || s.n > FORMAT_MAX_BYTES)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] <= 0x20 || s.p[i] >= 0x7f)
			return false;
	}
	return true;
}

msd_err msd_device_blob_read(struct msd_cur *c, enum msd_era era,
			     struct msd_device_blob *ret, struct msd_diag *d)
{
	struct msd_device_blob b = {.format = msd_cur_str64(c)};
	char text[MSD_PRINTABLE_MAX];

	if (c->bad)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated before its format");
	if (!is_format(b.format)) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"its format is \"%s\"; expected a word such as ptx or "
			"cl (modules of SPIR-V do not carry one)",
			msd_printable(b.format, text));
	}
	msd_err err = msd_kernels_read(c, era, &b.kernels, &b.n_kernels, d);
	if (err != MSD_OK)
		return err;
	b.code = msd_cur_str64(c);
	if (c->bad) {
		msd_device_blob_finish(&b);
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated code");
	}
	*ret = b;
	return MSD_OK;
}

void msd_device_blob_finish(struct msd_device_blob *b)
{
	if (b == NULL)
		return;
	msd_kernels_free(b->kernels, b->n_kernels);
	*b = (struct msd_device_blob){0};
}

static msd_err put_kernel(const struct msd_kernel *k, enum msd_era era,
			  struct msd_buf *out, struct msd_diag *d)
{
	msd_buf_put_str64(out, k->name.p, k->name.n);
	msd_buf_put_str64(out, k->info_name.p, k->info_name.n);
	msd_buf_put_u64(out, k->n_args);
	for (size_t i = 0; i < k->n_args; i++) {
		msd_buf_put_u8(out, k->args[i].code);
		msd_buf_put_u8(out, k->args[i].bits);
		msd_buf_put_u16(out, k->args[i].lanes);
	}
	msd_buf_put_u64(out, k->n_tags);
	for (size_t i = 0; i < k->n_tags; i++)
		msd_buf_put_str64(out, k->tags[i].p, k->tags[i].n);
	if (era == MSD_ERA_CLASSIC)
		return MSD_OK;
	if (k->n_extra > k->n_args) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a kernel with more extra tags than arguments");
	}
	msd_buf_put_u64(out, k->n_extra);
	for (size_t i = 0; i < k->n_extra; i++)
		msd_buf_put_u32(out, (uint32_t)k->extra[i]);
	return MSD_OK;
}

static msd_err write_kernels(const struct msd_kernel *kernels, size_t n,
			     enum msd_era era, struct msd_buf *out, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	msd_buf_put_u64(out, n);
	for (size_t i = 0; i < n && err == MSD_OK; i++)
		err = put_kernel(&kernels[i], era, out, d);
	return err == MSD_OK && out->bad ? msd_diag_no_memory(d) : err;
}

msd_err msd_device_blob_write(const struct msd_device_blob *b, enum msd_era era,
			      struct msd_buf *out, struct msd_diag *d)
{
	msd_buf_put_str64(out, b->format.p, b->format.n);
	msd_err err = write_kernels(b->kernels, b->n_kernels, era, out, d);
	if (err != MSD_OK)
		return err;
	msd_buf_put_str64(out, b->code.p, b->code.n);
	return out->bad ? msd_diag_no_memory(d) : MSD_OK;
}
