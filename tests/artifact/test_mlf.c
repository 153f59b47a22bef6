/* Model Library Format: every version is read, hostile archives are refused. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/mlf/mlf.h"
#include "artifact/tree/tree.h"
#include "tests/artifact/mlf_writer.h"
#include "tests/artifact/tar_writer.h"

/* Read @n bytes of @w from a block of that size; expects a text with an error. */
static msd_err read_prefix(const struct bw *w, size_t n, struct msd_mlf *ret)
{
	uint8_t *copy = malloc(n > 0 ? n : 1);
	struct msd_diag d = {0};

	cr_assert_not_null(copy);
	if (n > 0)
		(void)memcpy(copy, w->p, n);
	msd_err err = msd_mlf_read((struct msd_span){copy, n}, ret, &d);
	cr_expect_eq(err == MSD_OK, d.text == NULL);
	msd_diag_finish(&d);
	free(copy);
	return err;
}

static msd_err read_all(const struct bw *w)
{
	struct msd_mlf m = {0};
	msd_err err = read_prefix(w, w->n, &m);

	msd_mlf_finish(&m);
	return err;
}

Test(mlf, full_models_of_all_versions_are_read)
{
	for (unsigned version = 1; version <= 7; version++) {
		struct bw w = mlf_full_model(version);
		struct msd_mlf m = {0};

		cr_assert_eq(read_prefix(&w, w.n, &m), MSD_OK, "version %u", version);
		cr_expect_eq(m.version, version);
		cr_assert_eq(m.n_models, 1);
		cr_expect_str_eq(m.models[0].name, "m");
		cr_expect_not(m.models[0].is_operator);
		cr_expect(msd_span_is(m.models[0].graph, mlf_graph));
		cr_expect_gt(m.models[0].params.n, 0);
		cr_expect(msd_archive_is_model(bw_span(&w)));
		msd_mlf_finish(&m);
		bw_free(&w);
	}
}

Test(mlf, archives_of_operators_are_read)
{
	for (unsigned version = 4; version <= 7; version++) {
		struct bw w = mlf_operator(version);
		struct msd_mlf m = {0};

		cr_assert_eq(read_prefix(&w, w.n, &m), MSD_OK, "version %u", version);
		cr_expect(m.models[0].is_operator);
		cr_expect_eq(m.models[0].graph.n, 0);
		msd_mlf_finish(&m);
		bw_free(&w);
	}
}

/* Also one byte to either side of each block. */
Test(mlf, an_archive_that_is_cut_anywhere_is_refused)
{
	struct bw w = mlf_full_model(5);
	struct msd_mlf m = {0};

	for (size_t n = 0; n + 1024 <= w.n; n += 512) {
		for (size_t k = n > 0 ? n - 1 : 0; k <= n + 1; k++)
			cr_expect_neq(read_prefix(&w, k, &m), MSD_OK, "%zu bytes", k);
	}
	bw_free(&w);
}

Test(mlf, paths_that_lead_out_are_refused)
{
	static const char *const paths[] = {
		"../x", "/x",    "a/../../x", "./../x", "a/..", "..",   "./a/../x",
		"a//x", "a/./x", "//x",       "./",     "",     "a\nb", "a\x7f",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct bw w = mlf_full_model(5);

		w.n -= 1024; /* the end marker */
		tar_put_text(&w, paths[i], "x");
		tar_end(&w);
		cr_expect_eq(read_all(&w), MSD_BAD_ARTIFACT, "%s", paths[i]);
		bw_free(&w);
	}
}

Test(mlf, links_and_devices_are_refused)
{
	static const char types[] = {'1', '2', '3', '4', '6'};

	for (size_t i = 0; i < sizeof(types); i++) {
		struct bw w = mlf_full_model(5);

		w.n -= 1024;
		tar_put(&w, "link", types[i], "", 0);
		tar_end(&w);
		cr_expect_eq(read_all(&w), MSD_BAD_ARTIFACT, "type %c", types[i]);
		bw_free(&w);
	}
}

Test(mlf, a_path_that_comes_twice_is_refused)
{
	struct bw w = mlf_full_model(5);

	w.n -= 1024;
	tar_put_text(&w, "metadata.json", "{}");
	tar_end(&w);
	cr_expect_eq(read_all(&w), MSD_BAD_ARTIFACT);
	bw_free(&w);
}

Test(mlf, sizes_beyond_the_file_are_refused)
{
	static const unsigned long long sizes[] = {512, 1u << 20, 077777777777ull};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct bw w = {0};

		tar_put_sized(&w, "metadata.json", '0', "", 0, sizes[i]);
		tar_end(&w);
		w.n -= sizes[i] == 512 ? 512 : 0;
		cr_expect_neq(read_all(&w), MSD_OK, "%llu", sizes[i]);
		bw_free(&w);
	}
}

