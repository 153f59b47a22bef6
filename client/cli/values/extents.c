/*
 * Happy path: each fixed extent is in the parameter's map. An open extent has a name
 * in the signature's text, "f(A: Tensor([n, 4], float32), ...)", and gets the value
 * of an argument with the same name. Failures: a text of another form has no names;
 * then the argument's own extent, or 1, is used.
 */
#include "client/cli/values/extents.h"

#include <inttypes.h>
#include <string.h>

#define TENSOR "Tensor(["

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
	msd_buf_put_u8(out, '[');
	for (uint32_t k = 0; k < x->ndim; k++)
		msd_buf_printf(out, "%s%" PRId64, k > 0 ? "," : "", x->dim[k]);
	msd_buf_put_u8(out, ']');
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

/* The name of extent @k of tensor parameter @i in @text; n is 0: none. */
static struct msd_span name_of(const char *text, const modser_value *params, size_t i,
			       size_t k)
{
	size_t nth = 0, n_all = 0;

	for (size_t p = 0; p < params->as.tuple.n; p++) {
		const bool is_tensor =
			msd_parameters_is(&params->as.tuple.item[p], "tensor");

		n_all += is_tensor;
		nth += is_tensor && p < i;
	}
	for (size_t found = 0; (text = strstr(text, TENSOR)) != NULL; found++) {
		text += strlen(TENSOR);
		if (found == nth)
			break;
	}
	while (text != NULL && k > 0 && text[strcspn(text, ",])")] == ',') {
		text += strcspn(text, ",") + 1;
		text += strspn(text, " ");
		k--;
	}
	return text != NULL && k == 0
		       ? (struct msd_span){(const uint8_t *)text, strcspn(text, ",])")}
		       : (struct msd_span){0};
}

/* The value in other arguments of the name of open extent @k of parameter @i; -1:
 * none. */
static int64_t elsewhere(const struct msd_arguments *a, const struct msd_parameters *s,
			 size_t i, size_t k)
{
	const char *text = msd_parameters_text(s->function, "signature");
	const struct msd_span name =
		text != NULL ? name_of(text, s->params, i, k) : (struct msd_span){0};

	for (size_t p = 0; name.n > 0 && p < a->n; p++) {
		const modser_value *param = msd_arguments_param(a, s, p);
		const modser_tensor *t = &a->values[p].as.tensor;

		if (param == NULL || param == &s->params->as.tuple.item[i] ||
		    (a->values[p].kind != MODSER_TENSOR &&
		     a->values[p].kind != MODSER_OUT) ||
		    !msd_extents_fit(param, t))
			continue;
		for (size_t at = 0; at < t->ndim; at++) {
			const struct msd_span other =
				name_of(text, s->params,
					(size_t)(param - s->params->as.tuple.item), at);

			if (other.n == name.n && memcmp(other.p, name.p, name.n) == 0)
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
