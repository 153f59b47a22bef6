/* Kernels of ai.onnx.ml whose work needs memory; their numbers are compared in
 * tests/e2e/test_ml_operators.py. */
#include "tests/graph/one.h"
#include "tests/support/fail_alloc.h"

static void set_floats(struct one *o, const char *param, const float *list, size_t n)
{
	const modser_sg_attr a = {
		.kind = MODSER_ATTR_FLOATS, .n = n, .as.floats = list};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o->node), param, &a), 0);
}

static void set_ints(struct one *o, const char *param, const int64_t *list, size_t n)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_INTS, .n = n, .as.ints = list};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o->node), param, &a), 0);
}

static void set_text(struct one *o, const char *param, const char *text)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_STR, .as.s = text};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o->node), param, &a), 0);
}

static const float numbers[] = {1, -2, 0.5f, 3, 0.25f, -1, 2, 0.75f, 1, 1, 1, 1};
static const int64_t counts[] = {1, 1, 1}, labels[] = {4, 8, 9};

/* Rows of two features, and the node's second output. */
static struct one begin(const char *op)
{
	static const int64_t dims[] = {2, 2};
	struct one o = one_begin(op);

	one_add_shaped(&o, "float32", 2, dims, numbers);
	return o;
}

static void add_scores(struct one *o)
{
	(void)modser_sg_node_add_output(o->node, modser_sg_tensor_create(o->g, "z"));
}

static struct one make_vectors(void)
{
	struct one o = begin("SVMClassifier");

	add_scores(&o);
	set_floats(&o, "coefficients", numbers, 6);
	set_floats(&o, "support_vectors", numbers, 6);
	set_floats(&o, "rho", numbers, 3);
	set_floats(&o, "prob_a", numbers + 3, 3);
	set_floats(&o, "prob_b", numbers, 3);
	set_ints(&o, "vectors_per_class", counts, 3);
	set_ints(&o, "labels", labels, 3);
	return o;
}

static struct one make_linear(void)
{
	struct one o = begin("LinearClassifier");

	add_scores(&o);
	set_floats(&o, "coefficients", numbers, 6);
	set_ints(&o, "labels", labels, 3);
	return o;
}

/* One tree of a branch and two leaves. */
static struct one make_tree(void)
{
	static const int64_t zeros[3] = {0}, numbered[] = {0, 1, 2}, yes[] = {1, 0, 0},
			     no[] = {2, 0, 0}, leaves[] = {1, 2};
	struct one o = begin("TreeEnsembleRegressor");

	set_ints(&o, "nodes_treeids", zeros, 3);
	set_ints(&o, "nodes_nodeids", numbered, 3);
	set_ints(&o, "nodes_featureids", zeros, 3);
	set_floats(&o, "nodes_values", numbers, 3);
	set_text(&o, "nodes_modes", "BRANCH_LEQ LEAF LEAF");
	set_ints(&o, "nodes_truenodeids", yes, 3);
	set_ints(&o, "nodes_falsenodeids", no, 3);
	set_ints(&o, "weights_treeids", zeros, 2);
	set_ints(&o, "weights_nodeids", leaves, 2);
	set_ints(&o, "weights_ids", zeros, 2);
	set_floats(&o, "weights", numbers, 2);
	return o;
}

typedef struct one make_fn(void);

/* Each allocation of a run fails once; the run after it is as good as the first. */
static void expect_every_failure(make_fn *make)
{
	struct one o = make();
	bool failed = true;
	long k = 0;

	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK, "%s",
		     msd_diag_text(&o.d));
	for (; failed; k++) {
		msd_fail_alloc(k);
		const msd_err err = msd_plan_run(o.plan, NULL, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld", k);
		cr_assert_eq(msd_plan_run(o.plan, NULL, NULL), MSD_OK);
	}
	cr_expect_gt(k, 1);
	one_end(&o);
}

Test(ml, a_failing_allocation_costs_its_run_alone)
{
	expect_every_failure(make_vectors);
	expect_every_failure(make_linear);
	expect_every_failure(make_tree);
}

Test(ml, vectors_that_are_not_as_many_as_said_are_refused)
{
	struct one o = make_vectors();

	set_ints(&o, "vectors_per_class", (const int64_t[]){1, 1, 2}, 3);
	cr_expect_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "it has 6 support_vectors, expected 8");
	set_ints(&o, "vectors_per_class", (const int64_t[]){1, -1, 3}, 3);
	cr_expect_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "a class has no number of vectors");
	one_end(&o);
}
