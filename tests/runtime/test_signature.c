#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/library/assert_text.h"
#include "runtime/module/signature.h"

static msd_err parse(const char *text, struct msd_signature *s)
{
	struct msd_diag d = {0};
	msd_err err = msd_signature_parse(msd_span_of(text), s, &d);

	msd_diag_finish(&d);
	return err;
}

Test(signature, tensors_and_scalars_are_understood)
{
	struct msd_signature s;

	cr_assert_eq(
		parse("f(A: Tensor([n, 64], float32), k: int32, x: float32, p: handle)",
		      &s),
		MSD_OK);
	cr_assert_eq(s.n_params, 4);
	cr_expect_str_eq(s.params[0].name, "A");
	cr_expect_eq(s.params[0].kind, MSD_P_TENSOR);
	cr_expect_eq(s.params[0].ndim, 2);
	cr_expect_eq(s.params[0].shape[0], -1);
	cr_expect_eq(s.params[0].shape[1], 64);
	cr_expect_eq(s.params[0].dtype.bits, 32);
	cr_expect_eq(s.params[1].kind, MSD_P_INT);
	cr_expect_eq(s.params[2].kind, MSD_P_FLOAT);
	cr_expect_eq(s.params[3].kind, MSD_P_OTHER);
	msd_signature_finish(&s);
}

Test(signature, a_batch_is_one_open_first_extent_of_all_tensors)
{
	static const struct {
		const char *text;
		bool has;
	} cases[] = {
		{"f(x: Tensor([n, 3], float32))", true},
		{"f(x: Tensor([n, 3], float32), y: Tensor([n], int64))", true},
		{"f(x: Tensor([n, 3], float32), y: Tensor([m], int64))", false},
		{"f(x: Tensor([n, 3], float32), y: Tensor([3, n], int64))", false},
		{"f(x: Tensor([n, 3], float32), k: int64)", false},
		{"f(x: Tensor([4, n], float32))", false},
		{"f(x: Tensor([], float32))", false},
		{"f()", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct msd_signature s;

		cr_assert_eq(parse(cases[i].text, &s), MSD_OK);
		cr_expect_eq(msd_signature_has_batch(&s), cases[i].has, "%s",
			     cases[i].text);
		msd_signature_finish(&s);
	}
}

Test(signature, expressions_and_casts_in_extents)
{
	struct msd_signature s;

	cr_assert_eq(parse("f(fc1.w: Tensor([T.int64(3), n * T.int64(4), T.max(n, 2)], "
			   "bool))",
			   &s),
		     MSD_OK);
	cr_expect_eq(s.params[0].ndim, 3);
	cr_expect_eq(s.params[0].shape[0], 3);
	cr_expect_eq(s.params[0].shape[1], -1);
	cr_expect_eq(s.params[0].shape[2], -1);
	cr_expect_str_eq(s.text, "f(fc1.w: Tensor([3, n * 4, T.max(n, 2)], bool))");
	msd_signature_finish(&s);
}

Test(signature, no_parameters_and_rank_0)
{
	struct msd_signature s;

	cr_assert_eq(parse("f()", &s), MSD_OK);
	cr_expect_eq(s.n_params, 0);
	msd_signature_finish(&s);
	cr_assert_eq(parse("f(A: Tensor([], int8))", &s), MSD_OK);
	cr_expect_eq(s.params[0].ndim, 0);
	msd_signature_finish(&s);
}

Test(signature, unknown_types_stay_unknown)
{
	struct msd_signature s;

	cr_assert_eq(parse("f(A: Whatever(1, 2), B: Tensor(?, spam))", &s), MSD_OK);
	cr_expect_eq(s.params[0].kind, MSD_P_UNKNOWN);
	cr_expect_eq(s.params[1].kind, MSD_P_TENSOR);
	cr_expect_not(s.params[1].has_dtype);
	cr_expect_eq(s.params[1].ndim, -1);
	msd_signature_finish(&s);
}

/* A callee's text is foreign: no prefix of one reads past its end. */
Test(signature, a_prefix_is_refused_unless_a_parenthesis_ends_it)
{
	static const char text[] = "f(A: Tensor([n, (64)], float32), k: int32)";
	struct msd_signature s;
	struct msd_diag d = {0};

	for (size_t n = 0; n < sizeof(text); n++) {
		uint8_t *copy = malloc(n > 0 ? n : 1);
		memcpy(copy, text, n);
		const bool is_ended = n > 0 && text[n - 1] == ')';
		cr_expect_eq(msd_signature_parse((struct msd_span){copy, n}, &s, &d) ==
				     MSD_OK,
			     is_ended, "%zu bytes", n);
		if (is_ended)
			msd_signature_finish(&s);
		free(copy);
	}
	msd_diag_finish(&d);
}

Test(signature, composed_text_shows_what_is_known)
{
	struct msd_signature s;

	cr_assert_eq(msd_signature_init(&s, 3, NULL), MSD_OK);
	s.params[0].kind = MSD_P_FLOAT;
	s.params[1].kind = MSD_P_TENSOR;
	s.params[1].name = strdup("A");
	s.params[1].ndim = 2;
	cr_assert_eq(msd_signature_compose(&s, "f", NULL), MSD_OK);
	cr_expect_str_eq(s.text, "f(float, A: Tensor([?, ?], ?), ?)");
	msd_signature_finish(&s);
}

#define MARK "has an unsatisfied constraint"

static int64_t constraint(const char *text)
{
	int64_t v = -1;

	if (!msd_text_constraint(text, strstr(text, MARK) + strlen(MARK), &v))
		return -1;
	return v;
}

Test(assert_text, constraint_is_read_as_every_release_writes_it)
{
	cr_expect_eq(constraint("Assert fail: (int32(arg0.shape[1]) == 56), Argument "
				"arg0.shape[1] " MARK),
		     56);
	cr_expect_eq(constraint("Assert fail: (64 == int32(arg0.shape[1])), Argument "
				"arg0.shape[1] " MARK ": (64 == int32(arg0.shape[1]))"),
		     64);
	cr_expect_eq(constraint("Argument f.A.shape[0] " MARK
				": T.int64(7) == T.Cast(\"int64\", f_A_shape[0])"),
		     7);
	cr_expect_eq(constraint("Argument f.A.shape[0] " MARK
				": 5 == T.Cast(\"int32\", f_A_shape[0])"),
		     5);
	cr_expect_eq(constraint("Argument f.A.shape[0] " MARK
				": ((int64)8 == arg0.shape[0])"),
		     8);
}

Test(assert_text, symbolic_constraint_is_no_number)
{
	cr_expect_eq(constraint("Argument f.A.shape[0] " MARK ": n == f_A_shape[0]"),
		     -1);
	cr_expect_eq(
		constraint("Argument f.A.shape[0] " MARK ": 4 * n == f_A_shape[0]"),
		-1);
	cr_expect_eq(constraint("f.A " MARK), -1);
}

static void expect_results(const char *text, size_t n, const char *first)
{
	struct msd_signature s = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_signature_parse_results(msd_span_of(text), &s, &d), MSD_OK);
	cr_assert_eq(s.n_params, n, "%s", text);
	if (n > 0) {
		cr_assert_eq(msd_signature_compose(&s, "", &d), MSD_OK);
		cr_expect_str_eq(s.text, first, "%s", text);
	}
	msd_signature_finish(&s);
	msd_diag_finish(&d);
}

