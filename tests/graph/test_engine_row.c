/* Engines beside the reference: who is asked first, and what is kept of a node. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/net.h"

static int n_taken, n_left;

static int take(const modser_sg_node *node, void **ret_state, char *ret_why,
		size_t why_bytes)
{
	(void)ret_why;
	(void)why_bytes;
	*ret_state = &n_taken;
	n_taken++;
	return strcmp(modser_sg_node_name(node), "fc") == 0;
}

static int run_with(const modserd_kernel_call *call, float y)
{
	float *out = call->out[0];

	out[0] = out[1] = y;
	return 0;
}

static int run_first(void *state, const modserd_kernel_call *call, char *ret_why,
		     size_t why_bytes)
{
	(void)ret_why;
	(void)why_bytes;
	return state == &n_taken ? run_with(call, 1) : -1;
}

static int run_second(void *state, const modserd_kernel_call *call, char *ret_why,
		      size_t why_bytes)
{
	(void)ret_why;
	(void)why_bytes;
	return state == &n_taken ? run_with(call, 2) : -1;
}

static void leave(void *state)
{
	cr_expect_eq(state, &n_taken);
	n_left++;
}

static const modserd_engine first = {.size = sizeof(first),
				     .name = "first",
				     .take = take,
				     .run = run_first,
				     .leave = leave};
static const modserd_engine second = {.size = sizeof(second),
				      .name = "second",
				      .take = take,
				      .run = run_second,
				      .leave = leave};

static float answer(void)
{
	const float x[] = {1, 1, 1};
	const void *const in[] = {x};
	modser_graph *g = net_create();
	struct msd_plan *plan = NULL;

	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	cr_assert_eq(msd_plan_run(plan, in, NULL), MSD_OK);
	const float y = *(const float *)msd_plan_output(plan, 0);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
	msd_pool_stop();
	return y;
}

Test(engine_row, the_one_that_was_added_last_is_asked_first)
{
	cr_expect_eq(answer(), 6);
	cr_assert_eq(msd_engine_register(&first), 0);
	cr_expect_eq(answer(), 1);
	cr_assert_eq(msd_engine_register(&second), 0);
	cr_expect_eq(answer(), 2);
}

Test(engine_row, what_it_keeps_goes_with_the_plan)
{
	cr_assert_eq(msd_engine_register(&first), 0);
	(void)answer();
	cr_expect_eq(n_taken, 1);
	cr_expect_eq(n_left, 1);
}

Test(engine_row, a_name_is_for_one)
{
	const modserd_engine taken = {.size = sizeof(taken),
				      .name = "reference",
				      .take = take,
				      .run = run_first};
	const modserd_engine empty = {
		.size = sizeof(empty), .name = "empty", .take = take};

	cr_assert_eq(msd_engine_register(&first), 0);
	cr_expect_eq(msd_engine_register(&first), -1);
	cr_expect_eq(msd_engine_register(&taken), -1);
	cr_expect_eq(msd_engine_register(&empty), -1);
	cr_expect_str_eq(modser_registration_error(), "modserd_engine.run is NULL");
	cr_expect_eq(msd_engine_register(NULL), -1);
	cr_expect_eq(msd_kernel_register(NULL), -1);
	cr_expect_eq(msd_kernel_register(
			     &(modserd_kernel){sizeof(modserd_kernel), NULL, NULL}),
		     -1);
	cr_expect_str_eq(modser_registration_error(), "modserd_kernel.op is NULL");
}
