/* Operators that map features one by one: Binarizer, Imputer, LabelEncoder and
 * OneHotEncoder, of numbers. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/op.h"

static const modser_sg_op_field binarizer_fields[] = {
	OP_OWN_FLOAT("threshold", 0),
};

const modser_sg_op_schema msd_op_binarizer = {
	.name = "Binarizer",
	OP_FIELDS(binarizer_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field imputer_fields[] = {
	OP_OWN_FLOATS("floats"),
	OP_OWN_INTS("ints"),
	OP_OWN_FLOAT("replaced_float", 0),
	OP_OWN_INT("replaced_int", 0),
};

static bool is_float(const modser_sg_node *node)
{
	return msd_infer_dtype_of(node, 0).code == MSD_DT_FLOAT;
}

/* One number for all features, or one for each. */
static int infer_imputer(modser_sg_node *node)
{
	const char *param = is_float(node) ? "floats" : "ints";
	const size_t n = msd_ml_count(node, param);
	const size_t ndim = msd_infer_ndim(node, 0);

	if (ndim != 1 && ndim != 2)
		return msd_infer_fail(node, "its input has no rows of features");
	if (n != 1 && (n == 0 || (int64_t)n != msd_infer_dims(node, 0)[ndim - 1])) {
		return msd_infer_fail(node,
				      "it has %zu imputed %s, expected one for each "
				      "feature",
				      n, param);
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_imputer = {
	.name = "Imputer",
	OP_FIELDS(imputer_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_imputer,
};

static const modser_sg_op_field label_fields[] = {
	OP_OWN_FLOATS("keys_floats"),     OP_OWN_INTS("keys_int64s"),
	OP_OWN_FLOATS("values_floats"),   OP_OWN_INTS("values_int64s"),
	OP_OWN_FLOAT("default_float", 0), OP_OWN_INT("default_int64", -1),
};

static int infer_label(modser_sg_node *node)
{
	const char *keys = is_float(node) ? "keys_floats" : "keys_int64s";
	const bool gives_floats = msd_ml_count(node, "values_floats") > 0;
	const char *values = gives_floats ? "values_floats" : "values_int64s";
	const size_t n = msd_ml_count(node, keys);

	if (n == 0)
		return msd_infer_fail(node, "it has no keys of its input's elements");
	if (msd_ml_count(node, values) != n)
		return msd_infer_fail(node, "%s and %s differ in length", keys, values);
	msd_infer_dtype(node, 0, gives_floats ? MSD_ML_FLOAT32 : MSD_ML_INT64);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_label_encoder = {
	.name = "LabelEncoder",
	OP_FIELDS(label_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_label,
};

static const modser_sg_op_field hot_fields[] = {
	OP_OWN_INTS("categories"),
	OP_OWN_INT("zeros", 1),
};

static int infer_hot(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	const size_t n = msd_ml_count(node, "categories");
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
	OP_FIELDS(hot_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_hot,
};
