/* Equations of Einsum: what is refused. The numbers are those of ONNX's own test models
 * (onnx_suite.py). */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/one.h"

static const float x[4] = {1, 2, 3, 4};

/* One input of one axis, or two. */
static struct one make(const char *equation, size_t n_inputs)
{
	const modser_sg_attr value = {MODSER_ATTR_STR, 0, {.s = equation}};
	struct one o = one_begin("Einsum");

	for (size_t i = 0; i < n_inputs; i++)
		one_add_constant(&o, "float32", 4, x);
	(void)modser_sg_op_set_param(modser_sg_node_op(o.node), "equation", &value);
	return o;
}

static void expect_refused(const char *equation, size_t n_inputs, const char *what)
{
	struct one o = make(equation, n_inputs);

	cr_expect_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT, "%s",
		     equation);
	expect_said(&o, what);
	one_end(&o);
}

Test(einsum, a_wrong_equation_is_refused_with_its_fault)
{
	expect_refused("ij->i", 1, "2 letters for 1 dimensions");
	expect_refused("i->j", 1, "an axis that no input has");
	expect_refused("i->ii", 1, "one twice");
	expect_refused("i,i->i", 1, "too many terms");
	expect_refused("i->i", 2, "too few terms");
	expect_refused("......->i", 1, "cannot be read");
	expect_refused("i$->i", 1, "cannot be read");
	expect_refused("i->i,i", 1, "two outputs");
}

Test(einsum, every_prefix_of_an_equation_is_read_or_refused)
{
	const char *whole = "...i,...i->...";

	for (size_t n = 0; n < strlen(whole); n++) {
		char *part = strndup(whole, n);

		cr_assert_not_null(part);
		struct one o = make(part, 2);
		const msd_err err = msd_plan_create(o.g, &o.plan, &o.d);
		cr_expect(err == MSD_OK || err == MSD_BAD_ARTIFACT, "\"%s\"", part);
		one_end(&o);
		free(part);
	}
}

Test(einsum, letters_that_are_there_once_are_the_output)
{
	static const float want = 1 + 4 + 9 + 16;
	struct one o = make("i,i", 2);

	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK, "%s",
		     msd_diag_text(&o.d));
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	cr_expect_eq(*(const float *)msd_plan_output(o.plan, 0), want);
	one_end(&o);
}
