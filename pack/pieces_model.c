/*
 * Models: graphs, parameters, constants, programs of virtual machines. Tensors become
 * a .params file for TVM's tools: their bytes are located without decoding and
 * concatenated in the file's order. Joining first reads the whole file, so that a
 * damaged one gives a clear error.
 */

#include "artifact/params/params.h"
#include "artifact/params/tensor_blob.h"
#include "artifact/relax/image.h"
#include "artifact/relax/text.h"
#include "pack/pieces_private.h"

/* The bytes that a reader consumed. */
static struct msd_span between(struct msd_cur before, const struct msd_cur *after)
{
	return (struct msd_span){before.p, before.left - after->left};
}

static void skip_names(struct msd_cur *c)
{
	size_t n = msd_cur_count64(c, sizeof(uint64_t));

	for (size_t i = 0; i < n && !c->bad; i++)
		(void)msd_cur_str64(c);
}

static msd_err skip_tensors(struct msd_cur *c, uint64_t n, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint64_t i = 0; i < n && err == MSD_OK; i++) {
		struct msd_tensor_blob t;

		err = msd_tensor_blob_read(c, &t, d);
	}
	return err;
}

/* Make a .params file of names and tensors, with the tensors' saved bytes. */
static msd_err split_params(struct msd_splitter *s, struct msd_span names, uint64_t n,
			    struct msd_span tensors, struct msd_diag *d)
{
	struct msd_buf file = {0};

	msd_buf_put_u64(&file, MSD_PARAMS_MAGIC);
	msd_buf_put_u64(&file, 0);
	msd_buf_put(&file, names.p, names.n);
	msd_buf_put_u64(&file, n);
	msd_buf_put(&file, tensors.p, tensors.n);
	return msd_split_made(s, "params", ".params", &file, d);
}

msd_err msd_split_aot(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	uint64_t n = msd_cur_u64(c);
	struct msd_cur start = *c;

	skip_names(c);
	struct msd_span names = between(start, c);
	start = *c;
	msd_err err = c->bad ? msd_split_damaged(d) : skip_tensors(c, n, d);
	if (err == MSD_OK)
		err = split_params(s, names, n, between(start, c), d);
	if (err != MSD_OK)
		return err;
	struct msd_span model = msd_cur_str64(c);
	return c->bad ? msd_split_damaged(d) : msd_split_text(s, "model", model, d);
}

/* The .params file of field "params", split at its second count. */
static msd_err read_params(const struct msd_joiner *j, struct msd_buf *file,
			   struct msd_span *ret_names, uint64_t *ret_n,
			   struct msd_span *ret_tensors, struct msd_diag *d)
{
	struct msd_params p = {0};
	msd_err err = msd_join_read(j, "params", file, d);

	if (err != MSD_OK)
		return err;
	/* Read the whole file first: a damaged one gives a clear error. */
	err = msd_params_read_file((struct msd_span){file->p, file->n}, &p, d);
	msd_params_finish(&p);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "params");
	struct msd_cur c = msd_cur_of((struct msd_span){file->p, file->n});
	(void)msd_cur_read(&c, 2 * sizeof(uint64_t));
	struct msd_cur start = c;
	skip_names(&c);
	*ret_names = between(start, &c);
	*ret_n = msd_cur_u64(&c);
	*ret_tensors = (struct msd_span){c.p, c.left};
	return MSD_OK;
}

msd_err msd_join_aot(const struct msd_joiner *j, struct msd_buf *out,
		     struct msd_diag *d)
{
	struct msd_buf file = {0};
	struct msd_span names = {0}, tensors = {0};
	uint64_t n = 0;
	msd_err err = read_params(j, &file, &names, &n, &tensors, d);

	if (err == MSD_OK) {
		msd_buf_put_u64(out, n);
		msd_buf_put(out, names.p, names.n);
		msd_buf_put(out, tensors.p, tensors.n);
		err = msd_join_text(j, "model", out, d);
	}
	msd_buf_finish(&file);
	return err;
}

msd_err msd_split_graph(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	struct msd_span graph = msd_cur_str64(c);

	if (c->bad)
		return msd_split_damaged(d);
	msd_err err = msd_split_file(s, "graph", ".graph.json", graph, d);
	return err == MSD_OK ? msd_split_aot(s, c, d) : err;
}

