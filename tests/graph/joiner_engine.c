#include "tests/graph/joiner_engine.h"

#include <criterion/criterion.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "tests/graph/constant.h"
#include "tests/graph/net.h"

struct joiner_seen seen;
modserd_engine watched;

/* Nodes that are called "blocks" are for the engine of blocks_engine.h. */
static int take(const modser_sg_node *node, void **ret_state, char *ret_why,
		size_t why_bytes)
{
	return strcmp(modser_sg_node_name(node), "blocks") != 0 &&
	       joiner.take(node, ret_state, ret_why, why_bytes);
}

static int join(const modserd_group *g, void *const *states, void **ret_state,
		char *ret_why, size_t why_bytes)
{
	seen.n_asked++;
	cr_expect_eq(g->size, sizeof(*g));
	seen.n_nodes = g->n_nodes;
	seen.n_in = g->n_inputs;
	seen.n_out = g->n_outputs;
	if (seen.says != 1) {
		(void)strncpy(ret_why, "not today", why_bytes);
		return seen.says;
	}
	const int said = joiner.join(g, states, ret_state, ret_why, why_bytes);
	seen.n_joined += said == 1;
	return said;
}

static int run_group(void *state, const void *const *in, void *const *out,
		     char *ret_why, size_t why_bytes)
{
	seen.n_run++;
	if (seen.fails)
		(void)strncpy(ret_why, "the device is gone", why_bytes);
	return seen.fails ? -1 : joiner.run_group(state, in, out, ret_why, why_bytes);
}

static void leave_group(void *state)
{
	seen.n_left++;
	joiner.leave_group(state);
}

void joiner_register(void)
{
	seen = (struct joiner_seen){.says = 1};
	watched = joiner;
	watched.take = take;
	watched.join = join;
	watched.run_group = run_group;
	watched.leave_group = leave_group;
	cr_assert_eq(msd_engine_register(&watched), 0);
}

static float value(size_t i)
{
	return (float)((double)(i * 37 % 23) / 11 - 1);
}

modser_sg_tensor *joiner_input(modser_graph *g, int64_t height)
{
	const int64_t dims[] = {1, JOINER_CHANNELS, height, 4};

	return modser_graph_create_input(g, "x", "float32", dims, 4);
}

modser_sg_tensor *joiner_node(modser_graph *g, const char *op, const char *name,
			      modser_sg_tensor *a, modser_sg_tensor *b)
{
	modser_sg_tensor *y = modser_sg_tensor_create(g, name);
	modser_sg_node *node = net_node(g, name, op, y);

	(void)modser_sg_node_add_input(node, a);
	if (b != NULL)
		(void)modser_sg_node_add_input(node, b);
	return y;
}

modser_sg_tensor *joiner_conv(modser_graph *g, const char *name, modser_sg_tensor *x)
{
	static const char *const pads[] = {"pad_h0", "pad_h1", "pad_w0", "pad_w1"};
	static const int64_t w_dims[] = {JOINER_CHANNELS, JOINER_CHANNELS, 3, 3};
	static const int64_t b_dims[] = {JOINER_CHANNELS};
	static float weights[JOINER_CHANNELS * JOINER_CHANNELS * 9];

	for (size_t i = 0; i < JOINER_CHANNELS * JOINER_CHANNELS * 9; i++)
		weights[i] = value(i);
	modser_sg_tensor *w = net_constant(g, "float32", 4, w_dims, weights);
	modser_sg_tensor *y = joiner_node(g, "Convolution", name, x, w);
	modser_sg_node *node = modser_graph_node(g, modser_graph_node_count(g) - 1);
	(void)modser_sg_node_add_input(node,
				       net_constant(g, "float32", 1, b_dims, weights));
	for (size_t i = 0; i < 4; i++)
		(void)modser_sg_op_set_int(modser_sg_node_op(node), pads[i], 1);
	(void)modser_sg_op_set_int(modser_sg_node_op(node), "kernel_h", 3);
	(void)modser_sg_op_set_int(modser_sg_node_op(node), "kernel_w", 3);
	return y;
}

modser_graph *joiner_block(int64_t height)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = joiner_input(g, height);
	modser_sg_tensor *y =
		joiner_node(g, "ReLu", "relu1", joiner_conv(g, "conv1", x), NULL);

	y = joiner_node(g, "Add", "add", joiner_conv(g, "conv2", y), x);
	(void)modser_graph_add_output(g, joiner_node(g, "ReLu", "relu2", y, NULL));
	return g;
}

msd_err joiner_call(struct msd_plan *plan, int64_t height, struct msd_diag *d)
{
	static float x[4 * JOINER_FLOATS];
	const int64_t dims[] = {1, JOINER_CHANNELS, height, 4};
	const struct msd_plan_input in = {x, dims, 4, {MSD_DT_FLOAT, 32, 1}};

	for (size_t i = 0; i < 4 * JOINER_FLOATS; i++)
		x[i] = value(i + 5);
	return msd_plan_call(plan, &(struct msd_plan_args){.inputs = &in}, d);
}

struct msd_plan *joiner_plan(modser_graph *g)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	return plan;
}

size_t joiner_answer(modser_graph *g, int64_t height,
		     float ret[static 4 * JOINER_FLOATS])
{
	struct msd_plan *plan = joiner_plan(g);
	size_t n = 0;

	cr_assert_eq(joiner_call(plan, height, NULL), MSD_OK);
	for (size_t i = 0; i < modser_graph_output_count(g); i++) {
		const size_t more = (size_t)(JOINER_CHANNELS * height * 4);

		memcpy(ret + n, msd_plan_output(plan, i), more * sizeof(float));
		n += more;
	}
	msd_plan_destroy(plan);
	return n;
}