Test(signature, has_results_where_all_are_tensors)
{
	expect_results("f(A: Tensor([n, 4], float32)) -> Tensor([n, 10], float32)", 1,
		       "(Tensor([n, 10], float32))");
	expect_results("f(A) -> (Tensor([2], int8), Tensor([...], int8))", 2,
		       "(Tensor([2], int8), Tensor([...], int8))");
	expect_results("f() -> (Tensor([2], int8),)", 1, "(Tensor([2], int8))");
	expect_results("f(A) -> Tensor", 1, "(Tensor)");
	expect_results("f(A) -> (Tensor([2], int8), Shape([n]))", 0, "");
	expect_results("f(A) -> ((Tensor([2], int8), Tensor), Tensor)", 0, "");
	expect_results("f(A: Tensor([n], int8))", 0, "");
	expect_results("f", 0, "");
	expect_results("", 0, "");
}

Test(signature, has_parameters_before_its_results)
{
	struct msd_signature s = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_signature_parse_params(
			     msd_span_of("f(A: Tensor([n, 4], float32)) -> (Tensor)"),
			     &s, &d),
		     MSD_OK);
	cr_assert_eq(s.n_params, 1);
	cr_expect_str_eq(s.params[0].name, "A");
	cr_expect_str_eq(s.params[0].dim_names[0], "n");
	cr_expect_null(s.params[0].dim_names[1]);
	msd_signature_finish(&s);
	msd_diag_finish(&d);
}
