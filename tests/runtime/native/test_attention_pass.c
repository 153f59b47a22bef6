/* Attention that exporters write as its formula, and formulas that are none. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/attention/fused.h"
#include "graph/pass/pass.h"
#include "runtime/engine/engine.h"
#include "tests/runtime/native/agree.h"
#include "tests/support/fail_alloc.h"

enum { BATCH = 2, HEADS = 3, QUERIES = 9, KEYS = 17, SIZE = 8, V_SIZE = 7 };

/* How a formula is written. */
struct form {
	const char *what;
	bool is_packed; /* inputs of [batch, length, heads, size], transposed */
	bool is_turned; /* keys by one Transpose, not two */
	enum { NO_SCALE, MUL, DIV, AT_BOTH_ENDS } scale;
	enum { NO_MASK, ADD, ADD_SWAPPED, WHERE, WHERE_SWAPPED, WHERE_AND_ADD } mask;
	bool is_guarded;
	int64_t axis;
	/* What makes it no formula. */
	enum { NOTHING, READER, OUTPUT, SCALE_OF_ROW, LATE_SCALE, CONST_KEYS } fault;
	bool stays;
};

static modser_sg_tensor *number(modser_graph *g, float v)
{
	float *p = malloc(sizeof(*p));

	cr_assert_not_null(p);
	*p = v;
	modser_sg_tensor *t = net_constant(g, "float32", 0, NULL, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

static modser_sg_tensor *transpose(modser_graph *g, modser_sg_tensor *x,
				   const int64_t perm[4])
{
	modser_sg_tensor *y = then(g, "Transpose", x, NULL);

	set_list(y->producer, "perm", 4, perm);
	return y;
}

static modser_sg_tensor *where(modser_graph *g, modser_sg_tensor *flags,
			       modser_sg_tensor *x, modser_sg_tensor *y)
{
	modser_sg_tensor *t = then(g, "Where", flags, x);

	(void)modser_sg_node_add_input(t->producer, y);
	return t;
}

static modser_sg_tensor *flags(modser_graph *g)
{
	static const int64_t dims[] = {1, 1, QUERIES, KEYS};
	static uint8_t bytes[QUERIES * KEYS];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 7 % 5 < 3;
	return net_constant(g, "bool", 4, dims, bytes);
}

/* Heads of queries, keys or values, which no pass folds. */
static modser_sg_tensor *heads(modser_graph *g, const struct form *f, int64_t length,
			       int64_t size, unsigned seed)
{
	const int64_t dims[] = {BATCH, HEADS, length, size};
	const int64_t packed[] = {BATCH, length, HEADS, size};

	return then(g, "Neg", given(g, 4, f->is_packed ? packed : dims, seed), NULL);
}

static const int64_t swap_heads[] = {0, 2, 1, 3};

static modser_sg_tensor *keys_of(modser_graph *g, const struct form *f)
{
	static const int64_t swap[] = {0, 1, 3, 2};
	static const int64_t both[] = {0, 2, 3, 1};
	modser_sg_tensor *k = heads(g, f, KEYS, SIZE, 82);

	if (f->fault == CONST_KEYS)
		return given(g, 4, (const int64_t[]){BATCH, HEADS, SIZE, KEYS}, 82);
	if (f->is_packed && f->is_turned)
		return transpose(g, k, both);
	if (f->is_packed)
		k = transpose(g, k, swap_heads);
	return transpose(g, k, swap);
}

static modser_sg_tensor *scaled(modser_graph *g, const struct form *f,
				modser_sg_tensor *s)
{
	static const int64_t row[] = {1, 1, 1, KEYS};

	if (f->fault == SCALE_OF_ROW)
		return then(g, "Mul", s, given(g, 4, row, 85));
	if (f->scale == MUL)
		return then(g, "Mul", number(g, 0.3f), s);
	return f->scale == DIV ? then(g, "Div", s, number(g, 2.8284271f)) : s;
}

static modser_sg_tensor *masked(modser_graph *g, const struct form *f,
				modser_sg_tensor *s)
{
	static const int64_t dims[] = {BATCH, 1, 1, KEYS};

	if (f->mask == WHERE || f->mask == WHERE_AND_ADD)
		s = where(g, flags(g), s, number(g, -1e9f));
	if (f->mask == WHERE_SWAPPED)
		s = where(g, flags(g), number(g, -INFINITY), s);
	if (f->mask == ADD || f->mask == WHERE_AND_ADD)
		s = then(g, "Add", s, given(g, 4, dims, 84));
	return f->mask == ADD_SWAPPED ? then(g, "Add", given(g, 4, dims, 84), s) : s;
}

static modser_graph *formula(const struct form *f)
{
	modser_graph *g = modser_graph_create("formula");
	modser_sg_tensor *q = heads(g, f, QUERIES, SIZE, 81);
	modser_sg_tensor *k = keys_of(g, f);
	modser_sg_tensor *v = heads(g, f, KEYS, V_SIZE, 83);

	if (f->is_packed) {
		q = transpose(g, q, swap_heads);
		v = transpose(g, v, swap_heads);
	}
	if (f->scale == AT_BOTH_ENDS) {
		q = then(g, "Mul", q, number(g, 0.5f));
		k = then(g, "Mul", k, number(g, 0.6f));
	}
	modser_sg_tensor *product = then(g, "MatMul", q, k);
	modser_sg_tensor *s = masked(g, f, scaled(g, f, product));
	if (f->fault == LATE_SCALE)
		s = then(g, "Mul", s, number(g, 0.5f));
	s = then(g, "Softmax", s, NULL);
	set_int(s->producer, "axis", f->axis);
	if (f->is_guarded)
		s = where(g, then(g, "IsNaN", s, NULL), number(g, 0), s);
	modser_sg_tensor *y = then(g, "MatMul", s, v);
	(void)modser_graph_add_output(g,
				      f->is_packed ? transpose(g, y, swap_heads) : y);
	if (f->fault == READER)
		(void)modser_graph_add_output(g, then(g, "Neg", product, NULL));
	if (f->fault == OUTPUT)
		(void)modser_graph_add_output(g, s);
	return g;
}

static const modser_sg_node *fused_of(const modser_graph *g)
{
	for (size_t i = 0; i < modser_graph_node_count(g); i++) {
		const modser_sg_node *node = modser_graph_node(g, i);

		if (strcmp(node->op->schema->name, MSD_FUSED_ATTENTION) == 0)
			return node;
	}
	return NULL;
}

/* Passes change nothing for the reference engine, and for the native one no result. */
static void expect_passed(const struct form *f)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	struct msd_passed passed;
	modser_graph *g = formula(f);
	size_t n;
	float *want = run(g, "reference", 1, &n);

	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_expect_eq(passed.n[MSD_PASS_attention], 0, "the reference engine is alone");
	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	cr_expect_eq(passed.n[MSD_PASS_attention], f->stays ? 0 : 1, "%s", f->what);
	float *is = run(g, "native", 1, &n);
	expect_close(f->what, is, want, n);
	expect_same_bits(f->what, g, is);
	free(want);
	free(is);
	modser_graph_destroy(g);
}

static const struct form forms[] = {
	{"plain", .axis = -1},
	{"axis of the rank", .axis = 3},
	{"packed", .is_packed = true, .scale = MUL, .axis = -1},
	{"turned", .is_packed = true, .is_turned = true, .scale = DIV, .axis = -1},
	{"quotient", .scale = DIV, .axis = -1},
	{"scales of both", .is_packed = true, .scale = AT_BOTH_ENDS, .axis = -1},
	{"mask", .scale = DIV, .mask = ADD, .axis = -1},
	{"mask first", .is_packed = true, .scale = MUL, .mask = ADD_SWAPPED,
	 .axis = -1},
	{"flags", .scale = DIV, .mask = WHERE, .axis = -1},
	{"flags that hide", .scale = DIV, .mask = WHERE_SWAPPED, .axis = -1},
	{"flags and a mask", .scale = DIV, .mask = WHERE_AND_ADD, .axis = -1},
	{"guard", .scale = MUL, .mask = ADD, .is_guarded = true, .axis = -1},
	{"another reader", .axis = -1, .fault = READER, .stays = true},
	{"an output", .axis = -1, .fault = OUTPUT, .stays = true},
	{"another axis", .axis = 2, .stays = true},
	{"a scale for each key", .axis = -1, .fault = SCALE_OF_ROW, .stays = true},
	{"a scale behind a mask", .mask = ADD, .axis = -1, .fault = LATE_SCALE,
	 .stays = true},
	{"constant keys", .axis = -1, .fault = CONST_KEYS, .stays = true},
};

Test(native_attention_pass, makes_attention_of_its_formula)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		expect_passed(&forms[i]);
}

/* All of a formula is one node, transposes included. */
Test(native_attention_pass, takes_all_nodes)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	const struct form f = {"all",
			       .is_packed = true,
			       .scale = DIV,
			       .mask = WHERE_AND_ADD,
			       .is_guarded = true,
			       .axis = -1};
	struct msd_passed passed;
	modser_graph *g = formula(&f);

	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	const modser_sg_node *node = fused_of(g);
	cr_assert_not_null(node);
	/* Of 13: 3 Neg and their constants, mask and flags stay beside it. */
	cr_expect_eq(node->n_merged, 12, "%zu", node->n_merged);
	cr_expect_eq(modser_graph_node_count(g), 9, "%zu", modser_graph_node_count(g));
	modser_graph_destroy(g);
}

Test(native_attention_pass, fails_without_memory)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	bool is_short = true;

	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	for (long k = 0; is_short; k++) {
		modser_graph *g = formula(&forms[2]);
		struct msd_passed passed;

		msd_fail_alloc(k);
		const int result = msd_passes_run(g, host, &passed);
		is_short = msd_fail_alloc_stop();
		cr_expect(result == 0 || is_short);
		cr_expect(is_short || passed.n[MSD_PASS_attention] == 1);
		modser_graph_destroy(g);
	}
}
