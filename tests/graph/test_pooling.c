/* Pools whose kernel is larger than the padded input, of each kind: places and numbers
 * are ONNX Runtime's. */
#include <math.h>

#include "tests/graph/one.h"

enum { MAX, MEAN, NORM };

/* One axis for each number of the lists; what a list leaves out is the default. */
struct pool {
	int64_t alg;
	size_t n_axes;
	int64_t in[3];
	int64_t kernel[3];
	int64_t strides[3];
	int64_t dilation; /* of every axis */
	int64_t before;   /* padding of the first one */
	int64_t p;
	bool counts_padding;
	bool is_floor;
};

static void set_list(struct one *o, const char *param, const int64_t *list, size_t n)
{
	const modser_sg_attr value = {MODSER_ATTR_INTS, n, {.ints = list}};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o->node), param, &value),
		     0);
}

static void set(struct one *o, const char *param, int64_t value)
{
	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(o->node), param, value), 0);
}

static struct one pool_begin(const struct pool *p, const char *dtype, const void *x)
{
	const int64_t dims[] = {1, 1, p->in[0], p->in[1], p->in[2]};
	const int64_t pads[6] = {p->before};
	const int64_t dilations[] = {p->dilation, p->dilation, p->dilation};
	struct one o = one_begin("Pooling");

	set(&o, "alg", p->alg);
	set(&o, "ceil_mode", !p->is_floor);
	set(&o, "p", p->p > 0 ? p->p : 2);
	set(&o, "caffe_flavor", p->counts_padding ? 0x10 : 0);
	if (p->dilation > 0)
		set_list(&o, "dilations", dilations, p->n_axes);
	if (p->n_axes == 2) {
		set(&o, "kernel_h", p->kernel[0]);
		set(&o, "kernel_w", p->kernel[1]);
		set(&o, "stride_h", p->strides[0]);
		set(&o, "stride_w", p->strides[1]);
	} else {
		set_list(&o, "kernel", p->kernel, p->n_axes);
		set_list(&o, "strides", p->strides, p->n_axes);
		set_list(&o, "pads", pads, 2 * p->n_axes);
	}
	one_add_shaped(&o, dtype, 2 + p->n_axes, dims, x);
	return o;
}

static void run(struct one *o)
{
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
}

static void expect_floats(const struct pool *p, const float *x, size_t n,
			  const float *want)
{
	struct one o = pool_begin(p, "float32", x);

	run(&o);
	const float *y = msd_plan_output(o.plan, 0);
	for (size_t i = 0; i < n; i++) {
		cr_expect_float_eq(y[i], want[i], 1e-5f, "%zu: %f, not %f", i,
				   (double)y[i], (double)want[i]);
	}
	one_end(&o);
}

static const float line[] = {1, 2, 3, 4};
static const float plane[] = {1, -2, 3, 9, 5, -6};

Test(pooling, a_kernel_beyond_its_input_has_one_place_when_places_are_rounded_up)
{
	const struct pool most = {
		.alg = MAX, .n_axes = 1, .in = {4}, .kernel = {5}, .strides = {2}};
	const struct pool mean = {
		.alg = MEAN, .n_axes = 1, .in = {4}, .kernel = {5}, .strides = {2}};
	const struct pool norm = {
		.alg = NORM, .n_axes = 1, .in = {4}, .kernel = {5}, .strides = {2}};

	expect_floats(&most, line, 1, (const float[]){4});
	expect_floats(&mean, line, 1, (const float[]){2.5f});
	expect_floats(&norm, line, 1, (const float[]){sqrtf(30)});
}

Test(pooling, a_mean_counts_the_padding_before_and_not_what_is_rounded_up)
{
	const struct pool counted = {.alg = MEAN,
				     .n_axes = 1,
				     .in = {4},
				     .kernel = {8},
				     .strides = {4},
				     .before = 1,
				     .counts_padding = true};
	const struct pool not_counted = {.alg = MEAN,
					 .n_axes = 1,
					 .in = {4},
					 .kernel = {8},
					 .strides = {4},
					 .before = 1};

	expect_floats(&counted, line, 1, (const float[]){2});
	expect_floats(&not_counted, line, 1, (const float[]){2.5f});
}

