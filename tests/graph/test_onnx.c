/* ONNX files: small ones of a writer of their own (make_onnx_corpus.py). The numbers
 * are compared by onnx_suite.py. */
#include <criterion/criterion.h>
#include <string.h>

#include "graph/ir/defaults.h"
#include "graph/ir/graph.h"
#include "graph/serializer/onnx/rows/row.h"
#include "tests/artifact/fixture.h"
#include "tests/artifact/mangle.h"
#include "tests/graph/onnx_file.h"
#include "tests/support/fail_alloc.h"

TestSuite(onnx, .init = begin, .fini = end, .timeout = 120);

static void expect_error(const char *name, const char *text)
{
	struct bw file = fixture_read(name);
	int result;
	modser_graph *g = load(bw_span(&file), &result);

	cr_expect_eq(result, -1, "%s", name);
	cr_expect_str_eq(modser_graph_error(g), text);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(onnx, says_what_is_wrong_and_where)
{
	expect_error(CORPUS "reject_unknown_operator.bin",
		     "node 0 \"n\": no operator Frobnicate is known");
	expect_error(CORPUS "reject_unknown_domain.bin",
		     "node 0 \"n\": operator Relu is of domain com.example, which is "
		     "not known");
	expect_error(CORPUS "reject_operator_of_a_later_opset.bin",
		     "node 0 \"n\": opset 8 has no operator Erf; 9 has");
	expect_error(
		CORPUS "reject_unknown_attribute.bin",
		"node 0 \"n\", Relu: attribute \"slope\" is not known in opset 17");
	expect_error(CORPUS "reject_external_data.bin",
		     "tensor \"w\": its bytes are in another file, \"../w\", which did "
		     "not come with the model");
	expect_error(CORPUS "reject_nothing_makes_its_input.bin",
		     "node 0 \"n\", Relu: nothing before it makes its input \"z\"");
	expect_error(CORPUS "reject_nothing_makes_what_is_captured.bin",
		     "node 0 \"n\", If: node 0 \"n\", Add: nothing before it makes its "
		     "input \"nobody\"");
	expect_error(CORPUS "reject_default_that_is_an_input_twice.bin",
		     "two tensors are called \"w\"");
	expect_error(CORPUS "reject_if_without_a_branch.bin",
		     "node 0 \"n\", If: it has no graph \"else_branch\"");
}

Test(onnx, each_row_is_found_by_its_name)
{
	struct onnx_row_walk w = {0};
	int64_t first;

	for (const struct onnx_row *r = onnx_row_next(&w); r != NULL;
	     r = onnx_row_next(&w)) {
		const char *domain = onnx_row_domain(r);

		cr_expect_eq(onnx_row_find(domain, r->name, r->since, &first), r,
			     "%s since %lld", r->name, (long long)r->since);
		cr_expect(first > 0 && first <= r->since, "%s", r->name);
	}
	cr_expect_null(onnx_row_find(NULL, "Zzz", INT64_MAX, &first));
	cr_expect_eq(first, 0);
}

/* A slope of each LeakyRelu of @g itself; the last 0. */
static void slopes_of(const modser_graph *g, float ret[4])
{
	size_t n = 0;

	memset(ret, 0, 4 * sizeof(*ret));
	for (size_t i = 0; i < modser_graph_node_count(g) && n < 3; i++) {
		const modser_sg_op *op = modser_sg_node_op(modser_graph_node(g, i));

		if (strcmp(modser_sg_op_name(op), "ReLu") == 0)
			ret[n++] = modser_sg_op_param(op, "negative_slope")->as.f;
	}
}

/* Each call has attributes of its own, outputs have the caller's names. */
Test(onnx, functions_are_read_where_they_are_called)
{
	struct bw file = fixture_read(CORPUS "accept_functions.bin");
	int result;
	modser_graph *g = load(bw_span(&file), &result);
	float slopes[4];

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	slopes_of(g, slopes);
	cr_expect_eq(slopes[0], 0.5f);
	cr_expect_eq(slopes[1], 0.25f);
	cr_expect_eq(slopes[2], 0);
	cr_assert_eq(modser_graph_output_count(g), 3);
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_output(g, 0)), "y");
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_output(g, 1)), "same");
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_output(g, 2)), "z");
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(onnx, functions_that_cannot_be_read_say_why)
{
	expect_error(CORPUS "reject_function_that_calls_itself.bin",
		     "node 0 \"c\", function f: node 0 \"c\", function f: it calls "
		     "itself");
	expect_error(CORPUS "reject_functions_too_deep.bin",
		     "node 0 \"c\", function f0: node 0 \"c\", function f64: functions "
		     "call each other too deep");
	expect_error(CORPUS "reject_two_functions_with_one_name.bin",
		     "two functions are called \"f\"");
	expect_error(CORPUS "reject_function_without_its_output.bin",
		     "node 0 \"c\", function f: no node of it makes its output \"z\"");
	expect_error(CORPUS "reject_function_of_fewer_inputs.bin",
		     "node 0 \"c\", function f: it has more inputs than the function");
	expect_error(CORPUS "reject_function_that_sees_its_caller.bin",
		     "node 0 \"c\", function f: node 0 \"n\", Relu: nothing before it "
		     "makes its input \"x\"");
	expect_error(CORPUS "reject_function_of_a_later_opset.bin",
		     "node 0 \"c\", function f: its opset cannot be read");
}

