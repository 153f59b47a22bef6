#include <criterion/criterion.h>
#include <string.h>

#include "artifact/relax/image.h"
#include "artifact/relax/text.h"
#include "tests/artifact/mangle.h"
#include "tests/artifact/relax_writer.h"

static enum msd_era era_of(enum rw_tags tags)
{
	return tags == RW_CLASSIC ? MSD_ERA_CLASSIC
	       : tags == RW_021   ? MSD_ERA_FFI_021
				  : MSD_ERA_FFI;
}

/* The payload as its era wraps it. */
static struct bw payload_of(const struct rw_image *program)
{
	struct bw image = {0};
	struct bw payload = {0};

	rw_write(&image, program);
	if (program->tags == RW_022)
		return image;
	bw_str_of(&payload, &image);
	bw_free(&image);
	return payload;
}

static bool reads(struct msd_span payload, void *ctx)
{
	const enum msd_era *era = ctx;
	struct msd_relax_image img = {0};
	struct msd_buf text = {0};
	struct msd_diag d = {0};
	msd_err err = msd_relax_image_read(payload, *era, &img, &d);

	if (err == MSD_OK)
		msd_relax_text(&img, &text);
	msd_buf_finish(&text);
	msd_relax_image_finish(&img);
	msd_diag_finish(&d);
	return err == MSD_OK;
}

static void expect_refusal(const struct rw_image *program, msd_err code,
			   const char *words)
{
	struct bw payload = payload_of(program);
	struct msd_relax_image img = {0};
	struct msd_diag d = {0};

	cr_expect_eq(msd_relax_image_read(bw_span(&payload), era_of(program->tags),
					  &img, &d),
		     code);
	cr_expect_null(img.funcs, "a failed read wrote its result");
	cr_expect(strstr(msd_diag_text(&d), words) != NULL, "\"%s\" is not in \"%s\"",
		  words, msd_diag_text(&d));
	msd_diag_finish(&d);
	bw_free(&payload);
}

static void expect_listing(enum rw_tags tags, const char *expected)
{
	struct rw_image program = rw_program(tags);
	struct bw payload = payload_of(&program);
	struct msd_relax_image img = {0};
	struct msd_buf text = {0};

	cr_assert_eq(msd_relax_image_read(bw_span(&payload), era_of(tags), &img, NULL),
		     MSD_OK);
	cr_expect_eq(img.is_v2, tags == RW_022);
	msd_relax_text(&img, &text);
	msd_buf_put_u8(&text, '\0');
	cr_expect_str_eq((char *)text.p, expected);
	msd_buf_finish(&text);
	msd_relax_image_finish(&img);
	bw_free(&payload);
}

static const char listing[] = "c0 = tensor float32[2, 3]\n"
			      "c1 = shape [2, 3]\n"
			      "c2 = str \"ctx\"\n"
			      "c3 = int -4\n"
			      "c4 = float 2.5\n"
			      "c5 = dtype float32\n"
			      "packed add\n"
			      "function main(x, y): 2 arguments, 4 registers\n"
			      "     0 call add(r0, c0, -7, vm, &helper) -> r2\n"
			      "     1 if r2 else +2\n"
			      "     2 goto +2\n"
			      "     3 call helper(r2) -> void\n"
			      "     4 ret r2\n"
			      "function helper(x): 1 arguments, 1 registers\n"
			      "     5 ret r0\n"
			      "compiled compiled(x): 1 arguments, 3 registers\n";

Test(relax_image, reads_the_tags_of_016_to_020)
{
	expect_listing(RW_CLASSIC, listing);
}

Test(relax_image, reads_the_tags_of_021)
{
	expect_listing(RW_021, listing);
}

Test(relax_image, reads_the_tags_and_magic_since_022)
{
	expect_listing(RW_022, listing);
}

Test(relax_image, reads_the_first_magic_with_the_later_tags)
{
	struct rw_image program = rw_program(RW_022);
	enum msd_era era = MSD_ERA_FFI;

	program.is_v2 = false; /* 0.22 */
	struct bw payload = payload_of(&program);
	cr_expect(reads(bw_span(&payload), &era));
	bw_free(&payload);
}

Test(relax_image, every_prefix_is_refused)
{
	for (enum rw_tags tags = RW_CLASSIC; tags <= RW_022; tags++) {
		struct rw_image program = rw_program(tags);
		struct bw payload = payload_of(&program);
		enum msd_era era = era_of(tags);

		cr_expect_eq(mangle_prefixes(bw_span(&payload), reads, &era), 0);
		bw_free(&payload);
	}
}

