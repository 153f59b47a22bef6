/*
 * Several files of a model in one. Normal path: the rows at the front say where each
 * file begins, and each name and place is checked. A load takes the files in any order.
 * Failures name the row's fault.
 */
#include "graph/serializer/model_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/serializer.h"
#include "proto/words/external_data.h"

#define MAGIC "modser files 1\n" /* with its NUL */
#define ROW_BYTES 20u            /* without its name */

bool msd_model_files_are(struct msd_span file)
{
	return file.n > sizeof(MAGIC) && memcmp(file.p, MAGIC, sizeof(MAGIC)) == 0;
}

static msd_err bad(const char *text, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "several files in one: %s", text);
}

static msd_err make_room(size_t n, struct msd_model_files *ret, struct msd_diag *d)
{
	ret->items = calloc(n, sizeof(*ret->items));
	ret->n = n;
	return ret->items != NULL ? MSD_OK : msd_diag_no_memory(d);
}

static msd_err read_row(struct msd_span file, struct msd_cur *c,
			struct msd_model_file *ret, struct msd_diag *d)
{
	const uint64_t at = msd_cur_u64(c);
	const uint64_t bytes = msd_cur_u64(c);
	const uint32_t n = msd_cur_u32(c);

	if (c->bad || n < 1 || n > MSD_EXTERNAL_DATA_NAME_MAX)
		return bad("a name has no valid length", d);
	ret->name = (struct msd_span){msd_cur_read(c, n), n};
	if (ret->name.p == NULL || memchr(ret->name.p, '\0', n) != NULL)
		return bad("a name ends behind the file", d);
	if (at > file.n || bytes > file.n - at)
		return bad("a place is not in the file", d);
	ret->bytes = (struct msd_span){file.p + at, (size_t)bytes};
	return MSD_OK;
}

static msd_err read_rows(struct msd_span file, struct msd_model_files *ret,
			 struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(
		(struct msd_span){file.p + sizeof(MAGIC), file.n - sizeof(MAGIC)});
	const uint32_t n = msd_cur_u32(&c);

	if (c.bad || n < 1 || n > MSD_EXTERNAL_DATA_MAX || n > c.left / ROW_BYTES)
		return bad("its number of files cannot be", d);
	msd_err err = make_room(n, ret, d);
	for (size_t i = 0; err == MSD_OK && i < n; i++)
		err = read_row(file, &c, &ret->items[i], d);
	return err;
}

static msd_err add_list(struct msd_span file, struct msd_span list,
			struct msd_model_files *ret, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(list);
	struct msd_external_data_file one;
	uint64_t end = file.n;
	size_t n = 1;

	while (c.left > 0 && msd_external_data_next(&c, &end, &one))
		n++;
	msd_err err = make_room(n, ret, d);
	if (err != MSD_OK)
		return err;
	ret->items[0].bytes = file;
	c = msd_cur_of(list);
	end = file.n;
	for (size_t i = 1; i < n && msd_external_data_next(&c, &end, &one); i++) {
		ret->items[i].name = one.name;
		ret->items[i].bytes =
			(struct msd_span){file.p + one.at, (size_t)one.bytes};
	}
	return MSD_OK;
}

msd_err msd_model_files_of(struct msd_span file, struct msd_span list,
			   struct msd_model_files *ret, struct msd_diag *d)
{
	struct msd_model_files f = {0};
	msd_err err = list.n == 0 && msd_model_files_are(file)
			      ? read_rows(file, &f, d)
			      : add_list(file, list, &f, d);

	if (err != MSD_OK) {
		msd_model_files_finish(&f);
		return err;
	}
	*ret = f;
	return MSD_OK;
}

static void pad(struct msd_buf *out, uint64_t to)
{
	static const uint8_t zeros[MSD_EXTERNAL_DATA_PAGE];

	if (to > out->n)
		msd_buf_put(out, zeros, (size_t)(to - out->n));
}

msd_err msd_model_files_write(const struct msd_model_files *f, struct msd_buf *out,
			      struct msd_diag *d)
{
	uint64_t at = sizeof(MAGIC) + 4;

	for (size_t i = 0; i < f->n; i++)
		at += ROW_BYTES + f->items[i].name.n;
	msd_buf_put(out, MAGIC, sizeof(MAGIC));
	msd_buf_put_u32(out, (uint32_t)f->n);
	for (size_t i = 0; i < f->n; i++) {
		const struct msd_model_file *one = &f->items[i];

		at = msd_external_data_at(at);
		msd_buf_put_u64(out, at);
		msd_buf_put_u64(out, one->bytes.n);
		msd_buf_put_u32(out, (uint32_t)one->name.n);
		msd_buf_put(out, one->name.p, one->name.n);
		at += one->bytes.n;
	}
	for (size_t i = 0; i < f->n; i++) {
		pad(out, msd_external_data_at(out->n));
		msd_buf_put(out, f->items[i].bytes.p, f->items[i].bytes.n);
	}
	return out->bad ? msd_diag_no_memory(d) : MSD_OK;
}

void msd_model_files_finish(struct msd_model_files *f)
{
	free(f->items);
	*f = (struct msd_model_files){0};
}

/* A file without a folder in its name is found in any folder. */
static int read_beside(void *ctx, modser_graph *graph, const char *name,
		       modser_part *ret)
{
	const struct msd_model_files *f = ctx;
	const char *slash = strrchr(name, '/');
	const struct msd_model_file *found = NULL;

	for (size_t i = 0; i < f->n; i++) {
		if (msd_span_is(f->items[i].name, name)) {
			found = &f->items[i];
			break;
		}
		if (found == NULL && slash != NULL &&
		    msd_span_is(f->items[i].name, slash + 1))
			found = &f->items[i];
	}
	if (found == NULL) {
		char why[256];

		(void)snprintf(why, sizeof(why),
			       "the file \"%.128s\" did not come with the model", name);
		return modser_graph_fail(graph, why);
	}
	*ret = (modser_part){found->bytes.p, found->bytes.n};
	return 0;
}

static modser_part part_of(const struct msd_model_file *file)
{
	return (modser_part){file->bytes.p, file->bytes.n};
}

/* The model itself, for a format of one file. */
static size_t find_main(const modser_serializer *s, const struct msd_model_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		if (s->ops->probe(f->items[i].bytes.p, f->items[i].bytes.n))
			return i;
	}
	return 0;
}

int msd_model_files_load(const modser_serializer *s, const struct msd_model_files *f,
			 const modser_model_options *options, modser_graph *graph)
{
	const size_t n = s->ops->n_files == 1 ? 1 : f->n;
	modser_part *parts = calloc(n, sizeof(*parts));

	if (parts == NULL)
		return msd_sg_no_memory(graph);
	for (size_t i = 0; i < n; i++)
		parts[i] = part_of(&f->items[i]);
	if (n == 1)
		parts[0] = part_of(&f->items[find_main(s, f)]);
	if (f->n > 1)
		modser_graph_set_beside(graph, read_beside, (void *)(uintptr_t)f);
	const int result = modser_serializer_load_memory(s, parts, n, options, graph);
	modser_graph_set_beside(graph, NULL, NULL);
	free(parts);
	return result;
}
