/* Models of TensorFlow: small ones of a writer of its own (make_tensorflow_corpus.py).
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/modser_graph.h"
#include "graph/serializer/tensorflow/bundle.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "runtime/plan/plan.h"
#include "tests/artifact/fixture.h"

#define MODELS MSD_SOURCE_DIR "/tests/corpus/tensorflow/"
#define TABLES MSD_SOURCE_DIR "/tests/corpus/bundle/"

TestSuite(tensorflow, .timeout = 300);

/* A file of the corpus: the model, and the table of its variables. */
struct model {
	modser_part model, index;
	float data[9]; /* of the variables: 0, 1, 2, ... */
};

static struct model split(const uint8_t *p, size_t n)
{
	const size_t first = n >= 4 ? msd_le32(p) : 0;
	const bool is_cut = n < 4 || first > n - 4;
	struct model m = {{p + 4, is_cut ? 0 : first},
			  {p + 4 + first, is_cut ? 0 : n - 4 - first},
			  {0}};

	for (size_t i = 0; i < 9; i++)
		m.data[i] = (float)i;
	return m;
}

static int read_beside(void *ctx, modser_graph *graph, const char *name,
		       modser_part *ret)
{
	const struct model *m = ctx;

	if (m->index.bytes == 0)
		return modser_graph_fail(graph, "no variables");
	*ret = strstr(name, ".index") != NULL ? m->index
					      : (modser_part){m->data, sizeof(m->data)};
	return 0;
}

static modser_graph *load_with(struct model *m, const modser_model_options *options,
			       int *ret)
{
	modser_serializer *s = modser_serializer_get("tensorflow");
	modser_graph *g = modser_graph_create("");

	modser_graph_set_beside(g, read_beside, m);
	*ret = modser_serializer_load_memory(s, &m->model, 1, options, g);
	modser_serializer_unref(s);
	return g;
}

static modser_graph *load(const uint8_t *p, size_t n, int *ret)
{
	struct model m = split(p, n);

	return load_with(&m, NULL, ret);
}

