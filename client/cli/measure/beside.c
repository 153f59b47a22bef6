#include "client/cli/measure/beside.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/values/file.h"
#include "graph/modser_graph.h"
#include "graph/serializer/choose.h"

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
		err = msd_serializer_blame(b->cli->model_words.format,
					   (struct msd_span){file->p, file->n}, err, d);
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

msd_err msd_external_data_join(const struct msd_cli *cli, const char *path,
			       struct msd_buf *file, struct msd_diag *d)
{
	const char *format = cli->model_words.format;
	modser_serializer *s = *format != '\0'
				       ? modser_serializer_named(format)
				       : modser_serializer_probe(file->p, file->n);
	char *copy = strdup(path);
	struct beside b = {.cli = cli};
	msd_err err = MSD_OK;

	if (copy == NULL) {
		err = msd_diag_no_memory(d);
	} else if (s != NULL) {
		b.dir = strdup(dirname(copy));
		err = join(&b, s, file, d);
		if (err != MSD_OK)
			err = msd_diag_wrap(d, err, "%s", path);
	}
	if (err == MSD_OK)
		err = check_with(&b, path, d);
	finish(&b);
	free(copy);
	modser_serializer_unref(s);
	return err;
}
