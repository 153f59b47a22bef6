/*
 * Happy path: each fixed extent is in the parameter's map. An open extent with a
 * name gets the value of an argument with the same name. Failures: it has no name, or
 * that argument is none; then the argument's own extent, or 1, is used.
 */
#include "client/cli/values/extents.h"

#include <string.h>

#include "proto/type_text.h"

static const modser_value *shape_of(const modser_value *param)
{
	const modser_value *shape = modser_find(param, "shape");

	return shape != NULL && shape->kind == MODSER_TUPLE &&
			       shape->as.tuple.n <= MSD_MAX_NDIM
		       ? shape
		       : NULL;
}

static bool is_open(const modser_value *extent)
{
	return extent->kind != MODSER_INT || extent->as.i < 0;
}

bool msd_extents_fit(const modser_value *param, const modser_tensor *t)
{
	const modser_value *shape = shape_of(param);

	if (shape == NULL)
		return true;
	if (shape->as.tuple.n != t->ndim)
		return false;
	for (uint32_t k = 0; k < t->ndim; k++) {
		const modser_value *extent = &shape->as.tuple.item[k];

		if (!is_open(extent) && extent->as.i != t->shape[k])
			return false;
	}
	return true;
}

void msd_extents_put(struct msd_buf *out, const struct msd_extents *x)
{
	msd_shape_put(out, x->dim, x->ndim, ",");
}

bool msd_extents_same_but_ones(const struct msd_extents *x, const modser_tensor *t)
{
	uint32_t i = 0, k = 0;

	for (;;) {
		while (i < x->ndim && x->dim[i] == 1)
			i++;
		while (k < t->ndim && t->shape[k] == 1)
			k++;
		if (i == x->ndim || k == t->ndim)
			return i == x->ndim && k == t->ndim;
		if (x->dim[i++] != t->shape[k++])
			return false;
	}
}

/* The name of extent @k of @param; NULL: none. */
static const char *name_of(const modser_value *param, size_t k)
{
	const modser_value *names = modser_find(param, "extents");

	if (names == NULL || names->kind != MODSER_TUPLE || k >= names->as.tuple.n)
		return NULL;
	const modser_value *name = &names->as.tuple.item[k];
	return name->kind == MODSER_STR && name->as.str.n > 0 ? name->as.str.p : NULL;
}

/* The value in other arguments of the name of open extent @k of parameter @i; -1:
 * none. */
static int64_t elsewhere(const struct msd_arguments *a, const struct msd_parameters *s,
			 size_t i, size_t k)
{
	const char *name = name_of(&s->params->as.tuple.item[i], k);

	for (size_t p = 0; name != NULL && p < a->n; p++) {
		const modser_value *param = msd_arguments_param(a, s, p);
		const modser_tensor *t = &a->values[p].as.tensor;

		if (param == NULL || param == &s->params->as.tuple.item[i] ||
		    (a->values[p].kind != MODSER_TENSOR &&
		     a->values[p].kind != MODSER_OUT) ||
		    !msd_extents_fit(param, t))
			continue;
		for (size_t at = 0; at < t->ndim; at++) {
			const char *other = name_of(param, at);

			if (other != NULL && strcmp(other, name) == 0)
				return t->shape[at];
		}
	}
	return -1;
}

bool msd_extents_wanted(struct msd_extents *ret, const struct msd_arguments *a,
			const struct msd_parameters *s, size_t i,
			const modser_value *param)
{
	const modser_value *shape = shape_of(param);
	const modser_tensor *own = i < a->n && (a->values[i].kind == MODSER_TENSOR ||
						a->values[i].kind == MODSER_OUT)
					   ? &a->values[i].as.tensor
					   : NULL;

	if (shape == NULL)
		return false;
	/* An input of an instance is not a parameter of the arguments. */
	const size_t at = (size_t)(param - s->params->as.tuple.item);
	const bool is_called = i >= a->n || msd_arguments_param(a, s, i) == param;
	ret->ndim = (uint32_t)shape->as.tuple.n;
	for (uint32_t k = 0; k < ret->ndim; k++) {
		const modser_value *extent = &shape->as.tuple.item[k];

		ret->dim[k] = !is_open(extent) ? extent->as.i
			      : is_called      ? elsewhere(a, s, at, k)
					       : -1;
		if (ret->dim[k] < 0) {
			ret->dim[k] = own != NULL && own->ndim == ret->ndim
					      ? own->shape[k]
					      : 1;
		}
	}
	return true;
}
