/* Attention by the native engine and by the reference engine (agree.h). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/op/attention/attention.h"
#include "runtime/engine/native/claim.h"
#include "tests/graph/one.h"
#include "tests/runtime/native/agree.h"
#include "tests/support/fail_alloc.h"

enum { BATCH = 2, KV_HEADS = 2 };

/* One node; extents of 0 leave an input out. */
struct form {
	const char *what;
	int64_t per_kv; /* heads of queries for one of keys */
	int64_t queries, keys, past, size, v_size;
	bool is_packed, is_causal, is_bool;
	int64_t mask[4]; /* its extents; 0 in the last one: no mask */
	int64_t lengths[BATCH];
	int64_t left, right;
	float softcap, scale;
};

static void add(struct one *o, modser_sg_tensor *t)
{
	cr_assert_geq(modser_sg_node_add_input(o->node, t), 0);
}

static void add_rows(struct one *o, const struct form *f, int64_t heads, int64_t length,
		     int64_t size, unsigned seed)
{
	if (f->is_packed) {
		add(o, given(o->g, 3, (int64_t[]){BATCH, length, heads * size}, seed));
	} else {
		add(o, given(o->g, 4, (int64_t[]){BATCH, heads, length, size}, seed));
	}
}

static modser_sg_tensor *flags(modser_graph *g, const int64_t *dims)
{
	const size_t n = (size_t)(dims[0] * dims[1] * dims[2] * dims[3]);
	uint8_t *p = malloc(n);

	cr_assert_not_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = i * 7 % 5 < 3;
	modser_sg_tensor *t = net_constant(g, "bool", 4, dims, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

static void add_mask(struct one *o, const struct form *f)
{
	if (f->mask[3] == 0) {
		add(o, NULL);
	} else {
		add(o, f->is_bool ? flags(o->g, f->mask) : given(o->g, 4, f->mask, 94));
	}
}

static void set_float(modser_sg_node *node, const char *name, float v)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_FLOAT, .as.f = v};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(node), name, &a), 0);
}

static struct one begin(const struct form *f)
{
	const int64_t heads = KV_HEADS * f->per_kv;
	const bool has_lengths = f->lengths[0] != 0;
	struct one o = one_begin("Attention");

	set_int(o.node, "q_num_heads", heads);
	set_int(o.node, "kv_num_heads", KV_HEADS);
	set_int(o.node, "is_causal", f->is_causal);
	set_int(o.node, "left_window_size", f->left);
	set_int(o.node, "right_window_size", f->right);
	set_float(o.node, "softcap", f->softcap);
	set_float(o.node, "scale", f->scale);
	add_rows(&o, f, heads, f->queries, f->size, 91);
	add_rows(&o, f, KV_HEADS, f->keys, f->size, 92);
	add_rows(&o, f, KV_HEADS, f->keys, f->v_size, 93);
	if (f->mask[3] != 0 || f->past != 0 || has_lengths)
		add_mask(&o, f);
	if (f->past != 0) {
		const int64_t dims[] = {BATCH, KV_HEADS, f->past, f->size};
		const int64_t v_dims[] = {BATCH, KV_HEADS, f->past, f->v_size};

		add(&o, given(o.g, 4, dims, 95));
		add(&o, given(o.g, 4, v_dims, 96));
	} else if (has_lengths) {
		add(&o, NULL);
		add(&o, NULL);
	}
	if (has_lengths) {
		add(&o, net_constant(o.g, "int64", 1, (int64_t[]){BATCH}, f->lengths));
	}
	return o;
}

/* Both engines agree on @o, whose output 0 has @n elements. Ends it. */
static void expect_agreed(const char *what, struct one *o)
{
	size_t n;
	float *want = run(o->g, "reference", 1, &n);
	float *is = run(o->g, "native", 1, &n);

	cr_expect(msd_native_find("Attention")->may(o->node), "%s", what);
	expect_close(what, is, want, n);
	expect_same_bits(what, o->g, is);
	free(want);
	free(is);
	one_end(o);
}

Test(native_attention, agrees_on_sizes)
{
	static const int64_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 33};
	enum { N = 9 };

	for (size_t i = 0; i < (size_t)N * N; i++) {
		const struct form f = {
			.what = "sizes",
			.per_kv = 1,
			.queries = sizes[i % N],
			.keys = sizes[i / N],
			.size = sizes[(i * 4 + i / N) % N],
			.v_size = sizes[(i * 7 + i / N) % N],
			.left = -1,
			.right = -1,
		};
		struct one o = begin(&f);

		expect_agreed(f.what, &o);
	}
}

