/* load_params of an executor: sets the tensors of a .params file by name. */
#include "artifact/params/params.h"

#include <string.h>

#include "artifact/params/tensor_blob.h"
#include "runtime/executor/executor.h"
#include "runtime/value/error.h"

/* Load one tensor of a .params file; unknown names are allowed because compilation
 * may remove unused parameters. */
static int load_param(struct msd_executor *x, struct msd_span name,
		      const struct msd_tensor_blob *blob, uint32_t *n_known)
{
	uint32_t i = MSD_NO_SUCH_NAME;
	struct msd_str *key = msd_str_new((const char *)name.p, name.n, MSD_T_STR);
	struct msd_tensor *t = msd_tensor_new(blob->dtype, blob->shape, blob->ndim);
	int rc = -1;

	if (t != NULL && blob->data.n > 0)
		memcpy(t->dl.data, blob->data.p, blob->data.n);
	if (key != NULL && t != NULL) {
		const struct msd_any k = msd_of_obj(&key->obj);
		const struct msd_any v = msd_of_obj(&t->obj);
		rc = msd_executor_find_input(x, &k, &i);
		if (rc == 0 && i != MSD_NO_SUCH_NAME)
			rc = msd_executor_set_one(x, &k, &v, 0);
		*n_known += i != MSD_NO_SUCH_NAME;
	} else
		(void)msd_abi_no_memory();
	msd_obj_unref(key != NULL ? &key->obj : NULL);
	msd_obj_unref(t != NULL ? &t->obj : NULL);
	return rc;
}

int msd_executor_load_params(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret)
{
	struct msd_params params = {0};
	struct msd_diag d = {0};

	(void)n;
	(void)ret;
	if (args[0].type != MSD_T_BYTES) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument 0: expected the bytes of a .params "
					  "file, got %s",
					  msd_type_name(args[0].type));
	}
	const struct msd_str *s = args[0].as.p;
	const struct msd_span bytes = {(const uint8_t *)s->data, s->size};
	if (msd_params_read_file(bytes, &params, &d) != MSD_OK)
		return msd_instance_raise(&d, MSD_BAD_ARGUMENT);
	int rc = 0;
	uint32_t n_known = 0;
	for (size_t i = 0; rc == 0 && i < params.n; i++) {
		rc = load_param((struct msd_executor *)(void *)self, params.names[i],
				&params.tensors[i], &n_known);
	}
	if (rc == 0 && params.n > 0 && n_known == 0 && !self->tvm_inputs) {
		rc = msd_abi_raise_code(MSD_BAD_ARGUMENT,
					"argument 0: of its %zu parameters, %.*s "
					"first, the model has none",
					params.n, (int)params.names[0].n,
					(const char *)params.names[0].p);
	}
	msd_params_finish(&params);
	return rc;
}
