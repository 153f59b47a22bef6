#ifndef MSD_PROTO_BYTES_H
#define MSD_PROTO_BYTES_H
/* Byte ranges: a borrowed view (span), a bounded read cursor with sticky failure, and
 * a growable write buffer with sticky failure. All integers are little-endian. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/err.h"

/* A borrowed view; the function that returns it documents owner and lifetime. */
struct msd_span {
	const uint8_t *p;
	size_t n;
};

/** The bytes of the C string @text, without its NUL. */
static inline struct msd_span msd_span_of(const char *text)
{
	return (struct msd_span){(const uint8_t *)text, strlen(text)};
}
/** True if @s holds exactly the bytes of the C string @text. */
bool msd_span_is(struct msd_span s, const char *text);
/** True if @s begins with them. */
bool msd_span_begins(struct msd_span s, const char *text);
/** The same; *@ret is the rest of @s. */
bool msd_span_behind(struct msd_span s, const char *text, struct msd_span *ret);
/** True if both hold the same bytes. */
bool msd_span_same(struct msd_span a, struct msd_span b);

/*
 * Read cursor. A read past the end sets `bad`, moves nothing and returns 0 or NULL,
 * and so does every later read. Test `bad` in every counted loop and msd_cur_end() at
 * the end.
 */
struct msd_cur {
	const uint8_t *p;
	size_t left;
	bool bad;
};

/** A cursor at the first byte of @s, which is borrowed. */
struct msd_cur msd_cur_of(struct msd_span s);
/** The next @n bytes, borrowed, or NULL if fewer are left. */
const uint8_t *msd_cur_read(struct msd_cur *c, size_t n);
uint8_t msd_cur_u8(struct msd_cur *c);
uint16_t msd_cur_u16(struct msd_cur *c);
uint32_t msd_cur_u32(struct msd_cur *c);
int32_t msd_cur_i32(struct msd_cur *c);
uint64_t msd_cur_u64(struct msd_cur *c);
int64_t msd_cur_i64(struct msd_cur *c);
double msd_cur_f64(struct msd_cur *c);
/** u64 byte count, then that many bytes: TVM's string and payload encoding. */
struct msd_span msd_cur_str64(struct msd_cur *c);
/**
 * u64 element count, refused (bad, 0) unless count * @min_element_bytes fits in the
 * remaining bytes. @min_element_bytes must be at least 1: so the input bounds every
 * allocation.
 */
size_t msd_cur_count64(struct msd_cur *c, size_t min_element_bytes);
/** True if not bad and no bytes are left. */
bool msd_cur_end(const struct msd_cur *c);

/* Growable output. If memory is short, `bad` is set and later writes do nothing. */
struct msd_buf {
	uint8_t *p; /* owned */
	size_t n;   /* bytes written */
	size_t cap;
	bool bad;
};

/** Free the bytes; the buffer is empty and can be used again. */
void msd_buf_finish(struct msd_buf *b);
/** Allocate room for @n more bytes: the slow path of msd_buf_reserve(). */
bool msd_buf_grow(struct msd_buf *b, size_t n);

/** Ensure room for @n more bytes; false (and bad) if memory is short. */
static inline bool msd_buf_reserve(struct msd_buf *b, size_t n)
{
	return (!b->bad && n <= b->cap - b->n) || msd_buf_grow(b, n);
}

/**
 * Append @n bytes; @src may be NULL if @n is 0. Inline, because messages consist of
 * many short pieces.
 */
static inline void msd_buf_put(struct msd_buf *b, const void *src, size_t n)
{
	if (n == 0 || !msd_buf_reserve(b, n))
		return;
	memcpy(b->p + b->n, src, n);
	b->n += n;
}

void msd_buf_put_u8(struct msd_buf *b, uint8_t v);
void msd_buf_put_u16(struct msd_buf *b, uint16_t v);
void msd_buf_put_u32(struct msd_buf *b, uint32_t v);
void msd_buf_put_u64(struct msd_buf *b, uint64_t v);
void msd_buf_put_str64(struct msd_buf *b, const void *src, size_t n);
/** Append printf output without the NUL. */
void msd_buf_printf(struct msd_buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Fixed-width little-endian access; the bytes must exist. */
uint16_t msd_le16(const uint8_t *p);
uint32_t msd_le32(const uint8_t *p);
uint64_t msd_le64(const uint8_t *p);
void msd_put_le16(uint8_t *p, uint16_t v);
void msd_put_le32(uint8_t *p, uint32_t v);
void msd_put_le64(uint8_t *p, uint64_t v);

/** a * b and a + b without overflow: false leaves *ret unchanged. */
MSD_MUST_CHECK bool msd_mul_size(size_t a, size_t b, size_t *ret);
MSD_MUST_CHECK bool msd_add_size(size_t a, size_t b, size_t *ret);

#endif
