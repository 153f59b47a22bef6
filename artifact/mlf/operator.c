#include "artifact/mlf/operator.h"

#include <jansson.h>
#include <string.h>

#include "artifact/mlf/mlf.h"
#include "artifact/printable.h"

/* @name may be NULL: the field is not a text. */
static void put_name(struct msd_buf *out, const char *name)
{
	if (name != NULL) {
		msd_printable_put(out, msd_span_of(name));
	}
}

/* "Tensor([64], float32)", or its bytes if the archive does not record the shape. */
static void put_type(struct msd_buf *out, const json_t *t)
{
	const json_t *shape = json_object_get(t, "shape");

	if (!json_is_array(shape)) {
		msd_buf_printf(out, "%lld bytes of ",
			       json_integer_value(json_object_get(t, "size_bytes")));
		put_name(out, json_string_value(json_object_get(t, "dtype")));
		return;
	}
	msd_buf_printf(out, "Tensor([");
	for (size_t k = 0; k < json_array_size(shape); k++) {
		msd_buf_printf(out, "%s%lld", k > 0 ? ", " : "",
			       json_integer_value(json_array_get(shape, k)));
	}
	msd_buf_printf(out, "], ");
	put_name(out, json_string_value(json_object_get(t, "dtype")));
	msd_buf_printf(out, ")");
}

/* True if the list separates arguments from an operator's own memory; 0.16 does not. */
static bool tells_arguments(const json_t *tensors)
{
	for (size_t i = 0; i < json_array_size(tensors); i++) {
		if (json_is_string(json_object_get(json_array_get(tensors, i),
						   "input_binding")))
			return true;
	}
	return false;
}

/* The arguments of an operator, or the tensors of its own memory. */
static void put_bound(struct msd_buf *out, json_t *tensors, bool is_argument)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(tensors); i++) {
		const json_t *t = json_array_get(tensors, i);
		const json_t *name = json_object_get(t, "input_binding");

		if (json_is_string(name) != is_argument)
			continue;
		msd_buf_printf(out, "%s",
			       n++ > 0       ? ", "
			       : is_argument ? ""
					     : ", within ");
		if (is_argument) {
			put_name(out, json_string_value(name));
			msd_buf_printf(out, ": ");
		}
		put_type(out, t);
	}
}

void msd_mlf_put_operator(const char *name, struct json_t *tensors, struct msd_buf *out)
{
	put_name(out, name);
	msd_buf_printf(out, tells_arguments(tensors) ? "(" : "(?");
	put_bound(out, tensors, true);
	msd_buf_printf(out, ")");
	put_bound(out, tensors, false);
}

/* True if each argument in @tensors is listed with a shape; before version 4 it had
 * none. */
static bool has_shapes(const json_t *tensors)
{
	for (size_t i = 0; i < json_array_size(tensors); i++) {
		const json_t *t = json_array_get(tensors, i);

		if (json_is_string(json_object_get(t, "input_binding")) &&
		    !json_is_array(json_object_get(t, "shape")))
			return false;
	}
	return tells_arguments(tensors);
}

void msd_mlf_signatures(const struct msd_mlf_model *model, struct msd_buf *out)
{
	const char *name;
	json_t *tensors;

	json_object_foreach(json_object_get(model->json, "memory"), name, tensors)
	{
		if (!has_shapes(tensors))
			continue;
		put_name(out, name);
		msd_buf_printf(out, "(");
		put_bound(out, tensors, true);
		msd_buf_printf(out, ")\n");
	}
}
