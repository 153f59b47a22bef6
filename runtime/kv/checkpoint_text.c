/*
 * Normal path of a read: the text is compared with the one that this cache would write
 * for a sequence of that length. Failures: no JSON object, a sequence that does not fit
 * the pages, a cache of another form; the error names the key.
 */
#include "runtime/kv/checkpoint_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/fnv.h"
#include "runtime/value/error.h"

#define MAX_TEXT (1u << 20)
#define GROUP_LAYOUT "1,num_logical_pages,2,num_kv_heads,page_size,qk_head_dim"

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

uint64_t msd_kv_checkpoint_hash(const struct msd_kv_cache *c)
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

int64_t msd_kv_checkpoint_pages(const struct msd_kv_cache *c, int64_t length)
{
	return (length + c->c.page_size - 1) / c->c.page_size;
}

static void put_pages(const struct msd_kv_cache *c, int64_t length, struct msd_buf *out)
{
	for (int64_t i = 0; i < msd_kv_checkpoint_pages(c, length); i++) {
		const int64_t start = i * c->c.page_size;
		const int64_t left = length - start;

		msd_buf_printf(out,
			       "%s{\"logical_page_index\":%" PRId64
			       ",\"start_pos\":%" PRId64 ",\"length\":%" PRId64 "}",
			       i > 0 ? "," : "", i, start,
			       left < c->c.page_size ? left : c->c.page_size);
	}
}

int64_t msd_kv_checkpoint_page_bytes(const struct msd_kv_cache *c)
{
	const struct msd_dtype t = c->c.dtype;

	return 2 * c->c.kv_heads * c->c.page_size * c->c.qk_dim *
	       (((int64_t)t.bits * t.lanes + 7) / 8);
}

static void put_groups(const struct msd_kv_cache *c, int64_t length,
		       struct msd_buf *out)
{
	const int64_t n = msd_kv_checkpoint_pages(c, length);
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
			       c->c.page_size, c->c.qk_dim,
			       n * msd_kv_checkpoint_page_bytes(c));
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
		       flag(false), flag(false), flag(false),
		       msd_kv_checkpoint_hash(c));
}

void msd_kv_checkpoint_put(const struct msd_kv_cache *c, int64_t id, int64_t length,
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

	msd_kv_checkpoint_put(c, id, length, &text);
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

int msd_kv_checkpoint_read(const struct msd_kv_cache *c, int64_t id,
			   struct msd_span text, int64_t *ret)
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
	    msd_kv_checkpoint_pages(c, *ret) > c->table.pages.n_total ||
	    msd_kv_checkpoint_pages(c, *ret) >
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
