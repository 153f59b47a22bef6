/* Passes: what becomes of a graph, and that it computes the same. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/pass/pass.h"
#include "runtime/engine/kernel.h"
#include "runtime/engine/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/net.h"
#include "tests/support/fail_alloc.h"

#define MOST 64

static modser_sg_tensor *constant(modser_graph *g, const char *dtype, size_t ndim,
				  const int64_t *dims, const void *bytes)
{
	modser_sg_tensor *t = modser_sg_tensor_create_const(g, "c");
	uint64_t size;

	(void)modser_sg_tensor_set_dtype(t, dtype);
	(void)modser_sg_tensor_set_dims(t, dims, ndim);
	cr_assert(msd_sg_tensor_bytes(t, &size));
	(void)modser_sg_tensor_set_size(t, size);
	(void)modser_sg_tensor_set_buffer(t, bytes, NULL);
	(void)net_node(g, "c", "Const", t);
	return t;
}

static modser_sg_tensor *input(modser_graph *g, size_t ndim, const int64_t *dims)
{
	modser_sg_tensor *t = modser_sg_tensor_create(g, "x");

	(void)modser_sg_tensor_set_type(t, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(t, dims, ndim);
	(void)net_node(g, "x", "InputOp", t);
	(void)modser_graph_add_input(g, t);
	return t;
}

/* The output of a new node of @op over these; @b may be NULL. */
static modser_sg_tensor *add(modser_graph *g, const char *op, modser_sg_tensor *a,
			     modser_sg_tensor *b)
{
	modser_sg_tensor *y = modser_sg_tensor_create(g, op);
	modser_sg_node *node = net_node(g, op, op, y);

	(void)modser_sg_node_add_input(node, a);
	if (b != NULL)
		(void)modser_sg_node_add_input(node, b);
	return y;
}

static struct msd_passed pass(modser_graph *g)
{
	struct msd_passed passed;

	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	cr_assert_eq(msd_passes_run(g, msd_kernel_compute, &passed), 0);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	return passed;
}

static size_t count(const modser_graph *g, const char *op)
{
	size_t n = 0;

	for (size_t i = 0; i < modser_graph_node_count(g); i++) {
		const modser_sg_node *node = modser_graph_node(g, i);

		cr_assert_eq(modser_sg_node_index(node), i);
		n += strcmp(modser_sg_op_name(modser_sg_node_op(node)), op) == 0;
	}
	return n;
}

/* Output 0 for the input x[i] = i + 1. */
static size_t run(modser_graph *g, float ret[MOST])
{
	float x[MOST];
	const void *const in[] = {x};
	struct msd_plan *plan = NULL;
	uint64_t bytes;

	for (int i = 0; i < MOST; i++)
		x[i] = (float)(i + 1);
	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	cr_assert_eq(msd_plan_run(plan, in, NULL), MSD_OK);
	cr_assert(msd_sg_tensor_bytes(modser_graph_output(g, 0), &bytes));
	cr_assert_leq(bytes, MOST * sizeof(float));
	memcpy(ret, msd_plan_output(plan, 0), bytes);
	msd_plan_destroy(plan);
	msd_pool_stop();
	return (size_t)bytes;
}

typedef modser_graph *make_fn(void);

/* The bits of the graph that @make makes are the same after passes. */
static modser_graph *expect_same_bits(make_fn *make)
{
	modser_graph *plain = make();
	modser_graph *passed = make();
	float want[MOST], got[MOST];
	const size_t bytes = run(plain, want);

	(void)pass(passed);
	cr_assert_eq(run(passed, got), bytes);
	cr_expect_eq(memcmp(got, want, bytes), 0);
	modser_graph_destroy(plain);
	return passed;
}

static const int64_t four[] = {4};
static const float numbers[] = {1.5f, -2, 0.25f, 3};

/* y = x * (a + a), and what it is called in the file. */
static modser_graph *make_sum(void)
{
	modser_graph *g = modser_graph_create("sum");
	modser_sg_tensor *a = constant(g, "float32", 1, four, numbers);
	modser_sg_tensor *x = input(g, 1, four);

	(void)modser_graph_add_output(
		g, add(g, "Mul", x, add(g, "Add", a, add(g, "Neg", a, NULL))));
	return g;
}

