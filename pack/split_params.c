/*
 * Rewrite modules without their tensors, which move to the store, if their row in
 * artifact/kind/kinds.h has a function for it. The rest of the payload is copied span
 * by span. A program that this version cannot read may run elsewhere: it is kept
 * unchanged.
 */
#include "pack/split_params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "artifact/kind/kinds.h"
#include "artifact/params/tensor_blob.h"
#include "artifact/relax/image.h"
#include "artifact/relay/image.h"
#include "proto/base/fnv.h"

#define NAME_BYTES 32 /* "const_0123456789abcdef" incl. NUL */

/* A module whose parameters move; the new payload goes to @out. */
struct splitter {
	struct msd_param_store *store;
	enum msd_era era;
	enum msd_split_names names;
	struct msd_buf *out;
};

static msd_err damaged(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated");
}

/* FNV-1a over the saved tensor, type and shape included. The store detects a
 * collision when it adds the second tensor. */
static void name_of(const struct splitter *s, struct msd_span tensor, size_t place,
		    char name[static NAME_BYTES])
{
	if (s->names == MSD_SPLIT_AS_TVM) {
		(void)snprintf(name, NAME_BYTES, "const_%zu", place);
		return;
	}
	(void)snprintf(name, NAME_BYTES, "const_%016" PRIx64,
		       msd_fnv(MSD_FNV_BEGIN, tensor.p, tensor.n));
}

/* Move the constant at @place, whose tensor is at @c; @ret_name becomes its name. */
static msd_err move_tensor(struct splitter *s, struct msd_cur *c, size_t place,
			   char ret_name[static NAME_BYTES], struct msd_diag *d)
{
	const uint8_t *start = c->p;
	struct msd_tensor_blob t;
	msd_err err = msd_tensor_blob_read(c, &t, d);

	if (err != MSD_OK)
		return err;
	struct msd_span tensor = {start, (size_t)(c->p - start)};
	name_of(s, tensor, place, ret_name);
	return msd_param_store_add(
		s->store, (struct msd_span){(uint8_t *)ret_name, strlen(ret_name)},
		tensor, d);
}

static msd_err split_graph(struct splitter *s, struct msd_span payload,
			   struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(payload);
	struct msd_span graph = msd_cur_str64(&c);
	uint64_t n = msd_cur_u64(&c);
	struct msd_cur names = c;
	size_t n_names = msd_cur_count64(&c, sizeof(uint64_t));
	msd_err err = MSD_OK;

	for (size_t i = 0; i < n_names && !c.bad; i++)
		(void)msd_cur_str64(&c);
	if (c.bad || n != n_names)
		return damaged(d);
	if (n == 0)
		return MSD_OK;
	(void)msd_cur_u64(&names);
	for (size_t i = 0; i < n_names && err == MSD_OK; i++) {
		const uint8_t *start = c.p;
		struct msd_tensor_blob t;

		err = msd_tensor_blob_read(&c, &t, d);
		if (err == MSD_OK) {
			err = msd_param_store_add(
				s->store, msd_cur_str64(&names),
				(struct msd_span){start, (size_t)(c.p - start)}, d);
		}
	}
	msd_buf_put_str64(s->out, graph.p, graph.n);
	msd_buf_put_u64(s->out, 0);
	msd_buf_put_u64(s->out, 0);
	msd_buf_put(s->out, c.p, c.left); /* the model's name */
	return err;
}

/* A program that cannot be read stays unchanged. */
static msd_err keep_unread(msd_err err, struct msd_diag *d)
{
	if (err == MSD_NOMEM)
		return err;
	if (d != NULL)
		msd_diag_finish(d);
	return MSD_OK;
}

