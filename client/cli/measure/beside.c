#include "client/cli/measure/beside.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "client/build/folder.h"
#include "client/cli/values/file.h"
#include "graph/modser_graph.h"
#include "graph/serializer/choose.h"
#include "graph/serializer/model_files.h"

/* A file that was read, under the model's name for it. */
struct read_file {
	char *name;
	struct msd_buf bytes;
	struct read_file *next;
};

struct beside {
	const struct msd_cli *cli;
	char *dir;
	struct read_file *files;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static msd_err read_named(const struct beside *b, const char *name, struct msd_buf *ret,
			  struct msd_diag *d)
{
	for (size_t i = 0; i < b->cli->n_with; i++) {
		if (strcmp(base_name(b->cli->with[i]), base_name(name)) == 0)
			return msd_file_read(b->cli->with[i], ret, d);
	}
	return msd_file_read_beneath(b->dir, name, ret, d);
}

static int take(const struct read_file *f, modser_part *ret)
{
	*ret = (modser_part){f->bytes.p, f->bytes.n};
	return 0;
}

/* Read each file once. */
static int read_beside(void *ctx, modser_graph *graph, const char *name,
		       modser_part *ret)
{
	struct beside *b = ctx;
	struct msd_diag d = {0};

	for (const struct read_file *f = b->files; f != NULL; f = f->next) {
		if (strcmp(f->name, name) == 0)
			return take(f, ret);
	}
	struct read_file *f = calloc(1, sizeof(*f));
	char *copy = strdup(name);
	if (f == NULL || copy == NULL) {
		free(f);
		free(copy);
		return modser_graph_fail(graph, "out of memory");
	}
	*f = (struct read_file){.name = copy, .next = b->files};
	b->files = f;
	if (read_named(b, name, &f->bytes, &d) != MSD_OK) {
		(void)modser_graph_fail(graph, msd_diag_text(&d));
		msd_diag_finish(&d);
		return -1;
	}
	return take(f, ret);
}

static void finish(struct beside *b)
{
	while (b->files != NULL) {
		struct read_file *f = b->files;

		b->files = f->next;
		msd_buf_finish(&f->bytes);
		free(f->name);
		free(f);
	}
	free(b->dir);
}

static msd_err join(struct beside *b, const modser_serializer *s, struct msd_buf *file,
		    struct msd_diag *d)
{
	const modser_part model = {file->p, file->n};
	modser_graph *g = modser_graph_create("");
	modser_part whole;
	msd_err err = MSD_OK;

	if (g == NULL || b->dir == NULL) {
		err = msd_diag_no_memory(d);
	} else if (modser_serializer_join(s, &model, read_beside, b, g, &whole) != 0) {
		err = msd_diag_set(d, msd_err_from_name(modser_graph_error_name(g)),
				   "%s", modser_graph_error(g));
		struct msd_model_file one = {.bytes = {file->p, file->n}};
		const struct msd_model_files files = {&one, 1};

		err = msd_serializer_blame(b->cli->run.words.format, &files, err, d);
	} else if (whole.data != NULL) {
		msd_buf_finish(file);
		*file = (struct msd_buf){.p = (uint8_t *)(uintptr_t)whole.data,
					 .n = whole.bytes,
					 .cap = whole.bytes};
	}
	modser_graph_destroy(g);
	return err;
}

static bool was_read(const struct beside *b, const char *with)
{
	for (const struct read_file *f = b->files; f != NULL; f = f->next) {
		if (strcmp(base_name(f->name), base_name(with)) == 0)
			return true;
	}
	return false;
}

/* A file of --with that the model does not name would be ignored silently, so it is
 * an error. */
static msd_err check_with(const struct beside *b, const char *path, struct msd_diag *d)
{
	for (size_t i = 0; i < b->cli->n_with; i++) {
		if (!was_read(b, b->cli->with[i])) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "--external-data %s: %s names no file %s; "
					    "external data is matched by name; for a "
					    "graph or a program use --graph",
					    b->cli->with[i], path,
					    base_name(b->cli->with[i]));
		}
	}
	return MSD_OK;
}

