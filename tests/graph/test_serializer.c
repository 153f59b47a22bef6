/* Serializers, their manager and factory: the guide's sections 2 and 3. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/modser_graph.h"

#define NET MSD_SOURCE_DIR "/tests/corpus/tmfile/accept_net.bin"
#define OTHER MSD_SOURCE_DIR "/tests/corpus/tmfile/accept_short_reshape.bin"
#define CUSTOM MSD_SOURCE_DIR "/tests/corpus/tmfile/reject_unknown_operator.bin"
#define GOLDEN MSD_SOURCE_DIR "/tests/graph/golden/"

TestSuite(serializer, .timeout = 120);

static bool knows_nothing(const void *head, size_t bytes)
{
	(void)head;
	(void)bytes;
	return false;
}

static int load_one(const modser_serializer *s, const modser_part *parts,
		    const modser_model_options *options, modser_graph *graph)
{
	(void)s;
	(void)parts;
	(void)options;
	return modser_graph_fail(graph, "it never loads");
}

static const modser_serializer_ops two_files = {
	.size = sizeof(two_files),
	.name = "buddy",
	.format = "tengine",
	.version = "0.1",
	.n_files = 2,
	.probe = knows_nothing,
	.load = load_one,
};

static modser_serializer *make_buddy(void)
{
	return modser_serializer_create(&two_files);
}

Test(serializer, says_what_it_is)
{
	modser_serializer *s = modser_serializer_get("tengine");

	cr_assert_eq(modser_serializer_file_count(s), 1);
	cr_assert_str_eq(modser_serializer_format(s), "tengine");
	cr_assert_str_eq(modser_serializer_name(s), "tengine_tmfile");
	cr_assert_str_eq(modser_serializer_version(s), "2.0");
	cr_assert(modser_serializer_can_store(s));
	modser_serializer_unref(s);
}

Test(serializer, a_key_is_added_once)
{
	modser_serializer *s = make_buddy();

	cr_assert_null(modser_serializer_get("buddy"));
	cr_assert_eq(modser_serializer_remove("buddy"), -1);
	cr_assert_eq(modser_serializer_replace("buddy", s), -1);
	cr_assert_eq(modser_serializer_add("tengine", s), -1);
	cr_assert_eq(modser_serializer_add("buddy", s), 0);
	cr_assert_eq(modser_serializer_add("buddy", s), -1);
	cr_assert_eq(modser_serializer_remove("buddy"), 0);
	modser_serializer_unref(s);
}

Test(serializer, two_may_share_a_format)
{
	modser_serializer *s = make_buddy();
	modser_serializer *found;
	size_t n = 0;
	char *key;

	for (; (found = modser_serializer_at(n, &key)) != NULL; n++) {
		free(key);
		modser_serializer_unref(found);
	}
	cr_assert_eq(modser_serializer_add("buddy", s), 0);
	found = modser_serializer_at(n, &key); /* behind our own */
	cr_assert_eq(found, s);
	cr_assert_str_eq(key, "buddy");
	free(key);
	cr_assert_null(modser_serializer_at(n + 1, &key));
	modser_serializer_unref(found);
	modser_serializer_unref(s);
}

Test(serializer, the_factory_makes_new_ones)
{
	cr_assert_null(modser_factory_create("buddy"));
	cr_assert_eq(modser_factory_register("buddy", make_buddy), 0);
	cr_assert_eq(modser_factory_register("buddy", make_buddy), -1);
	modser_serializer *a = modser_factory_create("buddy");
	modser_serializer *b = modser_factory_create("buddy");
	cr_assert_neq(a, b);
	modser_serializer_unref(a);
	modser_serializer_unref(b);
}

Test(serializer, wants_its_number_of_files)
{
	const char *const paths[] = {NET, NET};
	modser_serializer *s = modser_serializer_get("tengine");
	modser_graph *g = modser_graph_create("");

	cr_assert_eq(modser_serializer_load_files(s, paths, 2, NULL, g), -1);
	cr_assert_str_eq(modser_graph_error(g), "tengine_tmfile needs 1 file; 2 given");
	modser_graph_destroy(g);
	modser_serializer_unref(s);
}

static modser_graph *load_file(const modser_serializer *s, const char *path)
{
	modser_graph *g = modser_graph_create("");
	const modser_model_options options = {.fill = MODSER_FILL_LEAVE};

	cr_assert_eq(modser_serializer_load_files(s, &path, 1, &options, g), 0, "%s",
		     modser_graph_error(g));
	return g;
}

Test(serializer, files_are_named_as_the_source)
{
	modser_serializer *s = modser_serializer_get("tengine");
	modser_graph *g = load_file(s, NET);

	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_SOURCE), NET);
	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_CONST_FILE), NET);
	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_SOURCE_FORMAT), "tengine");
	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_NAME), "net");
	modser_graph_destroy(g);
	modser_serializer_unref(s);
}