static void expect_error(const char *name, const char *text)
{
	struct bw file = fixture_read(name);
	int result;
	modser_graph *g = load(file.p, file.n, &result);

	cr_expect_eq(result, -1, "%s", name);
	cr_expect_str_eq(modser_graph_error(g), text);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(tensorflow, errors_name_the_node_and_what_helps)
{
	expect_error(MODELS "reject_operator.bin",
		     "node \"y\" (MyOperator): this operator cannot be read; name "
		     "outputs before it (--outputs), or export the model without it");
	expect_error(MODELS "reject_input.bin",
		     "node \"y\" (Relu): input 0, \"nothing\", is no output of a node");
	expect_error(MODELS "reject_function_cycle.bin",
		     "node \"y\" (f0): function \"f0\": node \"c\" (PartitionedCall): "
		     "function \"f1\": node \"c\" (PartitionedCall): function \"f2\": "
		     "node \"c\" (PartitionedCall): function \"f0\": it calls itself");
	expect_error(MODELS "reject_no_results.bin",
		     "node \"y\" (If): its branches have no results");
	expect_error(MODELS "reject_constant.bin",
		     "node \"w\" (Const): its constant has 4 elements of float32, and "
		     "12 bytes");
	expect_error(MODELS "reject_variable.bin",
		     "node \"y\" (ReadVariableOp): variable \"v\" is not in the file; "
		     "freeze the graph (convert_variables_to_constants_v2), or give "
		     "the whole folder of a SavedModel");
	expect_error(MODELS "reject_signature.bin",
		     "it has no signature \"serving_default\"; it has other");
}

Test(tensorflow, variables_are_checked_against_their_table)
{
	static const char before[] =
		"node \"call\" (StatefulPartitionedCall): function "
		"\"serve\": node \"";
	static const struct {
		const char *name, *text;
	} files[] = {
		{"reject_missing_variables.bin",
		 "w0\" (ReadVariableOp): variable \"weights\" is in variables/, which "
		 "did not come with the model; give the whole folder"},
		{"reject_missing_key.bin",
		 "b0\" (ReadVariableOp): variable \"bias\" is "
		 "not in variables.index"},
		{"reject_variable_bytes.bin",
		 "b0\" (ReadVariableOp): variable \"bias\" has 12 bytes, and its shape "
		 "others"},
		{"reject_variable_place.bin",
		 "w0\" (ReadVariableOp): variable \"weights\" is outside of "
		 "variables/variables.data-00000-of-00001"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char name[256];
		char text[512];

		(void)snprintf(name, sizeof(name), MODELS "%s", files[i].name);
		(void)snprintf(text, sizeof(text), "%s%s", before, files[i].text);
		expect_error(name, text);
	}
}

/* Run @g on @in and compare the only output with @want. */
static void expect_values(modser_graph *g, const void *const *in, const float *want,
			  size_t n)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_assert_eq(msd_plan_run(plan, in, &d), MSD_OK, "%s", msd_diag_text(&d));
	const float *got = msd_plan_output(plan, 0);
	for (size_t i = 0; i < n; i++)
		cr_expect_float_eq(got[i], want[i], 1e-6, "%zu: %g", i, (double)got[i]);
	msd_plan_destroy(plan);
	msd_diag_finish(&d);
}

static void expect_run(const char *name, const int64_t *dims, size_t ndim,
		       const void *const *in, const float *want, size_t n)
{
	struct bw file = fixture_read(name);
	struct model m = split(file.p, file.n);
	int result;
	modser_graph *g = load_with(&m, NULL, &result);

	cr_assert_eq(result, 0, "%s: %s", name, modser_graph_error(g));
	cr_assert_eq(modser_sg_tensor_set_dims(modser_graph_input(g, 0), dims, ndim),
		     0);
	expect_values(g, in, want, n);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(tensorflow, loops_of_both_versions_run)
{
	static const float x[] = {1, 2, 3, 4};
	static const float want[] = {8, 16, 24, 32};
	const int64_t rows[] = {1, 4};
	const int64_t two[] = {2};

	expect_run(MODELS "accept_loop.bin", rows, 2, (const void *const[]){x}, want,
		   4);
	expect_run(MODELS "accept_old_loop.bin", two, 1, (const void *const[]){x}, want,
		   2);
}

Test(tensorflow, a_list_is_filled_turn_by_turn)
{
	static const float x[] = {1, 2, 3, 4};
	static const float want[] = {0, 0, 0, 0, 1, 2, 3, 4, 2, 4, 6, 8};
	const int64_t rows[] = {1, 4};

	expect_run(MODELS "accept_list.bin", rows, 2, (const void *const[]){x}, want,
		   12);
}

Test(tensorflow, operators_of_several_nodes_run)
{
	static const float x[] = {1, 2, 3, 4, 5, 6};
	static const float boxes[] = {0, 0, 2, 2, 5, 5, 6, 6, 0, 0, 2, 1.9f};
	static const float angles[] = {1.8157750f, 2.3561945f, 2.0344439f, 1.8925469f};
	static const float selu[] = {1.0507010f, 2.1014020f, 3.1521030f, 4.2028039f};
	static const float rows[] = {4, 6, 7, 8};
	static const float kept[] = {1, 2};
	const int64_t four[] = {1, 4};
	const int64_t pairs[] = {3, 2};
	const int64_t three[] = {3, 4};

	expect_run(MODELS "accept_rolled.bin", four, 2, (const void *const[]){x},
		   angles, 4);
	expect_run(MODELS "accept_selu.bin", four, 2, (const void *const[]){x}, selu,
		   4);
	expect_run(MODELS "accept_written.bin", pairs, 2, (const void *const[]){x},
		   rows, 4);
	expect_run(MODELS "accept_kept.bin", three, 2, (const void *const[]){boxes},
		   kept, 2);
}

Test(tensorflow, conditions_of_both_versions_run)
{
	static const char *const files[] = {MODELS "accept_branches.bin",
					    MODELS "accept_old_condition.bin"};
	static const uint8_t truth[] = {1, 0};
	static const float x[] = {-1, 2};
	static const float want[][2] = {{1, -2}, {0, 2}};
	const int64_t two[] = {2};

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < 2; k++) {
			expect_run(files[i], two, 1,
				   (const void *const[]){x, &truth[k]}, want[k], 2);
		}
	}
}

Test(tensorflow, variables_come_from_the_bundle)
{
	static const float x[] = {1, 10};
	/* weights 0..5 as [2, 3], bias 6, 7, 8 */
	static const float want[] = {0 + 30 + 6, 1 + 40 + 7, 2 + 50 + 8};
	const int64_t rows[] = {1, 2};

	expect_run(MODELS "accept_variables.bin", rows, 2, (const void *const[]){x},
		   want, 3);
}

