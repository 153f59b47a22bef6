/* Bind late constants to their tensors. */
#include "artifact/params/tensor_blob.h"
#include "artifact/relay/image.h"

msd_err msd_relay_image_bind(struct msd_relay_image *img,
			     const struct msd_params *params, struct msd_diag *d)
{
	for (uint32_t i = 0; i < img->n_consts; i++) {
		struct msd_relay_const *k = &img->consts[i];
		const struct msd_tensor_blob *t =
			k->tensor == NULL ? msd_params_find_span(params, k->name)
					  : NULL;

		if (t == NULL)
			continue;
		k->tensor = msd_tensor_blob_copy(t, d);
		if (k->tensor == NULL)
			return MSD_NOMEM;
	}
	return MSD_OK;
}
