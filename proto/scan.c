/*
 * External msgpack is walked once before it is decoded.
 *
 * Happy path: heads are read one after the other. An array or map opens a level that
 * counts its remaining objects. Keys are compared with those of their map. An ext
 * must have a legal length, and the visitor sees it. The walk keeps levels and keys
 * in a fixed array and allocates nothing. Failures: the error names the byte. The
 * input ends too early, is nested too deep, exceeds a count, repeats a key, or has a
 * text that is not UTF-8.
 */
#include "proto/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/utf8.h"
#include "proto/limits.h"
#include "proto/token.h"
#include "proto/value.h"

/* An open array or map. */
struct level {
	uint32_t left;         /* remaining objects: elements, or keys and values */
	uint32_t n_keys_below; /* keys on the stack when this map began */
	bool is_map, is_wide;  /* wide: more than NARROW pairs */
};

/* Up to this many keys are compared directly; above it, by fingerprint. Otherwise a
 * small body of full maps would cost more time than a large one takes to send. */
#define NARROW 4u

/* Keys of the open maps, to find duplicates. Depth and pairs are limited, so this
 * array is enough. */
struct key {
	uint32_t at; /* offset from msd_scan.base */
	uint32_t n;
};

struct walk {
	uint32_t depth;
	uint32_t n_keys;
	struct level level[MSD_MAX_DEPTH];
	struct key key[MSD_MAX_DEPTH * MSD_MAX_MAP_PAIRS];
	uint32_t print[MSD_MAX_DEPTH * MSD_MAX_MAP_PAIRS]; /* for keys of wide maps */
};

msd_err msd_scan_fail(struct msd_scan *s, const uint8_t *at, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_diag_set(s->d, MSD_PROTOCOL, "byte %zu: %s", (size_t)(at - s->base),
			    text);
}

static msd_err fail_head(struct msd_scan *s, const struct msd_token *t)
{
	if (s->p == s->end) {
		return msd_scan_fail(s, s->p,
				     "the bytes end where an object is expected");
	}
	if (t->kind == MSD_TOK_BAD)
		return msd_scan_fail(s, s->p, "0xc1 begins no msgpack object");
	return msd_scan_fail(s, s->p, "an object is longer than the %zu bytes left",
			     (size_t)(s->end - s->p));
}

/* True if @n bytes are a legal length for ext @type; for a tensor it depends on its
 * ndim. */
static bool ext_length_ok(int8_t type, const uint8_t *data, uint32_t n)
{
	switch (type) {
	case MSD_EXT_TENSOR:
		return n >= MSD_WIRE_TENSOR_BYTES && data[3] <= MSD_MAX_NDIM &&
		       n == MSD_WIRE_TENSOR_BYTES + 8u * data[3];
	case MSD_EXT_FUNCTION:
	case MSD_EXT_MODULE:
	case MSD_EXT_INSTANCE:
	case MSD_EXT_UPLOAD:
	case MSD_EXT_DEVICE:
		return n == 8;
	case MSD_EXT_RESULT_OF:
		return n >= 8 && n % 4 == 0 && n <= 8 + 4 * MSD_MAX_RESULT_PATH;
	case MSD_EXT_OBJECT:
		return n >= MSD_WIRE_OBJECT_BYTES &&
		       n <= MSD_WIRE_OBJECT_BYTES + MSD_MAX_TYPE_KEY_BYTES;
	case MSD_EXT_MAP:
		return n == 0;
	case MSD_EXT_DTYPE:
		return n == 4;
	case MSD_EXT_SHAPE:
		return n % 8 == 0 && n <= 8 * MSD_MAX_NDIM;
	default:
		return false;
	}
}

/* True if the ext names an object of the sender or the receiver. */
static bool is_handle(int8_t type)
{
	return (type >= MSD_EXT_FUNCTION && type <= MSD_EXT_UPLOAD) ||
	       type == MSD_EXT_RESULT_OF;
}

static msd_err check_ext(struct msd_scan *s, const struct msd_token *t)
{
	if (t->ext < MSD_EXT_TENSOR || t->ext > MSD_EXT_MAP)
		return msd_scan_fail(s, s->p, "ext type %d is unknown", t->ext);
	if (!ext_length_ok(t->ext, t->data, t->n)) {
		return msd_scan_fail(s, s->p, "ext type %d cannot have %u bytes",
				     t->ext, t->n);
	}
	if (t->ext == MSD_EXT_TENSOR) {
		if (++s->n_tensors > MSD_MAX_TENSORS) {
			return msd_scan_fail(s, s->p, "more than %u tensors",
					     MSD_MAX_TENSORS);
		}
	} else {
		s->n_handles += is_handle(t->ext);
		s->n_results += t->ext == MSD_EXT_RESULT_OF;
		s->n_objects_kept += t->ext >= MSD_EXT_OBJECT;
	}
	if (s->visitor == NULL)
		return MSD_OK;
	return s->visitor->visit(s->visitor->ctx, t->ext, (size_t)(t->data - s->base),
				 t->n, s->d);
}

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}

/* The seed is the address of the walk, which a peer cannot know, so it cannot choose
 * colliding keys. */
static uint32_t print_of(const struct walk *w, const struct msd_token *t)
{
	const uint8_t *p = t->data, *end = p + t->n;
	uint64_t h = mix((uintptr_t)w, t->n), word;

	for (; end - p >= (ptrdiff_t)sizeof(word); p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = mix(h, word);
	}
	for (word = 0; p < end; p++)
		word = word << 8 | *p;
	return (uint32_t)(mix(h, word) >> 32);
}