Test(serializer, a_graph_that_holds_something_is_not_filled)
{
	const char *path = NET;
	modser_serializer *s = modser_serializer_get("tengine");
	modser_graph *g = load_file(s, NET);

	cr_assert_eq(modser_serializer_load_files(s, &path, 1, NULL, g), -1);
	cr_assert_str_eq(modser_graph_error(g), "the graph is not empty");
	modser_graph_destroy(g);
	modser_serializer_unref(s);
}

/* A constant as the framework has it after the loading: known by its name alone. */
static modser_sg_tensor *constant(modser_graph *g, const char *name)
{
	return modser_sg_tensor_create_const(g, name);
}

Test(serializer, a_constant_is_loaded_again_by_its_name)
{
	modser_serializer *s = modser_serializer_get("tengine");
	modser_graph *g = modser_graph_create("");
	modser_sg_tensor *w = constant(g, "w");
	uint64_t bytes;

	cr_assert_eq(modser_serializer_load_const_file(s, NET, w), 0, "%s",
		     modser_graph_error(g));
	const float *data = modser_sg_tensor_data(w, &bytes);
	cr_assert_eq(bytes, 24);
	cr_assert_eq(data[5], 5.0f);
	int fd = open(NET, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(modser_serializer_load_const_fd(s, fd, w), 0);
	(void)close(fd);
	cr_assert_eq(modser_serializer_load_const_file(s, NET, constant(g, "v")), -1);
	cr_assert_str_eq(modser_graph_error(g), NET ": no constant is called \"v\"");
	modser_graph_destroy(g);
	modser_serializer_unref(s);
}

static int load_mine(modser_sg_node *node, const void *param, size_t bytes)
{
	const unsigned char *p = param;
	modser_sg_op *op = modser_sg_op_create(modser_sg_node_graph(node), "BroadMul");

	(void)modser_sg_node_set_op(node, op);
	return bytes == 4 && p[0] == 2 && op != NULL ? 0 : -1;
}

Test(serializer, an_operator_comes_from_outside)
{
	modser_serializer *s = modser_serializer_get("tengine");
	modser_sg_op_method *mine = (modser_sg_op_method *)load_mine;

	cr_assert_null(modser_serializer_op_load(s, "#104"));
	cr_assert_eq(modser_serializer_register_op_load(s, "#104", mine), 0);
	cr_assert_eq(modser_serializer_register_op_load(s, "#104", mine), -1);
	cr_assert_eq(modser_serializer_op_load(s, "#104"), mine);
	cr_assert_null(modser_serializer_op_store(s, "#104"));
	modser_graph *g = load_file(s, CUSTOM);
	cr_assert_str_eq(modser_sg_op_name(modser_sg_node_op(modser_graph_node(g, 2))),
			 "BroadMul");
	modser_graph_destroy(g);
	modser_serializer_unref(s);
}

static int store_mine(const modser_sg_node *node, uint32_t *ret_type, void **ret_param,
		      size_t *ret_bytes)
{
	(void)node;
	*ret_type = 104;
	*ret_param = strdup("abc");
	*ret_bytes = 4;
	return 0;
}

Test(serializer, an_operator_is_stored_from_outside)
{
	modser_serializer *s = modser_serializer_get("tengine");
	modser_graph *g = load_file(s, NET);
	modser_graph *again = modser_graph_create("");
	modser_part part;

	modser_sg_op_method *mine = (modser_sg_op_method *)store_mine;
	modser_sg_node *node = modser_graph_node(g, modser_graph_node_count(g) - 1);
	/* Known operators have a method. */
	cr_assert_eq(modser_serializer_register_op_store(s, "FullyConnected", mine),
		     -1);
	cr_assert_eq(modser_serializer_register_op_store(s, "MatMulInteger", mine), 0);
	(void)modser_sg_node_set_op(node, modser_sg_op_create(g, "MatMulInteger"));
	cr_assert_eq(modser_serializer_store_memory(s, g, &part, 1), 0, "%s",
		     modser_graph_error(g));
	cr_assert_eq(modser_serializer_load_memory(s, &part, 1, NULL, again), -1);
	cr_assert_str_eq(modser_graph_error(again),
			 "node 2 \"op\": no operator has type 104");
	modser_graph_destroy(g);
	modser_graph_destroy(again);
	free((void *)(uintptr_t)part.data);
	modser_serializer_unref(s);
}

static void *load_many(void *arg)
{
	static const char *const paths[] = {NET, OTHER,
					    GOLDEN "vgg16_benchmark.tmfile"};
	const modser_serializer *s = arg;

	for (int i = 0; i < 50; i++) {
		modser_graph *a = load_file(s, paths[i % 3]);
		modser_graph *b = load_file(s, paths[i % 3]);

		cr_expect(modser_graph_equal(a, b));
		modser_graph_destroy(a);
		modser_graph_destroy(b);
	}
	return NULL;
}

Test(serializer, many_threads_load_through_one_that_is_removed_meanwhile)
{
	modser_serializer *s = modser_serializer_get("tengine");
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, load_many, s), 0);
	cr_assert_eq(modser_serializer_remove("tengine"), 0);
	cr_assert_null(modser_serializer_get("tengine"));
	for (int i = 0; i < 8; i++)
		(void)pthread_join(threads[i], NULL);
	modser_serializer_unref(s);
}