Test(relax_image, a_flipped_byte_does_no_harm)
{
	for (enum rw_tags tags = RW_CLASSIC; tags <= RW_022; tags++) {
		struct rw_image program = rw_program(tags);
		struct bw payload = payload_of(&program);
		enum msd_era era = era_of(tags);

		cr_expect(mangle_flips(bw_span(&payload), reads, &era));
		bw_free(&payload);
	}
}

Test(relax_image, another_version_is_named)
{
	struct rw_image program = rw_program(RW_022);

	program.version = "0.15";
	expect_refusal(&program, MSD_UNSUPPORTED, "\"0.15\"");
}

Test(relax_image, the_tags_of_another_era_are_refused)
{
	struct rw_image program = rw_program(RW_CLASSIC);
	struct bw image = {0};
	enum msd_era era = MSD_ERA_FFI;

	rw_write(&image, &program);
	cr_expect(!reads(bw_span(&image), &era));
	bw_free(&image);
}

Test(relax_image, a_scope_for_a_missing_constant_is_refused)
{
	struct rw_image program = rw_program(RW_022);

	program.scope_of = 6;
	expect_refusal(&program, MSD_BAD_ARTIFACT, "memory scope");
}

/* One word of the golden program replaced by a wrong one. */
struct wrong_word {
	size_t at;
	int64_t value;
	const char *words; /* of the refusal */
};

Test(relax_image, every_wrong_word_is_refused)
{
	static const struct wrong_word wrong[] = {
		{0, 5, "unknown or truncated"},         /* opcode */
		{1, 4, "no register 4"},                /* dst */
		{1, -1, "no register -1"},              /* dst */
		{1, RW_VM + 1, "no register"},          /* dst */
		{2, 4, "no function 4"},                /* callee */
		{2, -1, "no function -1"},              /* callee */
		{3, -1, "unknown or truncated"},        /* argument count */
		{3, 1 << 20, "unknown or truncated"},   /* argument count */
		{3, 6, "begins at word"},               /* overlaps the next */
		{4, 4, "no register 4"},                /* argument */
		{5, RW_CONST(6), "no constant 6"},      /* argument */
		{8, RW_FUNC(4), "no function 4"},       /* argument */
		{8, (int64_t)4 << 56, "no argument"},   /* kind */
		{10, 9, "no register 9"},               /* condition */
		{11, 4, "leaves the function"},         /* if */
		{11, INT64_MAX, "leaves the function"}, /* if */
		{13, -3, "leaves the function"},        /* goto */
		{13, INT64_MIN, "leaves the function"}, /* goto */
		{20, 4, "no register 4"},               /* ret */
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct rw_image program = rw_program(RW_022);

		program.words[wrong[i].at] = wrong[i].value;
		expect_refusal(&program, MSD_BAD_ARTIFACT, wrong[i].words);
	}
}

Test(relax_image, code_that_runs_past_its_end_is_refused)
{
	struct rw_image program = rw_program(RW_022);

	program.funcs[1].end = 4; /* ends with a call */
	program.words[13] = 1;    /* the goto stays inside */
	expect_refusal(&program, MSD_BAD_ARTIFACT, "leaves the function by 1");
}

Test(relax_image, a_call_with_too_few_arguments_is_refused)
{
	struct rw_image program = rw_program(RW_022);

	program.funcs[2].n_args = 0;
	program.funcs[2].params[0] = NULL;
	expect_refusal(&program, MSD_BAD_ARTIFACT, "wrong number of arguments 1");
}

Test(relax_image, functions_that_share_instructions_are_refused)
{
	struct rw_image program = rw_program(RW_022);

	program.funcs[2].start = 4;
	program.funcs[2].n_regs = 4;
	expect_refusal(&program, MSD_BAD_ARTIFACT, "shares instructions");
}

Test(relax_image, a_huge_register_file_is_refused)
{
	struct rw_image program = rw_program(RW_022);

	program.funcs[1].n_regs = INT64_MAX;
	expect_refusal(&program, MSD_BAD_ARTIFACT, "registers");
}

Test(relax_image, a_function_outside_the_code_is_refused)
{
	struct rw_image program = rw_program(RW_022);

	program.funcs[2].end = 7;
	expect_refusal(&program, MSD_BAD_ARTIFACT, "not among the instructions");
}

Test(relax_image, an_argument_word_has_a_signed_value)
{
	cr_expect_eq(msd_relax_arg_kind(RW_IMM(-1)), MSD_RELAX_IMM);
	cr_expect_eq(msd_relax_arg_value(RW_IMM(-1)), -1);
	cr_expect_eq(msd_relax_arg_value(RW_IMM(((int64_t)1 << 55) - 1)),
		     ((int64_t)1 << 55) - 1);
	cr_expect_eq(msd_relax_arg_value(RW_VM), MSD_RELAX_VM_REG);
}
