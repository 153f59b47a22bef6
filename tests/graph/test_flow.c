/* If, Loop and Scan: what they compute, from the files of tests/corpus/onnx, and what
 * is refused. */
#include <criterion/criterion.h>
#include <string.h>

#include "graph/inspect/tally.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/artifact/fixture.h"
#include "tests/support/fail_alloc.h"

#define CORPUS MSD_SOURCE_DIR "/tests/corpus/onnx/accept_"

struct flow {
	struct bw file;
	modser_graph *g;
	struct msd_plan *plan;
	struct msd_diag d;
};

static struct flow flow_begin(const char *name)
{
	struct flow f = {.file = fixture_read(name), .g = modser_graph_create("")};
	const modser_part part = {f.file.p, f.file.n};
	modser_serializer *s = modser_serializer_get("onnx");

	cr_assert_eq(modser_serializer_load_memory(s, &part, 1, NULL, f.g), 0, "%s",
		     modser_graph_error(f.g));
	modser_serializer_unref(s);
	return f;
}

static struct flow flow_of(const char *name)
{
	struct flow f = flow_begin(name);

	cr_assert_eq(msd_plan_create(f.g, &f.plan, &f.d), MSD_OK, "%s",
		     msd_diag_text(&f.d));
	return f;
}

static void flow_end(struct flow *f)
{
	msd_plan_destroy(f->plan);
	modser_graph_destroy(f->g);
	msd_diag_finish(&f->d);
	bw_free(&f->file);
	msd_pool_stop();
}

static void expect_output(const struct flow *f, size_t i, size_t n, const float *want)
{
	const modser_sg_tensor *t = msd_plan_output_tensor(f->plan, i);
	const int ndim = modser_sg_tensor_ndim(t);
	size_t n_got = 1;

	for (int k = 0; k < ndim; k++)
		n_got *= (size_t)modser_sg_tensor_dims(t)[k];
	cr_assert_eq(n_got, n, "output %zu has %zu elements", i, n_got);
	const float *got = msd_plan_output(f->plan, i);
	for (size_t k = 0; k < n; k++) {
		cr_expect_eq(got[k], want[k], "output %zu, %zu: %g", i, k,
			     (double)got[k]);
	}
}

static void expect_run(struct flow *f, const void *const *in)
{
	cr_assert_eq(msd_plan_run(f->plan, in, &f->d), MSD_OK, "%s",
		     msd_diag_text(&f->d));
}

static const float a[2] = {1, 2};
static const float b[2] = {3, 4};

Test(flow, an_if_runs_the_branch_that_its_condition_says)
{
	static const float x[3] = {5, 6, 7};
	struct flow f = flow_of(CORPUS "if.bin");
	const uint8_t truth[2] = {1, 0};

	expect_run(&f, (const void *const[]){&truth[0], x});
	expect_output(&f, 0, 3, (const float[]){-5, -6, -7});
	expect_run(&f, (const void *const[]){&truth[1], x});
	expect_output(&f, 0, 3, (const float[]){5, 7, 9});
	flow_end(&f);
}

Test(flow, a_loop_hands_values_on_and_stacks_the_others)
{
	struct flow f = flow_of(CORPUS "loop.bin");
	const int64_t n = 3;

	expect_run(&f, (const void *const[]){&n, a, b});
	expect_output(&f, 0, 2, (const float[]){10, 14});
	expect_output(&f, 1, 6, (const float[]){-1, -2, -4, -6, -7, -10});
	cr_expect_eq(modser_sg_tensor_dims(msd_plan_output_tensor(f.plan, 1))[0], 3);
	flow_end(&f);
}

