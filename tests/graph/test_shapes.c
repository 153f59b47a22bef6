/* Shapes of the last runs are kept: what is inferred is counted. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "graph/modserd_plugin.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/shapes.h"
#include "tests/graph/net.h"
#include "tests/support/fail_alloc.h"

#define MOST 64
#define KEPT ((int)MSD_SHAPES_KEPT)

static int n_inferred;

static int infer_double(modser_sg_node *node)
{
	const modser_sg_tensor *x = modser_sg_node_input(node, 0);

	n_inferred++;
	if (modser_sg_tensor_dims(x)[0] > MOST)
		return modser_graph_fail(modser_sg_node_graph(node), "too many");
	return modser_sg_tensor_set_dims(modser_sg_node_output(node, 0),
					 modser_sg_tensor_dims(x), 1);
}

static int run_double(const modserd_kernel_call *call, char *ret_why, size_t why_bytes)
{
	const int64_t n =
		modser_sg_tensor_dims(modser_sg_node_output(call->node, 0))[0];
	const float *in = call->in[0];
	float *out = call->out[0];

	(void)snprintf(ret_why, why_bytes, "%s", "");
	for (int64_t i = 0; i < n; i++)
		out[i] = 2 * in[i];
	return 0;
}

static const modser_sg_op_schema schema = {.size = sizeof(schema),
					   .name = "Double",
					   .min_in = 1,
					   .max_in = 1,
					   .min_out = 1,
					   .max_out = 1,
					   .infer = infer_double};
static const modserd_kernel kernel = {sizeof(kernel), "Double", run_double};

/* y = 2 * 2 * x, of any length. */
static modser_graph *double_twice(struct msd_plan **ret)
{
	static const int64_t any = -1;
	modser_graph *g = modser_graph_create("twice");
	modser_sg_tensor *last = modser_sg_tensor_create(g, "x");

	cr_assert_eq(modser_sg_op_register(&schema), 0);
	cr_assert_eq(msd_kernel_register(&kernel), 0);
	(void)modser_sg_tensor_set_type(last, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(last, &any, 1);
	(void)net_node(g, "x", "InputOp", last);
	(void)modser_graph_add_input(g, last);
	for (int i = 0; i < 2; i++) {
		modser_sg_tensor *next = modser_sg_tensor_create(g, "next");

		(void)modser_sg_node_add_input(net_node(g, "n", "Double", next), last);
		last = next;
	}
	(void)modser_graph_add_output(g, last);
	cr_assert_eq(msd_plan_create(g, ret, NULL), MSD_OK);
	return g;
}

static void finish(modser_graph *g, struct msd_plan *plan)
{
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

/* Run it for @n numbers; what comes out is right. */
static msd_err run(modser_graph *g, struct msd_plan *plan, int64_t n)
{
	static float x[MOST + 1];
	const void *in[] = {x};

	for (int i = 0; i <= MOST; i++)
		x[i] = (float)i + (float)n;
	cr_assert_eq(modser_sg_tensor_set_dims(modser_graph_input(g, 0), &n, 1), 0);
	const msd_err err = msd_plan_run(plan, in, NULL);
	if (err != MSD_OK)
		return err;
	const float *y = msd_plan_output(plan, 0);
	cr_assert_eq(modser_sg_tensor_dims(msd_plan_output_tensor(plan, 0))[0], n);
	for (int i = 0; i < n; i++)
		cr_assert_eq(y[i], 4 * x[i]);
	return MSD_OK;
}

static int inferred_by(modser_graph *g, struct msd_plan *plan, int64_t n)
{
	n_inferred = 0;
	cr_assert_eq(run(g, plan, n), MSD_OK);
	return n_inferred;
}

Test(shapes, those_of_the_last_runs_are_inferred_once)
{
	struct msd_plan *plan;
	modser_graph *g = double_twice(&plan);

	for (int n = 1; n <= KEPT; n++)
		cr_assert_eq(inferred_by(g, plan, 7 * n), 2);
	for (int n = KEPT; n >= 1; n--)
		cr_assert_eq(inferred_by(g, plan, 7 * n), 0);
	/* A ninth takes the room of what was used longest ago, and of nothing else. */
	cr_assert_eq(inferred_by(g, plan, 60), 2);
	for (int n = 1; n < KEPT; n++)
		cr_assert_eq(inferred_by(g, plan, 7 * n), 0);
	cr_assert_eq(inferred_by(g, plan, 7 * KEPT), 2);
	finish(g, plan);
}

Test(shapes, one_arena_is_for_the_largest)
{
	struct msd_plan *plan;
	modser_graph *g = double_twice(&plan);

	cr_assert_eq(msd_plan_arena_bytes(plan), 0);
	for (int n = 16; n <= MOST; n += 16)
		cr_assert_eq(run(g, plan, n), MSD_OK);
	cr_assert_eq(run(g, plan, 1), MSD_OK);
	cr_assert_eq(msd_plan_arena_bytes(plan), 2 * MOST * sizeof(float));
	finish(g, plan);
}

Test(shapes, what_cannot_be_is_not_kept)
{
	struct msd_plan *plan;
	modser_graph *g = double_twice(&plan);

	for (int i = 0; i < 2; i++)
		cr_assert_neq(run(g, plan, MOST + 1), MSD_OK);
	cr_assert_eq(inferred_by(g, plan, MOST), 2);
	cr_assert_eq(inferred_by(g, plan, MOST), 0);
	finish(g, plan);
}

Test(shapes, a_failing_allocation_costs_its_run_alone)
{
	struct msd_plan *plan;
	modser_graph *g = double_twice(&plan);
	bool failed = true;
	long k = 0;

	for (; failed; k++) {
		msd_fail_alloc(k);
		const msd_err err = run(g, plan, 1 + k);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld", k);
		cr_assert_eq(run(g, plan, 1 + k), MSD_OK);
	}
	cr_assert_gt(k, 3);
	finish(g, plan);
}
