/* Operators that map features one by one: Binarizer, Imputer, LabelEncoder and
 * OneHotEncoder, of numbers. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/ml/params.h"
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_binarizer = {
	.name = "Binarizer",
	OP_PARAMS(MSD_PARAMS_BINARIZER),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static bool is_float(const modser_sg_node *node)
{
	return msd_infer_dtype_of(node, 0).code == MSD_DT_FLOAT;
}

/* One number for all features, or one for each. */
static int infer_imputer(modser_sg_node *node)
{
	const struct msd_params_imputer p = msd_params_imputer(node);
	const size_t n = is_float(node) ? p.floats.n : p.ints.n;
	const size_t ndim = msd_infer_ndim(node, 0);

	if (ndim != 1 && ndim != 2)
		return msd_infer_fail(node, "its input has no rows of features");
	if (n != 1 && (n == 0 || (int64_t)n != msd_infer_dims(node, 0)[ndim - 1])) {
		return msd_infer_fail(node,
				      "it has %zu imputed %s, expected one for each "
				      "feature",
				      n, is_float(node) ? "floats" : "ints");
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_imputer = {
	.name = "Imputer",
	OP_PARAMS(MSD_PARAMS_IMPUTER),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_imputer,
};

static int infer_label(modser_sg_node *node)
{
	const char *keys = is_float(node) ? "keys_floats" : "keys_int64s";
	const struct msd_params_label_encoder p = msd_params_label_encoder(node);
	const bool gives_floats = p.values_floats.n > 0;
	const char *values = gives_floats ? "values_floats" : "values_int64s";
	const size_t n = is_float(node) ? p.keys_floats.n : p.keys_int64s.n;

	if (n == 0)
		return msd_infer_fail(node, "it has no keys of its input's elements");
	if ((gives_floats ? p.values_floats.n : p.values_int64s.n) != n)
		return msd_infer_fail(node, "%s and %s differ in length", keys, values);
	msd_infer_dtype(node, 0, gives_floats ? MSD_ML_FLOAT32 : MSD_ML_INT64);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_label_encoder = {
	.name = "LabelEncoder",
	OP_PARAMS(MSD_PARAMS_LABEL_ENCODER),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_label,
};

static int infer_hot(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	const size_t n = msd_params_hot_encoder(node).categories.n;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (n == 0)
		return msd_infer_fail(node, "it has no categories that are numbers");
	if (ndim == MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	dims[ndim] = (int64_t)n;
	msd_infer_dtype(node, 0, MSD_ML_FLOAT32);
	return msd_infer_set(node, dims, ndim + 1);
}

const modser_sg_op_schema msd_op_hot_encoder = {
	.name = "OneHotEncoder",
	OP_PARAMS(MSD_PARAMS_HOT_ENCODER),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_hot,
};