Test(flow, a_loop_without_a_turn_gives_what_came_in_and_nothing_stacked)
{
	struct flow f = flow_of(CORPUS "loop.bin");

	for (int64_t n = 2; n >= -2; n -= 2) { /* after a run that had turns, too */
		expect_run(&f, (const void *const[]){&n, a, b});
		const modser_sg_tensor *z = msd_plan_output_tensor(f.plan, 1);
		cr_expect_eq(modser_sg_tensor_ndim(z), 2);
		cr_expect_eq(modser_sg_tensor_dims(z)[0], n > 0 ? n : 0);
		cr_expect_eq(modser_sg_tensor_dims(z)[1], 2);
	}
	expect_output(&f, 0, 2, a);
	flow_end(&f);
}

static void expect_dims(const struct flow *f, size_t i, size_t n, const int64_t *want)
{
	const modser_sg_tensor *t = msd_plan_output_tensor(f->plan, i);

	cr_assert_eq(modser_sg_tensor_ndim(t), (int)n, "output %zu has %d dimensions",
		     i, modser_sg_tensor_ndim(t));
	for (size_t k = 0; k < n; k++) {
		cr_expect_eq(modser_sg_tensor_dims(t)[k], want[k],
			     "extent %zu of output %zu is %d", k, i,
			     (int)modser_sg_tensor_dims(t)[k]);
	}
}

/* @n turns over @n rows of 4 elements, none of them 0. */
static void expect_rows_stacked(struct flow *f, int64_t n)
{
	static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	const int64_t dims[] = {n, 4};

	(void)modser_sg_tensor_set_dims(modser_graph_input(f->g, 1), dims, 2);
	expect_run(f, (const void *const[]){&n, x});
	expect_dims(f, 0, 2, (const int64_t[]){n, 4});
	expect_dims(f, 1, 4, (const int64_t[]){n, 2, 4, 1});
	expect_dims(f, 2, 3, (const int64_t[]){n, 1, n > 0 ? 4 : 0});
	expect_dims(f, 3, 3, (const int64_t[]){n, 4, 1});
}

Test(flow, a_loop_without_a_turn_has_the_shape_that_a_turn_would_give)
{
	struct flow f = flow_of(CORPUS "loop_of_unsaid_shapes.bin");

	for (int64_t n = 0; n < 3; n++)
		expect_rows_stacked(&f, n);
	expect_rows_stacked(&f, 0); /* after turns, too */
	flow_end(&f);
}

Test(flow, a_scan_of_nothing_has_the_shape_that_a_turn_would_give)
{
	static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct flow f = flow_of(CORPUS "scan_of_unsaid_shapes.bin");

	for (int64_t n = 2; n >= 0; n--) {
		const int64_t dims[] = {4, n};

		(void)modser_sg_tensor_set_dims(modser_graph_input(f.g, 1), dims, 2);
		expect_run(&f, (const void *const[]){&n, x});
		expect_dims(&f, 0, 2, (const int64_t[]){n, 4});
		expect_dims(&f, 1, 4, (const int64_t[]){2, n, 4, 1});
		expect_dims(&f, 2, 3, (const int64_t[]){n, 1, n > 0 ? 4 : 0});
		expect_dims(&f, 3, 3, (const int64_t[]){4, 1, n});
	}
	flow_end(&f);
}

Test(flow, values_that_change_places_in_each_turn_stay_whole)
{
	struct flow f = flow_of(CORPUS "loop_that_swaps.bin");
	const int64_t n = 3;

	expect_run(&f, (const void *const[]){&n, a, b});
	expect_output(&f, 0, 2, b);
	expect_output(&f, 1, 2, a);
	flow_end(&f);
}

Test(flow, a_branch_within_a_loop_captures_from_both_graphs_around_it)
{
	struct flow f = flow_of(CORPUS "loop_with_an_if.bin");
	const int64_t n = 3; /* + a, - b, - b */

	expect_run(&f, (const void *const[]){&n, a, b});
	expect_output(&f, 0, 2, (const float[]){-4, -4});
	flow_end(&f);
}

static size_t times(const struct msd_sg_tally *t, const char *op)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		if (strcmp(t->rows[i].op, op) == 0)
			return t->rows[i].n;
	}
	return 0;
}

