/* The reader of relay VM executables against images that are damaged or cannot be. */
#include <criterion/criterion.h>

#include "artifact/relay/image.h"
#include "tests/artifact/mangle.h"
#include "tests/runtime/graph/relay_programs.h"

static bool reads(struct msd_span payload, void *ctx)
{
	struct msd_relay_image img;
	(void)ctx;

	if (msd_relay_image_read(payload, &img, NULL) != MSD_OK)
		return false;
	msd_relay_image_finish(&img);
	return true;
}

Test(relay_image, damaged_images_are_refused)
{
	static const int minors[] = {8, 9, 14};

	for (size_t i = 0; i < 3; i++) {
		struct bw image = relay_addone(minors[i]);
		struct bw payload = relay_payload(&image);
		cr_assert(reads(bw_span(&payload), NULL));
		cr_assert_eq(mangle_prefixes(bw_span(&payload), reads, NULL), 0);
		cr_expect(mangle_flips(bw_span(&payload), reads, NULL));
		bw_free(&payload);
	}
}

static void expect_refusal(struct relay_code *c, unsigned n_regs, const char *words)
{
	struct bw image = relay_program(c, n_regs);
	struct bw payload = relay_payload(&image);
	struct msd_relay_image img;
	struct msd_diag d = {0};

	cr_assert_eq(msd_relay_image_read(bw_span(&payload), &img, &d),
		     MSD_BAD_ARTIFACT);
	cr_assert_str_eq(msd_diag_text(&d), words);
	msd_diag_finish(&d);
	bw_free(&payload);
}

Test(relay_image, operands_out_of_range_are_refused)
{
	static const char range[] =
		"relay VM: function 0: instruction 0: an operand is out of range";
	struct relay_code c = {0};

	INS(&c, RET, 5);
	expect_refusal(&c, 5, range);
	INS(&c, GOTO, 1);
	expect_refusal(&c, 5, range);
	INS(&c, GOTO, INT64_MIN);
	expect_refusal(&c, 5, range);
	INS(&c, LOAD_CONST, 1, 0);
	expect_refusal(&c, 5, range);
	INS(&c, INVOKE_PACKED, 1, 0, 0);
	expect_refusal(&c, 5, range);
	INS(&c, INVOKE_PACKED, 0, 1, 1, 7);
	expect_refusal(&c, 5, range);
}

Test(relay_image, only_a_storage_without_extents_has_its_size_in_a_register)
{
	struct relay_code c = {0};

	INS(&c, ALLOC_STORAGE, 0x55d01c2a98f0, 64, 2, 32, 1, 0, 0, 1);
	INS(&c, RET, 1);
	expect_refusal(
		&c, 5,
		"relay VM: function 0: instruction 0: an operand is out of range");
	INS(&c, ALLOC_STORAGE, 0x55d01c2a98f0, 64, 2, 32, 1, 0, 2, 1, 3);
	INS(&c, RET, 1);
	expect_refusal(
		&c, 5,
		"relay VM: function 0: instruction 0: its number of operands is wrong");
}

Test(relay_image, code_that_does_not_end_is_refused)
{
	struct relay_code c = {0};

	INS(&c, MOVE, 0, 1);
	expect_refusal(&c, 2, "relay VM: function 0: its code does not end");
}

Test(relay_image, calls_with_another_number_of_arguments_are_refused)
{
	struct relay_code c = {0};

	INS(&c, INVOKE, 0, 2, 0, 0, 0);
	INS(&c, RET, 0);
	expect_refusal(&c, 2,
		       "relay VM: function 0: instruction 0: another number of "
		       "arguments than parameters");
}
