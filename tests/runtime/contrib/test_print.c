/* relax.run.print and relax.run.assert_op: what a model says itself. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <string.h>

#include "tests/runtime/relax/builtin_support.h"
#include "tests/runtime/relax/vm_tree.h"

static struct msd_any floats23(void)
{
	static const float v[] = {0.5F, -1, 1e-20F, NAN, INFINITY, 0.1F};
	struct msd_any x = tensor(float32, (const int64_t[]){2, 3}, 2);

	memcpy(msd_any_dltensor(&x)->data, v, sizeof(v));
	return x;
}

Test(print, values_take_their_places, .init = cr_redirect_stdout)
{
	struct call c = {0};

	push(&c, text("{{a}} {1} {0} {x} {9}"));
	push(&c, msd_int(7));
	push(&c, shape_value((const int64_t[]){2, 3}, 2));
	expect_ok(&c, "relax.run.print");
	cr_assert_stdout_eq_str("{a} (2, 3) 7 {x} {9}\n");
	finish(&c);
}

Test(print, tensors_are_nested_brackets, .init = cr_redirect_stdout)
{
	struct call c = {0};

	push(&c, text(""));
	push(&c, floats23());
	push(&c, msd_bool(true));
	expect_ok(&c, "relax.run.print");
	cr_assert_stdout_eq_str("[[0.5 -1. 1e-20]\n[nan inf 0.1]] True\n");
	finish(&c);
}

Test(print, long_dimensions_are_cut, .init = cr_redirect_stdout)
{
	struct call c = {0};

	push(&c, text("{}"));
	push(&c, tensor(int64, (const int64_t[]){17}, 1));
	memset(msd_any_dltensor(&c.args[1])->data, 0, 17 * 8);
	expect_ok(&c, "relax.run.print");
	cr_assert_stdout_eq_str("[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ...]\n");
	finish(&c);
}

Test(print, nothing_is_an_empty_tensor, .init = cr_redirect_stdout)
{
	struct call c = {0};

	push(&c, text("{}{}"));
	push(&c, tensor(int64, (const int64_t[]){0, 3}, 2));
	push(&c, msd_none());
	expect_ok(&c, "relax.run.print");
	cr_assert_stdout_eq_str("[]None\n");
	finish(&c);
}

Test(print, an_assertion_that_holds_says_nothing)
{
	struct call c = {0};

	push(&c, msd_bool(true));
	push(&c, text("no"));
	expect_ok(&c, "relax.run.assert_op");
	finish(&c);
}

Test(print, an_assertion_that_fails_says_its_message)
{
	struct call c = {0};

	push(&c, tensor((struct msd_dtype){MSD_DT_BOOL, 8, 1}, NULL, 0));
	memset(msd_any_dltensor(&c.args[0])->data, 0, 1);
	push(&c, text("x is {}"));
	push(&c, msd_float(2.5));
	expect_error(&c, "relax.run.assert_op", "AssertionError: x is 2.5");
	push(&c, msd_bool(false));
	push(&c, text(""));
	expect_error(&c, "relax.run.assert_op", "AssertionError: Assertion Failed");
}

Test(print, an_assertion_on_numbers_is_refused)
{
	struct call c = {0};

	push(&c, x34());
	push(&c, text(""));
	expect_error(&c, "relax.run.assert_op",
		     "ValueError: The condition must be a bool scalar, but given a "
		     "float32 tensor of 2 dimensions");
}