Test(pass, what_follows_from_constants_is_computed_once)
{
	modser_graph *g = expect_same_bits(make_sum);

	cr_expect_eq(modser_graph_node_count(g), 3); /* x, a constant, the product */
	cr_expect_eq(count(g, "Mul"), 1);
	modser_graph_destroy(g);
}

/* y = x reshaped to its own shape, which nodes compute. */
static modser_graph *make_shape(void)
{
	static const int64_t dims[] = {2, 3}, one[] = {1};
	static const int64_t first = 0, all_left = -1;
	modser_graph *g = modser_graph_create("shape");
	modser_sg_tensor *x = input(g, 2, dims);
	modser_sg_tensor *all = add(g, "Shape", x, NULL);
	modser_sg_tensor *rows =
		add(g, "Gather", all, constant(g, "int64", 1, one, &first));
	modser_sg_tensor *rest = constant(g, "int64", 1, one, &all_left);
	modser_sg_tensor *shape = add(g, "Concat", rows, rest);

	(void)modser_sg_op_set_int(modser_sg_node_op(shape->producer), "axis", 0);
	(void)modser_graph_add_output(g,
				      add(g, "Neg", add(g, "Reshape", x, shape), NULL));
	return g;
}

Test(pass, a_shape_that_every_run_has_is_known_before)
{
	modser_graph *plain = make_shape();
	modser_graph *g = make_shape();
	struct msd_plan *plan;

	cr_assert_eq(msd_plan_create(plain, &plan, NULL), MSD_OK);
	cr_expect_eq(msd_plan_arena_bytes(plan), 0);
	msd_plan_destroy(plan);
	(void)pass(g);
	cr_expect_eq(modser_graph_node_count(g), 2); /* x and Neg */
	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	cr_expect_gt(msd_plan_arena_bytes(plan), 0);
	msd_plan_destroy(plan);
	modser_graph_destroy(plain);
	modser_graph_destroy(g);
}

Test(pass, a_shape_that_a_call_brings_is_left)
{
	static const int64_t open[] = {2, -1};
	modser_graph *g = modser_graph_create("open");

	(void)modser_graph_add_output(g, add(g, "Shape", input(g, 2, open), NULL));
	cr_expect_eq(pass(g).n[MSD_PASS_fold], 0);
	modser_graph_destroy(g);
}

Test(pass, large_constants_stay_in_their_file)
{
	static const int64_t dims[] = {1 << 18}, shape[] = {1, -1}, two[] = {2};
	float *large = calloc(1 << 18, sizeof(*large));
	modser_graph *g = modser_graph_create("large");
	modser_sg_tensor *c = constant(g, "float32", 1, dims, large);

	(void)modser_graph_add_output(g, add(g, "Neg", c, NULL));
	(void)modser_graph_add_output(
		g, add(g, "Reshape", c, constant(g, "int64", 1, two, shape)));
	const struct msd_passed passed = pass(g);
	cr_expect_eq(passed.n[MSD_PASS_fold], 1);
	cr_expect_eq(count(g, "Neg"), 1);
	/* Another shape needs no other bytes. */
	cr_expect_eq(modser_graph_output(g, 1)->data, large);
	modser_graph_destroy(g);
	free(large);
}

Test(pass, what_fails_to_fold_fails_in_a_run)
{
	static const int64_t one[] = {1};
	static const int64_t outside = 9;
	modser_graph *g = modser_graph_create("fails");
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	(void)modser_graph_add_output(g, add(g, "Gather",
					     constant(g, "float32", 1, four, numbers),
					     constant(g, "int64", 1, one, &outside)));
	cr_expect_eq(pass(g).n[MSD_PASS_fold], 0);
	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&d), "node 2 \"Gather\": index 9 of 4");
	msd_plan_destroy(plan);
	msd_diag_finish(&d);
	modser_graph_destroy(g);
}