/* Skip to the number of constants. */
static void skip_relax_head(struct msd_cur *c, bool is_v2)
{
	(void)msd_cur_u64(c);
	(void)msd_cur_str64(c);
	size_t n = msd_cur_count64(c, sizeof(uint64_t));
	for (size_t i = 0; i < n && !c->bad; i++) {
		(void)msd_cur_i32(c);
		(void)msd_cur_str64(c);
		(void)msd_cur_read(c, 4 * sizeof(uint64_t));
		size_t params = msd_cur_count64(c, sizeof(uint64_t));
		while (params-- > 0 && !c->bad)
			(void)msd_cur_str64(c);
	}
	n = is_v2 ? msd_cur_count64(c, 2 * sizeof(uint64_t)) : 0;
	for (size_t i = 0; i < n && !c->bad; i++) {
		(void)msd_cur_i64(c);
		(void)msd_cur_str64(c);
	}
}

static void skip_relax_const(struct msd_cur *c, enum msd_relax_const_kind kind)
{
	if (kind == MSD_RELAX_SHAPE) {
		(void)msd_cur_read(c, msd_cur_count64(c, sizeof(uint64_t)) *
					      sizeof(uint64_t));
	} else if (kind == MSD_RELAX_STR) {
		(void)msd_cur_str64(c);
	} else {
		(void)msd_cur_read(c, kind == MSD_RELAX_DTYPE ? 4 : sizeof(uint64_t));
	}
}

static msd_err split_relax_const(struct splitter *s, struct msd_cur *c,
				 enum msd_relax_const_kind kind, struct msd_buf *out,
				 struct msd_diag *d)
{
	const uint8_t *start = c->p;
	char name[NAME_BYTES];
	char text[sizeof(MSD_RELAX_PARAM) + NAME_BYTES];

	(void)msd_cur_i32(c); /* the tag */
	if (kind != MSD_RELAX_TENSOR) {
		skip_relax_const(c, kind);
		msd_buf_put(out, start, (size_t)(c->p - start));
		return c->bad ? damaged(d) : MSD_OK;
	}
	msd_err err = move_tensor(s, c, 0, name, d); /* never with TVM's names */
	if (err != MSD_OK)
		return err;
	int n = snprintf(text, sizeof(text), MSD_RELAX_PARAM "%s", name);
	msd_buf_put_u32(out, (uint32_t)msd_relax_text_tag(s->era));
	msd_buf_put_str64(out, text, (size_t)n);
	return MSD_OK;
}

static msd_err split_relax_image(struct splitter *s, struct msd_span image,
				 const struct msd_relax_image *img, struct msd_buf *out,
				 struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(image);
	msd_err err = MSD_OK;

	skip_relax_head(&c, img->is_v2);
	(void)msd_cur_u64(&c); /* number of constants */
	if (c.bad)
		return damaged(d);
	msd_buf_put(out, image.p, image.n - c.left);
	for (size_t i = 0; i < img->n_consts && err == MSD_OK; i++)
		err = split_relax_const(s, &c, img->consts[i].kind, out, d);
	msd_buf_put(out, c.p, c.left);
	return err;
}

static msd_err split_relax(struct splitter *s, struct msd_span payload,
			   struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(payload);
	struct msd_relax_image img = {0};
	struct msd_buf image = {0};

	if (s->names == MSD_SPLIT_AS_TVM)
		return MSD_OK;
	msd_err err = msd_relax_image_read(payload, s->era, &img, d);

	if (err != MSD_OK)
		return keep_unread(err, d);
	if (s->era == MSD_ERA_FFI) {
		err = split_relax_image(s, payload, &img, s->out, d);
	} else {
		err = split_relax_image(s, msd_cur_str64(&c), &img, &image, d);
		msd_buf_put_str64(s->out, image.p, image.n);
		s->out->bad |= image.bad;
	}
	msd_buf_finish(&image);
	msd_relax_image_finish(&img);
	return err;
}

/* Skip to the number of constants. */
static void skip_relay_head(struct msd_cur *c, uint32_t minor)
{
	(void)msd_cur_u64(c);
	(void)msd_cur_str64(c);
	size_t n = msd_cur_count64(c, 2 * sizeof(int32_t));
	for (size_t i = 0; i < n && !c->bad; i++) {
		(void)msd_cur_u64(c);
		if (minor >= 14)
			(void)msd_cur_str64(c);
	}
	(void)msd_cur_i32(c);
	n = msd_cur_count64(c, sizeof(uint64_t));
	for (size_t i = 0; i < n && !c->bad; i++)
		(void)msd_cur_str64(c);
}