msd_err msd_join_graph(const struct msd_joiner *j, struct msd_buf *out,
		       struct msd_diag *d)
{
	msd_err err = msd_join_file(j, "graph", out, d);

	return err == MSD_OK ? msd_join_aot(j, out, d) : err;
}

/* Each symbol with the names of its constants, in order, therefore a list of pairs. */
static msd_err split_symbols(struct msd_splitter *s, struct msd_cur *c,
			     struct msd_diag *d)
{
	msd_err err = msd_split_names(s, "symbols", c, d);
	size_t n = msd_cur_count64(c, sizeof(uint64_t));
	json_t *lists = json_array();

	for (size_t i = 0; i < n && err == MSD_OK; i++) {
		err = msd_split_names(s, "one", c, d);
		if (err == MSD_OK &&
		    json_array_append(lists, json_object_get(s->entry, "one")) != 0)
			err = msd_diag_no_memory(d);
	}
	(void)json_object_del(s->entry, "one");
	if (err == MSD_OK && c->bad)
		err = msd_split_damaged(d);
	if (err == MSD_OK)
		return msd_split_set(s, "constants_of_symbols", lists, d);
	json_decref(lists);
	return err;
}

msd_err msd_split_consts(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	struct msd_cur start = *c;

	skip_names(c);
	struct msd_span names = between(start, c);
	uint64_t n = msd_cur_u64(c);
	start = *c;
	msd_err err = c->bad ? msd_split_damaged(d) : skip_tensors(c, n, d);
	if (err == MSD_OK)
		err = split_params(s, names, n, between(start, c), d);
	return err == MSD_OK ? split_symbols(s, c, d) : err;
}

msd_err msd_join_consts(const struct msd_joiner *j, struct msd_buf *out,
			struct msd_diag *d)
{
	const json_t *lists = json_object_get(j->entry, "constants_of_symbols");
	struct msd_buf file = {0};
	struct msd_span names = {0}, tensors = {0};
	uint64_t n = 0;
	msd_err err = read_params(j, &file, &names, &n, &tensors, d);

	if (err == MSD_OK) {
		msd_buf_put(out, names.p, names.n);
		msd_buf_put_u64(out, n);
		msd_buf_put(out, tensors.p, tensors.n);
		err = msd_join_names(j, "symbols", out, d);
	}
	msd_buf_finish(&file);
	if (err == MSD_OK)
		msd_buf_put_u64(out, json_array_size(lists));
	for (size_t i = 0; i < json_array_size(lists) && err == MSD_OK; i++) {
		err = msd_join_array(json_array_get(lists, i), "constants_of_symbols",
				     out, d);
	}
	return err;
}

/* Write the image unchanged, and a listing that is for reading only. */
msd_err msd_split_relax(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	struct msd_span payload = {c->p, c->left};
	struct msd_relax_image img = {0};
	struct msd_span image = payload;
	struct msd_buf text = {0};

	if (s->era == MSD_ERA_FFI) {
		(void)msd_cur_read(c, c->left);
	} else {
		image = msd_cur_str64(c);
	}
	if (c->bad)
		return msd_split_damaged(d);
	msd_err err = msd_split_file(s, "image", ".vm", image, d);
	if (err != MSD_OK)
		return err;
	if (msd_relax_image_read(payload, s->era, &img, d) != MSD_OK)
		return MSD_OK; /* an image without a listing is still written */
	msd_relax_text(&img, &text);
	msd_relax_image_finish(&img);
	return msd_split_made(s, "listing", ".vm.txt", &text, d);
}

msd_err msd_join_relax(const struct msd_joiner *j, struct msd_buf *out,
		       struct msd_diag *d)
{
	struct msd_buf file = {0};

	if (j->era != MSD_ERA_FFI)
		return msd_join_file(j, "image", out, d);
	msd_err err = msd_join_read(j, "image", &file, d);
	if (err == MSD_OK)
		msd_buf_put(out, file.p, file.n);
	msd_buf_finish(&file);
	return err;
}

msd_err msd_split_relay(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d)
{
	struct msd_span code = msd_cur_str64(c);

	return c->bad ? msd_split_damaged(d)
		      : msd_split_file(s, "code", ".ro", code, d);
}

msd_err msd_join_relay(const struct msd_joiner *j, struct msd_buf *out,
		       struct msd_diag *d)
{
	return msd_join_file(j, "code", out, d);
}
