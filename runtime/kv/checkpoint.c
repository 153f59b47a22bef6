/*
 * Checkpoints of a sequence, in TVM's format.
 *
 * Normal path of an export: the text, then the pages of each layer. Normal path of an
 * import: the text is compared with the one that this cache would write for a sequence
 * of that length; then the groups arrive in any order, and the end checks that none is
 * missing. Failures: caches with windows, sequences other than 0 (TVM's bounds),
 * another layout, groups that are missing, twice or of another shape.
 */
#include "runtime/kv/checkpoint.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/fnv.h"
#include "runtime/value/error.h"

#define MAX_TEXT (1u << 20)
#define GROUP_LAYOUT "1,num_logical_pages,2,num_kv_heads,page_size,qk_head_dim"

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

/* As TVM writes it: as many digits as the number needs to be read back. */
static void put_real(struct msd_buf *out, double v, bool is_json)
{
	char text[40];

	(void)snprintf(text, sizeof(text), "%.17g", v);
	msd_buf_printf(out, "%s%s", text,
		       is_json && strpbrk(text, ".en") == NULL ? ".0" : "");
}

static const char *rope_name(const struct msd_kv_cache *c)
{
	static const char *const names[] = {"none", "normal", "inline"};

	return names[c->c.rope];
}

static const char *flag(bool v)
{
	return v ? "true" : "false";
}

static uint64_t layout_hash(const struct msd_kv_cache *c)
{
	char dtype[MSD_DTYPE_NAME_MAX];
	struct msd_buf b = {0};
	uint64_t hash;

	msd_buf_printf(&b,
		       "format_version=1;cache_type=relax.vm.PagedAttentionKVCache;"
		       "page_size=%" PRId64 ";num_layers=%" PRId64
		       ";layer_begin=%" PRId64 ";layer_end=%" PRId64
		       ";num_qo_heads=%" PRId64 ";num_kv_heads=%" PRId64
		       ";qk_head_dim=%" PRId64 ";v_head_dim=%" PRId64
		       ";dtype=%s;rope_mode=%s;rotary_scale=",
		       c->c.page_size, c->c.n_layers, c->c.first_layer,
		       c->c.first_layer + c->c.n_layers, c->c.q_heads, c->c.kv_heads,
		       c->c.qk_dim, c->c.v_dim, msd_dtype_format(c->c.dtype, dtype),
		       rope_name(c));
	put_real(&b, c->c.rope_scale, false);
	msd_buf_printf(&b, ";rotary_theta=");
	put_real(&b, c->c.rope_theta, false);
	msd_buf_printf(&b,
		       ";has_rope_ext_factors=0;support_sliding_window=0;"
		       "support_layer_sliding_window=0;page_group_layout=" GROUP_LAYOUT
		       ";attn_kinds=");
	for (int64_t i = 0; i < c->c.n_layers; i++)
		msd_buf_printf(&b, "%smha", i > 0 ? "," : "");
	hash = b.bad ? 0 : msd_fnv(MSD_FNV_BEGIN, b.p, b.n);
	msd_buf_finish(&b);
	return hash;
}

static int64_t pages_of(const struct msd_kv_cache *c, int64_t length)
{
	return (length + c->c.page_size - 1) / c->c.page_size;
}

static void put_pages(const struct msd_kv_cache *c, int64_t length, struct msd_buf *out)
{
	for (int64_t i = 0; i < pages_of(c, length); i++) {
		const int64_t start = i * c->c.page_size;
		const int64_t left = length - start;

		msd_buf_printf(out,
			       "%s{\"logical_page_index\":%" PRId64
			       ",\"start_pos\":%" PRId64 ",\"length\":%" PRId64 "}",
			       i > 0 ? "," : "", i, start,
			       left < c->c.page_size ? left : c->c.page_size);
	}
}

static int64_t page_bytes(const struct msd_kv_cache *c)
{
	const struct msd_dtype t = c->c.dtype;

	return 2 * c->c.kv_heads * c->c.page_size * c->c.qk_dim *
	       (((int64_t)t.bits * t.lanes + 7) / 8);
}

static void put_groups(const struct msd_kv_cache *c, int64_t length,
		       struct msd_buf *out)
{
	const int64_t n = pages_of(c, length);
	char dtype[MSD_DTYPE_NAME_MAX];