Test(tensorflow, a_shape_of_an_open_batch_becomes_a_constant)
{
	struct bw file = fixture_read(MODELS "accept_computed_shape.bin");
	int result;
	modser_graph *g = load(file.p, file.n, &result);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	const modser_sg_tensor *y = modser_graph_output(g, 0);
	cr_assert_eq(modser_sg_tensor_ndim(y), 2);
	cr_expect_eq(modser_sg_tensor_dims(y)[0], -1);
	cr_expect_eq(modser_sg_tensor_dims(y)[1], 4);
	/* The input, the shape and the Reshape: nothing computes the shape. */
	cr_expect_eq(modser_graph_node_count(g), 3);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(tensorflow, outputs_are_chosen_by_name)
{
	struct bw file = fixture_read(MODELS "accept_convolution.bin");
	struct model m = split(file.p, file.n);
	modser_model_options options = {.outputs = "z,y:0"};
	int result;
	modser_graph *g = load_with(&m, &options, &result);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_graph_output_count(g), 2);
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_output(g, 0)), "z");
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_output(g, 1)), "y");
	modser_graph_destroy(g);
	options.outputs = "absent";
	g = load_with(&m, &options, &result);
	cr_expect_eq(result, -1);
	cr_expect_str_eq(modser_graph_error(g),
			 "output \"absent\" is no node of the graph");
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(tensorflow, a_signature_is_chosen_by_name)
{
	struct bw file = fixture_read(MODELS "reject_signature.bin");
	struct model m = split(file.p, file.n);
	const modser_model_options options = {.signature = "other"};
	int result;
	modser_graph *g = load_with(&m, &options, &result);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_input(g, 0)), "x");
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_output(g, 0)), "y");
	modser_graph_destroy(g);
	bw_free(&file);
}

static const char *const whole[] = {
	MODELS "accept_convolution.bin",   MODELS "accept_loop.bin",
	MODELS "accept_list.bin",          MODELS "accept_old_loop.bin",
	MODELS "accept_old_condition.bin", MODELS "accept_variables.bin",
};
#define N_WHOLE (sizeof(whole) / sizeof(whole[0]))

Test(tensorflow, all_prefixes_are_read_or_refused_with_a_reason)
{
	for (size_t k = 0; k < N_WHOLE; k++) {
		struct bw file = fixture_read(whole[k]);
		const size_t first = msd_le32(file.p);

		for (size_t n = 4; n < first; n++) {
			/* On the heap, so that a read behind the end is seen. */
			uint8_t *copy = malloc(n);
			int result;

			cr_assert_not_null(copy);
			memcpy(copy, file.p, n);
			msd_put_le32(copy, (uint32_t)(n - 4));
			modser_graph *g = load(copy, n, &result);
			cr_expect(result == 0 || modser_graph_error(g)[0] != '\0',
				  "%s: %zu", whole[k], n);
			modser_graph_destroy(g);
			free(copy);
		}
		bw_free(&file);
	}
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

Test(tensorflow, mutants_are_read_or_refused_with_a_reason)
{
	uint32_t seed = 1;

	for (size_t k = 0; k < N_WHOLE; k++) {
		struct bw file = fixture_read(whole[k]);

		for (size_t i = 0; i < 2000; i++) {
			uint8_t *copy = malloc(file.n);
			int result;

			cr_assert_not_null(copy);
			memcpy(copy, file.p, file.n);
			for (size_t m = 0; m <= next(&seed) % 3; m++) {
				copy[4 + next(&seed) % (file.n - 4)] =
					(uint8_t)next(&seed);
			}
			modser_graph *g = load(copy, file.n, &result);
			cr_expect(result == 0 || modser_graph_error(g)[0] != '\0');
			modser_graph_destroy(g);
			free(copy);
		}
		bw_free(&file);
	}
}

static void expect_table(const char *name, const char *text)
{
	struct bw file = fixture_read(name);
	modser_graph *g = modser_graph_create("");
	struct tf_bundle b;

	cr_expect_eq(tf_bundle_read(g, (struct msd_span){file.p, file.n}, &b), -1);
	cr_expect_str_eq(modser_graph_error(g), text);
	tf_bundle_finish(&b);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(tensorflow, a_damaged_table_is_refused_with_a_reason)
{
#define TABLE "the table of variables: "
	expect_table(TABLES "reject_type.bin",
		     TABLE "a block has type 1; only type 0 (not compressed) can be "
			   "read");
	expect_table(TABLES "reject_mark.bin",
		     TABLE "it does not end with the mark of a table");
	expect_table(TABLES "reject_no_header.bin", TABLE "it has no header");
	expect_table(TABLES "reject_no_shards.bin",
		     TABLE "its number of files cannot be");
	expect_table(TABLES "reject_long_key.bin",
		     TABLE "a key has more than 4096 bytes");
	expect_table(TABLES "reject_shared_key.bin", TABLE "an entry is damaged");
	expect_table(TABLES "reject_place.bin", TABLE "a block is outside the file");
#undef TABLE
}

Test(tensorflow, a_saved_model_is_told_from_onnx)
{
	struct bw file = fixture_read(MODELS "accept_variables.bin");
	modser_serializer *s = modser_serializer_probe(file.p + 4, msd_le32(file.p));

	cr_assert_not_null(s);
	cr_expect_str_eq(modser_serializer_name(s), "tensorflow");
	modser_serializer_unref(s);
	bw_free(&file);
}
