/* Networks of Caffe: two files in any order, layers by name and phase, weights by name
 * and shape. */
#include <caffe.pb-c.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/modser_graph.h"

/* A name, and weights of one layer: [1, 2] and [1]. */
static const char text[] =
	"name: 'n' # a comment\n"
	"input: 'x' input_shape { dim: 1 dim: 2 }\n"
	"layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'"
	" inner_product_param < num_output: 0x1 > }\n"
	"layer { name: 'r' type: \"Re\" 'LU' bottom: 'y' top: 'y' }\n"
	"layer { name: 'loss' type: 'Nothing' bottom: 'y' top: 'l'"
	" include { phase: TRAIN } }\n";

struct weights {
	uint8_t bytes[512];
	size_t n;
};

/* The file of weights, whose first blob has @columns. */
static struct weights weights_of(const char *layer, int64_t columns)
{
	static const float numbers[] = {2, -3, 1};
	struct weights w = {0};
	int64_t dims[] = {1, columns};
	Caffe__BlobShape shape = CAFFE__BLOB_SHAPE__INIT;
	Caffe__BlobProto blobs[2] = {CAFFE__BLOB_PROTO__INIT, CAFFE__BLOB_PROTO__INIT};
	Caffe__BlobProto *list[] = {&blobs[0], &blobs[1]};
	ProtobufCBinaryData data[] = {
		{(size_t)columns * sizeof(float), (uint8_t *)(uintptr_t)numbers},
		{sizeof(float), (uint8_t *)(uintptr_t)(numbers + 2)}};
	Caffe__LayerParameter p = CAFFE__LAYER_PARAMETER__INIT;
	Caffe__LayerParameter *layers[] = {&p};
	Caffe__NetParameter net = CAFFE__NET_PARAMETER__INIT;

	shape.n_dim = 2;
	shape.dim = dims;
	blobs[0].shape = &shape;
	blobs[0].n_data = blobs[1].n_data = 1;
	blobs[0].data = &data[0];
	blobs[1].data = &data[1];
	blobs[1].num = blobs[1].channels = blobs[1].height = blobs[1].width = 1;
	blobs[1].has_num = blobs[1].has_channels = true; /* a file of an old Caffe */
	blobs[1].has_height = blobs[1].has_width = true;
	p.name = (char *)(uintptr_t)layer;
	p.n_blobs = 2;
	p.blobs = list;
	net.name = (char *)(uintptr_t) "n";
	net.n_layer = 1;
	net.layer = layers;
	w.n = caffe__net_parameter__pack(&net, w.bytes);
	return w;
}

static modser_serializer *caffe;

static void begin(void)
{
	caffe = modser_serializer_get("caffe");
}

static void end(void)
{
	modser_serializer_unref(caffe);
}

TestSuite(caffe, .init = begin, .fini = end);

static modser_graph *load_parts(const modser_part *parts, size_t n, int *ret)
{
	modser_graph *g = modser_graph_create("");

	*ret = modser_serializer_load_memory(caffe, parts, n, NULL, g);
	return g;
}

static void expect_refused(const char *net, struct weights w, const char *why)
{
	const modser_part parts[] = {{net, strlen(net)}, {w.bytes, w.n}};
	int result;
	modser_graph *g = load_parts(parts, 2, &result);

	cr_expect_eq(result, -1, "%s", net);
	cr_expect_not_null(strstr(modser_graph_error(g), why), "expected \"%s\" in: %s",
			   why, modser_graph_error(g));
	modser_graph_destroy(g);
}

Test(caffe, files_come_in_any_order)
{
	const struct weights w = weights_of("ip", 2);
	const modser_part parts[] = {{w.bytes, w.n}, {text, sizeof(text) - 1}};
	int result;
	modser_graph *g = load_parts(parts, 2, &result);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_graph_input_count(g), 1);
	cr_assert_eq(modser_graph_output_count(g), 1);
	/* The layer that writes it last has the name of the blob. */
	modser_sg_tensor *y = modser_graph_output(g, 0);
	cr_assert_str_eq(modser_sg_tensor_name(y), "y");
	modser_graph_destroy(g);
}

/* Caffe writes the state of a network that has no name before its layers. */
Test(caffe, weights_may_begin_with_a_state)
{
	static const uint8_t state[] = {0x32, 4, 8, 1, 16, 0}; /* phase, level */
	const struct weights w = weights_of("ip", 2);
	uint8_t bytes[sizeof(state) + sizeof(w.bytes)];
	const size_t n_name = 3; /* bytes of the name, which is left out */
	const modser_part parts[] = {
		{bytes, sizeof(state) + w.n - n_name},
		{text, sizeof(text) - 1},
	};
	int result;

	memcpy(bytes, state, sizeof(state));
	memcpy(bytes + sizeof(state), w.bytes + n_name, w.n - n_name);
	modser_graph *g = load_parts(parts, 2, &result);
	cr_expect_eq(result, 0, "%s", modser_graph_error(g));
	modser_graph_destroy(g);
}

Test(caffe, weights_stay_in_their_file)
{
	const struct weights w = weights_of("ip", 2);
	const modser_part parts[] = {{text, sizeof(text) - 1}, {w.bytes, w.n}};
	size_t n_located = 0;
	uint64_t at;
	uint64_t bytes;
	int result;
	modser_graph *g = load_parts(parts, 2, &result);

	for (size_t i = 0; i < modser_graph_tensor_count(g); i++) {
		const modser_sg_tensor *t = modser_graph_tensor(g, i);

		if (!modser_sg_tensor_location(t, &at, &bytes))
			continue;
		n_located++;
		cr_assert_arr_eq(modser_sg_tensor_data(t, &bytes), w.bytes + at, bytes);
	}
	modser_graph_destroy(g);
	cr_assert_eq(n_located, 2);
}

