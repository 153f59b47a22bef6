/*
 * Happy path: the archive is read and the model found. Its objects and sources go to
 * the linker, with all headers. If the model has no callable function, `run` is added
 * (aot_entry.h). If it has a graph, the graph and the parameters become modules of a
 * blob. Signatures are added if the archive has them.
 */
#include "client/cli/model/model.h"

#include <stdio.h>
#include <string.h>

#include "client/build/aot_entry.h"
#include "client/build/linker.h"
#include "client/cli/cli.h"

#define MAX_FUNCTION 400 /* bytes of the name of a model's function */

static struct msd_span span_of(const struct msd_archive_file *f)
{
	return (struct msd_span){f->data.p, f->data.n};
}

/* If there are several models, each has its own files, NAME_lib0.o and so on, and two
 * models may define the same symbols. */
bool msd_model_owns(const struct msd_mlf *m, const struct msd_mlf_model *model,
		    const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(model->name);

	base = base != NULL ? base + 1 : path;
	return m->n_models == 1 || (strncmp(base, model->name, n) == 0 &&
				    strncmp(base + n, "_lib", 4) == 0 &&
				    base[n + 4] >= '0' && base[n + 4] <= '9');
}

/* Add the headers of all models; their names are unique. */
static msd_err add_headers(const struct msd_archive *a, struct msd_linker *l,
			   struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < a->n; i++) {
		if (msd_archive_path_is(a->files[i].path, MSD_MLF_INCLUDE, ".h")) {
			err = msd_linker_add_header(
				l, a->files[i].path + strlen(MSD_MLF_INCLUDE),
				span_of(&a->files[i]), d);
		}
	}
	return err;
}

/* Add the model's files. Sources in other languages are rejected, because their
 * symbols would be missing. */
static msd_err add_pieces(const struct msd_mlf *m, const struct msd_mlf_model *model,
			  struct msd_linker *l, struct msd_diag *d)
{
	const struct msd_archive *a = &m->archive;
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < a->n; i++) {
		const char *path = a->files[i].path;

		if (!msd_model_owns(m, model, path))
			continue;
		if (msd_archive_path_is(path, MSD_MLF_LIB, ".o")) {
			err = msd_linker_add_object(l, path, span_of(&a->files[i]), d);
		} else if (msd_archive_path_is(path, MSD_MLF_SRC, ".c")) {
			err = msd_linker_add(l, ".c", span_of(&a->files[i]), d);
		} else if (msd_archive_path_is(path, "codegen/", "") &&
			   !msd_archive_path_is(path, MSD_MLF_INCLUDE, ".h")) {
			err = msd_diag_set(d, MSD_UNSUPPORTED,
					   "%.128s: only objects (*.o) and C sources "
					   "(*.c) for the host can be linked",
					   path);
		}
	}
	if (err == MSD_OK && l->n == 0) {
		err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "neither objects in codegen/host/lib nor C sources "
				   "in codegen/host/src");
	}
	return err;
}

/* C code that calls no runtime function has no symbol from which a loader can detect
 * it. This symbol is weak, so a strong one of the same name takes precedence. */
static msd_err add_mark(struct msd_linker *l, struct msd_diag *d)
{
	static const char text[] = "__attribute__((weak, visibility(\"default\"))) "
				   "void *__tvm_module_ctx;\n";

	return msd_linker_add(
		l, ".c", (struct msd_span){(const uint8_t *)text, sizeof(text) - 1}, d);
}

static bool says_unpacked(const struct msd_mlf *m)
{
	static const char word[] = "unpacked-api=1";
	const struct msd_archive_file *f =
		msd_archive_find(&m->archive, "metadata.json");

	return memmem(f->data.p, f->data.n, word, strlen(word)) != NULL;
}

/* True if a file of the model defines, or refers to, @function. */
static bool is_named(const struct msd_mlf *m, const struct msd_mlf_model *model,
		     const char *function)
{
	char in_c[512];
	char in_object[512];

	int n = snprintf(in_c, sizeof(in_c), "%.400s(", function);
	/* in a string table a name is between NULs */
	(void)snprintf(in_object, sizeof(in_object), "%c%.400s", 0, function);
	for (size_t i = 0; i < m->archive.n; i++) {
		const struct msd_archive_file *f = &m->archive.files[i];

		if (!msd_model_owns(m, model, f->path))
			continue;
		if (msd_archive_path_is(f->path, MSD_MLF_SRC, ".c") &&
		    memmem(f->data.p, f->data.n, in_c, (size_t)n) != NULL)
			return true;
		if (msd_archive_path_is(f->path, MSD_MLF_LIB, ".o") &&
		    memmem(f->data.p, f->data.n, in_object, (size_t)n + 1) != NULL)
			return true;
	}
	return false;
}

/* Find the model's function with the suffix @end; false: no file of the model names
 * it. */
static bool find_function(const struct msd_mlf *m, const struct msd_mlf_model *model,
			  const char *end, char function[static MAX_FUNCTION])
{
	(void)snprintf(function, MAX_FUNCTION, "tvmgen_%.256s_%s", model->name, end);
	return is_named(m, model, function);
}

