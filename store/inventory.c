/*
 * Happy path: the modules are walked by name, and those up to the end of the last
 * page are skipped. Each page goes into its own buffer, because a msgpack list starts
 * with its length. Failures: the first error ends the walk, and nothing is appended.
 */
#include "store/inventory.h"

#include <string.h>

#include "proto/value.h"
#include "store/maintenance.h"
#include "store/record.h"

#define N_KEYS 9u /* keys of an edition */

/* State of one page. */
struct page {
	const struct msd_store *store;
	const char *after;
	struct msd_buf items; /* owned */
	size_t n_items;
	char last[MSD_RECORD_WORD]; /* last module of the page */
	bool is_full, has_more;
};

/* True if @name belongs on the page. */
static bool take(struct page *p, const char *name)
{
	if (strcmp(name, p->after) <= 0)
		return false;
	if (p->is_full) {
		p->has_more = true;
		return false;
	}
	(void)strncpy(p->last, name, sizeof(p->last) - 1);
	return true;
}

/* Append the page's @items, and the start of the next page. */
static msd_err put_page(struct page *p, msd_err err, const char *key,
			struct msd_buf *out, struct msd_diag *d)
{
	if (err == MSD_OK && p->items.bad)
		err = msd_diag_no_memory(d);
	if (err == MSD_OK) {
		msd_pack_cstr(out, key);
		msd_pack_array(out, p->n_items);
		msd_buf_put(out, p->items.p, p->items.n);
		msd_pack_cstr(out, "after");
		if (p->has_more) {
			msd_pack_cstr(out, p->last);
		} else {
			msd_pack_nil(out);
		}
	}
	msd_buf_finish(&p->items);
	return err;
}

static void put_digest(struct msd_buf *b, const struct msd_digest *digest)
{
	char text[MSD_DIGEST_TEXT];

	msd_digest_format(digest, text);
	msd_pack_pair_str(b, "sha256", text);
}

static void put_files(struct msd_buf *b, const struct msd_edition *e)
{
	msd_pack_cstr(b, "files");
	msd_pack_array(b, e->n_files);
	for (uint32_t i = 0; i < e->n_files; i++) {
		const struct msd_edition_file *f = &e->files[i];

		msd_pack_map(b, 4);
		msd_pack_pair_str(b, "role", msd_role_word(f->role));
		msd_pack_cstr(b, "name");
		msd_pack_text(b, f->name, strlen(f->name));
		msd_pack_pair_uint(b, "bytes", f->bytes);
		put_digest(b, &f->digest);
	}
}

static void put_options(struct msd_buf *b, const struct msd_edition *e)
{
	msd_pack_cstr(b, "options");
	msd_pack_map(b, e->n_options);
	for (uint32_t i = 0; i < e->n_options; i++) {
		const struct msd_edition_option *o = &e->options[i];

		msd_pack_cstr(b, o->key);
		msd_pack_text(b, o->value, strlen(o->value));
	}
}

/* Start a map of N_KEYS keys. */
static void put_head(struct msd_buf *b, const char *module, const char *ref,
		     uint64_t version, const struct msd_digest *digest)
{
	msd_pack_map(b, N_KEYS);
	msd_pack_pair_str(b, "module", module);
	msd_pack_pair_str(b, "ref", ref);
	msd_pack_pair_uint(b, "version", version);
	put_digest(b, digest);
}

static void put_edition(struct msd_buf *b, const char *module, enum msd_ref ref,
			const struct msd_edition *e, bool is_pinned)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < e->n_files; i++)
		bytes += e->files[i].bytes;
	put_head(b, module, msd_ref_word(ref), e->version, &e->digest);
	msd_pack_pair_uint(b, "bytes", bytes);
	msd_pack_cstr(b, "pinned");
	msd_pack_bool(b, is_pinned);
	put_files(b, e);
	put_options(b, e);
	msd_pack_cstr(b, "why");
	msd_pack_nil(b);
}

/* An edition that is never reloaded automatically. The cause is known only for the
 * last failure. */
