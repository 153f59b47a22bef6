/* tmfiles: small ones of a writer of their own (make_tmfile_corpus.py), and real ones.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "graph/modser_graph.h"
#include "tests/artifact/fixture.h"
#include "tests/artifact/mangle.h"
#include "tests/support/fail_alloc.h"

#define CORPUS MSD_SOURCE_DIR "/tests/corpus/tmfile/"
#define GOLDEN MSD_SOURCE_DIR "/tests/graph/golden/"

static modser_serializer *tengine;

static void begin(void)
{
	tengine = modser_serializer_get("tengine");
}

static void end(void)
{
	modser_serializer_unref(tengine);
}

TestSuite(tmfile, .init = begin, .fini = end, .timeout = 120);

/* The graph of @file with @fill; its result in *@ret. */
static modser_graph *load(struct msd_span file, modser_fill fill, int *ret)
{
	const modser_model_options options = {.fill = fill};
	const modser_part part = {file.p, file.n};
	modser_graph *g = modser_graph_create("");

	*ret = modser_serializer_load_memory(tengine, &part, 1, &options, g);
	return g;
}

static void expect_error(const char *name, const char *text)
{
	struct bw file = fixture_read(name);
	int result;
	modser_graph *g = load(bw_span(&file), MODSER_FILL_REFUSE, &result);

	cr_expect_eq(result, -1, "%s", name);
	cr_expect_str_eq(modser_graph_error(g), text);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(tmfile, says_what_is_wrong_and_where)
{
	expect_error(CORPUS "reject_version_1.bin",
		     "a tmfile of version 1; only version 2 can be read: have Tengine "
		     "write it anew");
	expect_error(CORPUS "reject_stripped.bin",
		     "tensor 1: the weights were removed from the file; load it with "
		     "missing-weights=zero or missing-weights=seeded to replace them");
	expect_error(CORPUS "reject_short_buffer.bin",
		     "tensor 1: its buffer has 20 bytes, and its shape 24");
	expect_error(CORPUS "reject_unknown_operator.bin",
		     "node 2 \"op\": no operator has type 104");
	expect_error(CORPUS "reject_missing_operator.bin",
		     "node 2 \"op\": Tengine's operator Generic is not supported");
	expect_error(CORPUS "reject_missing_tensor.bin",
		     "node 2 \"op\": there is no tensor 3");
	expect_error(CORPUS "reject_two_producers.bin",
		     "tensor 1 \"w\": two nodes produce it");
	expect_error(CORPUS "reject_nhwc_axis.bin",
		     "node 2 \"op\": its layout is NHWC, where Concat has an axis that "
		     "is not there");
}

Test(tmfile, fields_behind_the_parameters_have_defaults)
{
	struct bw file = fixture_read(CORPUS "accept_short_eltwise.bin");
	int result;
	modser_graph *g = load(bw_span(&file), MODSER_FILL_REFUSE, &result);
	const modser_sg_op *op = modser_sg_node_op(modser_graph_node(g, 2));

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_sg_op_int(op, "type"), 2);
	cr_assert_eq(modser_sg_op_float(op, "scale"), 1.0f);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(tmfile, aligned_weights_are_used_in_place)
{
	struct bw file = fixture_read(CORPUS "accept_net.bin");
	int result;
	modser_graph *g = load(bw_span(&file), MODSER_FILL_REFUSE, &result);
	uint64_t bytes;
	const uint8_t *data = modser_sg_tensor_data(modser_graph_tensor(g, 1), &bytes);

	cr_assert_eq(result, 0);
	cr_assert(data >= file.p && data < file.p + file.n);
	cr_assert_eq(bytes, 24);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(tmfile, unaligned_weights_are_copied)
{
	struct bw file = fixture_read(CORPUS "accept_unaligned_weights.bin");
	int result;
	modser_graph *g = load(bw_span(&file), MODSER_FILL_REFUSE, &result);
	uint64_t bytes;
	const float *data = modser_sg_tensor_data(modser_graph_tensor(g, 1), &bytes);

	cr_assert_eq(result, 0);
	cr_assert_eq((uintptr_t)data % sizeof(float), 0);
	cr_assert_eq(data[5], 5.0f);
	modser_graph_destroy(g);
	bw_free(&file);
}

static float weight_of(modser_fill fill, size_t i)
{
	struct bw file = fixture_read(CORPUS "reject_stripped.bin");
	int result;
	modser_graph *g = load(bw_span(&file), fill, &result);
	uint64_t bytes;
	const float *data = modser_sg_tensor_data(modser_graph_tensor(g, 1), &bytes);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	const float value = data != NULL ? data[i] : -1;
	modser_graph_destroy(g);
	bw_free(&file);
	return value;
}

Test(tmfile, stripped_weights_are_made_up_when_asked_for)
{
	cr_assert_eq(weight_of(MODSER_FILL_ZERO, 3), 0.0f);
	cr_assert_eq(weight_of(MODSER_FILL_LEAVE, 3), -1.0f);
	cr_assert_neq(weight_of(MODSER_FILL_SEEDED, 3),
		      weight_of(MODSER_FILL_SEEDED, 4));
	cr_assert_eq(weight_of(MODSER_FILL_SEEDED, 3),
		     weight_of(MODSER_FILL_SEEDED, 3));
}

static bool read(struct msd_span bytes, void *ctx)
{
	int result;
	modser_graph *g = load(bytes, MODSER_FILL_LEAVE, &result);

	(void)ctx;
	modser_graph_destroy(g);
	return result == 0;
}

static void expect_mangled(const char *name)
{
	struct bw file = fixture_read(name);

	/* The model is the last object, so a file that is cut has none. */
	cr_expect_eq(mangle_prefixes(bw_span(&file), read, NULL), 0, "%s", name);
	cr_expect(mangle_flips(bw_span(&file), read, NULL), "%s", name);
	bw_free(&file);
}

Test(tmfile, no_prefix_is_a_file)
{
	expect_mangled(CORPUS "accept_net.bin");
	expect_mangled(CORPUS "accept_attributes_and_scales.bin");
	expect_mangled(CORPUS "accept_nhwc.bin");
	expect_mangled(GOLDEN "vgg16_benchmark.tmfile");
}

static void expect_golden(const char *file_name, const char *text_name)
{
	struct bw file = fixture_read(file_name);
	struct bw want = fixture_read(text_name);
	int result;
	modser_graph *g = load(bw_span(&file), MODSER_FILL_LEAVE, &result);
	char *text;

	bw_u8(&want, 0);
	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_graph_dump(g, &text), 0);
	cr_expect_str_eq(text, (const char *)want.p);
	free(text);
	modser_graph_destroy(g);
	bw_free(&want);
	bw_free(&file);
}

/* Written by tests/e2e/tmfile.py, which shares no code with the reader. */
Test(tmfile, real_files_have_their_golden_dumps)
{
	expect_golden(GOLDEN "vgg16_benchmark.tmfile", GOLDEN "vgg16_benchmark.txt");
	expect_golden(GOLDEN "yolov3_tiny_benchmark.tmfile",
		      GOLDEN "yolov3_tiny_benchmark.txt");
}

static void expect_same_when_stored(const char *path)
{
	struct bw file = fixture_read(path);
	modser_part part;
	int result;
	modser_graph *a = load(bw_span(&file), MODSER_FILL_LEAVE, &result);

	cr_assert_eq(result, 0, "%s: %s", path, modser_graph_error(a));
	cr_assert_eq(modser_serializer_store_memory(tengine, a, &part, 1), 0, "%s",
		     modser_graph_error(a));
	modser_graph *b = load((struct msd_span){part.data, part.bytes},
			       MODSER_FILL_LEAVE, &result);
	cr_assert_eq(result, 0, "%s", modser_graph_error(b));
	cr_assert(modser_graph_equal(a, b), "%s: %s", path, modser_graph_error(a));
	modser_graph_destroy(a);
	modser_graph_destroy(b);
	free((void *)(uintptr_t)part.data);
	bw_free(&file);
}

Test(tmfile, what_is_stored_loads_equal)
{
	expect_same_when_stored(CORPUS "accept_net.bin");
	expect_same_when_stored(CORPUS "accept_attributes_and_scales.bin");
	expect_same_when_stored(CORPUS "accept_short_reshape.bin");
	expect_same_when_stored(CORPUS "accept_nhwc.bin");
	expect_same_when_stored(CORPUS "accept_embedding.bin");
	expect_same_when_stored(CORPUS "accept_old_resize.bin");
	expect_same_when_stored(CORPUS "accept_strided_slice.bin");
	expect_same_when_stored(CORPUS "accept_depth_to_space.bin");
	expect_same_when_stored(CORPUS "accept_amounts.bin");
	expect_same_when_stored(GOLDEN "vgg16_benchmark.tmfile");
	(void)fixture_each("tengine", ".tmfile", expect_same_when_stored);
}

Test(tmfile, what_has_no_place_in_a_tmfile_is_not_stored)
{
	struct bw file = fixture_read(CORPUS "accept_net.bin");
	const int64_t none[] = {1};
	const modser_sg_attr list = {MODSER_ATTR_INTS, 1, {.ints = none}};
	modser_part part;
	int result;
	modser_graph *g = load(bw_span(&file), MODSER_FILL_REFUSE, &result);
	modser_sg_op *op = modser_sg_node_op(modser_graph_node(g, 2));

	cr_assert_eq(modser_sg_op_set_int(op, "num_output", (int64_t)1 << 40), 0);
	cr_assert_eq(modser_serializer_store_memory(tengine, g, &part, 1), -1);
	cr_assert_str_eq(modser_graph_error(g),
			 "FullyConnected: num_output: 1099511627776 is over 32 bits");
	cr_assert_eq(modser_sg_op_set_int(op, "num_output", 2), 0);
	cr_assert_eq(modser_sg_op_add_attr(op, "list", &list), 0);
	cr_assert_eq(modser_serializer_store_memory(tengine, g, &part, 1), -1);
	modser_graph_destroy(g);
	bw_free(&file);
}

/* Load and store with allocation @k failing; false when there was none to fail. */
static bool fails_at(struct msd_span file, long k)
{
	const modser_model_options options = {.fill = MODSER_FILL_SEEDED};
	const modser_part from = {file.p, file.n};
	modser_part part = {0};
	int result = -1;

	msd_fail_alloc(k);
	modser_graph *g = modser_graph_create("");
	if (g != NULL)
		result = modser_serializer_load_memory(tengine, &from, 1, &options, g);
	if (result == 0)
		result = modser_serializer_store_memory(tengine, g, &part, 1);
	const bool failed = msd_fail_alloc_stop();
	cr_assert_eq(result, failed ? -1 : 0, "allocation %ld", k);
	if (failed && g != NULL)
		cr_assert_str_eq(modser_graph_error_name(g), "NO_MEMORY");
	modser_graph_destroy(g);
	free((void *)(uintptr_t)part.data);
	return failed;
}

static void expect_each_reported(const char *name)
{
	struct bw file = fixture_read(name);
	long k = 0;

	while (fails_at(bw_span(&file), k))
		k++;
	cr_expect_gt(k, 30, "%s", name);
	bw_free(&file);
}

Test(tmfile, every_failing_allocation_is_reported)
{
	expect_each_reported(CORPUS "accept_attributes_and_scales.bin");
	expect_each_reported(CORPUS "accept_nhwc.bin");
}
