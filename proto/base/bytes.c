/*
 * A cursor over external bytes, and a growable buffer. A read past the end marks the
 * cursor bad and returns zeros, so callers check once, at the end. A buffer that
 * cannot grow is marked bad, too.
 */
#include "proto/base/bytes.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool msd_span_is(struct msd_span s, const char *text)
{
	return msd_span_same(s, msd_span_of(text));
}

bool msd_span_begins(struct msd_span s, const char *text)
{
	const size_t n = strlen(text);

	return n == 0 || (s.n >= n && memcmp(s.p, text, n) == 0);
}

bool msd_span_behind(struct msd_span s, const char *text, struct msd_span *ret)
{
	const size_t n = strlen(text);

	if (!msd_span_begins(s, text))
		return false;
	*ret = n == 0 ? s : (struct msd_span){s.p + n, s.n - n};
	return true;
}

bool msd_span_same(struct msd_span a, struct msd_span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

uint16_t msd_le16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

uint32_t msd_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

uint64_t msd_le64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

void msd_put_le16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
}

void msd_put_le32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

void msd_put_le64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

bool msd_mul_size(size_t a, size_t b, size_t *ret)
{
	size_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return false;
	*ret = product;
	return true;
}

bool msd_add_size(size_t a, size_t b, size_t *ret)
{
	size_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return false;
	*ret = sum;
	return true;
}

struct msd_cur msd_cur_of(struct msd_span s)
{
	return (struct msd_cur){.p = s.p, .left = s.n};
}

const uint8_t *msd_cur_read(struct msd_cur *c, size_t n)
{
	const uint8_t *at = c->p;

	if (c->bad || n > c->left) {
		c->bad = true;
		return NULL;
	}
	if (n > 0) /* an empty view may have a NULL address */
		c->p += n;
	c->left -= n;
	return at;
}

uint8_t msd_cur_u8(struct msd_cur *c)
{
	const uint8_t *p = msd_cur_read(c, 1);

	return p != NULL ? *p : 0;
}

uint16_t msd_cur_u16(struct msd_cur *c)
{
	const uint8_t *p = msd_cur_read(c, 2);

	return p != NULL ? msd_le16(p) : 0;
}

uint32_t msd_cur_u32(struct msd_cur *c)
{
	const uint8_t *p = msd_cur_read(c, 4);

	return p != NULL ? msd_le32(p) : 0;
}

int32_t msd_cur_i32(struct msd_cur *c)
{
	return (int32_t)msd_cur_u32(c);
}

uint64_t msd_cur_u64(struct msd_cur *c)
{
	const uint8_t *p = msd_cur_read(c, 8);

	return p != NULL ? msd_le64(p) : 0;
}

int64_t msd_cur_i64(struct msd_cur *c)
{
	return (int64_t)msd_cur_u64(c);
}

double msd_cur_f64(struct msd_cur *c)
{
	uint64_t bits = msd_cur_u64(c);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

struct msd_span msd_cur_str64(struct msd_cur *c)
{
	uint64_t n = msd_cur_u64(c);

	if (c->bad || n > c->left) {
		c->bad = true;
		return (struct msd_span){0};
	}
	return (struct msd_span){.p = msd_cur_read(c, (size_t)n), .n = (size_t)n};
}

size_t msd_cur_count64(struct msd_cur *c, size_t min_element_bytes)
{
	uint64_t n = msd_cur_u64(c);

	if (c->bad || n > c->left / min_element_bytes) {
		c->bad = true;
		return 0;
	}
	return (size_t)n;
}

bool msd_cur_end(const struct msd_cur *c)
{
	return !c->bad && c->left == 0;
}

void msd_buf_finish(struct msd_buf *b)
{
	if (b == NULL)
		return;
	free(b->p);
	*b = (struct msd_buf){0};
}

/* The only place where a buffer allocates. */
bool msd_buf_grow(struct msd_buf *b, size_t n)
{
	size_t need, cap;

	if (b->bad || !msd_add_size(b->n, n, &need)) {
		b->bad = true;
		return false;
	}
	cap = b->cap < 128 ? 128 : b->cap;
	while (cap < need) {
		if (!msd_mul_size(cap, 2, &cap))
			cap = need;
	}
	uint8_t *p = realloc(b->p, cap);
	if (p == NULL) {
		b->bad = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void msd_buf_put_u8(struct msd_buf *b, uint8_t v)
{
	msd_buf_put(b, &v, 1);
}

void msd_buf_put_u16(struct msd_buf *b, uint16_t v)
{
	uint8_t le[2];

	msd_put_le16(le, v);
	msd_buf_put(b, le, sizeof(le));
}

void msd_buf_put_u32(struct msd_buf *b, uint32_t v)
{
	uint8_t le[4];

	msd_put_le32(le, v);
	msd_buf_put(b, le, sizeof(le));
}

void msd_buf_put_u64(struct msd_buf *b, uint64_t v)
{
	uint8_t le[8];

	msd_put_le64(le, v);
	msd_buf_put(b, le, sizeof(le));
}

void msd_buf_put_str64(struct msd_buf *b, const void *src, size_t n)
{
	msd_buf_put_u64(b, n);
	msd_buf_put(b, src, n);
}

void msd_buf_printf(struct msd_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !msd_buf_reserve(b, (size_t)n + 1)) { /* + 1: vsnprintf's NUL */
		b->bad = true;
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf((char *)b->p + b->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}
