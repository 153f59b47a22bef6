/* What losses refuse, and what is left out of them. The numbers of the rest are those
 * of ONNX's own test models (onnx_suite.py). */
#include <criterion/criterion.h>
#include <math.h>

#include "tests/graph/one.h"

static const float logs[2][3] = {{-1, -2, -4}, {-8, -16, -32}};
static const int64_t shape[] = {2, 3};

static struct one loss_of(int64_t first, int64_t second)
{
	static int64_t labels[2];
	struct one o = one_begin("NegativeLogLikelihoodLoss");

	labels[0] = first;
	labels[1] = second;
	one_add_shaped(&o, "float32", 2, shape, logs);
	one_add_constant(&o, "int64", 2, labels);
	return o;
}

static double loss_run(struct one *o)
{
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	return (double)*(const float *)msd_plan_output(o->plan, 0);
}

Test(loss, is_the_mean_of_what_the_labels_have)
{
	struct one o = loss_of(1, 2);

	cr_expect_eq(loss_run(&o), (2 + 32) / 2.0);
	one_end(&o);
}

Test(loss, a_label_that_is_left_out_is_not_in_the_mean)
{
	struct one o = loss_of(-7, 1);
	const modser_sg_attr ignored = {MODSER_ATTR_INT, 0, {.i = -7}};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o.node), "ignore_index",
					    &ignored),
		     0);
	cr_expect_eq(loss_run(&o), 16);
	one_end(&o);
}

Test(loss, of_no_labels_at_all_is_no_number)
{
	struct one o = one_begin("NegativeLogLikelihoodLoss");
	const int64_t none[] = {0, 3};

	one_add_shaped(&o, "float32", 2, none, logs);
	one_add_constant(&o, "int64", 0, none);
	cr_expect(isnan(loss_run(&o)));
	one_end(&o);
}

Test(loss, a_label_that_no_class_has_is_refused)
{
	struct one o = loss_of(0, 3);
	msd_err err = msd_plan_create(o.g, &o.plan, &o.d);

	if (err == MSD_OK)
		err = msd_plan_run(o.plan, NULL, &o.d);
	cr_expect_neq(err, MSD_OK);
	expect_said(&o, "index 3");
	one_end(&o);
}

Test(loss, a_weight_that_belongs_to_no_class_is_refused)
{
	struct one o = loss_of(0, 1);

	one_add_constant(&o, "float32", 2, logs);
	cr_expect_neq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	expect_said(&o, "a weight for each class");
	one_end(&o);
}
