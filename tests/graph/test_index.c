/* Operators that go by indices and by values: what they refuse, and extents that only a
 * run tells. The numbers are those of ONNX's own test models (onnx_suite.py). */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/engine/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/net.h"

/* A node of @op over constants and one input, each of one axis. */
struct one {
	modser_graph *g;
	modser_sg_node *node;
	struct msd_plan *plan;
	struct msd_diag d;
};

static struct one begin(const char *op)
{
	struct one o = {.g = modser_graph_create("one")};
	modser_sg_tensor *y = modser_sg_tensor_create(o.g, "y");

	o.node = net_node(o.g, "n", op, y);
	(void)modser_graph_add_output(o.g, y);
	return o;
}

static void add_constant(struct one *o, const char *dtype, int64_t n, const void *bytes,
			 size_t size)
{
	modser_sg_tensor *t = modser_sg_tensor_create_const(o->g, "c");

	(void)modser_sg_tensor_set_dtype(t, dtype);
	(void)modser_sg_tensor_set_dims(t, &n, 1);
	(void)modser_sg_tensor_set_size(t, size);
	(void)modser_sg_tensor_set_buffer(t, bytes, NULL);
	(void)net_node(o->g, "c", "Const", t);
	(void)modser_sg_node_add_input(o->node, t);
}

static void add_input(struct one *o, const char *dtype, int64_t n)
{
	modser_sg_tensor *t = modser_sg_tensor_create(o->g, "x");

	(void)modser_sg_tensor_set_type(t, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dtype(t, dtype);
	(void)modser_sg_tensor_set_dims(t, &n, 1);
	(void)net_node(o->g, "x", "InputOp", t);
	(void)modser_graph_add_input(o->g, t);
	(void)modser_sg_node_add_input(o->node, t);
}

static void end(struct one *o)
{
	msd_plan_destroy(o->plan);
	modser_graph_destroy(o->g);
	msd_diag_finish(&o->d);
	msd_pool_stop();
}

static void expect_said(const struct one *o, const char *what)
{
	const char *text = msd_diag_text(&o->d);

	cr_expect(strstr(text, what) != NULL, "\"%s\" is not in \"%s\"", what, text);
}

Test(index, of_a_scatter_that_is_outside_fails_the_run)
{
	static const float data[3] = {1, 2, 3};
	static const float update[1] = {9};
	const int64_t wrong[] = {3};
	const void *in[] = {wrong};
	struct one o = begin("Scatter");

	add_constant(&o, "float32", 3, data, sizeof(data));
	add_input(&o, "int64", 1);
	add_constant(&o, "float32", 1, update, sizeof(update));
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_assert_eq(msd_plan_run(o.plan, in, &o.d), MSD_BAD_ARGUMENT);
	expect_said(&o, "index 3 of 3");
	end(&o);
}

Test(index, a_range_without_an_end_is_refused)
{
	static const float ends[3] = {0, 1, 0};
	struct one o = begin("Range");

	for (size_t i = 0; i < 3; i++)
		add_constant(&o, "float32", 1, &ends[i], sizeof(float));
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "it has no end");
	end(&o);
}

Test(index, a_range_that_no_memory_holds_is_refused)
{
	static const int64_t ends[3] = {0, INT64_MAX, 1};
	struct one o = begin("Range");

	for (size_t i = 0; i < 3; i++)
		add_constant(&o, "int64", 1, &ends[i], sizeof(int64_t));
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	end(&o);
}

Test(index, places_that_are_not_zero_are_counted_in_each_run)
{
	static const float x[3][3] = {{0, 5, -1}, {0, -0.0f, 0}, {1, 1, 1}};
	static const int64_t counts[3] = {2, 0, 3};
	struct one o = begin("NonZero");

	add_input(&o, "float32", 3);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	for (size_t i = 0; i < 3; i++) {
		const void *in[] = {x[i]};
		const modser_sg_tensor *y = modser_graph_output(o.g, 0);

		cr_assert_eq(msd_plan_run(o.plan, in, &o.d), MSD_OK);
		cr_expect_eq(modser_sg_tensor_dims(y)[1], counts[i]);
	}
	end(&o);
}

Test(index, a_tuple_longer_than_there_are_axes_is_refused)
{
	static const float data[3] = {1, 2, 3};
	static const int64_t at[2] = {0, 0};
	struct one o = begin("GatherND");

	add_constant(&o, "float32", 3, data, sizeof(data));
	add_constant(&o, "int64", 2, at, sizeof(at));
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "more axes than there are");
	end(&o);
}

Test(index, indices_that_are_no_integers_are_refused)
{
	static const float data[3] = {1, 2, 3};
	struct one o = begin("GatherElements");

	add_constant(&o, "float32", 3, data, sizeof(data));
	add_constant(&o, "float32", 3, data, sizeof(data));
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "int32 or int64");
	end(&o);
}
