#ifndef MSD_PROTO_TOKEN_H
#define MSD_PROTO_TOKEN_H
/* Decode one msgpack head with bounds checks; shared by the scan and the value
 * reader. Private to proto/. Inline because it runs once per object of every body. */
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum msd_token_kind {
	MSD_TOK_BAD, /* 0xc1, which msgpack never uses */
	MSD_TOK_NIL,
	MSD_TOK_BOOL,
	MSD_TOK_UINT,
	MSD_TOK_INT,
	MSD_TOK_FLOAT,
	MSD_TOK_STR,
	MSD_TOK_BIN,
	MSD_TOK_EXT,
	MSD_TOK_ARRAY,
	MSD_TOK_MAP,
};

struct msd_token {
	enum msd_token_kind kind;
	int8_t ext; /* EXT */
	uint32_t n; /* elements of ARRAY, pairs of MAP, bytes at `data` otherwise */
	const uint8_t *data; /* after the head; big-endian for numbers */
};

/* For the first bytes 0xc0 - 0xdf: kind, size of the length field, and size of the
 * data if there is no such field. */
struct msd_token_head {
	uint8_t kind;
	uint8_t length_bytes;
	uint8_t data_bytes;
};
extern const struct msd_token_head msd_token_heads[32];

static inline uint64_t msd_be(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	if (n == 1)
		return p[0];
	if (n == 8) { /* ids: two per call */
		memcpy(&v, p, sizeof(v));
		return be64toh(v);
	}
	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static inline bool msd_token_has_data(enum msd_token_kind kind)
{
	return kind != MSD_TOK_ARRAY && kind != MSD_TOK_MAP;
}

/* Decode the head at @p. Returns the size of the object without its elements, or 0 if
 * it does not fit in @left (or the first byte is invalid: then @t->kind is BAD). */
static inline size_t msd_token_read(const uint8_t *p, size_t left, struct msd_token *t)
{
	size_t head = 1;

	if (left == 0) {
		*t = (struct msd_token){.kind = MSD_TOK_NIL, .data = p};
		return 0;
	}
	t->ext = 0;
	uint8_t first = p[0];
	if (first < 0x80 || first >= 0xe0) { /* the number is the byte itself */
		t->kind = first < 0x80 ? MSD_TOK_UINT : MSD_TOK_INT;
		t->n = 1;
		t->data = p;
		return 1;
	}
	if (first < 0xa0) {
		t->kind = first < 0x90 ? MSD_TOK_MAP : MSD_TOK_ARRAY;
		t->n = first & 15u;
	} else if (first < 0xc0) {
		t->kind = MSD_TOK_STR;
		t->n = first & 31u;
	} else {
		const struct msd_token_head *h = &msd_token_heads[first - 0xc0];

		t->kind = (enum msd_token_kind)h->kind;
		head += h->length_bytes;
		head += t->kind == MSD_TOK_EXT ? 1 : 0;
		if (t->kind == MSD_TOK_BAD || head > left) {
			*t = (struct msd_token){.kind = t->kind, .data = p};
			return 0;
		}
		t->n = h->length_bytes > 0 ? (uint32_t)msd_be(p + 1, h->length_bytes)
					   : h->data_bytes;
		t->ext = (int8_t)p[head - 1];
	}
	t->data = p + head;
	if (!msd_token_has_data(t->kind))
		return head;
	return t->n > left - head ? 0 : head + t->n;
}

#endif
