/* List the ONNX operators that can be read, and the operators that can be written. */
#include "graph/serializer/operators.h"

#include <stdio.h>

#include "graph/serializer/onnx/out.h"

bool msd_onnx_operators_loaded(struct msd_operators *ret)
{
	struct onnx_row_walk w = {0};
	char name[256];

	for (const struct onnx_row *r = onnx_row_next(&w); r != NULL;
	     r = onnx_row_next(&w)) {
		const char *domain = onnx_row_domain(r);

		(void)snprintf(name, sizeof(name), "%s%s%s", domain,
			       domain[0] != '\0' ? "." : "", r->name);
		if (!msd_operators_add(ret, name))
			return false;
	}
	return true;
}

/* True unless the row is of an opset that is not written. */
static bool is_written(const struct onnx_row *row)
{
	int64_t first;

	return row->op != NULL && onnx_row_find(onnx_row_domain(row), row->name,
						onnx_row_opset(row), &first) == row;
}

bool msd_onnx_operators_stored(struct msd_operators *ret)
{
	struct onnx_row_walk w = {0};

	for (size_t i = 0; onnx_forms[i] != NULL; i++) {
		for (const struct onnx_form *f = onnx_forms[i]; f->op != NULL; f++) {
			if (!msd_operators_add(ret, f->op))
				return false;
		}
	}
	for (const struct onnx_row *r = onnx_row_next(&w); r != NULL;
	     r = onnx_row_next(&w)) {
		if (is_written(r) && !msd_operators_add(ret, r->op))
			return false;
	}
	return true;
}
