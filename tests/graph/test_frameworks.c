/* Models of TFLite and MXNet: small ones of writers of their own
 * (make_framework_corpus.py). */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/modser_graph.h"
#include "proto/base/bytes.h"
#include "tests/artifact/fixture.h"

#define TFLITE MSD_SOURCE_DIR "/tests/corpus/tflite/"
#define MXNET MSD_SOURCE_DIR "/tests/corpus/mxnet/"

TestSuite(frameworks, .timeout = 120);

/* Load @n bytes at @p; a file of the corpus of MXNet has two files of a model. */
static modser_graph *load(const char *key, const uint8_t *p, size_t n, int *ret)
{
	modser_serializer *s = modser_serializer_get(key);
	modser_graph *g = modser_graph_create("");
	const bool has_two = strcmp(key, "mxnet") == 0;
	const size_t first = has_two && n >= 4 ? msd_le32(p) : 0;
	const bool is_cut = has_two && (n < 4 || first > n - 4);
	const modser_part two[] = {{p + 4, is_cut ? 0 : first},
				   {p + 4 + first, is_cut ? 0 : n - 4 - first}};
	const modser_part one = {p, n};

	*ret = is_cut ? -1
		      : modser_serializer_load_memory(s, has_two ? two : &one,
						      has_two ? 2 : 1, NULL, g);
	modser_serializer_unref(s);
	return g;
}

static void expect_error(const char *key, const char *name, const char *text)
{
	struct bw file = fixture_read(name);
	int result;
	modser_graph *g = load(key, file.p, file.n, &result);

	cr_expect_eq(result, -1, "%s", name);
	cr_expect_str_eq(modser_graph_error(g), text);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(frameworks, tflite_says_what_is_wrong_and_where)
{
	expect_error("tflite", TFLITE "reject_version.bin",
		     "a TFLite model of version 2; only version 3 can be read");
	expect_error("tflite", TFLITE "reject_custom.bin",
		     "operator 0 (?, \"y\"): custom operator \"MyOperator\" cannot be "
		     "read; convert the model with builtin operators only");
	expect_error("tflite", TFLITE "reject_builtin.bin",
		     "operator 0 (LSTM, \"y\"): builtin operator LSTM (16) cannot be "
		     "read");
	expect_error(
		"tflite", TFLITE "reject_unwritten.bin",
		"operator 0 (ADD, \"y\"): it reads tensor \"z\" before an operator "
		"writes it");
	expect_error(
		"tflite", TFLITE "reject_short_constant.bin",
		"operator 0 (CONV_2D, \"y\"): constant \"w\" has 12 bytes, and its "
		"shape 4 elements of float32");
}

Test(frameworks, mxnet_says_what_is_wrong_and_where)
{
	expect_error("mxnet", MXNET "reject_operator.bin",
		     "node \"fc\": operator MyOperator cannot be read");
	expect_error("mxnet", MXNET "reject_number.bin",
		     "node \"fc\" (FullyConnected): num_hidden is \"two\", expected a "
		     "number");
	expect_error("mxnet", MXNET "reject_cycle.bin",
		     "node \"a\": input 0 is no output of a node before it");
	expect_error(
		"mxnet", MXNET "reject_sparse.bin",
		"array 0 of the parameters is sparse; only dense ones can be read");
	expect_error("mxnet", MXNET "reject_depth.bin",
		     "the symbol is nested deeper than 64");
}

static modser_graph *whole(const char *key, const char *name, struct bw *ret_file)
{
	int result;

	*ret_file = fixture_read(name);
	modser_graph *g = load(key, ret_file->p, ret_file->n, &result);
	cr_assert_eq(result, 0, "%s: %s", name, modser_graph_error(g));
	return g;
}

Test(frameworks, names_are_those_of_the_signature)
{
	struct bw file;
	modser_graph *g = whole("tflite", TFLITE "accept_signature.bin", &file);

	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_input(g, 0)), "image");
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_output(g, 0)), "label");
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(frameworks, a_label_of_training_is_no_input)
{
	struct bw file;
	modser_graph *g = whole("mxnet", MXNET "accept_softmax_output.bin", &file);

	cr_assert_eq(modser_graph_input_count(g), 1);
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_input(g, 0)), "data");
	cr_expect_str_eq(modser_sg_tensor_name(modser_graph_output(g, 0)),
			 "softmax_output");
	cr_expect_eq(modser_sg_tensor_dims(modser_graph_input(g, 0))[1], 3);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(frameworks, all_prefixes_are_refused_with_a_reason)
{
	static const struct {
		const char *key, *name;
	} files[] = {{"tflite", TFLITE "accept_quantized.bin"},
		     {"mxnet", MXNET "accept_fully_connected.bin"}};

	for (size_t k = 0; k < 2; k++) {
		struct bw file = fixture_read(files[k].name);

		for (size_t n = 0; n < file.n; n++) {
			/* On the heap, so that a read behind the end is seen. */
			uint8_t *copy = malloc(n + 1);
			int result;

			cr_assert_not_null(copy);
			memcpy(copy, file.p, n);
			modser_graph *g = load(files[k].key, copy, n, &result);
			/* Padding at the end may be missing. */
			cr_expect(result == -1 || n + 16 > file.n, "%s: %zu",
				  files[k].name, n);
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

Test(frameworks, mutants_are_read_or_refused_with_a_reason)
{
	static const struct {
		const char *key, *name;
	} files[] = {{"tflite", TFLITE "accept_quantized.bin"},
		     {"tflite", TFLITE "accept_convolution.bin"},
		     {"tflite", TFLITE "accept_strided_slice.bin"},
		     {"mxnet", MXNET "accept_softmax_output.bin"}};
	uint32_t seed = 1;

	for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
		struct bw file = fixture_read(files[k].name);

		for (size_t i = 0; i < 5000; i++) {
			uint8_t *copy = malloc(file.n);
			int result;

			cr_assert_not_null(copy);
			memcpy(copy, file.p, file.n);
			for (size_t m = 0; m <= next(&seed) % 3; m++)
				copy[next(&seed) % file.n] = (uint8_t)next(&seed);
			modser_graph *g = load(files[k].key, copy, file.n, &result);
			cr_expect(result == 0 || strcmp(files[k].key, "mxnet") == 0 ||
				  modser_graph_error(g)[0] != '\0');
			modser_graph_destroy(g);
			free(copy);
		}
		bw_free(&file);
	}
}