static const struct form forms[] = {
	{"packed", 1, 9, 17, 0, 8, 16, .is_packed = true, .left = -1, .right = -1},
	{"grouped", 3, 9, 17, 0, 8, 16, .left = -1, .right = -1},
	{"packed and grouped", 2, 9, 17, 0, 8, 7, .is_packed = true, .left = -1,
	 .right = -1},
	{"causal", 1, 33, 33, 0, 16, 16, .is_causal = true, .left = -1, .right = -1},
	{"more queries than keys", 1, 33, 9, 0, 16, 16, .is_causal = true, .left = -1,
	 .right = -1},
	{"many", 1, 300, 700, 0, 16, 16, .is_causal = true, .left = -1, .right = -1},
	{"mask", 2, 9, 17, 0, 8, 8, .mask = {BATCH, 4, 9, 17}, .left = -1, .right = -1},
	{"mask of heads", 2, 9, 17, 0, 8, 8, .mask = {1, 4, 9, 17}, .left = -1,
	 .right = -1},
	{"mask of entries", 2, 9, 17, 0, 8, 8, .mask = {BATCH, 1, 1, 17}, .left = -1,
	 .right = -1},
	{"short mask", 1, 9, 17, 0, 8, 8, .mask = {BATCH, 1, 9, 12}, .left = -1,
	 .right = -1},
	{"mask of one key", 1, 9, 17, 0, 8, 8, .mask = {1, 1, 9, 1}, .left = -1,
	 .right = -1},
	{"flags", 1, 9, 17, 0, 8, 8, .is_bool = true, .mask = {BATCH, 1, 9, 17},
	 .left = -1, .right = -1},
	{"flags of all", 1, 9, 17, 0, 8, 8, .is_bool = true, .mask = {1, 1, 1, 17},
	 .is_causal = true, .left = -1, .right = -1},
	{"window", 1, 33, 33, 0, 8, 8, .left = 4, .right = 2},
	{"causal window", 1, 33, 33, 0, 8, 8, .is_causal = true, .left = 4,
	 .right = -1},
	{"window of one", 1, 9, 9, 0, 8, 8, .left = 0, .right = 0},
	{"right window", 1, 9, 17, 0, 8, 8, .left = -1, .right = 3},
	{"past", 1, 9, 9, 17, 8, 16, .is_causal = true, .left = -1, .right = -1},
	{"packed past", 2, 1, 1, 33, 16, 7, .is_packed = true, .is_causal = true,
	 .left = -1, .right = -1},
	{"past and mask", 1, 7, 7, 17, 8, 8, .mask = {BATCH, 1, 7, 24}, .left = -1,
	 .right = -1},
	{"lengths", 1, 9, 17, 0, 8, 8, .lengths = {17, 12}, .is_causal = true,
	 .left = -1, .right = -1},
	{"short lengths", 1, 9, 17, 0, 8, 8, .lengths = {3, 5}, .is_causal = true,
	 .left = -1, .right = -1},
	{"wrong lengths", 1, 9, 17, 0, 8, 8, .lengths = {INT64_MAX, INT64_MIN},
	 .is_causal = true, .left = 3, .right = -1},
	{"softcap and scale", 1, 9, 17, 0, 8, 8, .left = -1, .right = -1,
	 .softcap = 0.5f, .scale = 0.7f},
};

Test(native_attention, agrees_on_forms)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct one o = begin(&forms[i]);

		expect_agreed(forms[i].what, &o);
	}
}

/* The present keys and values of a decoder's step, and its result. */
Test(native_attention, joins_the_past)
{
	for (size_t i = 0; i < 4; i++) {
		const struct form f = {.what = "present",
				       .per_kv = 2,
				       .queries = 1 + 8 * (int64_t)(i / 2),
				       .keys = 1 + 8 * (int64_t)(i / 2),
				       .past = 17,
				       .size = 8,
				       .v_size = 9,
				       .is_packed = i % 2 == 1,
				       .is_causal = true,
				       .left = -1,
				       .right = -1};

		for (size_t output = 1; output <= 2; output++) { /* compared */
			struct one o = begin(&f);
			modser_sg_tensor *t[2];

			for (size_t k = 0; k < 2; k++) {
				t[k] = modser_sg_tensor_create(o.g, "present");
				(void)modser_sg_node_add_output(o.node, t[k]);
				(void)modser_graph_add_output(o.g, t[k]);
			}
			o.g->outputs[output] = o.g->outputs[0];
			o.g->outputs[0] = t[output - 1];
			expect_agreed(f.what, &o);
		}
	}
}

static float *floats_of(const struct one *o, size_t input)
{
	/* A constant that given() allocated. */
	return (float *)(uintptr_t)modser_sg_node_input(o->node, input)->data;
}

static const struct form hiding[] = {
	{"causal", 1, 9, 17, 0, 8, 8, .is_causal = true, .left = -1, .right = -1},
	{"lengths", 1, 9, 17, 0, 8, 8, .lengths = {14, 9}, .left = -1, .right = -1},
	{"short mask", 1, 9, 17, 0, 8, 8, .mask = {1, 1, 9, 14}, .left = -1,
	 .right = -1},
	{"flags", 1, 9, 17, 0, 8, 8, .is_bool = true, .mask = {1, 1, 1, 17}, .left = -1,
	 .right = -1},
	{"mask", 1, 9, 17, 0, 8, 8, .mask = {1, 1, 1, 17}, .left = -1, .right = -1},
};

/* Key 15 of head 0 of entry 0 is hidden, and not a number. */
static struct one begin_hiding(const struct form *f, float odd)
{
	struct one o = begin(f);