	(void)msd_dtype_format(c->c.dtype, dtype);
	for (int64_t i = 0; i < c->c.n_layers; i++) {
		msd_buf_printf(out,
			       "%s{\"group_index\":%" PRId64 ",\"layer_begin\":%" PRId64
			       ",\"layer_end\":%" PRId64
			       ",\"num_logical_pages\":%" PRId64
			       ",\"dtype\":\"%s\",\"shape\":[1,%" PRId64 ",2,%" PRId64
			       ",%" PRId64 ",%" PRId64 "],\"nbytes\":%" PRId64 "}",
			       i > 0 ? "," : "", i, c->c.first_layer + i,
			       c->c.first_layer + i + 1, n, dtype, n, c->c.kv_heads,
			       c->c.page_size, c->c.qk_dim, n * page_bytes(c));
	}
}

static void put_layout(const struct msd_kv_cache *c, struct msd_buf *out)
{
	char dtype[MSD_DTYPE_NAME_MAX];

	msd_buf_printf(out,
		       "{\"format_version\":1,"
		       "\"cache_type\":\"relax.vm.PagedAttentionKVCache\","
		       "\"page_size\":%" PRId64 ",\"num_layers\":%" PRId64
		       ",\"layer_begin\":%" PRId64 ",\"layer_end\":%" PRId64
		       ",\"num_qo_heads\":%" PRId64 ",\"num_kv_heads\":%" PRId64
		       ",\"qk_head_dim\":%" PRId64 ",\"v_head_dim\":%" PRId64
		       ",\"reserved_num_seqs\":%" PRId64 ",\"num_total_pages\":%d"
		       ",\"prefill_chunk_size\":%" PRId64
		       ",\"dtype\":\"%s\",\"attn_kinds\":[",
		       c->c.page_size, c->c.n_layers, c->c.first_layer,
		       c->c.first_layer + c->c.n_layers, c->c.q_heads, c->c.kv_heads,
		       c->c.qk_dim, c->c.v_dim, c->c.max_sequences,
		       (int)c->table.pages.n_total, c->c.max_tokens,
		       msd_dtype_format(c->c.dtype, dtype));
	for (int64_t i = 0; i < c->c.n_layers; i++)
		msd_buf_printf(out, "%s\"mha\"", i > 0 ? "," : "");
	msd_buf_printf(out, "],\"rope_mode\":\"%s\",\"rotary_scale\":", rope_name(c));
	put_real(out, c->c.rope_scale, true);
	msd_buf_printf(out, ",\"rotary_theta\":");
	put_real(out, c->c.rope_theta, true);
	msd_buf_printf(out,
		       ",\"has_rope_ext_factors\":%s,\"support_sliding_window\":%s,"
		       "\"support_layer_sliding_window\":%s,"
		       "\"page_group_layout\":\"" GROUP_LAYOUT "\","
		       "\"layout_hash\":\"%016" PRIx64 "\"",
		       flag(false), flag(false), flag(false), layout_hash(c));
}

/* The text for sequence @id of @length tokens. */
static void put_text(const struct msd_kv_cache *c, int64_t id, int64_t length,
		     struct msd_buf *out)
{
	put_layout(c, out);
	msd_buf_printf(out,
		       ",\"seq_id\":%" PRId64 ",\"seq_length\":%" PRId64
		       ",\"logical_pages\":[",
		       id, length);
	put_pages(c, length, out);
	msd_buf_printf(out, "],\"groups\":[");
	put_groups(c, length, out);
	msd_buf_printf(out, "]}");
}

int msd_kv_export_text(struct msd_kv_cache *c, int64_t id, struct msd_any *ret)
{
	const struct msd_kv_sequence *s =
		msd_kv_import_check(c) == 0 ? sequence_of(c, id) : NULL;
	struct msd_buf text = {0};
	int rc = 0;

	if (s == NULL)
		return -1;
	put_text(c, id, s->length, &text);
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
	(void)snprintf(text, sizeof(text), "%016" PRIx64, layout_hash(c));
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
	if ((int64_t)ret->n == pages_of(c, s->length))
		return 0;
	return msd_abi_raise("ValueError",
			     "sequence %" PRId64 " has %zu pages, not %" PRId64, s->id,
			     ret->n, pages_of(c, s->length));
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
	return (char *)c->pages[layer]->dl.data + page * page_bytes(c);
}

