/* External data put back into ONNX models, and taken out: what is joined or split, and
 * what is refused. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/modser_graph.h"
#include "tests/artifact/fixture.h"
#include "tests/artifact/mangle.h"
#include "tests/graph/net.h"

#define CORPUS MSD_SOURCE_DIR "/tests/corpus/onnx/"

static modser_serializer *onnx;

static void begin(void)
{
	onnx = modser_serializer_get("onnx");
}

static void end(void)
{
	modser_serializer_unref(onnx);
}

TestSuite(join, .init = begin, .fini = end, .timeout = 120);

/* What the model names in other files: six floats, whatever it is called. */
static int read_zeros(void *ctx, modser_graph *g, const char *name, modser_part *ret)
{
	static const float zeros[6];

	(void)ctx;
	(void)g;
	(void)name;
	*ret = (modser_part){zeros, sizeof(zeros)};
	return 0;
}

static bool join(struct msd_span file, void *ctx)
{
	const modser_part part = {file.p, file.n};
	modser_graph *g = modser_graph_create("");
	modser_part whole = {0};
	const int result =
		modser_serializer_join(onnx, &part, read_zeros, ctx, g, &whole);

	cr_expect(result == 0 || modser_graph_error(g)[0] != '\0');
	cr_expect(result == 0 || whole.data == NULL);
	free((void *)(uintptr_t)whole.data);
	modser_graph_destroy(g);
	return result == 0;
}

Test(join, damaged_files_are_joined_or_refused_without_a_leak)
{
	struct bw file = fixture_read(CORPUS "reject_external_data.bin");

	cr_expect(join(bw_span(&file), NULL));
	(void)mangle_prefixes(bw_span(&file), join, NULL);
	cr_expect(mangle_flips(bw_span(&file), join, NULL));
	bw_free(&file);
}

Test(join, a_joined_model_is_loaded_with_its_weights_in_place)
{
	struct bw file = fixture_read(CORPUS "reject_external_data.bin");
	const modser_part part = {bw_span(&file).p, bw_span(&file).n};
	modser_graph *empty = modser_graph_create("");
	modser_part whole = {0};
	int result =
		modser_serializer_join(onnx, &part, read_zeros, NULL, empty, &whole);

	cr_assert_eq(result, 0);
	const struct msd_span bytes = {whole.data, whole.bytes};
	const modser_part read = {bytes.p, bytes.n};
	modser_graph *g = modser_graph_create("");
	result = modser_serializer_load_memory(onnx, &read, 1, NULL, g);
	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	uint64_t n;
	const uint8_t *w = modser_sg_tensor_data(modser_graph_tensor(g, 0), &n);
	cr_expect_eq(n, sizeof(float[6]));
	cr_expect(w > bytes.p && w < bytes.p + bytes.n && (w - bytes.p) % 64 == 0);
	modser_graph_destroy(g);
	modser_graph_destroy(empty);
	free((void *)(uintptr_t)whole.data);
	bw_free(&file);
}

static void expect_refused(const char *name, const char *why)
{
	struct bw file = fixture_read(name);
	const modser_part part = {bw_span(&file).p, bw_span(&file).n};
	modser_graph *g = modser_graph_create("");
	modser_part whole = {0};

	cr_assert_eq(modser_serializer_join(onnx, &part, read_zeros, NULL, g, &whole),
		     -1, "%s", name);
	cr_expect(strstr(modser_graph_error(g), why) != NULL, "%s",
		  modser_graph_error(g));
	cr_expect_null(whole.data);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(join, a_length_that_is_not_the_shapes_is_refused)
{
	expect_refused(
		CORPUS "reject_external_length.bin",
		"tensor \"w\": external data: its length is not that of its shape");
}

Test(join, a_file_that_many_tensors_name_is_refused)
{
	expect_refused(CORPUS "reject_external_shared.bin",
		       "tensor \"w2\": external data: too many tensors share");
}

#define N_WIDE 512

/* y = x + c, where c is large enough to be taken out. */
static modser_part wide_model(void)
{
	static float c[N_WIDE] = {1, 2, 3};
	static const int64_t dims[] = {N_WIDE};
	modser_graph *g = modser_graph_create("wide");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	modser_sg_tensor *w = modser_sg_tensor_create_const(g, "c");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");
	modser_part ret = {0};

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(x, dims, 1);
	(void)modser_sg_tensor_set_dims(w, dims, 1);
	(void)modser_sg_tensor_set_size(w, sizeof(c));
	(void)modser_sg_tensor_set_buffer(w, c, NULL);
	(void)net_node(g, "x", "InputOp", x);
	(void)net_node(g, "c", "Const", w);
	modser_sg_node *add = net_node(g, "add", "Add", y);
	(void)modser_sg_node_add_input(add, x);
	(void)modser_sg_node_add_input(add, w);
	(void)modser_graph_add_input(g, x);
	(void)modser_graph_add_output(g, y);
	cr_assert_eq(modser_serializer_store_memory(onnx, g, &ret, 1), 0, "%s",
		     modser_graph_error(g));
	modser_graph_destroy(g);
	return ret;
}

static int read_split(void *ctx, modser_graph *g, const char *name, modser_part *ret)
{
	(void)g;
	cr_expect_str_eq(name, "weights");
	*ret = *(const modser_part *)ctx;
	return 0;
}

Test(join, what_was_split_has_its_weights_again)
{
	const modser_part whole = wide_model();
	modser_graph *g = modser_graph_create("");
	modser_part model = {0};
	modser_part data = {0};
	modser_part again = {0};

	cr_assert_eq(modser_serializer_split(onnx, &whole, "weights", g, &model, &data),
		     0, "%s", modser_graph_error(g));
	cr_expect_eq(data.bytes, N_WIDE * sizeof(float));
	cr_expect_lt(model.bytes, 1024);
	cr_assert_eq(modser_serializer_join(onnx, &model, read_split, &data, g, &again),
		     0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_serializer_load_memory(onnx, &again, 1, NULL, g), 0, "%s",
		     modser_graph_error(g));
	uint64_t n;
	const float *c = modser_sg_tensor_data(modser_graph_tensor(g, 0), &n);
	cr_assert_eq(n, N_WIDE * sizeof(float));
	cr_expect(c[0] == 1 && c[2] == 3 && c[3] == 0);
	modser_graph_destroy(g);
	const modser_part all[] = {whole, model, data, again};
	for (size_t i = 0; i < 4; i++)
		free((void *)(uintptr_t)all[i].data);
}

static bool split(struct msd_span file, void *ctx)
{
	const modser_part part = {file.p, file.n};
	modser_graph *g = modser_graph_create("");
	modser_part model = {0};
	modser_part data = {0};

	(void)ctx;
	const int result = modser_serializer_split(onnx, &part, "w", g, &model, &data);
	cr_expect(result == 0 || (model.data == NULL && data.data == NULL));
	free((void *)(uintptr_t)model.data);
	free((void *)(uintptr_t)data.data);
	modser_graph_destroy(g);
	return result == 0;
}

Test(join, damaged_files_are_split_or_refused_without_a_leak)
{
	const modser_part whole = wide_model();
	const struct msd_span file = {whole.data, whole.bytes};

	cr_expect(split(file, NULL));
	(void)mangle_prefixes(file, split, NULL);
	cr_expect(mangle_flips(file, split, NULL));
	free((void *)(uintptr_t)whole.data);
}
