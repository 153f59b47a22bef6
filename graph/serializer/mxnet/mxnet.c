/* The serializer of MXNet, and how its two files are told apart. */
#include <string.h>

#include "graph/serializer/mxnet/layer.h"
#include "graph/serializer/mxnet/params.h"
#include "graph/serializer/mxnet/read.h"
#include "graph/serializer/operators.h"
#include "graph/serializer/serializer.h"

/* TVM's graph.json has the same names, and its nodes this operator. */
static bool has_tvm_op(const uint8_t *p, size_t bytes)
{
	static const char op[] = "\"tvm_op\"";

	return memmem(p, bytes, op, sizeof(op) - 1) != NULL;
}

/* An object whose first name is one of a symbol's. */
static bool is_symbol(const void *head, size_t bytes)
{
	static const char *const names[] = {"\"nodes\"", "\"arg_nodes\"", "\"heads\"",
					    "\"attrs\"", "\"node_row_ptr\""};
	const uint8_t *p = head;
	size_t i = 0;
	bool is_open = false;

	while (i < bytes && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r' ||
			     p[i] == '\n' || (p[i] == '{' && !is_open))) {
		is_open = is_open || p[i] == '{';
		i++;
	}
	for (size_t k = 0; is_open && k < sizeof(names) / sizeof(names[0]); k++) {
		if (msd_span_begins((struct msd_span){p + i, bytes - i}, names[k]))
			return !has_tvm_op(p, bytes);
	}
	return false;
}

bool msd_mxnet_operators(struct msd_operators *ret)
{
	const struct mxnet_row *row;

	for (size_t i = 0; (row = mxnet_row_at(i)) != NULL; i++) {
		if (!msd_operators_add(ret, row->name))
			return false;
	}
	return true;
}

static const modser_file_kind files[] = {
	{"the symbol (-symbol.json)", is_symbol},
	{"the parameters (.params)", mxnet_params_probe},
};

const modser_serializer_ops msd_mxnet_serializer = {
	.size = sizeof(modser_serializer_ops),
	.has_fixed_outputs = true,
	.name = "mxnet",
	.format = "mxnet",
	.version = "1.0",
	.n_files = 2,
	.probe = is_symbol,
	.load = mxnet_load,
	.files = files,
};
