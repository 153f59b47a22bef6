/*
 * Checkpoints of a sequence, in TVM's format.
 *
 * Normal path of an export: the text (checkpoint_text.h), then the pages of each layer.
 * Normal path of an import: the text is compared with the one that this cache would
 * write for a sequence of that length; then the groups arrive in any order, and the end
 * checks that none is missing. Failures: caches with windows, sequences other than 0
 * (TVM's bounds), another layout, groups that are missing, twice or of another shape.
 */
#include "runtime/kv/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kv/checkpoint_text.h"
#include "runtime/value/error.h"

struct msd_kv_import {
	int64_t n_missing;
	bool has[];
};

int msd_kv_import_check(const struct msd_kv_cache *c)
{
	if (c->import == NULL)
		return 0;
	return msd_abi_raise("RuntimeError",
			     "an import is in progress: call "
			     "vm.builtin.attention_kv_cache_finish_import first");
}

void msd_kv_import_drop(struct msd_kv_cache *c)
{
	free(c->import);
	c->import = NULL;
}

static int layout_check(const struct msd_kv_cache *c)
{
	for (int64_t i = 0; i < c->c.n_layers; i++) {
		if (c->c.kinds[c->c.first_layer + i] != MSD_KV_MHA) {
			return msd_abi_raise(
				"ValueError",
				"only multi-head attention is exported, not "
				"layer %" PRId64,
				c->c.first_layer + i);
		}
	}
	if (c->table.slides || c->limits.layer_window > 0 ||
	    c->c.rope_factors != NULL || c->c.qk_dim != c->c.v_dim) {
		return msd_abi_raise(
			"ValueError",
			"caches with sliding windows, factors of rotary "
			"embedding, or values of another size than keys are "
			"not exported");
	}
	return 0;
}

/* The sequence that may be exported or imported. */
static struct msd_kv_sequence *sequence_of(struct msd_kv_cache *c, int64_t id)
{
	struct msd_kv_sequence *s;

	if (layout_check(c) != 0)
		return NULL;
	if (id != 0) {
		(void)msd_abi_raise("ValueError",
				    "only sequence 0 is exported, not %" PRId64, id);
		return NULL;
	}
	s = msd_kv_find(&c->table, id);
	if (s != NULL &&
	    (!s->is_accepted || !s->is_chain || s->window != MSD_KV_NO_WINDOW)) {
		(void)msd_abi_raise("ValueError",
				    "sequence %" PRId64
				    " has a token tree or a window: it is not exported",
				    id);
		return NULL;
	}
	return s;
}

int msd_kv_export_text(struct msd_kv_cache *c, int64_t id, struct msd_any *ret)
{
	const struct msd_kv_sequence *s =
		msd_kv_import_check(c) == 0 ? sequence_of(c, id) : NULL;
	struct msd_buf text = {0};
	int rc = 0;

	if (s == NULL)
		return -1;
	msd_kv_checkpoint_put(c, id, s->length, &text);
	if (text.bad || !msd_any_text((struct msd_span){text.p, text.n}, true, ret))
		rc = msd_abi_no_memory();
	msd_buf_finish(&text);
	return rc;
}

