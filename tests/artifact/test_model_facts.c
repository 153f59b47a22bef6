#include <criterion/criterion.h>
#include <stdio.h>

#include "artifact/json.h"
#include "artifact/kind/look.h"
#include "artifact/kind/model.h"
#include "artifact/relax/image.h"
#include "tests/artifact/mangle.h"
#include "tests/artifact/payload_writer.h"
#include "tests/artifact/relax_writer.h"

static void expect_text(const struct msd_model *m, const char *expected)
{
	struct msd_buf text = {0};

	msd_model_text(m, 0, &text);
	msd_buf_put_u8(&text, '\0');
	cr_expect_str_eq((char *)text.p, expected);
	msd_buf_finish(&text);
}

static void expect_json(const struct msd_model *m, const char *expected)
{
	struct msd_buf text = {0};

	msd_json_put(&text, msd_model_json(m), JSON_COMPACT);
	msd_buf_put_u8(&text, '\0');
	cr_expect_str_eq((char *)text.p, expected);
	msd_buf_finish(&text);
}

static msd_err look(const struct msd_look *what, struct msd_span payload,
		    struct msd_model *m)
{
	struct msd_gpu_code gpu = {0};

	return what->read(payload, MSD_ERA_CLASSIC, &gpu, m, NULL);
}

Test(model_facts, a_graphs_inputs_are_what_is_no_parameter)
{
	struct bw payload = {0};
	struct msd_model m = {0};

	pw_graph_factory(&payload);
	cr_assert_eq(look(&msd_look_graph, bw_span(&payload), &m), MSD_OK);
	bw_free(&payload);
	expect_text(&m, "function: run(x: Tensor([2, 3], float32)) -> "
			"(Tensor([2, 3], float32))\n");
	expect_json(&m, "{\"functions\":[{\"name\":\"run\",\"inputs\":[{\"name\":\"x\","
			"\"dtype\":\"float32\",\"shape\":[2,3]}],\"outputs\":["
			"{\"dtype\":\"float32\",\"shape\":[2,3]}]}],"
			"\"params\":1,\"param_bytes\":24}");
	cr_expect_eq(m.n_needs, 0);
	msd_model_finish(&m);
}

Test(model_facts, an_aot_model_has_parameters_and_needs_its_main_function)
{
	struct bw payload = {0};
	struct msd_model m = {0};

	pw_aot_factory(&payload);
	cr_assert_eq(look(&msd_look_aot, bw_span(&payload), &m), MSD_OK);
	bw_free(&payload);
	expect_json(&m, "{\"functions\":[],\"params\":1,\"param_bytes\":24}");
	cr_assert_eq(m.n_needs, 1);
	cr_expect_str_eq(m.needs[0], "tvmgen_default___tvm_main__");
	msd_model_finish(&m);
}

/* Annotations as the releases print them. */
Test(model_facts, types_are_read_where_they_are_tensors)
{
	static const struct {
		const char *type, *expected;
	} rows[] = {
		{"R.Tensor((n, 4), dtype=\"float32\")", "Tensor([?, 4], float32)"},
		{"R.Tensor((), dtype=\"bool\")", "Tensor([], bool)"},
		{"R.Tensor((T.int64(4), n * T.int64(2)), dtype=\"int8\")",
		 "Tensor([4, ?], int8)"},
		{"R.Tensor((3,), dtype=\"float16\")", "Tensor([3], float16)"},
		{"R.Tensor(dtype=\"float32\", ndim=2)", "Tensor([?, ?], float32)"},
		{"R.Tensor((3", "R.Tensor((3"},
		{"R.Tensor((3,), dtype=\"nothing\")", "Tensor([3], nothing)"},
		{"R.Shape([n])", "Shape([n])"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct msd_model m = {0};
		struct msd_model_func *f;
		struct msd_model_value *v;
		char expected[128];

		cr_assert(!msd_model_add_func(&m, msd_span_of("f"), &f, NULL));
		cr_assert(!msd_model_add_input(f, msd_span_of("x"), &v, NULL));
		cr_assert(!msd_model_set_type(v, msd_span_of(rows[i].type), NULL));
		(void)snprintf(expected, sizeof(expected), "function: f(x: %s)\n",
			       rows[i].expected);
		expect_text(&m, expected);
		msd_model_finish(&m);
	}
}

/* The quotes of checks among an image's constants. */
Test(model_facts, a_relax_program_is_read_from_what_its_checks_quote)
{
	struct rw_image program = rw_program(RW_022);
	struct msd_relax_image img = {0};
	struct msd_model m = {0};
	struct bw image = {0};

	rw_write(&image, &program);
	cr_assert_eq(msd_relax_image_read(bw_span(&image), MSD_ERA_FFI, &img, NULL),
		     MSD_OK);
	img.consts[2].as.str =
		msd_span_of("ErrorContext(fn=main, loc=param[1], param=y, "
			    "annotation=R.Tensor((n, 4), dtype=\"int32\")) ");
	cr_assert_eq(msd_model_of_relax(&img, &m, NULL), MSD_OK);
	expect_text(&m, "function: main(x, y: Tensor([?, 4], int32))\n"
			"function: helper(x)\nfunction: compiled(x), compiled\n");
	cr_assert_eq(m.n_needs, 1);
	cr_expect_str_eq(m.needs[0], "add");
	cr_expect_eq(m.n_params, 1);
	cr_expect_eq(m.param_bytes, 24);
	msd_model_finish(&m);
	img.consts[2].as.str = msd_span_of("ErrorContext(fn=helper, loc=return, "
					   "annotation=R.Shape([n])) ");
	cr_assert_eq(msd_model_of_relax(&img, &m, NULL), MSD_OK);
	expect_text(&m, "function: main(x, y)\nfunction: helper(x) -> (Shape([n]))\n"
			"function: compiled(x), compiled\n");
	msd_model_finish(&m);
	msd_relax_image_finish(&img);
	bw_free(&image);
}

Test(model_facts, needs_are_named_once)
{
	struct msd_model m = {0};

	cr_assert_eq(msd_model_add_need(&m, msd_span_of("f"), NULL), MSD_OK);
	cr_assert_eq(msd_model_add_need(&m, msd_span_of("g\n"), NULL), MSD_OK);
	cr_assert_eq(msd_model_add_need(&m, msd_span_of("f"), NULL), MSD_OK);
	cr_assert_eq(m.n_needs, 2);
	cr_expect_str_eq(m.needs[1], "g\\x0a");
	msd_model_finish(&m);
}

static bool reads(struct msd_span payload, void *ctx)
{
	struct msd_model m = {0};
	msd_err err = look(&msd_look_graph, payload, &m);

	(void)ctx;
	msd_model_finish(&m);
	return err == MSD_OK;
}

Test(model_facts, a_damaged_payload_does_no_harm)
{
	struct bw payload = {0};

	pw_graph_factory(&payload);
	payload.n -= 15; /* the model's name is of no interest here */
	cr_expect(reads(bw_span(&payload), NULL));
	cr_expect_eq(mangle_prefixes(bw_span(&payload), reads, NULL), 0);
	cr_expect(mangle_flips(bw_span(&payload), reads, NULL));
	bw_free(&payload);
}