static const char *const wrong_metadata[] = {
	"",
	"[]",
	"{",
	"{}",
	"{\"version\":\"5\"}",
	"{\"version\":0}",
	"{\"version\":5}",
	"{\"version\":5,\"version\":5}",
	"{\"version\":5,\"model_name\":1,\"target\":{},\"executors\":[]}",
	"{\"version\":5,\"model_name\":\"m\",\"target\":[1],"
	"\"executors\":[],\"style\":\"operator\"}",
	"{\"version\":5,\"model_name\":\"m\",\"target\":{\"1\":{}},"
	"\"executors\":[],\"style\":\"operator\"}",
	"{\"version\":5,\"model_name\":\"m\",\"target\":{},"
	"\"executors\":\"graph\",\"style\":\"operator\"}",
	"{\"version\":5,\"model_name\":\"m\",\"target\":{},"
	"\"executors\":[],\"style\":\"other\"}",
	"{\"version\":5,\"model_name\":\"m\",\"target\":{},"
	"\"executors\":[\"graph\"],\"style\":\"full-model\"}",
	"{\"version\":5,\"model_name\":\"m\",\"target\":{},\"memory\":7,"
	"\"executors\":[],\"style\":\"operator\"}",
	"{\"version\":7,\"modules\":{}}",
	"{\"version\":7,\"modules\":[]}",
	"{\"version\":7,\"modules\":{\"m\":[]}}",
};

Test(mlf, metadata_of_wrong_types_is_refused)
{
	for (size_t i = 0; i < sizeof(wrong_metadata) / sizeof(*wrong_metadata); i++) {
		struct bw w = mlf_of_metadata(wrong_metadata[i]);

		cr_expect_eq(read_all(&w), MSD_BAD_ARTIFACT, "%s", wrong_metadata[i]);
		bw_free(&w);
	}
}

Test(mlf, a_newer_version_is_named_as_such)
{
	struct bw w = mlf_of_metadata("{\"version\":8}");

	cr_expect_eq(read_all(&w), MSD_UNSUPPORTED);
	bw_free(&w);
}

Test(mlf, an_archive_without_metadata_is_refused)
{
	struct bw w = {0};

	tar_put_text(&w, "lib0.o", "object");
	tar_end(&w);
	cr_expect_eq(read_all(&w), MSD_BAD_ARTIFACT);
	cr_expect_not(msd_archive_is_model(bw_span(&w)));
	bw_free(&w);
}

Test(mlf, one_of_several_models_must_be_named)
{
	struct bw w =
		mlf_of_metadata("{\"version\":7,\"modules\":{"
				"\"a\":{\"model_name\":\"a\",\"style\":\"full-model\","
				"\"target\":[],\"executors\":[]},"
				"\"b\":{\"model_name\":\"b\",\"style\":\"full-model\","
				"\"target\":[],\"executors\":[]}}}");
	const struct msd_mlf_model *model = NULL;
	struct msd_mlf m = {0};

	cr_assert_eq(read_prefix(&w, w.n, &m), MSD_OK);
	cr_expect_eq(msd_mlf_find(&m, NULL, &model, NULL), MSD_BAD_ARGUMENT);
	cr_expect_eq(msd_mlf_find(&m, "c", &model, NULL), MSD_NOT_FOUND);
	cr_assert_eq(msd_mlf_find(&m, "b", &model, NULL), MSD_OK);
	cr_expect_str_eq(model->name, "b");
	msd_mlf_finish(&m);
	bw_free(&w);
}

Test(mlf, the_factory_is_a_tree_of_the_graph_and_the_library)
{
	struct bw w = mlf_full_model(5);
	struct msd_tree tree = {0};
	struct msd_buf blob = {0};
	struct msd_mlf m = {0};

	cr_assert_eq(read_prefix(&w, w.n, &m), MSD_OK);
	cr_assert_eq(msd_mlf_factory(&m.models[0], &blob, NULL), MSD_OK);
	cr_assert_eq(msd_tree_read_blob((struct msd_span){blob.p, blob.n},
					MSD_ERA_CLASSIC, &tree, NULL),
		     MSD_OK);
	cr_assert_eq(tree.n_modules, 2);
	cr_expect(msd_span_is(tree.modules[0].kind, "GraphExecutorFactory"));
	cr_expect(msd_span_is(tree.modules[1].kind, "_lib"));
	cr_assert_eq(tree.modules[0].n_imports, 1);
	msd_tree_finish(&tree);
	msd_buf_finish(&blob);
	msd_mlf_finish(&m);
	bw_free(&w);
}

static void expect_read_as_written(unsigned version)
{
	static const struct msd_span object = {(const uint8_t *)"obj", 3};
	struct msd_mlf m = {0};
	struct msd_buf out = {0};
	struct bw params = {0};

	mlf_put_params(&params);
	const struct msd_mlf_parts parts = {
		.version = version,
		.name = "net",
		.graph = {(const uint8_t *)mlf_graph, strlen(mlf_graph)},
		.params = bw_span(&params),
		.objects = &object,
		.n_objects = 1};
	cr_assert_eq(msd_mlf_write(&parts, &out, NULL), MSD_OK);
	cr_assert_eq(msd_mlf_read((struct msd_span){out.p, out.n}, &m, NULL), MSD_OK);
	cr_expect_eq(m.version, version);
	cr_expect_str_eq(m.models[0].name, "net");
	cr_expect(msd_span_is(m.models[0].graph, mlf_graph));
	cr_expect_eq(m.models[0].params.n, params.n);
	cr_expect_not_null(msd_archive_find(&m.archive, "codegen/host/lib/net_lib0.o"));
	msd_mlf_finish(&m);
	msd_buf_finish(&out);
	bw_free(&params);
}