static bool is_key(const struct msd_scan *s, const struct key *k,
		   const struct msd_token *t)
{
	return k->n == t->n && memcmp(s->base + k->at, t->data, t->n) == 0;
}

static bool has_key(const struct msd_scan *s, struct walk *w, const struct level *map,
		    const struct msd_token *t)
{
	if (!map->is_wide) {
		for (uint32_t i = map->n_keys_below; i < w->n_keys; i++) {
			if (is_key(s, &w->key[i], t))
				return true;
		}
		return false;
	}
	const uint32_t print = print_of(w, t);
	for (uint32_t i = map->n_keys_below; i < w->n_keys; i++) {
		if (w->print[i] == print && is_key(s, &w->key[i], t))
			return true;
	}
	w->print[w->n_keys] = print;
	return false;
}

static msd_err check_key(struct msd_scan *s, struct walk *w, const struct level *map,
			 const struct msd_token *t)
{
	if (t->kind != MSD_TOK_STR)
		return msd_scan_fail(s, s->p, "a map's key must be a str");
	if (has_key(s, w, map, t)) {
		return msd_scan_fail(s, s->p, "a map's key \"%.*s\" occurs twice",
				     t->n < 64 ? (int)t->n : 64, (const char *)t->data);
	}
	w->key[w->n_keys++] =
		(struct key){.at = (uint32_t)(t->data - s->base), .n = t->n};
	return MSD_OK;
}

static msd_err open_level(struct msd_scan *s, struct walk *w, const struct msd_token *t)
{
	bool is_map = t->kind == MSD_TOK_MAP;
	size_t left = (size_t)(s->end - t->data);

	if (s->depth + w->depth >= MSD_MAX_DEPTH)
		return msd_scan_fail(s, s->p, "nested deeper than %u", MSD_MAX_DEPTH);
	if (is_map && t->n > MSD_MAX_MAP_PAIRS) {
		return msd_scan_fail(s, s->p,
				     "a map of %u pairs; at most %u are allowed", t->n,
				     MSD_MAX_MAP_PAIRS);
	}
	uint64_t n = is_map ? 2ull * t->n : t->n;
	if (n > left) { /* every object takes at least one byte */
		return msd_scan_fail(s, s->p, "%u elements do not fit in %zu bytes",
				     t->n, left);
	}
	w->level[w->depth++] = (struct level){.left = (uint32_t)n,
					      .n_keys_below = w->n_keys,
					      .is_map = is_map,
					      .is_wide = n > 2 * NARROW};
	return MSD_OK;
}

/* Check the object that @t describes, without its elements, and advance past its
 * head. */
static msd_err scan_token(struct msd_scan *s, struct walk *w, const struct msd_token *t,
			  size_t n)
{
	msd_err err = MSD_OK;

	if (++s->n_objects > s->max_objects)
		return msd_scan_fail(s, s->p, "more than %u objects", s->max_objects);
	if (w->depth > 0) {
		struct level *up = &w->level[w->depth - 1];

		if (up->is_map && up->left % 2 == 0)
			err = check_key(s, w, up, t);
		up->left--;
	}
	if (err == MSD_OK && t->kind == MSD_TOK_STR) {
		size_t good = msd_utf8_prefix((struct msd_span){t->data, t->n});

		if (good != t->n)
			err = msd_scan_fail(s, t->data + good, "a str is not UTF-8");
	} else if (err == MSD_OK && t->kind == MSD_TOK_EXT) {
		err = check_ext(s, t);
	} else if (err == MSD_OK && !msd_token_has_data(t->kind)) {
		err = open_level(s, w, t);
	}
	s->p += n;
	return err;
}

msd_err msd_scan_value(struct msd_scan *s, struct msd_span *ret)
{
	const uint8_t *begin = s->p;
	struct walk w; /* 12 KiB, but plain bodies touch only the first bytes */

	w.depth = 0;
	w.n_keys = 0;
	do {
		struct msd_token t;
		size_t n = msd_token_read(s->p, (size_t)(s->end - s->p), &t);
		if (n == 0)
			return fail_head(s, &t);
		msd_err err = scan_token(s, &w, &t, n);
		if (err != MSD_OK)
			return err;
		while (w.depth > 0 && w.level[w.depth - 1].left == 0)
			w.n_keys = w.level[--w.depth].n_keys_below;
	} while (w.depth > 0);
	*ret = (struct msd_span){.p = begin, .n = (size_t)(s->p - begin)};
	return MSD_OK;
}

msd_err msd_scan_init(struct msd_scan *s, struct msd_span bytes,
		      const struct msd_ext_visitor *visitor, struct msd_diag *d)
{
	if (bytes.n == 0) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "no bytes where an object is expected");
	}
	*s = (struct msd_scan){.base = bytes.p,
			       .p = bytes.p,
			       .end = bytes.p + bytes.n,
			       .visitor = visitor,
			       .max_objects = MSD_MAX_OBJECTS,
			       .d = d};
	return MSD_OK;
}

msd_err msd_scan_object(struct msd_span bytes, const struct msd_ext_visitor *visitor,
			size_t *ret_bytes, struct msd_diag *d)
{
	struct msd_scan s = {0};
	struct msd_span object = {0};

	msd_err err = msd_scan_init(&s, bytes, visitor, d);
	s.max_objects = MSD_MAX_REPLY_OBJECTS; /* may be a part of a response */
	if (err == MSD_OK)
		err = msd_scan_value(&s, &object);
	if (err == MSD_OK)
		*ret_bytes = object.n;
	return err;
}