	for (size_t e = 15 * 8; e < 16 * 8; e++) {
		floats_of(&o, MSD_ATTENTION_K)[e] = odd;
		floats_of(&o, MSD_ATTENTION_V)[e] = odd;
	}
	if (f->is_bool) {
		*((uint8_t *)floats_of(&o, MSD_ATTENTION_MASK) + 15) = 0;
	} else if (f->mask[3] == 17) {
		floats_of(&o, MSD_ATTENTION_MASK)[15] = -INFINITY;
	}
	return o;
}

/* Hidden keys and values have no influence, whatever they are. */
Test(native_attention, hides_what_is_not_a_number)
{
	static const float odd[] = {NAN, INFINITY, -INFINITY};

	for (size_t i = 0; i < 5 * 3; i++) {
		const struct form *f = &hiding[i % 5];
		struct one o = begin_hiding(f, odd[i / 5]);
		size_t n;
		float *y = run(o.g, "native", 1, &n);

		for (size_t e = 0; e < n; e++)
			cr_expect(isfinite(y[e]), "%s: %g", f->what, (double)y[e]);
		free(y);
		expect_agreed(f->what, &o);
	}
}

Test(native_attention, gives_zeros_without_keys)
{
	static const struct form blind[] = {
		{"flags", 1, 9, 17, 0, 8, 8, .is_bool = true, .mask = {1, 1, 9, 17},
		 .left = -1, .right = -1},
		{"mask", 1, 9, 17, 0, 8, 8, .mask = {1, 1, 9, 17}, .left = -1,
		 .right = -1},
		{"lengths", 1, 9, 17, 0, 8, 8, .lengths = {4, 4}, .is_causal = true,
		 .left = -1, .right = -1},
	};

	for (size_t i = 0; i < 3; i++) {
		struct one o = begin(&blind[i]);
		float *mask = i < 2 ? floats_of(&o, MSD_ATTENTION_MASK) : NULL;
		size_t n;

		for (size_t k = 3 * 17; i == 0 && k < 4 * 17; k++)
			((uint8_t *)mask)[k] = 0;
		for (size_t k = 3 * 17; i == 1 && k < 4 * 17; k++)
			mask[k] = -INFINITY;
		float *y = run(o.g, "native", 1, &n);
		for (size_t e = 3 * 8; e < 4 * 8; e++)
			cr_expect_eq(y[e], 0, "%s: %g", blind[i].what, (double)y[e]);
		cr_expect_neq(y[6 * 8], 0, "%s", blind[i].what);
		free(y);
		expect_agreed(blind[i].what, &o);
	}
}

/* In queries, keys and values that are seen. */
Test(native_attention, keeps_what_is_not_a_number)
{
	static const struct form f = {"odd", 1, 9,          17,         0,
				      8,     8, .left = -1, .right = -1};
	static const float odd[] = {NAN, INFINITY, -INFINITY};

	for (size_t i = 0; i < 3 * 3; i++) {
		struct one o = begin(&f);
		size_t n;

		floats_of(&o, i / 3)[5 * 8 + 3] = odd[i % 3];
		float *want = run(o.g, "reference", 1, &n);
		float *is = run(o.g, "native", 1, &n);
		for (size_t e = 0; e < n; e++) {
			const bool is_close =
				fabs((double)is[e] - (double)want[e]) < 1e-5;

			cr_expect(is_close || is[e] == want[e] ||
					  (isnan(is[e]) && isnan(want[e])),
				  "input %zu, %g: element %zu is %g, not %g", i / 3,
				  (double)odd[i % 3], e, (double)is[e],
				  (double)want[e]);
		}
		free(want);
		free(is);
		one_end(&o);
	}
}

/* The reference engine computes these. */
Test(native_attention, refuses)
{
	const struct form f = {"scores", 1, 9, 17, 0, 8, 8, .left = -1, .right = -1};
	const struct form empty = {"none", 1, 9, 0, 0, 8, 8, .left = -1, .right = -1};
	struct one o = begin(&f);

	for (size_t i = 0; i < 3; i++) {
		(void)modser_sg_node_add_output(
			o.node, modser_sg_tensor_create(o.g, "further"));
	}
	cr_expect(!msd_native_find("Attention")->may(o.node));
	one_end(&o);
	o = begin(&empty);
	cr_expect(!msd_native_find("Attention")->may(o.node));
	one_end(&o);
}

/* True if an allocation failed, which is an error. */
static bool has_failed(const struct form *f, long k)
{
	struct one o = begin(f);

	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	msd_pool_configure(1);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, NULL), MSD_OK);
	msd_fail_alloc(k);
	const msd_err err = msd_plan_run(o.plan, NULL, NULL);
	const bool is_short = msd_fail_alloc_stop();
	cr_expect_eq(err, is_short ? MSD_NOMEM : MSD_OK);
	one_end(&o);
	return is_short;
}

/* The past is joined in memory of its own. */
Test(native_attention, fails_without_memory)
{
	const struct form f = {"memory", 1,  300,        300,        700,
			       16,       16, .left = -1, .right = -1};
	long k = 0;

	while (has_failed(&f, k))
		k++;
	cr_expect_geq(k, 2);
}
