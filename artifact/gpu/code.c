/* CUDA code of any form: detect the form from its first bytes and call its reader. */
#include "artifact/gpu/code.h"

#include <stdlib.h>

#include "artifact/gpu/private.h"

bool msd_gpu_code_is(struct msd_span format, struct msd_span code)
{
	return msd_fatbin_is(code) || msd_cubin_is(code) || msd_span_is(format, "ptx");
}

void msd_gpu_code_finish(struct msd_gpu_code *code)
{
	if (code == NULL)
		return;
	for (size_t i = 0; i < code->n_images; i++)
		msd_gpu_image_finish(&code->images[i]);
	free(code->images);
	*code = (struct msd_gpu_code){0};
}

static msd_err read_one(struct msd_span file, struct msd_gpu_code *code,
			struct msd_diag *d)
{
	code->images = calloc(1, sizeof(*code->images));
	if (code->images == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory for CUDA code");
	code->n_images = 1;
	return msd_cubin_is(file) ? msd_cubin_read(file, code->images, d)
				  : msd_ptx_read(file, code->images, d);
}

msd_err msd_gpu_code_read(struct msd_span file, struct msd_gpu_code *ret,
			  struct msd_diag *d)
{
	struct msd_gpu_code code = {.is_fatbin = msd_fatbin_is(file)};
	msd_err err = code.is_fatbin ? msd_fatbin_read(file, &code, d)
				     : read_one(file, &code, d);

	if (err != MSD_OK) {
		msd_gpu_code_finish(&code);
		return err;
	}
	*ret = code;
	return MSD_OK;
}
