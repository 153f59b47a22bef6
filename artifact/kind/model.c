/*
 * Build a model step by step from the readers of its kind (look.h): functions, their
 * inputs and outputs, then the details of each. Names and types from files are made
 * printable here, once. Lists stop at a limit instead of failing, because output for
 * users may be incomplete.
 */
#include "artifact/kind/model.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/printable.h"
#include "artifact/relax/annotation.h"
#include "proto/base/grow.h"
#include "proto/type_text.h"

static void values_free(struct msd_model_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].name);
		free(v[i].type);
		free(v[i].shape);
	}
	free(v);
}

void msd_model_finish(struct msd_model *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->n_funcs; i++) {
		free(m->funcs[i].name);
		values_free(m->funcs[i].inputs, m->funcs[i].n_inputs);
		values_free(m->funcs[i].outputs, m->funcs[i].n_outputs);
	}
	for (size_t i = 0; i < m->n_needs; i++)
		free(m->needs[i]);
	for (size_t i = 0; i < m->n_late; i++)
		free(m->late[i]);
	free(m->late);
	free(m->funcs);
	free(m->needs);
	*m = (struct msd_model){0};
}

msd_err msd_model_add_func(struct msd_model *m, struct msd_span name,
			   struct msd_model_func **ret, struct msd_diag *d)
{
	*ret = NULL;
	if (m->n_funcs >= MSD_MODEL_MAX_VALUES)
		return MSD_OK;
	struct msd_model_func *f;
	if (!msd_grow(&m->funcs, m->n_funcs, sizeof(*f)))
		return msd_diag_no_memory(d);
	f = &m->funcs[m->n_funcs++];
	*f = (struct msd_model_func){0};
	f->name = msd_printable_copy(name);
	if (f->name == NULL)
		return msd_diag_no_memory(d);
	*ret = f;
	return MSD_OK;
}

static msd_err add_value(struct msd_model_value **list, size_t *n, struct msd_span name,
			 struct msd_model_value **ret, struct msd_diag *d)
{
	*ret = NULL;
	if (*n >= MSD_MODEL_MAX_VALUES)
		return MSD_OK;
	struct msd_model_value *v;
	if (!msd_grow(list, *n, sizeof(*v)))
		return msd_diag_no_memory(d);
	v = &(*list)[(*n)++];
	*v = (struct msd_model_value){0};
	if (name.n > 0 && (v->name = msd_printable_copy(name)) == NULL)
		return msd_diag_no_memory(d);
	*ret = v;
	return MSD_OK;
}

msd_err msd_model_add_input(struct msd_model_func *f, struct msd_span name,
			    struct msd_model_value **ret, struct msd_diag *d)
{
	return add_value(&f->inputs, &f->n_inputs, name, ret, d);
}

msd_err msd_model_add_output(struct msd_model_func *f, struct msd_span name,
			     struct msd_model_value **ret, struct msd_diag *d)
{
	return add_value(&f->outputs, &f->n_outputs, name, ret, d);
}

/* Add a name that is not in the list, up to the limit. */
static msd_err add_name(char ***list, size_t *n, struct msd_span name,
			struct msd_diag *d)
{
	if (*n >= MSD_MODEL_MAX_VALUES)
		return MSD_OK;
	char *text = msd_printable_copy(name);
	for (size_t i = 0; text != NULL && i < *n; i++) {
		if (strcmp((*list)[i], text) == 0) {
			free(text);
			return MSD_OK;
		}
	}
	if (text == NULL || !msd_grow(list, *n, sizeof(**list))) {
		free(text);
		return msd_diag_no_memory(d);
	}
	(*list)[(*n)++] = text;
	return MSD_OK;
}

msd_err msd_model_add_need(struct msd_model *m, struct msd_span name,
			   struct msd_diag *d)
{
	return add_name(&m->needs, &m->n_needs, name, d);
}

msd_err msd_model_add_late(struct msd_model *m, struct msd_span name,
			   struct msd_diag *d)
{
	return add_name(&m->late, &m->n_late, name, d);
}

msd_err msd_model_set_tensor(struct msd_model_value *v, struct msd_dtype dtype,
			     const int64_t *shape, size_t ndim, struct msd_diag *d)
{
	if (ndim > MSD_MAX_NDIM)
		return MSD_OK;
	free(v->shape);
	v->shape = calloc(ndim + 1, sizeof(*v->shape));
	if (v->shape == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < ndim; i++)
		v->shape[i] = shape[i];
	v->is_tensor = true;
	v->dtype = dtype;
	v->ndim = (uint32_t)ndim;
	return MSD_OK;
}

/* "Tensor([n, 4], float32)" */
static bool parse_tensor(struct msd_span s, int64_t shape[static MSD_MAX_NDIM],
			 size_t *ret_n, struct msd_dtype *ret)
{
	struct msd_tensor_type t;
	size_t n = 0;

	if (!msd_tensor_type_split(s, &t) || t.extents.p == NULL ||
	    !msd_dtype_parse((const char *)t.dtype.p, t.dtype.n, ret))
		return false;
	for (; t.extents.n > 0; n++) {
		if (n == MSD_MAX_NDIM)
			return false;
		shape[n] = msd_extent_parse(msd_type_item(&t.extents, ','));
	}
	*ret_n = n;
	return true;
}

msd_err msd_model_set_type(struct msd_model_value *v, struct msd_span type,
			   struct msd_diag *d)
{
	int64_t shape[MSD_MAX_NDIM];
	struct msd_dtype dtype;
	struct msd_buf text = {0};
	msd_err err = MSD_OK;
	size_t n;

	msd_relax_put_annotation(&text, type);
	const struct msd_span words = {text.p, text.n};
	if (text.bad) {
		err = msd_diag_no_memory(d);
	} else if (parse_tensor(words, shape, &n, &dtype)) {
		err = msd_model_set_tensor(v, dtype, shape, n, d);
	} else {
		free(v->type);
		v->type = msd_printable_copy(words);
		err = v->type != NULL ? MSD_OK : msd_diag_no_memory(d);
	}
	msd_buf_finish(&text);
	return err;
}
