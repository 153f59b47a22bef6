#include "tests/graph/blocks_engine.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/plan/plan.h"
#include "tests/graph/net.h"

#define MOST_ENDS 8

struct blocks blocks;
static const modserd_engine *theirs;  /* of the plugin */
static const modserd_layout *blocked; /* the plugin's */

static size_t bytes(const modser_sg_tensor *t)
{
	return blocks.is_lying ? blocks.bytes : blocked->bytes(t);
}

static int fail(char *ret_why, size_t why_bytes)
{
	(void)strncpy(ret_why, "it is broken", why_bytes);
	return -1;
}

static int from_rows(const modser_sg_tensor *t, const void *rows, void *ret,
		     char *ret_why, size_t why_bytes)
{
	blocks.n_from_rows++;
	return blocks.is_broken ? fail(ret_why, why_bytes)
				: blocked->from_rows(t, rows, ret, ret_why, why_bytes);
}

static int to_rows(const modser_sg_tensor *t, const void *from, void *ret,
		   char *ret_why, size_t why_bytes)
{
	blocks.n_to_rows++;
	return blocks.is_broken ? fail(ret_why, why_bytes)
				: blocked->to_rows(t, from, ret, ret_why, why_bytes);
}

/* Nodes that are called "other..." belong to another engine. */
static int take(const modser_sg_node *node, void **ret_state, char *ret_why,
		size_t why_bytes)
{
	if (blocks.is_off || strncmp(modser_sg_node_name(node), "other", 5) == 0)
		return 0;
	return theirs->take(node, ret_state, ret_why, why_bytes);
}

static void scatter(const modser_sg_node *node, const modserd_layout **in,
		    const modserd_layout **out)
{
	const unsigned char last =
		(unsigned char)*(strchr(modser_sg_node_name(node), '\0') - 1);

	in[0] = last % 2 == 0 ? &blocks.layout : NULL;
	out[0] = last / 2 % 2 == 0 ? &blocks.layout : NULL;
}

/* The plugin's choice, with the layout that counts. */
static int lay_out(void *state, const modser_sg_node *node, const modserd_layout **in,
		   const modserd_layout **out)
{
	const size_t n = modser_sg_node_input_count(node);

	blocks.n_asked++;
	if (theirs->lay_out(state, node, in, out) != 1)
		return 0;
	for (size_t i = 0; i < n; i++)
		in[i] = in[i] != NULL ? &blocks.layout : NULL;
	out[0] = out[0] != NULL ? &blocks.layout : NULL;
	if (blocks.is_scattered &&
	    strcmp(modser_sg_op_name(modser_sg_node_op(node)), "Convolution") == 0)
		scatter(node, in, out);
	return 1;
}

static int catch_engine(const modserd_engine *engine)
{
	const modserd_layout *in[2] = {NULL}, *out[1] = {NULL};
	static const char *const conv = "Convolution";
	modser_graph *g = modser_graph_create("g");
	void *state = NULL;

	/* A convolution asks for the layout. */
	modser_sg_node *node = modser_sg_node_create(g, "conv");
	(void)modser_sg_node_set_op(node, modser_sg_op_create(g, conv));
	cr_assert_eq(engine->take(node, &state, NULL, 0), 1);
	cr_assert_eq(engine->lay_out(state, node, in, out), 1);
	modser_graph_destroy(g);
	theirs = engine;
	blocked = in[0];
	return 0;
}

static void parallel(size_t n, size_t chunk_ns, modserd_chunk *chunk, const void *ctx)
{
	(void)chunk_ns;
	for (size_t i = 0; i < n; i++)
		chunk(ctx, i);
}

void blocks_init(void)
{
	static const modserd_host host = {.abi = MODSERD_PLUGIN_ABI,
					  .bytes = sizeof(host),
					  .add_engine = catch_engine,
					  .parallel = parallel};

	cr_assert_eq(modserd_plugin_entry.add(&host, NULL, 0), 0);
	blocks = (struct blocks){
		.take = theirs->take, .layout = *blocked, .engine = *theirs};
	blocks.layout.bytes = bytes;
	blocks.layout.from_rows = from_rows;
	blocks.layout.to_rows = to_rows;
	blocks.engine.take = take;
	blocks.engine.lay_out = lay_out;
	msd_engine_choose(MSD_ENGINE_REFERENCE);
}

void blocks_register(void)
{
	blocks_init();
	cr_assert_eq(msd_engine_register(&blocks.engine), 0);
}

/* ---- Graphs ---- */

static const float *integers(void)
{
	static float list[BLOCKS_MOST];

	for (size_t i = 0; i < BLOCKS_MOST; i++)
		list[i] = (float)(i * 7 % 5) - 2;
	return list;
}

modser_sg_tensor *blocks_input(modser_graph *g, const char *name, int64_t c, int64_t h,
			       int64_t w)
{
	const int64_t dims[] = {1, c, h, w};
	modser_sg_tensor *x = modser_sg_tensor_create(g, name);

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(x, dims, 4);
	(void)net_node(g, name, "InputOp", x);
	(void)modser_graph_add_input(g, x);
	return x;
}