int msd_kv_layout_hash(const struct msd_kv_cache *c, struct msd_any *ret)
{
	char text[17];

	if (layout_check(c) != 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%016" PRIx64, msd_kv_checkpoint_hash(c));
	return msd_any_text(msd_span_of(text), true, ret) ? 0 : msd_abi_no_memory();
}

/* The pages of a sequence in their order. */
static int pages_list(const struct msd_kv_cache *c, const struct msd_kv_sequence *s,
		      struct msd_ints *ret)
{
	struct msd_ints trace = {0};
	bool is_ok = msd_kv_trace(&c->table, s->last, &trace);

	for (size_t i = 0; is_ok && i < trace.n; i++) {
		is_ok = msd_ints_append(
			ret, &msd_kv_block_at(&c->table.blocks, trace.v[i])->pages);
	}
	msd_ints_finish(&trace);
	if (!is_ok)
		return msd_abi_no_memory();
	if ((int64_t)ret->n == msd_kv_checkpoint_pages(c, s->length))
		return 0;
	return msd_abi_raise("ValueError",
			     "sequence %" PRId64 " has %zu pages, not %" PRId64, s->id,
			     ret->n, msd_kv_checkpoint_pages(c, s->length));
}

/* The tensor of a group, or NULL with the error raised. */
static struct msd_dltensor *group_open(const struct msd_kv_cache *c, int64_t group,
				       int64_t n_pages, const struct msd_any *v)
{
	const int64_t shape[] = {1,          n_pages, 2, c->c.kv_heads, c->c.page_size,
				 c->c.qk_dim};
	struct msd_dltensor *t = msd_any_dltensor(v);

	if (group < 0 || group >= c->c.n_layers) {
		(void)msd_abi_raise("ValueError",
				    "group %" PRId64 ": there are %" PRId64, group,
				    c->c.n_layers);
		return NULL;
	}
	if (t != NULL && t->ndim == 6 && t->device.type == MSD_DEV_CPU &&
	    msd_dtype_eq(t->dtype, c->c.dtype) && msd_dltensor_is_compact(t) &&
	    memcmp(t->shape, shape, sizeof(shape)) == 0)
		return t;
	(void)msd_abi_raise("ValueError",
			    "a group is a compact tensor of the cache's type with the "
			    "shape [1, %" PRId64 ", 2, %" PRId64 ", %" PRId64
			    ", %" PRId64 "]",
			    n_pages, c->c.kv_heads, c->c.page_size, c->c.qk_dim);
	return NULL;
}

static char *page_at(const struct msd_kv_cache *c, int64_t layer, int32_t page)
{
	return (char *)c->pages[layer]->dl.data +
	       page * msd_kv_checkpoint_page_bytes(c);
}

/* A page of which only the first @n slots are used; the others become zero. */
static void copy_part(const struct msd_kv_cache *c, const char *from, char *to,
		      int64_t n)
{
	const int64_t rows = 2 * c->c.kv_heads;
	const int64_t row = msd_kv_checkpoint_page_bytes(c) / rows;
	const int64_t used = row / c->c.page_size * n;

	memset(to, 0, (size_t)msd_kv_checkpoint_page_bytes(c));
	for (int64_t i = 0; i < rows; i++)
		memcpy(to + i * row, from + i * row, (size_t)used);
}

int msd_kv_export_group(struct msd_kv_cache *c, int64_t id, int64_t group,
			const struct msd_any *out)
{
	const struct msd_kv_sequence *s =
		msd_kv_import_check(c) == 0 ? sequence_of(c, id) : NULL;
	struct msd_ints pages = {0};
	struct msd_dltensor *t;
	int rc;

	if (s == NULL)
		return -1;
	t = group_open(c, group, msd_kv_checkpoint_pages(c, s->length), out);
	rc = t != NULL ? pages_list(c, s, &pages) : -1;
	for (size_t i = 0; rc == 0 && i < pages.n; i++) {
		const int64_t left = s->length - (int64_t)i * c->c.page_size;
		char *to = (char *)t->data + t->byte_offset +
			   (int64_t)i * msd_kv_checkpoint_page_bytes(c);
		const char *from = page_at(c, group, pages.v[i]);

		if (left >= c->c.page_size) {
			memcpy(to, from, (size_t)msd_kv_checkpoint_page_bytes(c));
		} else {
			copy_part(c, from, to, left);
		}
	}
	msd_ints_finish(&pages);
	return rc;
}

/* A number of the text that may differ between the caches, but not be senseless. */
int msd_kv_import_begin(struct msd_kv_cache *c, int64_t id, struct msd_span text)
{
	struct msd_ints pages = {0};
	struct msd_kv_import *import;
	int64_t length = 0;

	if (layout_check(c) != 0)
		return -1;
	if (id != 0) {
		return msd_abi_raise("ValueError",
				     "only sequence 0 is imported, not %" PRId64, id);
	}
	if (msd_kv_checkpoint_read(c, id, text, &length) != 0)
		return -1;
	const int64_t n = msd_kv_checkpoint_pages(c, length);
	import = calloc(1, sizeof(*import) + (size_t)c->c.n_layers * sizeof(bool));
	if (import == NULL || !msd_ints_reserve(&pages, (size_t)n)) {
		free(import);
		return msd_abi_no_memory();
	}
	c->state.ops->clear(&c->state);
	if (msd_kv_add(&c->table, id) != 0) {
		free(import);
		msd_ints_finish(&pages);
		return -1;
	}
	struct msd_kv_sequence *s = msd_kv_find(&c->table, id);
	struct msd_kv_block *b = msd_kv_block_at(&c->table.blocks, s->last);
	while ((int64_t)pages.n < n)
		pages.v[pages.n++] = msd_kv_pages_take(&c->table.pages);
	b->pages = pages;
	b->length = (int32_t)length;
	s->length = (int32_t)length;
	import->n_missing = c->c.n_layers;
	c->import = import;
	return 0;
}

static int no_import(void)
{
	return msd_abi_raise("RuntimeError",
			     "no import is in progress: call "
			     "vm.builtin.attention_kv_cache_prepare_import first");
}

int msd_kv_import_group(struct msd_kv_cache *c, int64_t id, int64_t group,
			const struct msd_any *in)
{
	const struct msd_kv_sequence *s;
	const struct msd_dltensor *t;
	struct msd_ints pages = {0};
	int rc;

	if (c->import == NULL)
		return no_import();
	s = sequence_of(c, id);
	t = s != NULL ? group_open(c, group, msd_kv_checkpoint_pages(c, s->length), in)
		      : NULL;
	if (t == NULL)
		return -1;
	if (c->import->has[group]) {
		return msd_abi_raise("ValueError",
				     "group %" PRId64 " was imported before", group);
	}
	rc = pages_list(c, s, &pages);
	for (size_t i = 0; rc == 0 && i < pages.n; i++) {
		memcpy(page_at(c, group, pages.v[i]),
		       (const char *)t->data + t->byte_offset +
			       (int64_t)i * msd_kv_checkpoint_page_bytes(c),
		       (size_t)msd_kv_checkpoint_page_bytes(c));
	}
	msd_ints_finish(&pages);
	if (rc != 0)
		return -1;
	c->import->has[group] = true;
	c->import->n_missing--;
	return 0;
}

int msd_kv_import_end(struct msd_kv_cache *c, int64_t id)
{
	if (c->import == NULL)
		return no_import();
	if (sequence_of(c, id) == NULL)
		return -1;
	if (c->import->n_missing > 0) {
		return msd_abi_raise("ValueError",
				     "%" PRId64 " groups of the import are missing",
				     c->import->n_missing);
	}
	msd_kv_import_drop(c);
	return 0;
}