static msd_err split_relay_code(struct splitter *s, struct msd_span code,
				const struct msd_relay_image *img, struct msd_buf *out,
				struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(code);
	char name[NAME_BYTES];
	msd_err err = MSD_OK;

	skip_relay_head(&c, img->minor);
	(void)msd_cur_u64(&c);
	if (c.bad)
		return damaged(d);
	msd_buf_put(out, code.p, code.n - c.left);
	for (uint32_t i = 0; i < img->n_consts && err == MSD_OK; i++) {
		struct msd_span old = img->consts[i].name;
		bool is_bound = msd_cur_u32(&c) == 0;

		if (is_bound) {
			err = move_tensor(s, &c, i, name, d);
		} else {
			(void)msd_cur_str64(&c);
		}
		msd_buf_put_u32(out, 1);
		if (is_bound) {
			msd_buf_put_str64(out, name, err == MSD_OK ? strlen(name) : 0);
		} else {
			msd_buf_put_str64(out, old.p, old.n);
		}
	}
	msd_buf_put(out, c.p, c.left);
	return err;
}

/* TVM and modserd load a library with one file of parameters. Constants that are
 * already in another file cannot be combined with those of this one. */
static msd_err refuse_second_file(const struct msd_relay_image *img,
				  bool *ret_has_bound, struct msd_diag *d)
{
	const struct msd_relay_const *late = NULL;
	bool has_bound = false;

	for (uint32_t i = 0; i < img->n_consts; i++) {
		has_bound |= img->consts[i].tensor != NULL;
		if (img->consts[i].tensor == NULL && late == NULL)
			late = &img->consts[i];
	}
	*ret_has_bound = has_bound;
	if (late == NULL || !has_bound)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "its constant %.*s is in another file already, and a "
			    "library is loaded with one: split the library that "
			    "has all of them",
			    (int)(late->name.n < 64 ? late->name.n : 64),
			    (const char *)late->name.p);
}

static msd_err split_relay(struct splitter *s, struct msd_span payload,
			   struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(payload);
	struct msd_relay_image img = {0};
	struct msd_buf code = {0};
	bool has_bound = false;
	msd_err err = msd_relay_image_read(payload, &img, d);

	if (err != MSD_OK)
		return keep_unread(err, d);
	err = refuse_second_file(&img, &has_bound, d);
	if (err == MSD_OK && has_bound &&
	    img.minor >= 9) { /* 0.8 has no late constants */
		err = split_relay_code(s, msd_cur_str64(&c), &img, &code, d);
		msd_buf_put_str64(s->out, code.p, code.n);
		s->out->bad |= code.bad;
	}
	msd_buf_finish(&code);
	msd_relay_image_finish(&img);
	return err;
}

#define PARAMS(name) split_##name
#define NONE NULL
#define ROW(kind, title, format, look, params, run) {kind, params},
static const struct {
	const char *kind;
	msd_err (*split)(struct splitter *s, struct msd_span payload,
			 struct msd_diag *d);
} kinds[] = {MSD_KIND_MAP(ROW)};

static msd_err split_module(struct msd_tree_module *m, struct splitter *s,
			    struct msd_diag *d)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (kinds[i].split == NULL || !msd_span_is(m->kind, kinds[i].kind))
			continue;
		msd_err err = kinds[i].split(s, m->payload, d);
		if (err == MSD_OK && s->out->bad)
			err = msd_diag_no_memory(d);
		if (err == MSD_OK && s->out->n > 0)
			m->payload = (struct msd_span){s->out->p, s->out->n};
		return err;
	}
	return MSD_OK;
}

msd_err msd_split_params(struct msd_tree *tree, enum msd_era era,
			 enum msd_split_names names, struct msd_param_store *store,
			 struct msd_buf *payloads, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; i < tree->n_modules && err == MSD_OK; i++) {
		struct splitter s = {store, era, names, &payloads[i]};

		err = split_module(&tree->modules[i], &s, d);
		if (err != MSD_OK)
			err = msd_diag_wrap(d, err, "module %u", i);
	}
	return err;
}