Test(caffe, files_that_are_missing_or_twice_are_named)
{
	const modser_part parts[] = {{text, sizeof(text) - 1},
				     {text, sizeof(text) - 1}};
	int result;
	modser_graph *g = load_parts(parts, 1, &result);

	cr_assert_str_eq(modser_graph_error(g),
			 "caffe needs 2 files: the network as text (.prototxt) and the "
			 "weights (.caffemodel); 1 given");
	modser_graph_destroy(g);
	g = load_parts(parts, 2, &result);
	cr_assert_str_eq(modser_graph_error(g),
			 "files 1 and 2 are both the network as text (.prototxt)");
	modser_graph_destroy(g);
}

Test(caffe, weights_of_another_network_are_named)
{
	expect_refused(
		text, weights_of("ip", 1),
		"layer \"ip\" (InnerProduct): weights 0 are [], expected [1, 2]");
	expect_refused(
		text, weights_of("other", 2),
		"layer \"ip\" (InnerProduct): the file of weights has 0 weights");
}

Test(caffe, faults_of_the_text_are_named_with_their_line)
{
	const struct weights w = weights_of("ip", 2);

	expect_refused("name: 'n'\nlayer { nme: 'x' }", w,
		       "the network: line 2: a field of LayerParameter that is not "
		       "known: \"nme\"");
	expect_refused("name: 'n' name: 'm'", w, "line 1: name comes twice");
	expect_refused("name: 'n'\nlayer { type: 3 }", w,
		       "line 2: expected a string in quotes for type before \"3\"");
	expect_refused("name: 'n' layer { ", w, "the text ends");
	expect_refused("name: 'n' input_dim: 99999999999", w, "an integer of 32 bits");
}

Test(caffe, layers_that_cannot_be_are_named)
{
	const struct weights w = weights_of("ip", 2);

#define INPUT "name: 'n' input: 'x' input_dim: [1, 3, 4, 4] "
	expect_refused(INPUT "layer { name: 'a' type: 'Fancy' bottom: 'x' top: 'y' }",
		       w, "layer \"a\" (Fancy): layers of this type cannot be read");
	expect_refused(INPUT "layer { name: 'a' type: 'ReLU' bottom: 'z' top: 'y' }", w,
		       "no layer before it writes its input \"z\"");
	expect_refused(INPUT "layer { name: 'a' type: 'SoftmaxWithLoss' bottom: 'x' "
			     "bottom: 'l' top: 'y' }",
		       w, "it is for training");
	expect_refused(INPUT "layer { name: 'a' type: 'Data' top: 'y' }", w,
		       "it reads files");
	expect_refused(INPUT "layer { name: 'a' type: 'Softmax' bottom: 'x' top: 'y' "
			     "softmax_param { axis: 4 } }",
		       w, "axis 4 of a blob of 4 axes");
}

Test(caffe, each_prefix_is_loaded_or_refused)
{
	const struct weights w = weights_of("ip", 2);
	int result;

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		char *cut = strndup(text, n);
		const modser_part parts[] = {{cut, n}, {w.bytes, w.n}};
		modser_graph *g = load_parts(parts, 2, &result);

		cr_expect(result == 0 || modser_graph_error(g)[0] != '\0');
		modser_graph_destroy(g);
		free(cut);
	}
	for (size_t n = 0; n < w.n; n++) {
		uint8_t *cut = malloc(n + 1);

		memcpy(cut, w.bytes, n);
		const modser_part parts[] = {{text, sizeof(text) - 1}, {cut, n}};
		modser_graph *g = load_parts(parts, 2, &result);
		cr_expect_eq(result, -1, "%zu bytes", n);
		modser_graph_destroy(g);
		free(cut);
	}
}

/* The depth of a message that is skipped, too. */
Test(caffe, nesting_is_limited)
{
	const struct weights w = weights_of("ip", 2);
	char net[1024] = "name: 'n' layer { param { ";

	for (size_t i = 0; i < 120; i++)
		strcat(net, "a { ");
	expect_refused(net, w, "messages are nested deeper than 100");
}

static int load_fancy(modser_sg_node *node, const char *type, size_t n_weights)
{
	modser_graph *g = modser_sg_node_graph(node);

	if (strcmp(type, "Fancy") != 0 || n_weights != 0)
		return modser_graph_fail(g, "not mine");
	return modser_sg_node_set_op(node, modser_sg_op_create(g, "Tanh"));
}

Test(caffe, a_layer_comes_from_outside)
{
	static const char net[] =
		INPUT "layer { name: 'a' type: 'Fancy' bottom: 'x' top: 'y' }";
	const struct weights w = weights_of("ip", 2);
	const modser_part parts[] = {{net, sizeof(net) - 1}, {w.bytes, w.n}};
	modser_sg_op_method *mine = (modser_sg_op_method *)load_fancy;
	int result;

	cr_assert_eq(modser_serializer_register_op_load(caffe, "ReLU", mine), -1);
	cr_assert_eq(modser_serializer_register_op_load(caffe, "Fancy", mine), 0);
	modser_graph *g = load_parts(parts, 2, &result);
	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	modser_graph_destroy(g);
}
