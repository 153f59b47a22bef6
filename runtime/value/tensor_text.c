#include "runtime/value/tensor_text.h"

#include <inttypes.h>
#include <stdio.h>

#define TAIL_MAX (MSD_DTYPE_NAME_MAX + 32) /* the last extent, the dtype, "..." */

const char *msd_tensor_text(struct msd_dtype dtype, const int64_t *shape, size_t ndim,
			    char out[static MSD_TENSOR_TEXT_MAX])
{
	char name[MSD_DTYPE_NAME_MAX];
	size_t n = (size_t)snprintf(out, MSD_TENSOR_TEXT_MAX, "Tensor([");

	for (size_t i = 0; i < ndim; i++) {
		const char *comma = i > 0 ? ", " : "";

		if (n > MSD_TENSOR_TEXT_MAX - TAIL_MAX) {
			n += (size_t)snprintf(out + n, MSD_TENSOR_TEXT_MAX - n, "%s...",
					      comma);
			break;
		}
		n += (size_t)snprintf(out + n, MSD_TENSOR_TEXT_MAX - n, "%s%" PRId64,
				      comma, shape[i]);
	}
	(void)snprintf(out + n, MSD_TENSOR_TEXT_MAX - n, "], %s)",
		       msd_dtype_format(dtype, name));
	return out;
}

const char *msd_tensor_text_of(const struct msd_any *v,
			       char out[static MSD_TENSOR_TEXT_MAX])
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	if (t == NULL) {
		(void)snprintf(out, MSD_TENSOR_TEXT_MAX, "%s", msd_type_name(v->type));
	} else {
		(void)msd_tensor_text(t->dtype, t->shape, (size_t)t->ndim, out);
	}
	return out;
}
