/* Run options: each key is parsed, printed, packed and read by its row. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "proto/words/run_options.h"

/* A value of each key, in a form that is printed again as it is. */
static const char *const samples[MSD_RUN_KEYS] = {
	[MSD_RUN_DEVICE_KEY] = "cuda:0,cuda:1",
	[MSD_RUN_WORKERS_KEY] = "3",
	[MSD_RUN_ABI_KEY] = "classic",
	[MSD_RUN_TVM_INPUTS_KEY] = "yes",
	[MSD_RUN_FILL_KEY] = "seeded",
	[MSD_RUN_FORMAT_KEY] = "onnx",
	[MSD_RUN_INPUT_KEY] = "x=float32[1,?]:y=bool[2]",
	[MSD_RUN_OUTPUTS_KEY] = "prob,scope/boxes:0",
	[MSD_RUN_SIGNATURE_KEY] = "serving_default",
	[MSD_RUN_ENGINE_KEY] = "reference",
	[MSD_RUN_THREADS_KEY] = "4",
	[MSD_RUN_BATCH_KEY] = "32",
	[MSD_RUN_BATCH_DELAY_KEY] = "5ms",
	[MSD_RUN_MAX_RUN_KEY] = "0ms",
	[MSD_RUN_KEEP_ALIVE_KEY] = "60000ms",
	[MSD_RUN_SANDBOX_KEY] = "cpu",
};

static void parse_all(struct msd_run_options *ret)
{
	*ret = (struct msd_run_options){0};
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		cr_assert_not_null(samples[i], "give a sample of %s",
				   msd_run_keys[i].name);
		cr_assert_eq(msd_run_option_parse(&msd_run_keys[i],
						  msd_span_of(samples[i]), ret, NULL),
			     MSD_OK, "%s", msd_run_keys[i].name);
	}
}

/* msd_run_option_parse() refuses @value with a text that has @words. */
static void expect_refused(enum msd_run_key_id id, const char *value, const char *words)
{
	struct msd_run_options o = {0};
	struct msd_diag d = {0};

	cr_expect_eq(
		msd_run_option_parse(&msd_run_keys[id], msd_span_of(value), &o, &d),
		MSD_BAD_REQUEST, "%s", value);
	cr_expect_not_null(strstr(msd_diag_text(&d), words), "%s", msd_diag_text(&d));
	cr_expect_not(msd_run_option_is_given(&msd_run_keys[id], &o));
	msd_diag_finish(&d);
}

Test(run_options, each_key_is_printed_as_it_is_parsed)
{
	const struct msd_run_options none = {0};
	struct msd_run_options o;

	parse_all(&o);
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		struct msd_buf text = {0};

		cr_expect(msd_run_option_is_given(&msd_run_keys[i], &o));
		cr_expect_not(msd_run_option_is_given(&msd_run_keys[i], &none));
		msd_run_option_print(&msd_run_keys[i], &o, &text);
		cr_expect(msd_span_is((struct msd_span){text.p, text.n}, samples[i]),
			  "%s: %.*s", msd_run_keys[i].name, (int)text.n,
			  (const char *)text.p);
		msd_buf_finish(&text);
	}
}

/* Packs @o as a map of these fronts. */
static void pack(const struct msd_run_options *o, unsigned fronts, struct msd_buf *ret)
{
	msd_pack_map(ret, msd_run_options_count(o, fronts));
	msd_run_options_pack(o, fronts, ret);
	cr_assert_not(ret->bad);
}

static void expect_same(const struct msd_run_options *a,
			const struct msd_run_options *b, unsigned fronts)
{
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		struct msd_buf texts[2] = {{0}, {0}};

		if ((msd_run_keys[i].fronts & fronts) == 0) {
			cr_expect_not(msd_run_option_is_given(&msd_run_keys[i], b));
			continue;
		}
		msd_run_option_print(&msd_run_keys[i], a, &texts[0]);
		msd_run_option_print(&msd_run_keys[i], b, &texts[1]);
		cr_expect_eq(texts[0].n, texts[1].n, "%s", msd_run_keys[i].name);
		cr_expect_eq(memcmp(texts[0].p, texts[1].p, texts[0].n), 0);
		msd_buf_finish(&texts[0]);
		msd_buf_finish(&texts[1]);
	}
}