Test(mlf, what_is_written_is_read)
{
	expect_read_as_written(5);
	expect_read_as_written(7);
}

Test(mlf, names_that_would_be_paths_are_not_written)
{
	static const char *const names[] = {"", "a/b", "..", "a b"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct msd_mlf_parts parts = {
			.version = 5, .name = names[i], .n_objects = 1};
		struct msd_buf out = {0};

		cr_expect_eq(msd_mlf_write(&parts, &out, NULL), MSD_BAD_ARGUMENT);
		msd_buf_finish(&out);
	}
}

Test(mlf, a_damaged_graph_is_shown_as_such)
{
	struct bw w = {0};
	struct msd_buf out = {0};
	struct msd_mlf m = {0};

	tar_put_text(&w, "metadata.json",
		     "{\"version\":5,\"model_name\":\"m\",\"target\":{},"
		     "\"executors\":[\"graph\"],\"style\":\"full-model\"}");
	tar_put_text(&w, "executor-config/graph/graph.json", "{}");
	tar_end(&w);
	cr_assert_eq(read_prefix(&w, w.n, &m), MSD_OK);
	msd_mlf_text(&m, &out);
	cr_expect_not_null(memmem(out.p, out.n, "damaged", 7));
	msd_mlf_json(&m, &out);
	cr_expect_not(out.bad);
	cr_expect_neq(msd_mlf_factory(&m.models[0], &out, NULL), MSD_OK);
	msd_buf_finish(&out);
	msd_mlf_finish(&m);
	bw_free(&w);
}

/* An archive as TVM's document of the format has it, with parameters at @params. */
static struct bw documented(const char *params)
{
	static const char metadata[] =
		"{\"version\":5,\"model_name\":\"m\",\"target\":{\"1\":\"llvm\"},"
		"\"export_datetime\":\"2022-01-01 "
		"00:00:00Z\",\"executors\":[\"graph\"],"
		"\"memory\":{\"main\":[{\"device\":1,\"workspace_size_bytes\":77}],"
		"\"operator_functions\":{\"f\":[{\"device\":1,"
		"\"workspace_size_bytes\":55}]}}}";
	struct bw file = {0};
	struct bw w = {0};

	mlf_put_params(&file);
	tar_put_text(&w, "./metadata.json", metadata);
	tar_put_text(&w, "./executor-config/graph/graph.json", mlf_graph);
	tar_put(&w, params, '0', file.p, file.n);
	tar_end(&w);
	bw_free(&file);
	return w;
}

Test(mlf, an_archive_without_style_is_a_full_model)
{
	struct bw w = documented("./parameters/m.params");
	struct msd_mlf m = {0};

	cr_assert_eq(read_prefix(&w, w.n, &m), MSD_OK);
	cr_expect_not(m.models[0].is_operator);
	cr_expect_gt(m.models[0].params.n, 0);
	cr_expect_null(m.models[0].other_params);
	msd_mlf_finish(&m);
	bw_free(&w);
}

Test(mlf, memory_is_shown_as_the_document_lays_it_out)
{
	struct bw w = documented("./parameters/m.params");
	struct msd_buf text = {0};
	struct msd_mlf m = {0};

	cr_assert_eq(read_prefix(&w, w.n, &m), MSD_OK);
	msd_mlf_text(&m, &text);
	msd_buf_put_u8(&text, '\0');
	cr_expect_not_null(strstr((char *)text.p, "workspace_size_bytes 77"), "%s",
			   (char *)text.p);
	cr_expect_not_null(
		strstr((char *)text.p, "f: device 1, workspace_size_bytes 55"), "%s",
		(char *)text.p);
	msd_buf_finish(&text);
	msd_mlf_finish(&m);
	bw_free(&w);
}

Test(mlf, parameters_of_another_name_are_told)
{
	struct bw w = documented("./parameters/other.params");
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	struct msd_mlf m = {0};

	cr_assert_eq(read_prefix(&w, w.n, &m), MSD_OK);
	cr_assert_eq(msd_mlf_factory(&m.models[0], &out, &d), MSD_BAD_ARTIFACT);
	cr_expect_not_null(strstr(msd_diag_text(&d), "parameters/other.params"), "%s",
			   msd_diag_text(&d));
	cr_expect_not_null(strstr(msd_diag_text(&d), "parameters/m.params"));
	msd_diag_finish(&d);
	msd_mlf_text(&m, &out);
	msd_buf_put_u8(&out, '\0');
	cr_expect_not_null(strstr((char *)out.p, "damaged    parameters/other.params"));
	msd_buf_finish(&out);
	msd_mlf_finish(&m);
	bw_free(&w);
}