Test(pooling, one_axis_of_several_may_be_beyond_its_input)
{
	const struct pool most = {.alg = MAX,
				  .n_axes = 2,
				  .in = {2, 3},
				  .kernel = {4, 2},
				  .strides = {3, 1}};
	const struct pool mean = {.alg = MEAN,
				  .n_axes = 2,
				  .in = {2, 3},
				  .kernel = {4, 2},
				  .strides = {3, 1}};
	const struct pool sum = {.alg = NORM,
				 .n_axes = 2,
				 .in = {2, 3},
				 .kernel = {4, 2},
				 .strides = {3, 1},
				 .p = 1};
	const struct pool three = {.alg = MEAN,
				   .n_axes = 3,
				   .in = {2, 2, 2},
				   .kernel = {3, 2, 4},
				   .strides = {2, 1, 4}};
	const float cube[] = {0, 1, 2, 3, 4, 5, 6, 7};

	expect_floats(&most, plane, 2, (const float[]){9, 5});
	expect_floats(&mean, plane, 2, (const float[]){3.25f, 0});
	expect_floats(&sum, plane, 2, (const float[]){17, 16});
	expect_floats(&three, cube, 1, (const float[]){3.5f});
}

Test(pooling, a_kernel_of_any_size_is_not_walked_over)
{
	const struct pool p = {.alg = MAX,
			       .n_axes = 3,
			       .in = {2, 2, 2},
			       .kernel = {INT32_MAX, INT32_MAX, INT32_MAX},
			       .strides = {INT32_MAX, INT32_MAX, INT32_MAX}};
	const float cube[] = {0, 1, 2, 3, 4, 5, 6, 7};

	expect_floats(&p, cube, 1, (const float[]){7});
}

Test(pooling, a_dilated_kernel_says_where_its_largest_is)
{
	const struct pool p = {.alg = MAX,
			       .n_axes = 1,
			       .in = {4},
			       .kernel = {3},
			       .strides = {4},
			       .dilation = 3};
	struct one o = pool_begin(&p, "float32", line);
	modser_sg_tensor *at = modser_sg_tensor_create(o.g, "at");

	cr_assert_eq(modser_sg_node_add_output(o.node, at), 1);
	cr_assert_eq(modser_graph_add_output(o.g, at), 0);
	run(&o);
	cr_expect_eq(*(const float *)msd_plan_output(o.plan, 0), 4);
	cr_expect_eq(*(const int64_t *)msd_plan_output(o.plan, 1), 3);
	one_end(&o);
}

Test(pooling, the_largest_of_padding_alone_is_the_lowest_of_its_type)
{
	const struct pool p = {.alg = MAX,
			       .n_axes = 1,
			       .in = {1},
			       .kernel = {2},
			       .strides = {2},
			       .dilation = 2,
			       .before = 1};
	struct one o = pool_begin(&p, "int8", (const int8_t[]){5});

	run(&o);
	cr_expect_eq(*(const int8_t *)msd_plan_output(o.plan, 0), INT8_MIN);
	one_end(&o);
}

Test(pooling, a_kernel_beyond_its_input_by_a_stride_has_no_place)
{
	const struct pool p = {
		.alg = MAX, .n_axes = 1, .in = {4}, .kernel = {6}, .strides = {2}};
	struct one o = pool_begin(&p, "float32", line);

	run(&o);
	cr_expect_eq(modser_sg_tensor_dims(modser_graph_output(o.g, 0))[2], 0);
	one_end(&o);
}

Test(pooling, a_kernel_further_beyond_its_input_is_refused)
{
	const struct pool pools[] = {
		{.alg = MAX, .n_axes = 1, .in = {4}, .kernel = {8}, .strides = {2}},
		{.alg = MAX,
		 .n_axes = 1,
		 .in = {4},
		 .kernel = {5},
		 .strides = {2},
		 .is_floor = true}};

	for (size_t i = 0; i < 2; i++) {
		struct one o = pool_begin(&pools[i], "float32", line);

		cr_expect_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
		expect_said(&o, "its kernel is larger than its input");
		one_end(&o);
	}
}
