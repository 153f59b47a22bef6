/* Constants that split_params.c moved out, found again. */
#include <stdlib.h>
#include <string.h>

#include "runtime/artifact/relax_private.h"
#include "runtime/artifact/split_params.h"

static const struct msd_tensor_blob *find(const struct msd_params *p,
					  struct msd_span name)
{
	for (size_t i = p->n; i > 0; i--) {
		struct msd_span one = p->names[i - 1];

		if (one.n == name.n && name.n > 0 && memcmp(one.p, name.p, name.n) == 0)
			return &p->tensors[i - 1];
	}
	return NULL;
}

static struct msd_tensor_blob *copy_of(const struct msd_tensor_blob *t,
				       struct msd_diag *d)
{
	struct msd_tensor_blob *copy = malloc(sizeof(*copy));

	if (copy == NULL)
		(void)msd_diag_set(d, MSD_NOMEM, "out of memory for the parameters");
	else
		*copy = *t;
	return copy;
}

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
		const struct msd_tensor_blob *t = find(params, name);
		if (t == NULL)
			return msd_diag_set(
				d, MSD_UNSUPPORTED,
				"its parameters are kept beside it, and %.*s is not "
				"among those given; load it with the file that "
				"--split-params wrote (--params FILE)",
				(int)(name.n < 64 ? name.n : 64), (const char *)name.p);
		struct msd_tensor_blob *own = copy_of(t, d);
		if (own == NULL)
			return MSD_NOMEM;
		k->kind = MSD_RELAX_TENSOR;
		k->as.tensor = own;
	}
	return MSD_OK;
}

msd_err msd_relay_image_bind(struct msd_relay_image *img,
			     const struct msd_params *params, struct msd_diag *d)
{
	for (uint32_t i = 0; i < img->n_consts; i++) {
		struct msd_relay_const *k = &img->consts[i];
		const struct msd_tensor_blob *t =
			k->tensor == NULL ? find(params, k->name) : NULL;

		if (t == NULL)
			continue;
		k->tensor = copy_of(t, d);
		if (k->tensor == NULL)
			return MSD_NOMEM;
	}
	return MSD_OK;
}