modser_sg_tensor *blocks_constant(modser_graph *g, const char *name, int64_t n,
				  int64_t c, int64_t h, int64_t w)
{
	const int64_t dims[] = {n, c, h, w};
	modser_sg_tensor *t = modser_sg_tensor_create_const(g, name);

	cr_assert_leq(n * c * h * w, BLOCKS_MOST);
	(void)modser_sg_tensor_set_dims(t, dims, 4);
	(void)modser_sg_tensor_set_size(t, (uint64_t)(n * c * h * w) * sizeof(float));
	(void)modser_sg_tensor_set_buffer(t, integers(), NULL);
	(void)net_node(g, name, "Const", t);
	return t;
}

modser_sg_tensor *blocks_node(modser_graph *g, const char *name, const char *op,
			      modser_sg_tensor *a, modser_sg_tensor *b)
{
	modser_sg_tensor *y = modser_sg_tensor_create(g, name);
	modser_sg_node *node = net_node(g, name, op, y);

	(void)modser_sg_node_add_input(node, a);
	if (b != NULL)
		(void)modser_sg_node_add_input(node, b);
	return y;
}

static modser_sg_op *op_of(modser_graph *g)
{
	return modser_sg_node_op(modser_graph_node(g, modser_graph_node_count(g) - 1));
}

modser_sg_tensor *blocks_conv(modser_graph *g, const char *name, modser_sg_tensor *x,
			      int64_t n, int64_t m, int64_t k)
{
	char text[32];
	(void)snprintf(text, sizeof(text), "%s.w", name);
	modser_sg_tensor *w = blocks_constant(g, text, m, n, k, k);
	modser_sg_tensor *y = blocks_node(g, name, "Convolution", x, w);
	modser_sg_op *op = op_of(g);

	static const char *const pads[] = {"pad_h0", "pad_h1", "pad_w0", "pad_w1"};
	for (size_t i = 0; i < 4; i++)
		(void)modser_sg_op_set_int(op, pads[i], k / 2);
	(void)modser_sg_op_set_int(op, "kernel_h", k);
	(void)modser_sg_op_set_int(op, "kernel_w", k);
	(void)modser_sg_op_set_int(op, "output_channel", m);
	return y;
}

modser_sg_tensor *blocks_mean(modser_graph *g, const char *name, modser_sg_tensor *x)
{
	modser_sg_tensor *y = blocks_node(g, name, "Pooling", x, NULL);

	(void)modser_sg_op_set_int(op_of(g), "alg", 1);
	(void)modser_sg_op_set_int(op_of(g), "global", 1);
	return y;
}

/* ---- Runs ---- */

struct msd_plan *blocks_plan(modser_graph *g)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	return plan;
}

static size_t floats_of(const modser_sg_tensor *t)
{
	size_t n = 1;

	for (int i = 0; i < modser_sg_tensor_ndim(t); i++)
		n *= (size_t)modser_sg_tensor_dims(t)[i];
	cr_assert_leq(n, BLOCKS_MOST);
	return n;
}

/* Memory of outputs with a word behind it that nothing may change. */
struct made {
	float *p[MOST_ENDS];
	size_t n[MOST_ENDS];
};
#define GUARD 12345.0f

static void *make_output(void *ctx, size_t i, const modser_sg_tensor *t)
{
	struct made *m = ctx;

	cr_assert(i < MOST_ENDS && m->p[i] == NULL);
	m->n[i] = floats_of(t);
	m->p[i] = calloc(m->n[i] + 1, sizeof(float));
	m->p[i][m->n[i]] = GUARD;
	return m->p[i];
}

size_t blocks_run(struct msd_plan *plan, const modser_graph *g, bool makes, float *ret)
{
	struct msd_plan_input in[MOST_ENDS];
	struct made made = {0};
	struct msd_plan_args args = {in, makes ? make_output : NULL, &made};
	struct msd_diag d = {0};
	size_t n = 0;

	for (size_t i = 0; i < modser_graph_input_count(g); i++) {
		const modser_sg_tensor *t = modser_graph_input(g, i);

		in[i] = (struct msd_plan_input){.data = integers() + i,
						.dims = modser_sg_tensor_dims(t),
						.ndim = 4};
	}
	cr_assert_eq(msd_plan_call(plan, &args, &d), MSD_OK, "%s", msd_diag_text(&d));
	for (size_t i = 0; i < modser_graph_output_count(g); i++) {
		const size_t more = floats_of(msd_plan_output_tensor(plan, i));
		const void *got = msd_plan_output(plan, i);

		cr_assert_leq(n + more, BLOCKS_MOST);
		memcpy(ret + n, got, more * sizeof(float));
		n += more;
		if (!makes)
			continue;
		cr_expect_eq(got, made.p[i]);
		cr_expect_eq(made.p[i][made.n[i]], GUARD);
		free(made.p[i]);
	}
	return n;
}

void blocks_compare(modser_graph *g)
{
	static float want[BLOCKS_MOST], got[BLOCKS_MOST];

	blocks.is_off = true;
	struct msd_plan *plan = blocks_plan(g);
	const size_t n = blocks_run(plan, g, false, want);
	msd_plan_destroy(plan);
	blocks.is_off = false;
	plan = blocks_plan(g);
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(blocks_run(plan, g, i % 2 == 1, got), n);
		for (size_t k = 0; k < n; k++)
			cr_assert_eq(got[k], want[k], "float %zu of run %d", k, i);
	}
	msd_plan_destroy(plan);
}
