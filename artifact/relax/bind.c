/* Bind constants that were moved to a file next to the library. */
#include <string.h>

#include "artifact/params/tensor_blob.h"
#include "artifact/relax/image.h"

msd_err msd_relax_image_bind(struct msd_relax_image *img,
			     const struct msd_params *params, struct msd_diag *d)
{
	const size_t n_prefix = sizeof(MSD_RELAX_PARAM) - 1;

	for (size_t i = 0; i < img->n_consts; i++) {
		struct msd_relax_const *k = &img->consts[i];

		if (k->kind != MSD_RELAX_STR || k->as.str.n <= n_prefix ||
		    memcmp(k->as.str.p, MSD_RELAX_PARAM, n_prefix) != 0)
			continue;
		struct msd_span name = {k->as.str.p + n_prefix, k->as.str.n - n_prefix};
		const struct msd_tensor_blob *t = msd_params_find_span(params, name);
		if (t == NULL) {
			return msd_diag_set(
				d, MSD_UNSUPPORTED,
				"its parameters are in a separate file, and %.*s is "
				"not in the given one; load it with the file that "
				"--split-params wrote (--params FILE)",
				(int)(name.n < 64 ? name.n : 64), (const char *)name.p);
		}
		struct msd_tensor_blob *own = msd_tensor_blob_copy(t, d);
		if (own == NULL)
			return MSD_NOMEM;
		k->kind = MSD_RELAX_TENSOR;
		k->as.tensor = own;
	}
	return MSD_OK;
}