static msd_err join_named(const struct msd_cli *cli, const modser_serializer *s,
			  const char *path, struct msd_buf *file, struct msd_diag *d)
{
	char *copy = strdup(path);
	struct beside b = {.cli = cli};
	msd_err err = MSD_OK;

	if (copy == NULL) {
		err = msd_diag_no_memory(d);
	} else if (s != NULL) {
		b.dir = strdup(msd_folder_is(path) ? path : dirname(copy));
		err = join(&b, s, file, d);
		if (err != MSD_OK)
			err = msd_diag_wrap(d, err, "%s", path);
	}
	if (err == MSD_OK)
		err = check_with(&b, path, d);
	finish(&b);
	free(copy);
	return err;
}

/* All files of a model whose format wants several. */
struct several {
	struct msd_buf *bytes; /* the first is elsewhere */
	struct msd_model_files files;
};

static msd_err read_several(const struct msd_cli *cli, const char *const *paths,
			    size_t n, const struct msd_buf *first, struct several *ret,
			    struct msd_diag *d)
{
	const size_t all = n + cli->n_with;
	msd_err err = MSD_OK;

	ret->bytes = calloc(all, sizeof(*ret->bytes));
	ret->files.items = calloc(all, sizeof(*ret->files.items));
	if (ret->bytes == NULL || ret->files.items == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < all && err == MSD_OK; i++) {
		const char *path = i < n ? paths[i] : cli->with[i - n];
		struct msd_model_file *f = &ret->files.items[i];

		if (i > 0)
			err = msd_file_read(path, &ret->bytes[i], d);
		const struct msd_buf *bytes = i > 0 ? &ret->bytes[i] : first;
		f->name = msd_span_of(base_name(path));
		f->bytes = (struct msd_span){bytes->p, bytes->n};
		ret->files.n++;
	}
	return err;
}

static void finish_several(struct several *s)
{
	for (size_t i = 0; s->bytes != NULL && i < s->files.n; i++)
		msd_buf_finish(&s->bytes[i]);
	free(s->bytes);
	msd_model_files_finish(&s->files);
}

/* The files of a format that wants several become one, else *@file stays. */
static msd_err join_several(const struct msd_cli *cli, const char *const *paths,
			    size_t n, struct msd_buf *file, struct msd_diag *d)
{
	struct several all = {0};
	struct msd_buf whole = {0};
	modser_serializer *s = NULL;
	msd_err err = read_several(cli, paths, n, file, &all, d);

	if (err == MSD_OK)
		err = msd_serializer_choose(cli->run.words.format, &all.files, &s, d);
	if (err == MSD_OK && modser_serializer_file_count(s) == 1) {
		err = msd_diag_set(d, MSD_BAD_ARGUMENT,
				   "%zu files are one model of no known format; %s "
				   "looks like %s, which is one file",
				   all.files.n, paths[0], modser_serializer_format(s));
	}
	if (err == MSD_OK)
		err = msd_model_files_write(&all.files, &whole, d);
	modser_serializer_unref(s);
	finish_several(&all);
	if (err != MSD_OK) {
		msd_buf_finish(&whole);
		return msd_diag_wrap(d, err, "%s", paths[0]);
	}
	msd_buf_finish(file);
	*file = whole;
	return MSD_OK;
}

msd_err msd_model_join(const struct msd_cli *cli, const char *const *paths, size_t n,
		       struct msd_buf *file, struct msd_diag *d)
{
	const char *format = cli->run.words.format;
	modser_serializer *s = *format != '\0'
				       ? modser_serializer_named(format)
				       : modser_serializer_probe(file->p, file->n);
	const bool is_several = s != NULL && modser_serializer_file_count(s) > 1;
	const bool has_with = cli->n_with > 0 && is_several;
	const msd_err err = n > 1 || has_with ? join_several(cli, paths, n, file, d)
					      : join_named(cli, s, paths[0], file, d);

	modser_serializer_unref(s);
	return err;
}
