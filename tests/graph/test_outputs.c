/* Outputs that the caller makes: the last kernel writes into them, and a run leaves the
 * graph as it is. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/artifact/fixture.h"
#include "tests/graph/net.h"
#include "tests/support/fail_alloc.h"

#define MOST 8
#define LOOP MSD_SOURCE_DIR "/tests/corpus/onnx/accept_loop_with_an_if.bin"

/* The memory that a caller makes for outputs. */
struct made {
	float y[4][MOST];
	int n[4];
	int fails_at; /* this output has no memory */
};

static void *make_output(void *ctx, size_t i, const modser_sg_tensor *t)
{
	struct made *m = ctx;

	cr_assert_lt(i, 4u);
	cr_assert_leq(modser_sg_tensor_dims(t)[0], MOST);
	m->n[i]++;
	return (int)i == m->fails_at ? NULL : m->y[i];
}

/* a = relu(x), y = -a; the outputs are x, a, y and y again. */
static modser_graph *chain(int64_t n)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	modser_sg_tensor *a = modser_sg_tensor_create(g, "a");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(x, &n, 1);
	(void)net_node(g, "x", "InputOp", x);
	(void)modser_sg_node_add_input(net_node(g, "a", "ReLu", a), x);
	(void)modser_sg_node_add_input(net_node(g, "y", "Neg", y), a);
	(void)modser_graph_add_input(g, x);
	(void)modser_graph_add_output(g, x);
	(void)modser_graph_add_output(g, a);
	(void)modser_graph_add_output(g, y);
	(void)modser_graph_add_output(g, y);
	return g;
}

static const float x[MOST] = {-1, 2, 3, -4};

static msd_err call(struct msd_plan *plan, int64_t n, struct made *m)
{
	const struct msd_plan_input in = {x, &n, 1, {MSD_DT_FLOAT, 32, 1}};
	const struct msd_plan_args args = {&in, make_output, m};

	return msd_plan_call(plan, &args, NULL);
}

static void finish(modser_graph *g, struct msd_plan *plan)
{
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
	msd_pool_stop();
}

static void expect_outputs(const struct made *m)
{
	static const float want[4][4] = {
		{-1, 2, 3, -4}, {0, 2, 3, 0}, {-0.0f, -2, -3, -0.0f}, {0, -2, -3, 0}};

	for (size_t i = 0; i < 4; i++) {
		cr_expect_eq(m->n[i], 1, "output %zu was made %d times", i, m->n[i]);
		for (size_t k = 0; k < 4; k++)
			cr_expect_eq(m->y[i][k], want[i][k], "output %zu, %zu", i, k);
	}
}

static void expect_calls(int64_t n_of_file)
{
	modser_graph *g = chain(n_of_file);
	struct msd_plan *plan = NULL;

	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	for (int i = 0; i < 3; i++) {
		struct made m = {.fails_at = -1};

		cr_assert_eq(call(plan, 4, &m), MSD_OK);
		expect_outputs(&m);
	}
	finish(g, plan);
}

Test(outputs, each_is_made_once_in_a_run)
{
	expect_calls(4);
	expect_calls(-1);
}

Test(outputs, the_last_kernel_writes_into_what_the_caller_made)
{
	modser_graph *g = chain(4);
	struct msd_plan *plan = NULL;
	struct made m = {.fails_at = -1};

	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	cr_assert_eq(call(plan, 4, &m), MSD_OK);
	for (size_t i = 0; i < 4; i++)
		cr_expect_eq(msd_plan_output(plan, i), m.y[i], "output %zu", i);
	finish(g, plan);
}

Test(outputs, one_without_memory_fails_the_run)
{
	modser_graph *g = chain(4);
	struct msd_plan *plan = NULL;

	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	for (int i = 0; i < 4; i++) {
		struct made m = {.fails_at = i};

		cr_expect_eq(call(plan, 4, &m), MSD_NOMEM, "output %d", i);
	}
	struct made m = {.fails_at = -1};
	cr_expect_eq(call(plan, 4, &m), MSD_OK);
	expect_outputs(&m);
	finish(g, plan);
}

static char *dump(modser_graph *g)
{
	char *text = NULL;

	cr_assert_eq(modser_graph_dump(g, &text), 0);
	return text;
}

Test(outputs, a_run_of_other_shapes_leaves_the_graph_as_it_is)
{
	modser_graph *g = chain(-1);
	struct msd_plan *plan = NULL;

	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	char *before = dump(g);
	for (int64_t n = 1; n <= MOST; n++) {
		struct made m = {.fails_at = -1};

		cr_assert_eq(call(plan, n, &m), MSD_OK);
		cr_expect_eq(modser_sg_tensor_dims(msd_plan_output_tensor(plan, 2))[0],
			     n);
	}
	char *after = dump(g);
	cr_expect_str_eq(after, before);
	free(before);
	free(after);
	finish(g, plan);
}

static modser_graph *load(struct bw *file)
{
	modser_graph *g = modser_graph_create("");
	modser_serializer *s = modser_serializer_get("onnx");
	const modser_part part = {file->p, file->n};

	cr_assert_eq(modser_serializer_load_memory(s, &part, 1, NULL, g), 0);
	modser_serializer_unref(s);
	return g;
}

Test(outputs, a_run_of_computed_shapes_leaves_the_graph_as_it_is)
{
	static const float a[2] = {1, 2}, b[2] = {3, 4};
	const int64_t n = 3;
	struct bw file = fixture_read(LOOP);
	modser_graph *g = load(&file);
	struct msd_plan *plan = NULL;

	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	char *before = dump(g);
	const void *const in[] = {&n, a, b};
	cr_assert_eq(msd_plan_run(plan, in, NULL), MSD_OK);
	char *after = dump(g);
	cr_expect_str_eq(after, before);
	free(before);
	free(after);
	finish(g, plan);
	bw_free(&file);
}

/* Memory of the caller, the plan and the view fails in turn. */
Test(outputs, a_failing_allocation_costs_its_call_alone)
{
	modser_graph *g = chain(-1);
	struct msd_plan *plan = NULL;
	bool failed = true;
	int64_t k = 0;

	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	for (; failed; k++) {
		struct made m = {.fails_at = -1};
		const int64_t n = 1 + k % MOST;

		msd_fail_alloc(k);
		const msd_err err = call(plan, n, &m);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %d", (int)k);
	}
	cr_expect_gt(k, 10);
	finish(g, plan);
}