Test(run_options, each_front_reads_what_it_packs)
{
	static const unsigned fronts[] = {MSD_RUN_LOAD, MSD_RUN_WORKER, MSD_RUN_BOTH};
	struct msd_run_options o;

	parse_all(&o);
	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
		struct msd_run_options back = {0};
		struct msd_buf map = {0};

		pack(&o, fronts[i], &map);
		cr_assert_eq(msd_run_options_read((struct msd_span){map.p, map.n},
						  fronts[i], &back, NULL),
			     MSD_OK);
		expect_same(&o, &back, fronts[i]);
		msd_buf_finish(&map);
	}
}

Test(run_options, a_key_of_another_front_is_not_read)
{
	struct msd_run_options o, back = {0};
	struct msd_buf map = {0};

	parse_all(&o);
	pack(&o, MSD_RUN_BOTH, &map);
	cr_assert_eq(msd_run_options_read((struct msd_span){map.p, map.n}, MSD_RUN_LOAD,
					  &back, NULL),
		     MSD_OK);
	cr_expect_eq(back.sandbox, MSD_SANDBOX_UNSAID, "no client may set it");
	msd_buf_finish(&map);
}

Test(run_options, each_prefix_of_a_map_is_read_without_a_fault)
{
	struct msd_run_options o;
	struct msd_buf map = {0};

	parse_all(&o);
	pack(&o, MSD_RUN_BOTH, &map);
	for (size_t n = 0; n < map.n; n++) {
		struct msd_run_options back = {0};
		uint8_t *cut = malloc(n + 1); /* so that ASan sees each byte beyond */

		cr_assert_not_null(cut);
		memcpy(cut, map.p, n);
		(void)!msd_run_options_read((struct msd_span){cut, n}, MSD_RUN_BOTH,
					    &back, NULL);
		free(cut);
	}
	cr_expect_gt(map.n, 0u);
	msd_buf_finish(&map);
}

Test(run_options, a_value_of_another_type_is_refused_by_the_key)
{
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		const struct msd_wire_value value = {.kind = MSD_K_FLOAT};
		struct msd_run_options o = {0};
		struct msd_diag d = {0};

		cr_expect_eq(msd_run_option_read(&msd_run_keys[i], &value, &o, &d),
			     MSD_BAD_REQUEST);
		cr_expect_eq(strncmp(msd_diag_text(&d), msd_run_keys[i].wire,
				     strlen(msd_run_keys[i].wire)),
			     0, "%s", msd_diag_text(&d));
		cr_expect_not_null(strstr(msd_diag_text(&d), "expected, not a float"));
		msd_diag_finish(&d);
	}
}

Test(run_options, a_wrong_value_is_refused_with_the_right_ones)
{
	expect_refused(MSD_RUN_DEVICE_KEY, "cuda:0,cpu", "device cuda:0,cpu: expected");
	expect_refused(MSD_RUN_WORKERS_KEY, "0", "workers 0: expected a number");
	expect_refused(MSD_RUN_WORKERS_KEY, "4294967296", "expected a number");
	expect_refused(MSD_RUN_ABI_KEY, "old", "abi old: expected classic");
	expect_refused(MSD_RUN_TVM_INPUTS_KEY, "maybe", "expected yes or no");
	expect_refused(MSD_RUN_FILL_KEY, "", "expected zero or seeded");
	expect_refused(MSD_RUN_FORMAT_KEY, "o/n", "expected a name such as onnx");
	expect_refused(MSD_RUN_INPUT_KEY, "x", "expected NAME=DTYPE[EXTENTS]");
	expect_refused(MSD_RUN_OUTPUTS_KEY, "", "expected names of tensors");
	expect_refused(MSD_RUN_OUTPUTS_KEY, "a,,b", "expected names of tensors");
	expect_refused(MSD_RUN_OUTPUTS_KEY, "a,", "expected names of tensors");
	expect_refused(MSD_RUN_SIGNATURE_KEY, "a\nb", "expected a name of at most");
	expect_refused(MSD_RUN_ENGINE_KEY, "fast",
		       "engine fast: expected auto, native");
	expect_refused(MSD_RUN_THREADS_KEY, "0", "expected 1 to 1024 threads");
	expect_refused(MSD_RUN_THREADS_KEY, "1025", "expected 1 to 1024 threads");
	expect_refused(MSD_RUN_BATCH_KEY, "1", "batch 1: expected 2 to 65536 rows");
	expect_refused(MSD_RUN_BATCH_KEY, "65537", "expected 2 to 65536 rows");
	expect_refused(MSD_RUN_BATCH_DELAY_KEY, "10001ms", "expected 10 s at most");
	expect_refused(MSD_RUN_MAX_RUN_KEY, "1200h", "less than 49 days, or unlimited");
	expect_refused(MSD_RUN_MAX_RUN_KEY, "5", "max-run 5: add the unit");
	expect_refused(MSD_RUN_KEEP_ALIVE_KEY, "never", "keep-alive never: expected");
	expect_refused(MSD_RUN_SANDBOX_KEY, "none", "expected auto, cpu, opencl");
}