Test(onnx, what_calls_add_to_a_file_is_bounded)
{
	expect_error(CORPUS "reject_functions_too_often.bin",
		     "node 0 \"c\", function f0: node 1 \"c\", function f16: functions "
		     "call each other too often");
	expect_error(CORPUS "reject_functions_with_graphs_too_often.bin",
		     "node 0 \"c\", function f0: node 0 \"c\", function f14: functions "
		     "call each other too often");
	expect_error(CORPUS "reject_functions_that_copy_too_much.bin",
		     "node 0 \"c\", function f0: node 0 \"n\", Constant: functions "
		     "refer to attributes too often");
}

/* The model itself names no version of ai.onnx.ml. */
Test(onnx, versions_of_operators_in_a_body_are_the_functions)
{
	struct bw file = fixture_read(CORPUS "accept_function_of_another_domain.bin");
	int result;
	modser_graph *g = load(bw_span(&file), &result);

	cr_expect_eq(result, 0, "%s", modser_graph_error(g));
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(onnx, nesting_is_refused_before_anything_is_unpacked)
{
	expect_error(CORPUS "reject_deep.bin",
		     "byte 1285: messages are nested too deep");
}

/* Tensor 0 of @name, whose file has its six weights. */
static void expect_weights(const char *name, bool is_in_file)
{
	static const float want[6] = {0, 1, 2, 3, 4, 5};
	struct bw file = fixture_read(name);
	int result;
	modser_graph *g = load(bw_span(&file), &result);
	uint64_t bytes = 0;
	const uint8_t *data = modser_sg_tensor_data(modser_graph_tensor(g, 0), &bytes);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(bytes, sizeof(want));
	cr_expect_eq(memcmp(data, want, sizeof(want)), 0, "%s", name);
	cr_expect((uintptr_t)data % 4 == 0);
	if (!is_in_file)
		cr_expect(data < file.p || data >= file.p + file.n);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(onnx, weights_stand_raw_or_as_numbers)
{
	expect_weights(CORPUS "accept_gemm.bin", true);
	expect_weights(CORPUS "accept_typed_numbers.bin", false);
}

Test(onnx, extents_that_are_not_known_have_their_names)
{
	struct bw file = fixture_read(CORPUS "accept_open_extents.bin");
	int result;
	modser_graph *g = load(bw_span(&file), &result);
	const modser_sg_tensor *x = modser_graph_input(g, 0);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_sg_tensor_dims(x)[0], -1);
	cr_assert_eq(modser_sg_tensor_dims(x)[1], 3);
	cr_assert_str_eq(modser_sg_tensor_dim_name(x, 0), "n");
	modser_graph_destroy(g);
	bw_free(&file);
}

/* w is before x in the file; b is declared with an open extent. */
static void expect_defaults(const modser_graph *g)
{
	cr_assert_eq(g->n_defaults, 2);
	const modser_sg_tensor *w = g->defaults[0].declared;
	const modser_sg_tensor *b = g->defaults[1].declared;

	cr_expect(strcmp(w->name, "w") == 0 && w->ndim == 2 && w->dims[1] == 3);
	cr_expect(strcmp(b->name, "b") == 0 && b->ndim == 1 && b->dims[0] == -1);
	cr_expect_str_eq(modser_sg_tensor_dim_name(b, 0), "n");
	cr_expect_eq(((const float *)g->defaults[1].value->data)[1], 1.0f);
}

Test(onnx, an_initializer_that_is_an_input_is_a_constant_and_a_default)
{
	struct bw file = fixture_read(CORPUS "accept_defaults.bin");
	int result;
	modser_graph *g = load(bw_span(&file), &result);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	expect_defaults(g);
	cr_expect_eq(g->n_inputs, 1);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(onnx, a_graph_that_opens_defaults_has_them_as_its_last_inputs)
{
	struct bw file = fixture_read(CORPUS "accept_defaults.bin");
	const modser_part part = {bw_span(&file).p, bw_span(&file).n};
	modser_graph *g = modser_graph_create("");

	g->opens_defaults = true;
	cr_assert_eq(modser_serializer_load_memory(onnx, &part, 1, NULL, g), 0);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	expect_defaults(g);
	cr_assert_eq(g->n_inputs, 3);
	cr_expect_str_eq(g->inputs[0]->name, "x");
	for (size_t i = 0; i < 2; i++) {
		const modser_sg_tensor *t = g->inputs[1 + i];

		cr_expect_eq(t->type, MODSER_TENSOR_INPUT);
		cr_expect_str_eq(t->name, g->defaults[i].declared->name);
		cr_expect_eq(t->dims[0], g->defaults[i].declared->dims[0]);
		cr_expect_eq(g->nodes[g->n_nodes - 1]->inputs[1 + i], t);
	}
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(onnx, before_ir_version_4_no_initializer_is_a_default)
{
	struct bw file = fixture_read(CORPUS "accept_initializer_named_as_input.bin");
	int result;
	modser_graph *g = load(bw_span(&file), &result);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_expect(g->n_defaults == 0 && g->n_inputs == 1);
	modser_graph_destroy(g);
	bw_free(&file);
}

/* @word is of a row for operator @op, whose schema has what it names. */
static void expect_param(const struct onnx_row *row, const struct onnx_word *word)
{
	if (word->param[0] == '\0')
		return;
	cr_expect_not_null(modser_sg_op_default(row->op, word->param),
			   "%s of opset %d: %s has no parameter %s", row->name,
			   (int)row->since, row->op, word->param);
}

Test(onnx, rows_name_operators_and_parameters_that_there_are)
{
	for (size_t i = 0; onnx_rows[i] != NULL; i++) {
		for (const struct onnx_row *r = onnx_rows[i]; r->name != NULL; r++) {
			const char *at = r->params;
			struct onnx_word word;

			cr_expect(r->op == NULL ||
					  modser_sg_op_schema_find(r->op) != NULL,
				  "%s", r->name);
			while (r->op != NULL && onnx_word_next(&at, &word))
				expect_param(r, &word);
		}
	}
}

Test(onnx, words_of_a_row_say_what_becomes_of_attributes)
{
	const char *at = "alpha size=n! axis:-1 -seed type:=3";
	struct onnx_word w;

	cr_assert(onnx_word_next(&at, &w));
	cr_assert(strcmp(w.attr, "alpha") == 0 && strcmp(w.param, "alpha") == 0);
	cr_assert(onnx_word_next(&at, &w));
	cr_assert(strcmp(w.attr, "size") == 0 && strcmp(w.param, "n") == 0);
	cr_assert(w.is_required && !w.has_value);
	cr_assert(onnx_word_next(&at, &w));
	cr_assert(w.has_value && w.value == -1 && !w.is_fixed);
	cr_assert(onnx_word_next(&at, &w));
	cr_assert(strcmp(w.attr, "seed") == 0 && w.param[0] == '\0');
	cr_assert(onnx_word_next(&at, &w));
	cr_assert(w.is_fixed && w.attr[0] == '\0' && w.value == 3);
	cr_assert_not(onnx_word_next(&at, &w));
}

static bool read(struct msd_span bytes, void *ctx)
{
	const modser_part part = {bytes.p, bytes.n};
	modser_graph *g = modser_graph_create("");

	g->opens_defaults = ctx != NULL;
	const int result = modser_serializer_load_memory(onnx, &part, 1, NULL, g);
	modser_graph_destroy(g);
	return result == 0;
}

Test(onnx, damaged_files_are_refused_or_read_within_their_bytes)
{
	static const char *const names[] = {CORPUS "accept_gemm.bin",
					    CORPUS "accept_conv.bin",
					    CORPUS "accept_defaults.bin",
					    CORPUS "accept_constant_node.bin",
					    CORPUS "accept_slice_of_opset_9.bin",
					    CORPUS "accept_broadcast_of_opset_6.bin",
					    CORPUS "accept_if.bin",
					    CORPUS "accept_functions.bin"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bw file = fixture_read(names[i]);

		(void)mangle_prefixes(bw_span(&file), read, NULL);
		cr_expect(mangle_flips(bw_span(&file), read, NULL), "%s", names[i]);
		(void)mangle_prefixes(bw_span(&file), read, &file);
		cr_expect(mangle_flips(bw_span(&file), read, &file), "%s", names[i]);
		bw_free(&file);
	}
}

static void expect_each_failure_of_a_load_told(const char *name, bool opens_defaults)
{
	struct bw file = fixture_read(name);
	bool failed = true;
	long k = 0;

	for (; failed; k++) {
		const modser_part part = {bw_span(&file).p, bw_span(&file).n};
		modser_graph *g = modser_graph_create("");

		g->opens_defaults = opens_defaults;
		msd_fail_alloc(k);
		int result = modser_serializer_load_memory(onnx, &part, 1, NULL, g);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(result, failed ? -1 : 0, "allocation %ld", k);
		modser_graph_destroy(g);
	}
	cr_assert_gt(k, 30);
	bw_free(&file);
}

Test(onnx, every_failing_allocation_is_reported)
{
	expect_each_failure_of_a_load_told(CORPUS "accept_slice_of_opset_9.bin", false);
	expect_each_failure_of_a_load_told(CORPUS "accept_loop_with_an_if.bin", false);
	expect_each_failure_of_a_load_told(CORPUS "accept_functions.bin", false);
	expect_each_failure_of_a_load_told(CORPUS "accept_defaults.bin", false);
	expect_each_failure_of_a_load_told(CORPUS "accept_defaults.bin", true);
}
