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

/* A tensor "w" of n floats, the only initializer, with a name of so many letters that
 * its bytes stand at any place. */
static modser_part model_askew(size_t n_floats, size_t letters)
{
	modser_graph *g = modser_graph_create("");
	modser_part ret = {0};
	const int64_t dim = (int64_t)n_floats;
	float *bytes = calloc(n_floats, sizeof(*bytes));
	char name[80] = {0};

	cr_assert(g != NULL && bytes != NULL && letters < sizeof(name));
	memset(name, 'w', letters);
	modser_sg_tensor *w = modser_sg_tensor_create_const(g, name);
	modser_sg_node *node = modser_sg_node_create(g, name);
	(void)modser_sg_node_set_op(node, modser_sg_op_create(g, "Const"));
	cr_assert(modser_sg_tensor_set_dims(w, &dim, 1) == 0 &&
		  modser_sg_tensor_set_size(w, n_floats * sizeof(*bytes)) == 0 &&
		  modser_sg_tensor_set_buffer(w, bytes, free) == 0 &&
		  modser_sg_node_add_output(node, w) >= 0 &&
		  modser_graph_add_output(g, w) >= 0);
	cr_assert_eq(modser_serializer_store_memory(onnx, g, &ret, 1), 0, "%s",
		     modser_graph_error(g));
	modser_graph_destroy(g);
	return ret;
}

static size_t place_of_weights(const modser_part *part, bool *ret_in_place)
{
	modser_graph *g = modser_graph_create("");
	uint64_t n;

	cr_assert_eq(modser_serializer_load_memory(onnx, part, 1, NULL, g), 0);
	const char *w = modser_sg_tensor_data(modser_graph_tensor(g, 0), &n);
	const char *begin = part->data;
	*ret_in_place = w >= begin && w < begin + part->bytes;
	const size_t place = *ret_in_place ? (size_t)(w - begin) : 0;
	modser_graph_destroy(g);
	return place;
}

Test(join, large_weights_that_lie_askew_are_aligned)
{
	size_t n_moved = 0;

	for (size_t letters = 1; letters < 33; letters++) {
		const modser_part part = model_askew(32768, letters);
		modser_graph *g = modser_graph_create("");
		modser_part whole = {0};
		bool is_in_place;

		cr_assert_eq(modser_serializer_join(onnx, &part, read_zeros, NULL, g,
						    &whole),
			     0);
		n_moved += whole.data != NULL;
		const modser_part *now = whole.data != NULL ? &whole : &part;
		cr_expect_eq(place_of_weights(now, &is_in_place) % 16, 0);
		cr_expect(is_in_place);
		free((void *)(uintptr_t)whole.data);
		free((void *)(uintptr_t)part.data);
		modser_graph_destroy(g);
	}
	cr_expect(n_moved > 16 && n_moved < 32);
}

Test(join, small_weights_stay_where_they_are)
{
	for (size_t letters = 1; letters < 33; letters++) {
		const modser_part part = model_askew(100, letters);
		modser_graph *g = modser_graph_create("");
		modser_part whole = {0};

		cr_assert_eq(modser_serializer_join(onnx, &part, read_zeros, NULL, g,
						    &whole),
			     0);
		cr_expect_null(whole.data);
		free((void *)(uintptr_t)part.data);
		modser_graph_destroy(g);
	}
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