static void put_bad(struct msd_buf *b, const char *module, const struct msd_record *r,
		    uint32_t i)
{
	const struct msd_failure *f = &r->failure;
	const bool is_last =
		f->why[0] != '\0' && msd_digest_equal(&f->digest, &r->bad[i]);

	put_head(b, module, "bad", is_last ? f->version : 0, &r->bad[i]);
	msd_pack_pair_uint(b, "bytes", 0);
	msd_pack_cstr(b, "pinned");
	msd_pack_bool(b, false);
	msd_pack_cstr(b, "files");
	msd_pack_array(b, 0);
	msd_pack_cstr(b, "options");
	msd_pack_map(b, 0);
	msd_pack_cstr(b, "why");
	if (is_last) {
		msd_pack_text(b, f->why, strlen(f->why));
	} else {
		msd_pack_nil(b);
	}
}

static msd_err list_module(void *ctx, const char *name, struct msd_diag *d)
{
	struct page *p = ctx;
	struct msd_record r = {0};
	msd_err err;

	if (!take(p, name))
		return MSD_OK;
	err = msd_record_load(p->store, name, &r, d);
	for (unsigned ref = 0; err == MSD_OK && ref < MSD_REF_COUNT; ref++) {
		if (r.editions[ref] == NULL)
			continue;
		put_edition(&p->items, name, (enum msd_ref)ref, r.editions[ref],
			    r.is_pinned);
		p->n_items++;
	}
	for (uint32_t i = 0; err == MSD_OK && i < r.n_bad; i++, p->n_items++)
		put_bad(&p->items, name, &r, i);
	p->is_full = p->items.n >= MSD_INVENTORY_PAGE;
	msd_record_finish(&r);
	return err;
}

msd_err msd_inventory_list(const struct msd_store *s, const char *after,
			   struct msd_buf *out, struct msd_diag *d)
{
	struct page p = {.store = s, .after = after};
	const msd_err err = msd_record_each(s, list_module, &p, d);

	if (err == MSD_OK)
		msd_pack_map(out, 2);
	return put_page(&p, err, "editions", out, d);
}

static msd_err find_first(void *ctx, const char *name, struct msd_diag *d)
{
	struct page *p = ctx;

	(void)d;
	p->is_full |= take(p, name);
	return MSD_OK;
}

static void put_fault(void *ctx, const char *module, const char *text)
{
	struct page *p = ctx;

	msd_pack_map(&p->items, 2);
	msd_pack_pair_str(&p->items, "module", module);
	msd_pack_cstr(&p->items, "fault");
	msd_pack_text(&p->items, text, strlen(text));
	p->n_items++;
}

msd_err msd_inventory_verify(const struct msd_store *s, const char *after,
			     struct msd_buf *out, struct msd_diag *d)
{
	struct page p = {.store = s, .after = after};
	uint64_t n_files = 0;
	msd_err err = msd_record_each(s, find_first, &p, d);

	if (err == MSD_OK && p.is_full)
		err = msd_store_verify(s, p.last, put_fault, &p, &n_files, d);
	if (err == MSD_NOT_FOUND) { /* removed meanwhile */
		msd_diag_finish(d);
		err = MSD_OK;
	}
	if (err == MSD_OK) {
		msd_pack_map(out, 3);
		msd_pack_pair_uint(out, "files", n_files);
	}
	return put_page(&p, err, "faults", out, d);
}

msd_err msd_inventory_collect(struct msd_store *s, struct msd_buf *out,
			      struct msd_diag *d)
{
	struct msd_store_use use;
	const msd_err err = msd_store_collect(s, &use, d);

	if (err != MSD_OK)
		return err;
	msd_pack_map(out, 4);
	msd_pack_pair_uint(out, "removed", use.n_unneeded);
	msd_pack_pair_uint(out, "removed_bytes", use.unneeded_bytes);
	msd_pack_pair_uint(out, "kept", use.n_blobs - use.n_unneeded);
	msd_pack_pair_uint(out, "kept_bytes", use.blob_bytes - use.unneeded_bytes);
	return MSD_OK;
}

msd_err msd_inventory_pin(struct msd_store *s, const char *name, bool is_pinned,
			  struct msd_diag *d)
{
	struct msd_record r = {0};
	msd_err err = msd_record_load(s, name, &r, d);

	if (err == MSD_OK && r.is_pinned != is_pinned) {
		r.is_pinned = is_pinned;
		err = msd_record_save(s, name, &r, d);
	}
	msd_record_finish(&r);
	return err;
}
