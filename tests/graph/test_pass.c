/* Passes: what becomes of a graph, and that it computes the same. */
#include <math.h>

#include "tests/graph/constant.h"
#include "tests/graph/passing.h"

static const int64_t four[] = {4};

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
		g,
		add(g, "Neg",
		    add(g, op, x, net_constant(g, "int64", 1, count_of, list)), NULL));
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
				  net_constant(g, "float32", 4, w_dims, weights));
	modser_sg_op *conv = modser_sg_node_op(y->producer);
	modser_sg_tensor *z = add(g, "BatchNormalization", y,
				  net_constant(g, "float32", 1, two, scale));

	(void)modser_sg_op_set_int(conv, "output_channel", 2);
	(void)modser_sg_node_add_input(y->producer,
				       net_constant(g, "float32", 1, two, shift));
	(void)modser_sg_node_add_input(z->producer,
				       net_constant(g, "float32", 1, two, shift));
	(void)modser_sg_node_add_input(z->producer,
				       net_constant(g, "float32", 1, two, mean));
	(void)modser_sg_node_add_input(z->producer,
				       net_constant(g, "float32", 1, two, var));
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
	modser_graph *trains = make_norm_of(variance, false);
	modser_sg_node *norm = modser_graph_output(trains, 0)->producer;

	cr_assert_eq(modser_sg_op_set_int(norm->op, "training_mode", 1), 0);
	cr_expect_eq(pass(trains).n[MSD_PASS_batch_norm], 0);
	modser_graph_destroy(trains);
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

static modser_graph *make_norm(void)
{
	return make_norm_of(variance, false);
}

Test(pass, a_failing_allocation_leaves_a_graph_that_goes)
{
	expect_every_failure(make_identities);
	expect_every_failure(make_norm);
	msd_pool_stop();
}