Test(flow, operators_of_graphs_within_graphs_are_counted)
{
	struct flow f = flow_begin(CORPUS "loop_with_an_if.bin");
	struct msd_sg_tally t;

	cr_assert(msd_sg_tally_count(f.g, &t));
	cr_expect_eq(times(&t, "Loop"), 1);
	cr_expect_eq(times(&t, "InputOp"), 0); /* which compute nothing */
	cr_expect_eq(times(&t, "Const"), 0);
	cr_expect_eq(times(&t, "If"), 1, "of the loop's body");
	cr_expect_eq(times(&t, "Sub"), 1, "of the branch in that body");
	cr_expect_eq(t.n_constants, 1);
	msd_sg_tally_finish(&t);
	flow_end(&f);
}

Test(flow, a_loop_without_a_count_ends_by_its_condition)
{
	struct flow f = flow_of(CORPUS "loop_that_ends.bin");
	const int64_t unused = 0;

	expect_run(&f, (const void *const[]){&unused, a, b});
	expect_output(&f, 0, 2, (const float[]){7, 10});
	flow_end(&f);
}

Test(flow, a_scan_cuts_and_stacks_along_its_axes)
{
	static const float m[6] = {1,  2,  3,
				   10, 20, 30}; /* columns, the last one first */
	static const int64_t dims[2] = {2, 3};
	struct flow f = flow_of(CORPUS "scan.bin");

	(void)modser_sg_tensor_set_dims(modser_graph_input(f.g, 2), dims, 2);
	expect_run(&f, (const void *const[]){a, b, m});
	expect_output(&f, 0, 2, (const float[]){7, 62});
	expect_output(&f, 1, 6, (const float[]){12, 18, 21, 128, 208, 248});
	flow_end(&f);
}

Test(flow, a_graph_that_gives_too_little_is_refused_before_a_run)
{
	struct flow f = flow_begin(CORPUS "loop.bin");
	modser_sg_tensor *more = modser_sg_tensor_create(f.g, "more");

	for (size_t i = 0; i < modser_graph_node_count(f.g); i++) {
		modser_sg_node *node = modser_graph_node(f.g, i);

		if (strcmp(modser_sg_op_name(modser_sg_node_op(node)), "Loop") == 0)
			(void)modser_sg_node_add_output(node, more);
	}
	cr_assert_eq(msd_plan_create(f.g, &f.plan, &f.d), MSD_BAD_ARTIFACT);
	cr_expect_not_null(
		strstr(msd_diag_text(&f.d), "its graph gives 3 values, expected 4"),
		"%s", msd_diag_text(&f.d));
	flow_end(&f);
}

Test(flow, every_failing_allocation_of_a_run_is_reported)
{
	struct flow f = flow_of(CORPUS "loop_with_an_if.bin");
	const int64_t n = 2;
	bool failed = true;
	long k = 0;

	for (; failed; k++) {
		msd_fail_alloc(k);
		const msd_err err =
			msd_plan_run(f.plan, (const void *const[]){&n, a, b}, &f.d);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld", k);
	}
	cr_assert_gt(k, 10);
	flow_end(&f);
}

Test(flow, a_shape_that_memory_is_short_for_is_no_other_shape)
{
	struct flow f = flow_of(CORPUS "loop_of_unsaid_shapes.bin");
	const int64_t dims[] = {0, 4};
	const int64_t n = 0;
	bool failed = true;
	long k = 0;

	(void)modser_sg_tensor_set_dims(modser_graph_input(f.g, 1), dims, 2);
	for (; failed; k++) {
		msd_fail_alloc(k);
		const msd_err err =
			msd_plan_run(f.plan, (const void *const[]){&n, NULL}, &f.d);
		failed = msd_fail_alloc_stop();
		if (err == MSD_OK)
			expect_dims(&f, 1, 4, (const int64_t[]){0, 2, 4, 1});
	}
	cr_assert_gt(k, 10);
	flow_end(&f);
}
