/*
 * Happy path: each file is identified by its first bytes and stored in its place:
 * graph and parameters, an object, an archive, whose files are added one by one, or a
 * library without imports other than those of the host.
 *
 * Failures: a second file of a single kind, and a file of any other type, is rejected
 * by name.
 */
#include "client/build/parts.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/params/params.h"
#include "artifact/printable.h"
#include "artifact/tree/tree.h"
#include "client/build/folder.h"
#include "client/build/linker.h"
#include "client/cli/model/model.h"
#include "proto/base/grow.h"

void msd_parts_finish(struct msd_parts *p)
{
	msd_buf_finish(&p->graph);
	msd_buf_finish(&p->params);
	msd_buf_finish(&p->relay);
	msd_archive_finish(&p->objects);
	msd_archive_finish(&p->sources);
	free(p->name);
}

static bool ends_with(const char *text, const char *tail)
{
	return msd_archive_path_is(text, "", tail);
}

/* Move @data into @list. */
static msd_err push(struct msd_archive *list, const char *path, struct msd_buf *data,
		    struct msd_diag *d)
{
	if (!msd_grow(&list->files, list->n, sizeof(*list->files)))
		return msd_diag_no_memory(d);
	list->files[list->n] = (struct msd_archive_file){.path = strdup(path)};
	if (list->files[list->n].path == NULL)
		return msd_diag_no_memory(d);
	list->files[list->n++].data = *data;
	*data = (struct msd_buf){0};
	return MSD_OK;
}

static msd_err put(struct msd_buf *part, struct msd_buf *data, const char *path,
		   const char *what, struct msd_diag *d)
{
	if (part->n > 0)
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "%s: a second %s", path, what);
	*part = *data;
	*data = (struct msd_buf){0};
	return MSD_OK;
}

static bool is_host_kind(struct msd_span kind)
{
	return msd_span_is(kind, "_lib") || msd_span_is(kind, "GraphExecutorFactory") ||
	       msd_span_is(kind, "GraphRuntimeFactory");
}

static msd_err check_kinds(struct msd_span library, struct msd_diag *d)
{
	char text[MSD_PRINTABLE_MAX];
	struct msd_tree tree = {0};
	struct msd_elf elf = {0};
	msd_err err = msd_elf_read(library, &elf, d);

	if (err == MSD_OK)
		err = msd_tree_read_library(&elf, MSD_ERA_CLASSIC, &tree, d);
	for (uint32_t i = 0; err == MSD_OK && i < tree.n_modules; i++) {
		if (!is_host_kind(tree.modules[i].kind)) {
			err = msd_diag_set(d, MSD_UNSUPPORTED,
					   "a module of kind %s is inside; a Model "
					   "Library Format archive holds code of the "
					   "host alone",
					   msd_printable(tree.modules[i].kind, text));
		}
	}
	msd_tree_finish(&tree);
	msd_elf_finish(&elf);
	return err;
}

/* devc contains the imports of a library. A graph's factory is dropped, because the
 * graph and its parameters are given separately; code for a device would be lost. */
static msd_err check_imports(const struct msd_archive_file *f, struct msd_diag *d)
{
	struct msd_linker l = {0};
	struct msd_buf library = {0};
	msd_err err = msd_linker_open(&l, NULL, d);

	if (err == MSD_OK) {
		err = msd_linker_add(&l, ends_with(f->path, ".c") ? ".c" : ".o",
				     (struct msd_span){f->data.p, f->data.n}, d);
	}
	if (err == MSD_OK)
		err = msd_linker_link(&l, &library, d);
	if (err == MSD_OK)
		err = check_kinds((struct msd_span){library.p, library.n}, d);
	msd_linker_close(&l);
	msd_buf_finish(&library);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%.128s", f->path);
}

static msd_err add_member(struct msd_parts *p, struct msd_archive_file *f,
			  struct msd_diag *d)
{
	const char *slash = strrchr(f->path, '/');
	const char *name = slash != NULL ? slash + 1 : f->path;

	if (strcmp(name, "devc.o") == 0 || strcmp(name, "devc.c") == 0)
		return check_imports(f, d);
	if (ends_with(name, ".o"))
		return push(&p->objects, f->path, &f->data, d);
	if (ends_with(name, ".c"))
		return push(&p->sources, f->path, &f->data, d);
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "%.128s: expected objects (*.o) and C sources (*.c)",
			    f->path);
}

static msd_err add_archive(struct msd_parts *p, struct msd_span file,
			   struct msd_diag *d)
{
	struct msd_archive a = {0};
	msd_err err = msd_archive_read(file, &a, d);

