/*
 * A format of two files, as docs/reference/serializer-guide.md explains it, with the
 * installed header alone: a text with one line a constant, "NAME OFFSET COUNT", and a
 * file of floats. The model adds the constants to its input. A lazy load keeps where
 * they are.
 */
#include <criterion/criterion.h>
#include <modser_graph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_list(const void *head, size_t bytes)
{
	return bytes >= 5 && memcmp(head, "pair\n", 5) == 0;
}

static bool is_floats(const void *head, size_t bytes)
{
	return bytes % 4 == 0 && !is_list(head, bytes);
}

/* The node that makes @out, from @in and @more (NULL: fewer). */
static int add_node(modser_graph *g, const char *op, modser_sg_tensor *in,
		    modser_sg_tensor *more, modser_sg_tensor *out)
{
	modser_sg_node *node = modser_sg_node_create(g, modser_sg_tensor_name(out));

	if (node == NULL ||
	    modser_sg_node_set_op(node, modser_sg_op_create(g, op)) != 0 ||
	    (in != NULL && modser_sg_node_add_input(node, in) < 0) ||
	    (more != NULL && modser_sg_node_add_input(node, more) < 0))
		return -1;
	return modser_sg_node_add_output(node, out) < 0 ? -1 : 0;
}

static modser_sg_tensor *add_constant(modser_graph *g, const char *name,
				      unsigned long long at, unsigned long long count)
{
	const int64_t dims[] = {(int64_t)count};
	modser_sg_tensor *t = modser_sg_tensor_create_const(g, name);

	if (t == NULL || modser_sg_tensor_set_dims(t, dims, 1) != 0 ||
	    modser_sg_tensor_set_location(t, at, 4 * count) != 0 ||
	    add_node(g, "Const", NULL, NULL, t) != 0)
		return NULL;
	return t;
}

static int load_list(const modser_serializer *s, const modser_part *parts,
		     const modser_model_options *options, modser_graph *g)
{
	const int64_t dims[] = {2};
	modser_sg_tensor *sum = modser_graph_create_input(g, "x", "float32", dims, 1);
	char name[32];
	unsigned long long at;
	unsigned long long count;
	int used = 0;

	(void)s;
	(void)options;
	if (sum == NULL)
		return -1;
	char *text = strndup((const char *)parts[0].data + 5, parts[0].bytes - 5);
	int result = text != NULL ? 0 : -1;
	for (const char *line = text;
	     result == 0 &&
	     sscanf(line, "%31s %llu %llu\n%n", name, &at, &count, &used) == 3;
	     line += used) {
		modser_sg_tensor *w = add_constant(g, name, at, count);
		modser_sg_tensor *next = modser_sg_tensor_create(g, "sum");

		result = w != NULL && next != NULL ? add_node(g, "Add", sum, w, next)
						   : -1;
		sum = next;
	}
	free(text);
	return result == 0 ? modser_graph_add_output(g, sum) : -1;
}

static const modser_file_kind kinds[] = {{"the list", is_list},
					 {"the floats", is_floats}};
static const modser_serializer_ops ops = {
	.size = sizeof(ops),
	.name = "pair",
	.format = "pair",
	.version = "1",
	.n_files = 2,
	.probe = is_list,
	.load = load_list,
	.files = kinds,
};

static const float floats[] = {1, 2, 10, 20};
static char dir[] = "/tmp/pair.XXXXXX";
static char list_path[64];
static char data_path[64];
static modser_serializer *pair;
static modser_graph *g;

static void write_file(char *path, const char *name, const void *bytes, size_t n)
{
	(void)snprintf(path, 64, "%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	cr_assert_eq(fwrite(bytes, 1, n, f), n);
	(void)fclose(f);
}

static void begin(void)
{
	static const char list[] = "pair\nu 0 2\nw 8 2\n";

	cr_assert_not_null(mkdtemp(dir));
	write_file(list_path, "m.list", list, sizeof(list) - 1);
	write_file(data_path, "m.bin", floats, sizeof(floats));
	pair = modser_serializer_create(&ops);
	cr_assert_eq(modser_serializer_add("pair", pair), 0);
	g = modser_graph_create("");
}

static void end(void)
{
	modser_graph_destroy(g);
	modser_serializer_unref(pair);
	(void)unlink(list_path);
	(void)unlink(data_path);
	(void)rmdir(dir);
}

TestSuite(pair, .init = begin, .fini = end);

/* The first tensor called @name; tests have one of each. */
static modser_sg_tensor *find(const char *name)
{
	for (size_t i = 0; i < modser_graph_tensor_count(g); i++) {
		if (strcmp(modser_sg_tensor_name(modser_graph_tensor(g, i)), name) == 0)
			return modser_graph_tensor(g, i);
	}
	return NULL;
}

static void load(bool is_lazy)
{
	const char *const paths[] = {data_path, list_path}; /* in the other order */
	const modser_model_options options = {.is_lazy = is_lazy};

	cr_assert_eq(modser_serializer_load_files(pair, paths, 2, &options, g), 0, "%s",
		     modser_graph_error(g));
}

Test(pair, constants_get_the_bytes_at_their_location)
{
	uint64_t bytes;

	load(false);
	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_SOURCE), list_path);
	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_CONST_FILE), data_path);
	cr_assert_arr_eq(modser_sg_tensor_data(find("w"), &bytes), floats + 2, 8);
}

Test(pair, a_lazy_load_reads_a_constant_when_it_is_asked_for)
{
	uint64_t at;
	uint64_t bytes;

	load(true);
	modser_sg_tensor *w = find("w");
	cr_assert_null(modser_sg_tensor_data(w, &bytes));
	cr_assert(modser_sg_tensor_location(w, &at, &bytes));
	cr_assert_eq(at, 8);
	cr_assert_eq(bytes, 8);
	cr_assert_eq(modser_serializer_load_const_file(pair, data_path, w), 0, "%s",
		     modser_graph_error(g));
	cr_assert_arr_eq(modser_sg_tensor_data(w, &bytes), floats + 2, 8);
	cr_assert_null(modser_sg_tensor_data(find("u"), &bytes));
}

Test(pair, a_store_reads_the_constants_that_are_left)
{
	modser_serializer *onnx = modser_serializer_get("onnx");
	modser_part part = {0};

	load(true);
	cr_assert_eq(modser_serializer_store_memory(onnx, g, &part, 1), 0, "%s",
		     modser_graph_error(g));
	cr_assert_not_null(memmem(part.data, part.bytes, floats + 2, 8));
	free((void *)(uintptr_t)part.data);
	modser_serializer_unref(onnx);
}

Test(pair, a_location_outside_of_the_file_is_refused)
{
	load(true);
	modser_sg_tensor *w = find("w");
	cr_assert_eq(modser_sg_tensor_set_location(w, UINT64_MAX, 8), -1);
	cr_assert_eq(modser_sg_tensor_set_location(w, 12, 8), 0);
	cr_assert_eq(modser_serializer_load_const_file(pair, data_path, w), -1);
	cr_assert_not_null(strstr(modser_graph_error(g),
				  "constant \"w\": 8 bytes at 12 are not in the file"));
}

Test(pair, a_constant_without_a_location_is_named)
{
	modser_sg_tensor *w = modser_sg_tensor_create_const(g, "w");

	cr_assert_eq(modser_serializer_load_const_file(pair, data_path, w), -1);
	cr_assert_not_null(strstr(modser_graph_error(g), "has no location"));
}