/* Two outputs: one behind identities, one an identity of the input itself. */
static modser_graph *make_identities(void)
{
	modser_graph *g = modser_graph_create("identities");
	modser_sg_tensor *x = input(g, 1, four);
	modser_sg_tensor *y = add(g, "Neg", add(g, "Noop", x, NULL), NULL);
	modser_sg_tensor *last = add(g, "Noop", add(g, "Dropout", y, NULL), NULL);

	last->producer->name[0] = 'L';
	(void)modser_graph_add_output(g, last);
	(void)modser_graph_add_output(g, add(g, "Noop", x, NULL));
	(void)modser_graph_add_output(g, add(g, "Exp", y, NULL));
	return g;
}

Test(pass, identities_go_and_outputs_keep_their_places)
{
	modser_graph *g = make_identities();
	const modser_sg_tensor *first = modser_graph_output(g, 0);

	cr_expect_eq(pass(g).n[MSD_PASS_identity], 3);
	cr_expect_eq(modser_graph_output(g, 0), first);
	cr_expect_eq(count(g, "Noop"), 1); /* an output that is an input is copied */
	cr_expect_eq(modser_graph_node_count(g), 4);
	modser_graph_destroy(g);
	g = expect_same_bits(make_identities);
	modser_graph_destroy(g);
}

Test(pass, texts_call_nodes_by_their_numbers_in_the_file)
{
	modser_graph *g = make_identities();

	(void)pass(g);
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (strcmp(g->nodes[i]->op->schema->name, "Exp") == 0)
			cr_expect_eq(g->nodes[i]->number, 6);
	}
	modser_graph_destroy(g);
}

/* y = op(x[4, 4], list): the shape stays, what the bytes do is the list's. */
static void expect_left(const char *op, const int64_t *list, size_t n, bool is_left)
{
	static const int64_t dims[] = {4, 4};
	const int64_t count_of[] = {(int64_t)n};
	modser_graph *g = modser_graph_create(op);
	modser_sg_tensor *x = input(g, 2, dims);

	(void)modser_graph_add_output(
		g, add(g, "Neg", add(g, op, x, constant(g, "int64", 1, count_of, list)),
		       NULL));
	cr_expect_eq(count(g, op), 1);
	(void)pass(g);
	cr_expect_eq(count(g, op), is_left ? 1 : 0, "%s", op);
	modser_graph_destroy(g);
}

Test(pass, what_moves_bytes_within_the_same_shape_is_left)
{
	expect_left("Pad", (int64_t[]){0, 0, 0, 0}, 4, false);
	expect_left("Pad", (int64_t[]){1, 0, -1, 0}, 4, true);
	expect_left("Reshape", (int64_t[]){0, -1}, 2, false);
	expect_left("Reshape", (int64_t[]){2, -1}, 2, true);
	expect_left("Tile", (int64_t[]){1, 1}, 2, false);
	expect_left("Expand", (int64_t[]){4, 1}, 2, false);
}

Test(pass, a_transpose_of_a_square_is_left)
{
	static const int64_t dims[] = {4, 4};
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = input(g, 2, dims);

	(void)modser_graph_add_output(
		g, add(g, "Neg", add(g, "Transpose", x, NULL), NULL));
	cr_expect_eq(pass(g).n[MSD_PASS_identity], 0);
	modser_graph_destroy(g);
}

static const float scale[] = {2, -0.5f}, shift[] = {0.1f, 3}, mean[] = {0.7f, -4},
		   variance[] = {0.3f, 9};

/* Convolution 1x1 with 2 channels, a batch norm with @var, and who else reads. */
static modser_graph *make_norm_of(const float *var, bool is_read_twice)
{
	static const int64_t x_dims[] = {1, 2, 2, 3}, w_dims[] = {2, 2, 1, 1},
			     two[] = {2};
	static const float weights[] = {0.3f, -1.7f, 2.5f, 0.9f};
	modser_graph *g = modser_graph_create("norm");
	modser_sg_tensor *y = add(g, "Convolution", input(g, 4, x_dims),
				  constant(g, "float32", 4, w_dims, weights));
	modser_sg_op *conv = modser_sg_node_op(y->producer);
	modser_sg_tensor *z =
		add(g, "BatchNormalization", y, constant(g, "float32", 1, two, scale));

	(void)modser_sg_op_set_int(conv, "output_channel", 2);
	(void)modser_sg_node_add_input(y->producer,
				       constant(g, "float32", 1, two, shift));
	(void)modser_sg_node_add_input(z->producer,
				       constant(g, "float32", 1, two, shift));
	(void)modser_sg_node_add_input(z->producer,
				       constant(g, "float32", 1, two, mean));
	(void)modser_sg_node_add_input(z->producer,
				       constant(g, "float32", 1, two, var));
	(void)modser_graph_add_output(g, z);
	if (is_read_twice)
		(void)modser_graph_add_output(g, add(g, "Neg", y, NULL));
	return g;
}

