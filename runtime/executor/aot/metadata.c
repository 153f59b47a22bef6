#include "runtime/executor/aot/metadata.h"

#include "proto/base/bytes.h"

#define MAX_TENSORS 4096
#define MAX_BYTES ((size_t)1 << 39) /* a larger size is an error */

static bool tensor_bytes(const struct msd_aot_tensor *t, size_t *ret)
{
	uint64_t n;

	return msd_shape_elements(t->shape, (size_t)t->ndim, &n) && n <= MAX_BYTES &&
	       msd_mul_size((size_t)n, ((size_t)t->dtype.bits * t->dtype.lanes + 7) / 8,
			    ret) &&
	       *ret <= MAX_BYTES;
}

static msd_err check_tensors(const struct msd_aot_tensor *t, int64_t n,
			     const char *what, struct msd_diag *d)
{
	size_t bytes;

	if (n < 0 || n > MAX_TENSORS || (n > 0 && t == NULL)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "metadata: %lld %s",
				    (long long)n, what);
	}
	for (int64_t i = 0; i < n; i++) {
		if (t[i].name == NULL || t[i].ndim < 0 || t[i].ndim > MSD_MAX_NDIM ||
		    (t[i].ndim > 0 && t[i].shape == NULL) ||
		    !tensor_bytes(&t[i], &bytes)) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "metadata: %s[%lld] has no valid shape",
					    what, (long long)i);
		}
	}
	return MSD_OK;
}

msd_err msd_aot_metadata_check(const struct msd_aot_metadata *m, struct msd_diag *d)
{
	msd_err err = check_tensors(m->inputs, m->n_inputs, "inputs", d);

	if (err == MSD_OK)
		err = check_tensors(m->outputs, m->n_outputs, "outputs", d);
	if (err == MSD_OK)
		err = check_tensors(m->pools, m->n_pools, "workspaces", d);
	if (err == MSD_OK &&
	    (m->n_constants < 0 || m->n_constants > MAX_TENSORS ||
	     (m->n_constants > 0 && m->constants == NULL) || m->model == NULL)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "metadata: %lld constants, model %s",
				   (long long)m->n_constants,
				   m->model != NULL ? m->model : "without a name");
	}
	return err;
}

size_t msd_aot_tensor_bytes(const struct msd_aot_tensor *t)
{
	size_t bytes = 0;

	return tensor_bytes(t, &bytes) ? bytes : 0;
}
