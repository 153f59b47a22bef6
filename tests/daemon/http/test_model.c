#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/http/models/model.h"
#include "daemon/supervisor/module/workers/facts.h"
#include "daemon/supervisor/module/workers/signature.h"
#include "proto/value.h"

/* Facts of functions called @names, of which those with a capital are whole models, and
 * `run` beside any of them. A library with one function has an alias `main` of it,
 * which is none. */
static void know(struct msd_facts *f, const char *const *names, uint32_t n)
{
	struct msd_buf b = {0};
	bool has_models = false;

	for (uint32_t i = 0; i < n; i++)
		has_models = has_models || *names[i] < 'a';
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "functions");
	msd_pack_array(&b, n);
	for (uint32_t i = 0; i < n; i++) {
		msd_pack_map(&b, 2);
		msd_pack_cstr(&b, "name");
		msd_pack_cstr(&b, names[i]);
		msd_pack_cstr(&b, "style");
		const bool is_run = strcmp(names[i], "run") == 0 && has_models;
		msd_pack_cstr(&b, *names[i] < 'a' || is_run ? "model" : "prim");
	}
	const struct msd_body body = {.kind = MSD_RESPONSE, .result = {b.p, b.n}};
	cr_assert_eq(msd_facts_set(f, &body, NULL), MSD_OK);
	msd_buf_finish(&b);
}

static void expect_model(const char *const *names, uint32_t n, const char *model)
{
	struct msd_facts f = {0};

	know(&f, names, n);
	cr_expect_eq(f.model, msd_facts_function(&f, msd_span_of(model)), "%s", model);
	msd_facts_finish(&f);
}

Test(model, is_main_or_the_only_one)
{
	expect_model((const char *const[]){"add", "main", "Other"}, 3, "main");
	expect_model((const char *const[]){"add", "main"}, 2, "main");
	expect_model((const char *const[]){"add", "Run"}, 2, "Run");
	expect_model((const char *const[]){"add"}, 1, "add");
	expect_model((const char *const[]){"Run", "Walk"}, 2, "");
	expect_model((const char *const[]){"Graph_json", "run", "Names"}, 3, "run");
	expect_model((const char *const[]){"Graph_json", "run", "main"}, 3, "main");
	expect_model((const char *const[]){"run", "walk"}, 2, "");
	expect_model((const char *const[]){"add", "sub"}, 2, "");
	expect_model(NULL, 0, "");
}

static void put_param(struct msd_buf *b, const char *name, const char *dtype,
		      int64_t dim)
{
	msd_pack_map(b, 4);
	msd_pack_cstr(b, "name");
	msd_pack_cstr(b, name);
	msd_pack_cstr(b, "kind");
	msd_pack_cstr(b, "tensor");
	msd_pack_cstr(b, "dtype");
	msd_pack_cstr(b, dtype);
	msd_pack_cstr(b, "shape");
	msd_pack_array(b, 2);
	msd_pack_int(b, dim);
	msd_pack_int(b, 4);
}

/* What metadata has of a function of @style with two parameters. */
static void expect_tensors(const char *style, enum msd_model_form form,
			   const char *text)
{
	struct msd_function_signature f;
	struct msd_buf b = {0}, out = {0};

	msd_pack_map(&b, 3);
	msd_pack_pair_str(&b, "name", "main");
	msd_pack_cstr(&b, "style");
	msd_pack_cstr(&b, style);
	msd_pack_cstr(&b, "params");
	msd_pack_array(&b, 2);
	put_param(&b, "a\"", "float32", -1);
	put_param(&b, "b", "custom8", 2);
	cr_assert_eq(msd_function_signature_read(&f, (struct msd_span){b.p, b.n}, NULL),
		     MSD_OK);
	const struct msd_model m = {.function = &f};
	msd_model_write_tensors(&m, form, &out);
	cr_expect(msd_span_is((struct msd_span){out.p, out.n}, text), "%.*s",
		  (int)out.n, (const char *)out.p);
	msd_function_signature_finish(&f);
	msd_buf_finish(&b);
	msd_buf_finish(&out);
}

Test(model, lists_its_tensors)
{
	expect_tensors(
		"model", MSD_MODEL_METADATA,
		"\"inputs\":[{\"name\":\"a\\\"\",\"datatype\":\"FP32\",\"shape\":"
		"[-1,4]},{\"name\":\"b\",\"datatype\":\"custom8\",\"shape\":[2,4]}"
		"],\"outputs\":[]");
	expect_tensors(
		"prim", MSD_MODEL_METADATA,
		"\"inputs\":[{\"name\":\"a\\\"\",\"datatype\":\"FP32\",\"shape\":"
		"[-1,4]}],\"outputs\":[{\"name\":\"b\",\"datatype\":\"custom8\","
		"\"shape\":[2,4]}]");
}

Test(model, lists_the_same_in_the_words_of_a_configuration)
{
	expect_tensors(
		"prim", MSD_MODEL_CONFIG,
		"\"input\":[{\"name\":\"a\\\"\",\"data_type\":\"TYPE_FP32\",\"dims\":"
		"[-1,4]}],\"output\":[{\"name\":\"b\",\"data_type\":\"custom8\","
		"\"dims\":[2,4]}]");
}

Test(model, without_a_signature_lists_none)
{
	const struct msd_model m = {0};
	struct msd_buf out = {0};

	msd_model_write_tensors(&m, MSD_MODEL_METADATA, &out);
	cr_expect(msd_span_is((struct msd_span){out.p, out.n},
			      "\"inputs\":[],\"outputs\":[]"));
	msd_buf_finish(&out);
}
