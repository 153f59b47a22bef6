/* Device code: the code as a file, and the table of its kernels. */
#include <string.h>

#include "pack/pieces_private.h"

static const struct ending {
	const char *format;
	const char *suffix;
} endings[] = {
	{"ptx", ".ptx"},     {"cubin", ".cubin"},       {"cuda", ".cu"},
	{"cl", ".cl"},       {"clbin", ".clbin"},       {"xclbin", ".xclbin"},
	{"aocx", ".aocx"},   {"awsxclbin", ".xclbin"},  {"hsaco", ".hsaco"},
	{"metal", ".metal"}, {"metallib", ".metallib"}, {"so", ".so"},
	{"hip", ".hip"},     {"spv", ".spv"},
};

static const char *ending_of(struct msd_span format, struct msd_span code)
{
	static const uint8_t fatbin[] = {0x50, 0xed, 0x55, 0xba};

	if (code.n >= 4 && memcmp(code.p, fatbin, sizeof(fatbin)) == 0)
		return ".fatbin"; /* TVM calls it a cubin */
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		if (msd_span_is(format, endings[i].format))
			return endings[i].suffix;
	}
	return ".code";
}

msd_err msd_split_device(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	struct msd_device_blob b = {0};
	msd_err err = msd_device_blob_read(c, s->era, &b, d);

	if (err != MSD_OK)
		return err;
	err = msd_split_text(s, "format", b.format, d);
	if (err == MSD_OK)
		err = msd_split_kernels(s, b.kernels, b.n_kernels, d);
	if (err == MSD_OK)
		err = msd_split_file(s, "code", ending_of(b.format, b.code), b.code, d);
	msd_device_blob_finish(&b);
	return err;
}

msd_err msd_join_device(const struct msd_joiner *j, struct msd_buf *out,
			struct msd_diag *d)
{
	msd_err err = msd_join_text(j, "format", out, d);

	if (err == MSD_OK)
		err = msd_join_kernels(j, out, d);
	return err == MSD_OK ? msd_join_file(j, "code", out, d) : err;
}
