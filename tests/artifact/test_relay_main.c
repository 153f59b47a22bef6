/* Sizes out of the programs' texts that archives carry; the first two are TVM's own. */
#include <criterion/criterion.h>
#include <string.h>

#include "artifact/mlf/relay_main.h"
#include "tests/artifact/mangle.h"

#define UNKNOWN UINT64_MAX

static const char of_016[] =
	"def @main(%x: Tensor[(3, 8), float32] /* ty=Tensor[(3, 8), float32] */, %a.b: "
	"Tensor[(5, 8), float32] /* ty=Tensor[(5, 8), float32] */) -> (Tensor[(8, 8), "
	"float32], Tensor[(8), int32], Tensor[(8, 8), float32]) {\n  %0 = (%x, %a.b) "
	"/* ty=(Tensor[(3, 8), float32], Tensor[(5, 8), float32]) */;\n}\n";
static const char of_09[] =
	"#[version = \"0.0.5\"]\n"
	"def @main(%data: Tensor[(1, 3, 32, 32), float32] /* ty=Tensor[(1, 3, 32, 32), "
	"float32] */, %c0_b: Tensor[(16), float32] /* ty=Tensor[(16), float32] */) -> "
	"Tensor[(1, 10), float32] {\n}\n";

Test(relay_main, sizes_are_those_of_the_types)
{
	cr_expect_eq(msd_mlf_relay_input(msd_span_of(of_016), "x"), 96);
	cr_expect_eq(msd_mlf_relay_input(msd_span_of(of_016), "a_b"), 160);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(of_016), 0, 3), 256);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(of_016), 1, 3), 32);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(of_016), 2, 3), 256);
	cr_expect_eq(msd_mlf_relay_input(msd_span_of(of_09), "data"), 12288);
	cr_expect_eq(msd_mlf_relay_input(msd_span_of(of_09), "c0_b"), 64);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(of_09), 0, 1), 40);
}

Test(relay_main, scalars_attributes_and_nested_tuples_are_read)
{
	static const char text[] =
		"def @main(%s: int64, %f: Tensor[(), bool], hash=\"a,)\", "
		"executor=meta[Executor][0]) -> (float16, (int8, Tensor[(2, 0), "
		"int32]), Tensor[(3), float64]) {";

	cr_expect_eq(msd_mlf_relay_input(msd_span_of(text), "s"), 8);
	cr_expect_eq(msd_mlf_relay_input(msd_span_of(text), "f"), 1);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(text), 0, 4), 2);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(text), 1, 4), 1);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(text), 2, 4), 0);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(text), 3, 4), 24);
}

Test(relay_main, what_is_not_said_is_unknown)
{
	static const char *const rows[] = {
		"",
		"def @other(%x: int32) -> int32 {",
		"def @main(%x: Tensor[(?, 8), float32]) -> Tensor[(?), float32] {",
		"def @main(%x) {",
		"def @main(%x: List[float32]) -> List[float32] {",
		"def @main(%x: Tensor[(99999999999999999999), int8]) -> Tensor[("
		"4000000000, 4000000000), int8] {",
		"def @main(%x.y: int8, %x: int8, %x_y: int8) -> (int8, int8) {",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct msd_span text = msd_span_of(rows[i]);
		cr_expect_eq(msd_mlf_relay_input(text, "x_y"), UNKNOWN);
		if (i < 6)
			cr_expect_eq(msd_mlf_relay_input(text, "x"), UNKNOWN);
		cr_expect_eq(msd_mlf_relay_output(text, 0, 1), UNKNOWN);
	}
}

Test(relay_main, tuples_without_end_are_unknown)
{
	char text[4096] = "def @main() -> ";

	memset(text + strlen(text), '(', sizeof(text) - strlen(text) - 1);
	cr_expect_eq(msd_mlf_relay_output(msd_span_of(text), 0, 1), UNKNOWN);
}

static bool reads(struct msd_span text, void *ctx)
{
	(void)ctx;
	(void)msd_mlf_relay_input(text, "a_b");
	return msd_mlf_relay_output(text, 1, 3) != UNKNOWN;
}

Test(relay_main, every_prefix_and_flip_does_no_harm)
{
	(void)mangle_prefixes(msd_span_of(of_016), reads, NULL);
	cr_expect(mangle_flips(msd_span_of(of_016), reads, NULL));
}