/* A page of which only the first @n slots are used; the others become zero. */
static void copy_part(const struct msd_kv_cache *c, const char *from, char *to,
		      int64_t n)
{
	const int64_t rows = 2 * c->c.kv_heads;
	const int64_t row = page_bytes(c) / rows;
	const int64_t used = row / c->c.page_size * n;

	memset(to, 0, (size_t)page_bytes(c));
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
	t = group_open(c, group, pages_of(c, s->length), out);
	rc = t != NULL ? pages_list(c, s, &pages) : -1;
	for (size_t i = 0; rc == 0 && i < pages.n; i++) {
		const int64_t left = s->length - (int64_t)i * c->c.page_size;
		char *to =
			(char *)t->data + t->byte_offset + (int64_t)i * page_bytes(c);
		const char *from = page_at(c, group, pages.v[i]);

		if (left >= c->c.page_size) {
			memcpy(to, from, (size_t)page_bytes(c));
		} else {
			copy_part(c, from, to, left);
		}
	}
	msd_ints_finish(&pages);
	return rc;
}

/* A number of the text that may differ between the caches, but not be senseless. */
static bool is_positive(const json_t *text, const char *key)
{
	return json_integer_value(json_object_get(text, key)) > 0;
}

/* Compare @got with the text that this cache writes for the same length. */
static int text_compare(const struct msd_kv_cache *c, int64_t id, int64_t length,
			const json_t *got)
{
	static const char *const own[] = {"reserved_num_seqs", "num_total_pages",
					  "prefill_chunk_size"};
	struct msd_buf text = {0};
	const char *key;
	json_t *value;
	int rc = 0;

	put_text(c, id, length, &text);
	json_t *want =
		text.bad ? NULL : json_loadb((const char *)text.p, text.n, 0, NULL);
	msd_buf_finish(&text);
	if (want == NULL)
		return msd_abi_no_memory();
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		if (!is_positive(got, own[i])) {
			rc = msd_abi_raise("ValueError",
					   "the checkpoint has no \"%s\" above 0",
					   own[i]);
		}
		(void)json_object_del(want, own[i]);
	}
	json_object_foreach(want, key, value)
	{
		const json_t *v = json_object_get(got, key);
		const bool is_same =
			json_is_number(value)
				? json_is_number(v) && json_number_value(v) ==
							       json_number_value(value)
				: json_equal(value, v) == 1;

		if (!is_same && rc == 0) {
			rc = msd_abi_raise("ValueError",
					   "the checkpoint's \"%s\" does not fit this "
					   "cache",
					   key);
		}
	}
	json_decref(want);
	return rc;
}

/* Read and check the text; the length of its sequence. */
static int text_read(const struct msd_kv_cache *c, int64_t id, struct msd_span text,
		     int64_t *ret)
{
	json_error_t why;
	json_t *got;
	int rc;

	if (text.n > MAX_TEXT) {
		return msd_abi_raise("ValueError",
				     "the checkpoint's text has %zu bytes, at most %u",
				     text.n, MAX_TEXT);
	}
	got = json_loadb((const char *)text.p, text.n, JSON_REJECT_DUPLICATES, &why);
	if (!json_is_object(got)) {
		json_decref(got);
		return msd_abi_raise("ValueError",
				     "the checkpoint's text is not a JSON object");
	}
	const json_t *length = json_object_get(got, "seq_length");
	*ret = json_is_integer(length) ? json_integer_value(length) : -1;
	if (*ret < 0 || *ret > INT32_MAX ||
	    pages_of(c, *ret) > c->table.pages.n_total ||
	    pages_of(c, *ret) >
		    json_integer_value(json_object_get(got, "num_total_pages"))) {
		rc = msd_abi_raise("ValueError",
				   "the checkpoint's sequence of %" PRId64
				   " tokens does not fit the pages",
				   *ret);
	} else {
		rc = text_compare(c, id, *ret, got);
	}
	json_decref(got);
	return rc;
}

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
	if (text_read(c, id, text, &length) != 0)
		return -1;
	const int64_t n = pages_of(c, length);
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
	t = s != NULL ? group_open(c, group, pages_of(c, s->length), in) : NULL;
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
			       (int64_t)i * page_bytes(c),
		       (size_t)page_bytes(c));
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