Test(run_options, numbers_on_the_wire_have_the_limits_of_the_texts)
{
	static const struct {
		enum msd_run_key_id id;
		int64_t value;
	} wrong[] = {{MSD_RUN_WORKERS_KEY, 0},      {MSD_RUN_WORKERS_KEY, 1ll << 32},
		     {MSD_RUN_BATCH_KEY, -1},       {MSD_RUN_BATCH_KEY, 65537},
		     {MSD_RUN_BATCH_DELAY_KEY, -1}, {MSD_RUN_BATCH_DELAY_KEY, 10001},
		     {MSD_RUN_MAX_RUN_KEY, -1},     {MSD_RUN_MAX_RUN_KEY, INT64_MAX}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct msd_run_key *key = &msd_run_keys[wrong[i].id];
		const struct msd_wire_value value = {.kind = MSD_K_INT,
						     .as.i = wrong[i].value};
		struct msd_run_options o = {0};

		cr_expect_eq(msd_run_option_read(key, &value, &o, NULL),
			     MSD_BAD_REQUEST, "%zu", i);
		cr_expect_not(msd_run_option_is_given(key, &o));
	}
}

Test(run_options, a_word_for_0_is_given)
{
	struct msd_run_options o = {0};

	cr_assert_eq(msd_run_option_parse(&msd_run_keys[MSD_RUN_MAX_RUN_KEY],
					  msd_span_of("unlimited"), &o, NULL),
		     MSD_OK);
	cr_expect(o.max_run.is_given);
	cr_expect_eq(msd_given_ms_or(o.max_run, 7), 0);
	cr_expect_eq(msd_given_ms_or(o.keep_alive, 7), 7);
}

Test(run_options, former_names_are_found)
{
	cr_expect_eq(msd_run_key_find("era"), &msd_run_keys[MSD_RUN_ABI_KEY]);
	cr_expect_eq(msd_run_key_find("abi"), &msd_run_keys[MSD_RUN_ABI_KEY]);
	cr_expect_null(msd_run_key_find("ab"));
	cr_expect_eq(msd_run_key_of_wire(msd_span_of("within_ms"), MSD_RUN_LOAD),
		     &msd_run_keys[MSD_RUN_BATCH_DELAY_KEY]);
	cr_expect_null(msd_run_key_of_wire(msd_span_of("sandbox"), MSD_RUN_LOAD));
}

Test(run_options, a_delay_needs_a_batch)
{
	struct msd_run_options o = {.batch_delay = {true, 5}};
	struct msd_diag d = {0};

	cr_expect_eq(msd_run_options_check(&o, &d), MSD_BAD_REQUEST);
	cr_expect_not_null(strstr(msd_diag_text(&d), "give batch, too"));
	msd_diag_finish(&d);
	o.batch_rows = 2;
	cr_expect_eq(msd_run_options_check(&o, &d), MSD_OK);
}