static bool has_header(const struct msd_mlf *m, const struct msd_mlf_model *model)
{
	char path[512];

	(void)snprintf(path, sizeof(path), MSD_MLF_INCLUDE "tvmgen_%.256s.h",
		       model->name);
	return msd_archive_find(&m->archive, path) != NULL;
}

/* Find the function that describes the model's parameters: the model's own, or, for
 * the C++ runtime, the library's only one. NULL: none. */
static const char *find_metadata(const struct msd_mlf *m,
				 const struct msd_mlf_model *model,
				 char function[static MAX_FUNCTION])
{
	static const char only[] = "get_c_metadata";

	if (find_function(m, model, only, function))
		return function;
	return is_named(m, model, only) ? only : NULL;
}

/* Add the entry `run` to an ahead-of-time model. If the model's own function cannot
 * be identified, only the library's functions are available. */
static msd_err add_entry(const struct msd_mlf *m, const struct msd_mlf_model *model,
			 struct msd_linker *l, struct msd_diag *d)
{
	static const char *const ends[] = {
		"run",          /* provides planned memory; also in the C interface */
		"__tvm_main__", /* 0.9 to 0.18 */
		"run_model",    /* 0.8 */
	};
	const bool is_c = has_header(m, model) || says_unpacked(m);
	struct msd_buf text = {0};
	char function[MAX_FUNCTION];
	char metadata[MAX_FUNCTION];
	size_t i = 0;

	if (!model->has_aot) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "model %.64s has none of the executors graph and "
				    "aot",
				    model->name);
	}
	while (i < 3 && !find_function(m, model, ends[i], function))
		i++;
	if (i == 3)
		return MSD_OK;
	struct msd_aot_call call = {.form = MSD_AOT_PACKED,
				    .function = function,
				    .metadata = find_metadata(m, model, metadata),
				    .is_main = i == 1};
	if (is_c && i == 0) {
		call.form = MSD_AOT_STRUCTS;
	} else if (says_unpacked(m)) {
		call.form = MSD_AOT_POINTERS;
	}
	msd_err err = msd_aot_entry(m, model, &call, &text, d);
	if (err == MSD_OK)
		err = msd_linker_add(l, ".c", (struct msd_span){text.p, text.n}, d);
	msd_buf_finish(&text);
	return err;
}

/* Add the signatures of the archive's operators, because the library's code may lack
 * them. */
static msd_err add_signatures(const struct msd_mlf_model *model, struct msd_linker *l,
			      struct msd_diag *d)
{
	struct msd_buf text = {0};
	struct msd_buf source = {0};
	msd_err err = MSD_OK;

	msd_mlf_signatures(model, &text);
	msd_buf_printf(&source, "__attribute__((visibility(\"default\"))) const "
				"char " MSD_SIGNATURES_SYMBOL "[] = {");
	for (size_t i = 0; i < text.n; i++)
		msd_buf_printf(&source, "%d,", text.p[i]);
	msd_buf_printf(&source, "0};\n");
	if (text.bad || source.bad) {
		err = msd_diag_no_memory(d);
	} else if (text.n > 0) {
		err = msd_linker_add(l, ".c", (struct msd_span){source.p, source.n}, d);
	}
	msd_buf_finish(&text);
	msd_buf_finish(&source);
	return err;
}

static msd_err link_model(const struct msd_cli *cli, const struct msd_mlf *m,
			  const struct msd_mlf_model *model, struct msd_linker *l,
			  struct msd_buf *ret, struct msd_diag *d)
{
	struct msd_buf blob = {0};
	msd_err err = msd_linker_open(l, cli, d);

	if (err == MSD_OK)
		err = add_headers(&m->archive, l, d);
	if (err == MSD_OK)
		err = add_pieces(m, model, l, d);
	if (err == MSD_OK)
		err = add_mark(l, d);
	if (err == MSD_OK && model->is_operator)
		err = add_signatures(model, l, d);
	if (err == MSD_OK && model->graph.n == 0 && !model->is_operator)
		err = add_entry(m, model, l, d);
	if (err == MSD_OK && model->graph.n > 0) {
		err = msd_mlf_factory(model, &blob, d);
		if (err == MSD_OK) {
			err = msd_linker_add_blob(l, MSD_ERA_CLASSIC,
						  (struct msd_span){blob.p, blob.n}, d);
		}
		msd_buf_finish(&blob);
	}
	if (err == MSD_OK)
		err = msd_linker_link(l, ret, d);
	return err;
}

msd_err msd_model_link(const struct msd_cli *cli, struct msd_span file,
		       struct msd_buf *ret, struct msd_diag *d)
{
	const struct msd_mlf_model *model = NULL;
	struct msd_linker linker = {0};
	struct msd_mlf m = {0};
	msd_err err = msd_mlf_read(file, &m, d);

	if (err != MSD_OK)
		return err;
	err = msd_mlf_find(&m, cli->model, &model, d);
	if (err == MSD_OK)
		err = link_model(cli, &m, model, &linker, ret, d);
	msd_linker_close(&linker);
	msd_mlf_finish(&m);
	return err;
}
