/* Inference and plans; the numbers are compared in tests/e2e/test_reference.py. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/inspect/inspect.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/artifact/fixture.h"
#include "tests/graph/net.h"
#include "tests/support/fail_alloc.h"

#define YOLO MSD_SOURCE_DIR "/tests/graph/golden/yolov3_tiny_benchmark.tmfile"

static modser_graph *load(const char *path)
{
	const modser_model_options options = {.fill = MODSER_FILL_LEAVE};
	modser_serializer *s = modser_serializer_get("tengine");
	modser_graph *g = modser_graph_create("");

	cr_assert_eq(modser_serializer_load_files(s, &path, 1, &options, g), 0, "%s",
		     modser_graph_error(g));
	modser_serializer_unref(s);
	return g;
}

/* @path has the shape of every tensor: inference must find the same. */
static void expect_own_shapes(const char *path)
{
	modser_graph *want = load(path);
	modser_graph *g = load(path);

	for (size_t i = 0; i < modser_graph_tensor_count(g); i++) {
		modser_sg_tensor *t = modser_graph_tensor(g, i);

		if (modser_sg_tensor_type_of(t) == MODSER_TENSOR_VAR)
			(void)modser_sg_tensor_set_dims(t, NULL, 0);
	}
	cr_assert_eq(modser_graph_infer(g), 0, "%s", modser_graph_error(g));
	cr_expect(modser_graph_equal(want, g), "%s: %s", path,
		  modser_graph_error(want));
	modser_graph_destroy(want);
	modser_graph_destroy(g);
}

Test(engine, infers_the_shapes_that_the_writer_of_a_real_file_found)
{
	expect_own_shapes(YOLO);
	(void)fixture_each("tengine", "mnist.tmfile", expect_own_shapes);
}

Test(engine, an_input_without_a_shape_is_named)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	(void)net_node(g, "x", "InputOp", x);
	(void)modser_graph_add_input(g, x);
	(void)modser_graph_add_output(g, x);
	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_BAD_ARTIFACT);
	cr_assert_str_eq(msd_diag_text(&d), "node 0 \"x\", InputOp: the shape of \"x\" "
					    "is not known");
	msd_diag_finish(&d);
	modser_graph_destroy(g);
}

Test(engine, an_operator_that_nothing_computes_is_named)
{
	static const modser_sg_op_schema schema = {
		.size = sizeof(schema), .name = "Lonely", .max_out = 1};
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(modser_sg_op_register(&schema), 0);
	(void)net_node(g, "n", "Lonely", y);
	(void)modser_graph_add_output(g, y);
	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_UNSUPPORTED);
	cr_assert_str_eq(msd_diag_text(&d), "node 0 \"n\": Lonely cannot be run yet");
	msd_diag_finish(&d);
	modser_graph_destroy(g);
}

Test(engine, runs_again_and_again_with_other_inputs)
{
	modser_graph *g = net_create();
	const float x[2][3] = {{1, 1, 1}, {0, 0, 2}};
	const float want[2][2] = {{6, 15}, {6, 12}};
	struct msd_plan *plan = NULL;

	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	for (size_t i = 0; i < 6; i++) {
		const void *const in[] = {x[i % 2]};

		cr_assert_eq(msd_plan_run(plan, in, NULL), MSD_OK);
		cr_assert_eq(
			memcmp(msd_plan_output(plan, 0), want[i % 2], sizeof(want[0])),
			0);
	}
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
	msd_pool_stop();
}

Test(engine, constants_without_bytes_cannot_be_run)
{
	modser_graph *g = load(YOLO);
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_UNSUPPORTED);
	cr_assert(strstr(msd_diag_text(&d), "has no bytes") != NULL);
	msd_diag_finish(&d);
	modser_graph_destroy(g);
}

Test(engine, tensors_share_memory_when_they_are_done)
{
	modser_graph *g = net_create();
	modser_sg_tensor *last = modser_graph_tensor(g, 2);
	struct msd_plan *plan = NULL;

	for (int i = 0; i < 20; i++) {
		modser_sg_tensor *next = modser_sg_tensor_create(g, "next");
		modser_sg_node *node = net_node(g, "relu", "ReLu", next);

		(void)modser_sg_node_add_input(node, last);
		last = next;
	}
	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	/* The output of the first stays; the others are written in one place. */
	cr_assert_eq(msd_plan_arena_bytes(plan), 2 * 64);
	/* Without a plan the same is found. */
	uint64_t bytes = 0;
	cr_assert_eq(msd_sg_inspect_run(g, &bytes), 0);
	cr_assert_eq(bytes, 2 * 64);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

/* The native engine leaves a node whose weights it cannot pack to the reference
 * engine. */
Test(engine, weights_that_cannot_be_packed_stay)
{
	modser_graph *g = net_create();
	const float x[] = {1, 2, 3};
	const void *inputs[] = {x};
	size_t n_unpacked = 0;
	bool failed = true;

	for (long k = 0; failed; k++) {
		struct msd_plan *plan = NULL;

		msd_fail_alloc(k);
		const msd_err err = msd_plan_create(g, &plan, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert(err == MSD_OK || (failed && err == MSD_NOMEM));
		if (err != MSD_OK)
			continue;
		n_unpacked += failed ? 1 : 0;
		cr_assert_eq(msd_plan_run(plan, inputs, NULL), MSD_OK);
		const float *y = msd_plan_output(plan, 0);
		cr_expect(y[0] == 14 && y[1] == 32);
		msd_plan_destroy(plan);
	}
	cr_expect_eq(n_unpacked, 2, "a claim's object and its weights");
	modser_graph_destroy(g);
}

Test(engine, every_failing_allocation_is_reported)
{
	cr_assert_eq(setenv("MODSERD_ENGINE", "reference", 1), 0);
	modser_graph *g = net_create();
	long k = 0;
	bool failed = true;

	for (; failed; k++) {
		struct msd_plan *plan = NULL;

		msd_fail_alloc(k);
		msd_err err = msd_plan_create(g, &plan, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld", k);
		msd_plan_destroy(plan);
	}
	cr_assert_gt(k, 8);
	modser_graph_destroy(g);
}
