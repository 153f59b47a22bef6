/* What people say of a model's format and of its inputs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "proto/words/model_words.h"

static bool takes(const char *text)
{
	struct msd_model_words w = {0};

	return msd_model_words_input(&w, msd_span_of(text), NULL) == MSD_OK;
}

static struct msd_model_input first_of(const char *text)
{
	struct msd_span list = msd_span_of(text);
	struct msd_model_input ret = {0};

	cr_assert_eq(msd_model_input_parse(&list, &ret, NULL), MSD_OK, "%s", text);
	return ret;
}

Test(model_words, an_input_has_a_name_a_dtype_and_extents)
{
	const struct msd_model_input x = first_of("x=float32[1,3,?,224]");

	cr_assert(msd_span_is(x.name, "x"));
	cr_assert(msd_dtype_eq(x.dtype, (struct msd_dtype){MSD_DT_FLOAT, 32, 1}));
	cr_assert_eq(x.ndim, 4);
	cr_assert_eq(x.shape[1], 3);
	cr_assert_eq(x.shape[2], -1);
	cr_assert_eq(x.shape[3], 224);
	cr_assert_eq(first_of("x=float32[1, 2]").shape[1], 2);
	cr_assert_eq(first_of("n=int64[]").ndim, 0);
	cr_assert_eq(first_of("n=int64[9223372036854775807]").shape[0], INT64_MAX);
}

Test(model_words, a_name_may_hold_what_parts_words)
{
	cr_assert(msd_span_is(first_of("in:0=uint8[2]:y=bool[1]").name, "in:0"));
	cr_assert(msd_span_is(first_of("a=b[0]=uint8[2]").name, "a=b[0]"));
}

Test(model_words, several_are_taken_one_by_one)
{
	struct msd_span list = msd_span_of("in:0=float32[2]:y=bool[]");
	struct msd_model_input one;

	cr_assert_eq(msd_model_input_parse(&list, &one, NULL), MSD_OK);
	cr_assert_eq(msd_model_input_parse(&list, &one, NULL), MSD_OK);
	cr_assert(msd_span_is(one.name, "y"));
	cr_assert_eq(list.n, 0);
}

Test(model_words, what_is_no_input_is_refused)
{
	static const char *const wrong[] = {"",
					    "x",
					    "x=float32",
					    "=float32[1]",
					    "x=[1]",
					    "x=float[1]",
					    "x=float32[1",
					    "x=float32[1,]",
					    "x=float32[,1]",
					    "x=float32[-1]",
					    "x=float32[1 2]",
					    "x=float32[a]",
					    "x=float32[??]",
					    "x=float32[9223372036854775808]",
					    "x=float32[1]:",
					    ":x=float32[1",
					    "x\n=float32[1]",
					    "x\xff=float32[1]"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert_not(takes(wrong[i]), "%s", wrong[i]);
}

Test(model_words, every_prefix_is_an_input_or_refused)
{
	static const char text[] = "x=float32[1,3,?]:y=bool[]";

	for (size_t n = 0; n <= strlen(text); n++) {
		struct msd_model_words w = {0};
		char *copy = malloc(n + 1);

		memcpy(copy, text, n);
		const bool is_fine =
			msd_model_words_input(&w, (struct msd_span){(uint8_t *)copy, n},
					      NULL) == MSD_OK;
		free(copy);
		cr_assert_eq(is_fine, n == 16 || n == strlen(text), "%zu", n);
	}
}

Test(model_words, inputs_are_kept_behind_each_other_up_to_their_room)
{
	struct msd_model_words w = {0};
	struct msd_diag d = {0};

	while (strlen(w.input) + strlen(":x=float32[1,2]") <= MSD_MODEL_INPUT_BYTES) {
		cr_assert_eq(
			msd_model_words_input(&w, msd_span_of("x=float32[1,2]"), &d),
			MSD_OK);
	}
	const size_t there = strlen(w.input);
	cr_assert_eq(memcmp(w.input, "x=float32[1,2]:x=float32[1,2]:", 30), 0);
	cr_assert_eq(msd_model_words_input(&w, msd_span_of("x=float32[1,2]"), &d),
		     MSD_BAD_REQUEST);
	cr_assert_not_null(strstr(msd_diag_text(&d), "at most 1024"));
	cr_assert_eq(strlen(w.input), there);
	msd_diag_finish(&d);
}

Test(model_words, a_format_is_a_name)
{
	struct msd_model_words w = {0};

	cr_assert_eq(msd_model_words_format(&w, msd_span_of("onnx"), NULL), MSD_OK);
	cr_assert_str_eq(w.format, "onnx");
	cr_assert_eq(msd_model_words_format(&w, msd_span_of(""), NULL),
		     MSD_BAD_REQUEST);
	cr_assert_eq(msd_model_words_format(&w, msd_span_of("a b"), NULL),
		     MSD_BAD_REQUEST);
	cr_assert_eq(
		msd_model_words_format(
			&w, msd_span_of("abcdefghijklmnopqrstuvwxyzabcdefg"), NULL),
		MSD_BAD_REQUEST);
}

Test(model_words, outputs_are_names_with_commas_between_them)
{
	struct msd_model_words w = {0};

	cr_assert_eq(msd_model_words_outputs(&w, msd_span_of("a:0,scope/b"), NULL),
		     MSD_OK);
	cr_assert_eq(msd_model_words_outputs(&w, msd_span_of("c"), NULL), MSD_OK);
	cr_expect_str_eq(w.outputs, "a:0,scope/b,c");
	cr_expect_eq(msd_model_words_outputs(&w, msd_span_of(",d"), NULL),
		     MSD_BAD_REQUEST);
	cr_expect_str_eq(w.outputs, "a:0,scope/b,c");
}

Test(model_words, outputs_and_signatures_have_a_bound)
{
	char long_name[MSD_MODEL_INPUT_BYTES + 2];
	struct msd_model_words w = {0};
	const struct msd_span all = {(const uint8_t *)long_name, MSD_MODEL_INPUT_BYTES};

	memset(long_name, 'a', sizeof(long_name));
	cr_expect_eq(
		msd_model_words_outputs(&w, (struct msd_span){all.p, all.n + 1}, NULL),
		MSD_BAD_REQUEST);
	cr_expect_eq(msd_model_words_outputs(&w, all, NULL), MSD_OK);
	cr_expect_eq(strlen(w.outputs), MSD_MODEL_INPUT_BYTES);
	cr_expect_eq(msd_model_words_signature(&w, all, NULL), MSD_BAD_REQUEST);
	cr_expect_eq(
		msd_model_words_signature(
			&w, (struct msd_span){all.p, MSD_MODEL_SIGNATURE_BYTES}, NULL),
		MSD_OK);
	cr_expect_eq(strlen(w.signature), MSD_MODEL_SIGNATURE_BYTES);
}
