#include "graph/serializer/tmfile/writer.h"

#include <string.h>

#define WEIGHTS_ALIGN 64u

static uint32_t align(struct tm_writer *w, size_t n)
{
	while (w->out.n % n != 0 && !w->out.bad)
		msd_buf_put_u8(&w->out, 0);
	return (uint32_t)w->out.n;
}

uint32_t tm_put_words(struct tm_writer *w, const uint32_t *words, size_t n)
{
	const uint32_t at = align(w, 4);

	for (size_t i = 0; i < n; i++)
		msd_buf_put_u32(&w->out, words[i]);
	return at;
}

uint32_t tm_put_vector(struct tm_writer *w, const uint32_t *words, size_t n)
{
	const uint32_t at = align(w, 4);

	msd_buf_put_u32(&w->out, (uint32_t)n);
	(void)tm_put_words(w, words, n);
	return at;
}

uint32_t tm_put_string(struct tm_writer *w, const char *text)
{
	const uint32_t at = (uint32_t)w->out.n;
	const size_t n = strlen(text) + 1;

	msd_buf_put(&w->out, text, n);
	const uint32_t object[2] = {(uint32_t)n, at};
	return tm_put_words(w, object, 2);
}

uint32_t tm_put_bytes(struct tm_writer *w, const void *p, size_t n)
{
	const uint32_t at = align(w, WEIGHTS_ALIGN);

	msd_buf_put(&w->out, p, n);
	return at;
}

uint32_t tm_f32_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}
