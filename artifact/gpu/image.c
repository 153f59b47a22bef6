/* One image of CUDA code: append kernels to it, and parse, print and compare its
 * architecture. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "artifact/gpu/private.h"
#include "artifact/printable.h"
#include "proto/base/grow.h"

void msd_gpu_image_finish(struct msd_gpu_image *image)
{
	for (size_t i = 0; i < image->n_kernels; i++) {
		free(image->kernels[i].name);
		free(image->kernels[i].params);
	}
	free(image->kernels);
	*image = (struct msd_gpu_image){0};
}

msd_err msd_gpu_kernel_add(struct msd_gpu_image *image, struct msd_span name,
			   struct msd_gpu_kernel **ret, struct msd_diag *d)
{
	*ret = NULL;
	if (image->n_kernels == MSD_GPU_MAX_KERNELS) {
		image->n_more++;
		return MSD_OK;
	}
	if (name.n > MSD_GPU_MAX_NAME_BYTES)
		name.n = MSD_GPU_MAX_NAME_BYTES;
	char *text = msd_printable_copy(name);
	if (text == NULL ||
	    !msd_grow(&image->kernels, image->n_kernels, sizeof(**ret))) {
		free(text);
		return msd_diag_set(d, MSD_NOMEM, "out of memory for CUDA kernels");
	}
	*ret = &image->kernels[image->n_kernels++];
	**ret = (struct msd_gpu_kernel){.name = text,
					.n_params = -1,
					.param_bytes = -1,
					.registers = -1,
					.shared_bytes = -1,
					.local_bytes = -1,
					.const_bytes = -1,
					.max_threads = {-1, -1, -1}};
	return MSD_OK;
}

void msd_gpu_arch_parse(struct msd_span text, struct msd_gpu_arch *ret)
{
	uint32_t sm = 0;
	size_t i = 0;

	for (; i < text.n && i < 4 && text.p[i] >= '0' && text.p[i] <= '9'; i++)
		sm = sm * 10 + (uint32_t)(text.p[i] - '0');
	if (i == 0)
		return;
	ret->sm = sm;
	ret->variant = 0;
	if (i < text.n && (text.p[i] == 'a' || text.p[i] == 'f'))
		ret->variant = (char)text.p[i];
}

const char *msd_gpu_arch_format(const struct msd_gpu_image *image,
				char buf[static MSD_GPU_ARCH_MAX])
{
	const char variant[] = {image->arch.variant, '\0'};

	buf[0] = '\0';
	if (image->arch.sm != 0) {
		(void)snprintf(buf, MSD_GPU_ARCH_MAX, "%s_%" PRIu32 "%s",
			       image->kind == MSD_GPU_PTX ? "compute" : "sm",
			       image->arch.sm, variant);
	}
	return buf;
}

bool msd_gpu_image_runs_on(const struct msd_gpu_image *image, uint32_t device)
{
	const struct msd_gpu_arch arch = image->arch;

	if (image->kind == MSD_GPU_OTHER || arch.sm == 0)
		return false;
	if (arch.variant == 'a')
		return arch.sm == device;
	if (image->kind == MSD_GPU_PTX && arch.variant == 0)
		return arch.sm <= device;
	return arch.sm / 10 == device / 10 && arch.sm <= device;
}
