/* Products as nodes, by the native engine and by the reference engine. */
#include <criterion/criterion.h>
#include <math.h>

#include "tests/runtime/native/layer.h"

Test(native_matrix, products)
{
	static const struct {
		const char *what;
		size_t na, nb;
		int64_t a[4], b[4];
	} rows[] = {
		{"matrices", 2, 2, {7, 17}, {17, 49}},
		{"one row", 2, 2, {1, 70}, {70, 300}},
		{"a vector on the left", 1, 2, {17}, {17, 9}},
		{"a vector on the right", 2, 1, {9, 17}, {17}},
		{"stacks", 3, 3, {3, 5, 8}, {3, 8, 16}},
		{"stacks and one matrix", 4, 2, {2, 3, 5, 8}, {8, 33}},
		{"broadcast stacks", 4, 3, {2, 1, 5, 8}, {3, 8, 7}},
		{"one matrix and stacks", 2, 3, {5, 8}, {3, 8, 7}},
		{"large", 2, 2, {150, 400}, {400, 210}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct one o = one_begin("MatMul");

		add(&o, rows[i].na, rows[i].a, 25);
		add(&o, rows[i].nb, rows[i].b, 26);
		expect_agreement(rows[i].what, &o);
	}
}

Test(native_matrix, products_with_an_addend)
{
	static const int64_t addends[][2] = {
		{19, 49}, {1, 49}, {19, 1}, {1, 1}, {49, 0}};

	for (size_t i = 0; i < 5 * 4; i++) {
		const bool is_a = i / 5 % 2 != 0;
		const bool is_b = i / 10 != 0;
		const int64_t a[2] = {is_a ? 17 : 19, is_a ? 19 : 17};
		const int64_t b[2] = {is_b ? 49 : 17, is_b ? 17 : 49};
		struct one o = one_begin("Gemm");

		set_int(o.node, "transA", is_a);
		set_int(o.node, "transB", is_b);
		add(&o, 2, a, 27);
		add(&o, 2, b, 28);
		add(&o, addends[i % 5][1] != 0 ? 2 : 1, addends[i % 5], 29);
		expect_agreement("Gemm", &o);
	}
}

static void set_float(modser_sg_node *node, const char *name, float v)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_FLOAT, .as.f = v};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(node), name, &a), 0);
}

Test(native_matrix, products_with_factors)
{
	static const int64_t addends[][2] = {
		{19, 49}, {1, 49}, {19, 1}, {1, 1}, {0, 0}};
	static const float factors[][2] = {{0.0625f, 1}, {1, -0.3f}, {-2.5f, 3},
					   {0, 1},       {1, 0},     {0, 0}};

	for (size_t i = 0; i < 5 * 6; i++) {
		struct one o = one_begin("Gemm");

		set_float(o.node, "alpha", factors[i / 5][0]);
		set_float(o.node, "beta", factors[i / 5][1]);
		add(&o, 2, (const int64_t[]){19, 300}, 27);
		add(&o, 2, (const int64_t[]){300, 49}, 28);
		if (addends[i % 5][0] != 0)
			add(&o, 2, addends[i % 5], 29);
		expect_agreement("Gemm with factors", &o);
	}
}

/* An infinite or absent number stays in its row; its product with 0 is NaN. */
Test(native_matrix, scaled_products_of_wild_elements)
{
	for (int i = 0; i < 4; i++) {
		struct one o = one_begin("Gemm");
		modser_sg_tensor *x = given(o.g, 2, (const int64_t[]){5, 17}, 27);
		modser_sg_tensor *addend = given(o.g, 1, (const int64_t[]){33}, 29);

		((float *)(uintptr_t)modser_sg_tensor_data(x, &(uint64_t){0}))[20] =
			i % 2 == 0 ? INFINITY : NAN;
		((float *)(uintptr_t)modser_sg_tensor_data(addend, &(uint64_t){0}))[7] =
			-INFINITY;
		set_float(o.node, "alpha", i < 2 ? 0.5f : 0);
		set_float(o.node, "beta", i < 2 ? 2 : 0);
		(void)modser_sg_node_add_input(o.node, x);
		add(&o, 2, (const int64_t[]){17, 33}, 28);
		(void)modser_sg_node_add_input(o.node, addend);
		expect_same_kinds("Gemm", &o);
	}
}