Test(pass, batch_norm_becomes_the_convolutions)
{
	modser_graph *plain = make_norm_of(variance, false);
	modser_graph *g = make_norm_of(variance, false);
	const modser_sg_tensor *z = modser_graph_output(g, 0);
	const void *weights = z->producer->inputs[0]->producer->inputs[1]->data;
	float want[MOST], got[MOST];

	cr_expect_eq(pass(g).n[MSD_PASS_batch_norm], 1);
	cr_expect_eq(count(g, "BatchNormalization"), 0);
	const modser_sg_node *conv = modser_graph_output(g, 0)->producer;
	cr_expect_eq(conv->inputs[1]->data, weights);
	const size_t n = run(plain, want) / sizeof(float);
	cr_assert_eq(run(g, got), n * sizeof(float));
	for (size_t i = 0; i < n; i++)
		cr_expect_float_eq(got[i], want[i], 1e-6f * (1 + fabsf(want[i])));
	modser_graph_destroy(plain);
	modser_graph_destroy(g);
}

Test(pass, a_batch_norm_that_cannot_be_put_in_is_left)
{
	static const float negative[] = {-1, 9};
	modser_graph *twice = make_norm_of(variance, true);
	modser_graph *bad = make_norm_of(negative, false);

	cr_expect_eq(pass(twice).n[MSD_PASS_batch_norm], 0);
	cr_expect_eq(pass(bad).n[MSD_PASS_batch_norm], 0);
	modser_graph_destroy(twice);
	modser_graph_destroy(bad);
}

Test(pass, what_they_did_is_told)
{
	modser_graph *g = make_identities();
	const struct msd_passed passed = pass(g);
	const struct msd_passed none = {{0}};
	struct msd_buf text = {0};

	msd_passed_text(&none, &text);
	cr_expect_eq(text.n, 0);
	msd_passed_text(&passed, &text);
	msd_buf_put_u8(&text, 0);
	cr_expect_str_eq((const char *)text.p, "passes: identities taken out 3\n");
	msd_buf_finish(&text);
	modser_graph_destroy(g);
}

static void expect_every_failure(make_fn *make)
{
	bool failed = true;
	long k = 0;

	for (; failed; k++) {
		modser_graph *g = make();
		struct msd_passed passed;

		msd_fail_alloc(k);
		const int result = msd_passes_run(g, msd_kernel_compute, &passed);
		failed = msd_fail_alloc_stop();
		cr_assert(failed || result == 0, "allocation %ld", k);
		if (result != 0)
			cr_assert_str_eq(modser_graph_error_name(g), "NO_MEMORY");
		modser_graph_destroy(g);
	}
	cr_expect_gt(k, 8);
}

static modser_graph *make_norm(void)
{
	return make_norm_of(variance, false);
}

Test(pass, a_failing_allocation_leaves_a_graph_that_goes)
{
	expect_every_failure(make_sum);
	expect_every_failure(make_shape);
	expect_every_failure(make_identities);
	expect_every_failure(make_norm);
	msd_pool_stop();
}

/* Forty nodes that read and make half a MiB each. */
Test(pass, of_one_model_no_more_than_16_mib_are_folded)
{
	static const int64_t dims[] = {1 << 16};
	float *large = calloc(1 << 16, sizeof(*large));
	modser_graph *g = modser_graph_create("many");
	modser_sg_tensor *c = constant(g, "float32", 1, dims, large);

	for (int i = 0; i < 40; i++)
		(void)modser_graph_add_output(g, add(g, "Neg", c, NULL));
	cr_expect_eq(pass(g).n[MSD_PASS_fold], 32);
	cr_expect_eq(count(g, "Neg"), 8);
	modser_graph_destroy(g);
	free(large);
	msd_pool_stop();
}
