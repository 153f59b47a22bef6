#include "runtime/module/model_signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/module/signature.h"

/* False if the text could be mistaken for another part of the signature. */
static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-*/";
	const size_t n = strlen(name);

	return n > 0 && n <= 64 && strspn(name, letters) == n;
}

static msd_err dim_names_set(struct msd_param *p, const struct msd_model_tensor *t,
			     struct msd_diag *d)
{
	if (t->dim_names == NULL)
		return MSD_OK;
	p->dim_names = calloc((size_t)t->ndim + 1, sizeof(*p->dim_names));
	if (p->dim_names == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; i < t->ndim; i++) {
		if (t->shape[i] >= 0 || !is_name(t->dim_names[i]))
			continue;
		p->dim_names[i] = strdup(t->dim_names[i]);
		if (p->dim_names[i] == NULL)
			return msd_diag_no_memory(d);
	}
	return MSD_OK;
}

static msd_err param_set(struct msd_param *p, const struct msd_model_tensor *t,
			 struct msd_diag *d)
{
	p->kind = MSD_P_TENSOR;
	p->has_dtype = true;
	p->dtype = t->dtype;
	p->ndim = t->is_unranked ? -1 : (int32_t)t->ndim;
	const bool has_name = t->name != NULL && *t->name != '\0';
	p->name = has_name ? strdup(t->name) : NULL;
	p->shape = calloc((size_t)t->ndim + 1, sizeof(*p->shape));
	if ((p->name == NULL && has_name) || p->shape == NULL)
		return msd_diag_no_memory(d);
	if (t->ndim > 0)
		memcpy(p->shape, t->shape, t->ndim * sizeof(*p->shape));
	return dim_names_set(p, t, d);
}

static msd_err compose(const char *name, const struct msd_model_tensor *tensors,
		       size_t n, size_t n_optional, struct msd_signature *ret,
		       struct msd_diag *d)
{
	msd_err err = msd_signature_init(ret, n, d);

	ret->n_optional = n_optional;

	for (size_t i = 0; err == MSD_OK && i < n; i++)
		err = param_set(&ret->params[i], &tensors[i], d);
	return err == MSD_OK ? msd_signature_compose(ret, name, d) : err;
}

msd_err msd_model_signature(const char *name, const struct msd_model_io *io,
			    struct msd_signature *ret, struct msd_diag *d)
{
	struct msd_signature outputs = {0};
	char *text = NULL;
	msd_err err = compose(name, io->inputs, io->n_inputs, io->n_optional, ret, d);

	if (err == MSD_OK)
		err = compose("", io->outputs, io->n_outputs, 0, &outputs, d);
	if (err == MSD_OK && asprintf(&text, "%s -> %s", ret->text, outputs.text) < 0)
		err = msd_diag_no_memory(d);
	if (err == MSD_OK) {
		free(ret->text);
		ret->text = text;
		ret->results = outputs.params; /* moved */
		ret->n_results = outputs.n_params;
		outputs.params = NULL;
		outputs.n_params = 0;
	}
	msd_signature_finish(&outputs);
	return err;
}
