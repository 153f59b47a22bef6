#include "tests/artifact/byte_writer.h"

#include <stdlib.h>
#include <string.h>

void bw_raw(struct bw *b, const void *p, size_t n)
{
	if (n > b->cap - b->n) {
		b->cap = (b->n + n) * 2;
		b->p = realloc(b->p, b->cap);
		if (b->p == NULL)
			abort();
	}
	if (n > 0)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void put_le(struct bw *b, uint64_t v, size_t n)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	bw_raw(b, bytes, n);
}

void bw_u8(struct bw *b, uint8_t v)
{
	put_le(b, v, 1);
}

void bw_u16(struct bw *b, uint16_t v)
{
	put_le(b, v, 2);
}

void bw_u32(struct bw *b, uint32_t v)
{
	put_le(b, v, 4);
}

void bw_u64(struct bw *b, uint64_t v)
{
	put_le(b, v, 8);
}

void bw_f64(struct bw *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	bw_u64(b, bits);
}

void bw_str(struct bw *b, const char *text)
{
	bw_u64(b, strlen(text));
	bw_raw(b, text, strlen(text));
}

void bw_str_of(struct bw *b, const struct bw *inner)
{
	bw_u64(b, inner->n);
	bw_raw(b, inner->p, inner->n);
}

void bw_strs(struct bw *b, const char *const *names)
{
	size_t n = 0;

	while (names[n] != NULL)
		n++;
	bw_u64(b, n);
	for (size_t i = 0; i < n; i++)
		bw_str(b, names[i]);
}

void bw_u64s(struct bw *b, const uint64_t *v, size_t n)
{
	bw_u64(b, n);
	for (size_t i = 0; i < n; i++)
		bw_u64(b, v[i]);
}

void bw_tensor(struct bw *b, uint8_t code, uint8_t bits, const uint64_t *shape,
	       uint32_t ndim, const void *data, size_t bytes)
{
	bw_u64(b, 0xDD5E40F096B4A13Full);
	bw_u64(b, 0);
	bw_u32(b, 1); /* cpu */
	bw_u32(b, 0);
	bw_u32(b, ndim);
	bw_u8(b, code);
	bw_u8(b, bits);
	bw_u16(b, 1); /* lanes */
	for (uint32_t i = 0; i < ndim; i++)
		bw_u64(b, shape[i]);
	bw_u64(b, bytes);
	bw_raw(b, data, bytes);
}

void bw_free(struct bw *b)
{
	free(b->p);
	*b = (struct bw){0};
}

struct msd_span bw_span(const struct bw *b)
{
	return (struct msd_span){b->p, b->n};
}
