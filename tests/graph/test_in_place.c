/* Each operator that may write onto its input gives the same bits when it does, in each
 * engine, for each dtype that it computes, and beside a broadcast operand. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/ir/schema.h"
#include "graph/layout/views.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/pool/pool.h"
#include "tests/graph/net.h"

enum { ROWS = 3, COLUMNS = 9001, N = ROWS * COLUMNS, OPERATORS = 50 };

static const char *const dtypes[] = {"float32", "float16", "bfloat16", "float64",
				     "int32",   "int64",   "uint8",    "bool"};

/* A node of @op with inputs of @dtype; input @narrow has one row, which is broadcast.
 */
static modser_sg_node *make(modser_graph *g, const char *op, size_t n_inputs,
			    const char *dtype, size_t narrow)
{
	modser_sg_node *node = net_node(g, op, op, modser_sg_tensor_create(g, "y"));

	for (size_t i = 0; i < n_inputs; i++) {
		const int64_t dims[] = {i == narrow ? 1 : ROWS, COLUMNS};
		modser_sg_tensor *x = modser_sg_tensor_create(g, "x");

		(void)modser_sg_tensor_set_dtype(x, dtype);
		(void)modser_sg_tensor_set_dims(x, dims, 2);
		(void)modser_sg_node_add_input(node, x);
	}
	return node;
}

static size_t bytes_of(const modser_sg_tensor *t)
{
	uint64_t n = 0;

	cr_assert(msd_sg_tensor_bytes(t, &n));
	return (size_t)n;
}

/* Numbers from -2 to 2 or from 0 to 3; bytes of other floats. */
static void fill(const modser_sg_tensor *t, size_t i, void *to)
{
	const size_t n = bytes_of(t) / (t->dtype.bits / 8u);

	for (size_t k = 0; k < n; k++) {
		const size_t v = (k * 31 + i * 7) % 101;

		if (t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 32) {
			((float *)to)[k] = (float)v / 25 - 2;
		} else if (t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 64) {
			((double *)to)[k] = (double)v / 25 - 2;
		} else if (t->dtype.bits == 16) { /* around 1 in both types */
			((uint16_t *)to)[k] = (uint16_t)(0x3b80 + v);
		} else if (t->dtype.code == MSD_DT_BOOL) {
			((uint8_t *)to)[k] = (uint8_t)(v % 2);
		} else {
			memset((uint8_t *)to + k * (t->dtype.bits / 8u), 0,
			       t->dtype.bits / 8u);
			((uint8_t *)to)[k * (t->dtype.bits / 8u)] = (uint8_t)(v % 4);
		}
	}
}

static msd_err run(const struct msd_claim *claim, const modser_sg_node *node,
		   const void *const *in, void *out)
{
	void *const outs[] = {out};

	return claim->by.engine->run(
		claim->by.state,
		&(struct msd_kernel_call){.node = node, .in = in, .out = outs}, NULL);
}

static bool is_alike(const modser_sg_tensor *x, const modser_sg_tensor *y)
{
	return msd_dtype_eq(x->dtype, y->dtype) && bytes_of(x) == bytes_of(y);
}

/* How often the node ran in place; 0 if no kernel computes it. */
static int try_node(modser_sg_node *node)
{
	const modser_sg_tensor *y = node->outputs[0];
	struct msd_claim claim = {0};
	void *in[4] = {NULL};
	int n = 0;

	if (msd_sg_infer_node(node) != 0 ||
	    msd_claim_make(&claim, node, NULL) != MSD_OK)
		return 0;
	void *want = malloc(bytes_of(y));
	for (size_t i = 0; i < node->n_inputs; i++) {
		in[i] = malloc(bytes_of(node->inputs[i]));
		fill(node->inputs[i], i, in[i]);
	}
	/* A kernel may refuse elements in the run. */
	const bool is_computed =
		run(&claim, node, (const void *const *)in, want) == MSD_OK;
	for (size_t i = 0; is_computed && i < node->n_inputs; i++) {
		if (!is_alike(node->inputs[i], y))
			continue;
		cr_assert_eq(run(&claim, node, (const void *const *)in, in[i]), MSD_OK);
		cr_expect_eq(memcmp(in[i], want, bytes_of(y)), 0,
			     "%s of %s by %s, onto input %zu", node->name,
			     y->dtype_name, claim.by.engine->name, i);
		fill(node->inputs[i], i, in[i]);
		n++;
	}
	for (size_t i = 0; i < node->n_inputs; i++)
		free(in[i]);
	free(want);
	msd_claim_release(&claim);
	return n;
}

static int try_operator(const modser_sg_op_schema *schema)
{
	const size_t n_inputs = schema->min_in > 0 ? schema->min_in : 1;
	int n = 0;

	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		for (size_t narrow = 0; narrow <= n_inputs; narrow++) {
			modser_graph *g = modser_graph_create("g");

			n += try_node(
				make(g, schema->name, n_inputs, dtypes[i], narrow));
			modser_graph_destroy(g);
		}
	}
	return n;
}

static void expect_all(enum msd_engine_word engine)
{
	int n_operators = 0;

	msd_engine_choose(engine);
	for (size_t i = 0; msd_op_schema_at(i) != NULL; i++) {
		const modser_sg_op_schema *schema = msd_op_schema_at(i);
		modser_graph *g = modser_graph_create("g");

		if (msd_views_may_overwrite(make(g, schema->name, 0, "float32", 0))) {
			n_operators++;
			cr_expect_gt(try_operator(schema), 0, "%s", schema->name);
		}
		modser_graph_destroy(g);
	}
	cr_expect_eq(n_operators, OPERATORS);
	msd_pool_stop();
}

Test(in_place, gives_the_same_bits_in_the_reference_engine)
{
	expect_all(MSD_ENGINE_REFERENCE);
}

Test(in_place, gives_the_same_bits_in_the_native_engine)
{
	expect_all(MSD_ENGINE_NATIVE);
}