	for (size_t i = 0; err == MSD_OK && i < a.n; i++)
		err = add_member(p, &a.files[i], d);
	msd_archive_finish(&a);
	return err;
}

/* Copy the contents of the archive @f. */
static msd_err copy_of(struct msd_span s, struct msd_buf *ret, struct msd_diag *d)
{
	msd_buf_put(ret, s.p, s.n);
	return ret->bad ? msd_diag_no_memory(d) : MSD_OK;
}

static msd_err take_piece(struct msd_parts *p, const struct msd_mlf *m,
			  const struct msd_mlf_model *model, struct msd_archive_file *f,
			  struct msd_diag *d)
{
	char relay[512];

	(void)snprintf(relay, sizeof(relay), "src/%.256s.relay", model->name);
	if (strcmp(f->path, "src/relay.txt") == 0 || strcmp(f->path, relay) == 0)
		return put(&p->relay, &f->data, f->path, "Relay text", d);
	if (!msd_archive_path_is(f->path, "codegen/", "") ||
	    !msd_model_owns(m, model, f->path))
		return MSD_OK;
	return add_member(p, f, d);
}

/* Add the parts of a model from an archive. */
static msd_err add_model(struct msd_parts *p, struct msd_span file, struct msd_diag *d)
{
	const struct msd_mlf_model *model = NULL;
	struct msd_mlf m = {0};
	msd_err err = msd_mlf_read(file, &m, d);

	if (err != MSD_OK)
		return err;
	err = msd_mlf_find(&m, p->wanted, &model, d);
	if (err == MSD_OK && (p->graph.n > 0 || p->name != NULL))
		err = msd_diag_set(d, MSD_BAD_ARGUMENT, "a second model");
	if (err == MSD_OK && model->graph.n == 0) {
		err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "model %.64s has no graph executor, and no other "
				   "archive can be written",
				   model->name);
	}
	if (err == MSD_OK)
		err = copy_of(model->graph, &p->graph, d);
	if (err == MSD_OK)
		err = copy_of(model->params, &p->params, d);
	if (err == MSD_OK && (p->name = strdup(model->name)) == NULL)
		err = msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < m.archive.n; i++)
		err = take_piece(p, &m, model, &m.archive.files[i], d);
	msd_mlf_finish(&m);
	return err;
}

static msd_err add_elf(struct msd_parts *p, const char *path, struct msd_buf *data,
		       struct msd_diag *d)
{
	uint16_t type = data->n >= sizeof(Elf64_Ehdr)
				? msd_le16(data->p + offsetof(Elf64_Ehdr, e_type))
				: ET_NONE;

	if (type == ET_REL)
		return push(&p->objects, path, data, d);
	return msd_diag_set(
		d, MSD_UNSUPPORTED,
		"%s: a linked library cannot be converted to objects; export it as "
		".tar (export_library(\"lib.tar\")) and give that",
		path);
}

static msd_err add_data(struct msd_parts *p, const char *path, struct msd_buf *data,
			struct msd_diag *d)
{
	const struct msd_span file = {data->p, data->n};
	size_t at = 0;

	if (file.n >= SELFMAG && memcmp(file.p, ELFMAG, SELFMAG) == 0)
		return add_elf(p, path, data, d);
	if (file.n >= 8 && msd_le64(file.p) == MSD_PARAMS_MAGIC)
		return put(&p->params, data, path, "file of parameters", d);
	if (ends_with(path, ".c"))
		return push(&p->sources, path, data, d);
	if (ends_with(path, ".txt") || ends_with(path, ".relay"))
		return put(&p->relay, data, path, "Relay text", d);
	while (at < file.n && strchr(" \t\r\n", file.p[at]) != NULL && file.p[at] != 0)
		at++;
	if (at < file.n && file.p[at] == '{')
		return put(&p->graph, data, path, "graph", d);
	if (file.n > 0) {
		msd_err err = msd_archive_is_model(file) ? add_model(p, file, d)
							 : add_archive(p, file, d);
		return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s", path);
	}
	return msd_diag_set(d, MSD_BAD_ARGUMENT, "%s: empty", path);
}

msd_err msd_parts_add(struct msd_parts *p, const char *path, struct msd_diag *d)
{
	struct msd_buf data = {0};
	msd_err err = msd_folder_or_file_read(path, &data, d);

	if (err == MSD_OK)
		err = add_data(p, path, &data, d);
	msd_buf_finish(&data);
	return err;
}
