/* Claims: a node is offered when its shapes are known, and an engine that does not
 * support them gives it to the next one. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/net.h"

#define MOST 8

/* What the engine saw, and the most elements that it supports. */
static struct seen {
	int n_taken, n_validated, n_run, n_left;
	int64_t extent; /* of the output, when the node was offered */
	char dtype[16];
	int64_t most;
} seen;

static int take(const modser_sg_node *node, void **ret_state, char *ret_why,
		size_t why_bytes)
{
	const modser_sg_tensor *y = modser_sg_node_output(node, 0);

	(void)ret_why;
	(void)why_bytes;
	if (strcmp(modser_sg_node_name(node), "ours") != 0)
		return 0;
	seen.n_taken++;
	seen.extent = modser_sg_tensor_dims(y)[0];
	(void)strncpy(seen.dtype, modser_sg_tensor_dtype(y), sizeof(seen.dtype) - 1);
	*ret_state = &seen;
	return 1;
}

static int validate(void *state, const modser_sg_node *node, char *ret_why,
		    size_t why_bytes)
{
	cr_expect_eq(state, &seen);
	(void)strncpy(ret_why, "too many elements", why_bytes);
	seen.n_validated++;
	return modser_sg_tensor_dims(modser_sg_node_output(node, 0))[0] <= seen.most;
}

static int run_ours(void *state, const modserd_kernel_call *call, char *ret_why,
		    size_t why_bytes)
{
	float *out = call->out[0];

	(void)ret_why;
	(void)why_bytes;
	cr_expect_eq(state, &seen);
	out[0] = 100;
	seen.n_run++;
	return 0;
}

static void leave(void *state)
{
	cr_expect_eq(state, &seen);
	seen.n_left++;
}

static const modserd_engine ours = {.size = sizeof(ours),
				    .name = "ours",
				    .take = take,
				    .run = run_ours,
				    .leave = leave,
				    .validate = validate};

/* y = relu(x), of @n elements. */
static modser_graph *relu(int64_t n, const char *dtype)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dtype(x, dtype);
	(void)modser_sg_tensor_set_dims(x, &n, 1);
	(void)net_node(g, "x", "InputOp", x);
	(void)modser_sg_node_add_input(net_node(g, "ours", "ReLu", y), x);
	(void)modser_graph_add_input(g, x);
	(void)modser_graph_add_output(g, y);
	return g;
}

static float answer(struct msd_plan *plan, modser_graph *g, int64_t n)
{
	const float x[MOST] = {1, 1};
	const void *const in[] = {x};

	(void)modser_sg_tensor_set_dims(modser_graph_input(g, 0), &n, 1);
	cr_assert_eq(msd_plan_run(plan, in, NULL), MSD_OK);
	return *(const float *)msd_plan_output(plan, 0);
}

static void finish(struct msd_plan *plan, modser_graph *g)
{
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
	msd_pool_stop();
}

static struct msd_plan *plan_of(modser_graph *g, int64_t most)
{
	struct msd_plan *plan = NULL;

	seen = (struct seen){.most = most};
	cr_assert_eq(msd_engine_register(&ours), 0);
	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	return plan;
}

Test(claim, a_node_is_offered_with_its_dtypes_and_shapes)
{
	modser_graph *g = relu(3, "float64");
	struct msd_plan *plan = plan_of(g, MOST);

	cr_expect_eq(seen.n_taken, 1);
	cr_expect_eq(seen.extent, 3);
	cr_expect_str_eq(seen.dtype, "float64");
	finish(plan, g);
	cr_expect_eq(seen.n_left, 1);
}

Test(claim, shapes_that_are_not_supported_go_to_the_next_engine)
{
	modser_graph *g = relu(3, "float32");
	struct msd_plan *plan = plan_of(g, 2);

	cr_expect_eq(seen.n_left, 1);
	cr_expect_eq(answer(plan, g, 3), 1);
	cr_expect_eq(seen.n_run, 0);
	finish(plan, g);
}

Test(claim, extents_of_a_call_are_offered_in_the_first_call)
{
	modser_graph *g = relu(-1, "float32");
	struct msd_plan *plan = plan_of(g, 2);

	cr_expect_eq(seen.n_taken, 0);
	cr_expect_eq(answer(plan, g, 2), 100);
	cr_expect_eq(seen.n_taken, 1);
	cr_expect_eq(seen.extent, 2);
	finish(plan, g);
}

Test(claim, a_call_of_other_shapes_runs_on_the_reference_engine)
{
	modser_graph *g = relu(-1, "float32");
	struct msd_plan *plan = plan_of(g, 2);

	cr_expect_eq(answer(plan, g, 2), 100);
	cr_expect_eq(answer(plan, g, 5), 1);
	cr_expect_eq(answer(plan, g, 1), 100);
	cr_expect_eq(answer(plan, g, 5), 1);
	cr_expect_eq(seen.n_taken, 1);
	cr_expect_eq(seen.n_left, 0);
	finish(plan, g);
	cr_expect_eq(seen.n_left, 1);
}
