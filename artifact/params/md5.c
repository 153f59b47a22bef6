/*
 * MD5 (RFC 1321) of several ranges at once.
 *
 * A step of MD5 needs the result of the step before, so one range keeps a core waiting.
 * Normal path: each range takes a lane of the vectors; all lanes run until the first
 * range has no more whole blocks, which is then ended alone, and its lane takes the
 * next range. The last range that is left runs alone.
 */
#include "artifact/params/md5.h"

#include <string.h>

#define BLOCK 64u
#define LANES 8
#define WORDS 16

typedef uint32_t vector __attribute__((vector_size(4 * LANES)));

/* K[i] = floor(2^32 * |sin(i + 1)|) */
static const uint32_t K[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
	0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
	0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
	0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
	0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
	0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
	0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
	0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
static const uint32_t start[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

#define F1(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define F2(x, y, z) ((y) ^ ((z) & ((x) ^ (y))))
#define F3(x, y, z) ((x) ^ (y) ^ (z))
#define F4(x, y, z) ((y) ^ ((x) | ~(z)))
#define STEP(F, a, b, c, d, at, i, s)                                                  \
	a += F(b, c, d) + w[at] + K[i];                                                \
	a = ((a << (s)) | (a >> (32 - (s)))) + (b)
#define FOUR(F, i, base, by, s0, s1, s2, s3)                                           \
	STEP(F, a, b, c, d, ((i) * (by) + (base)) % WORDS, i, s0);                     \
	STEP(F, d, a, b, c, (((i) + 1) * (by) + (base)) % WORDS, (i) + 1, s1);         \
	STEP(F, c, d, a, b, (((i) + 2) * (by) + (base)) % WORDS, (i) + 2, s2);         \
	STEP(F, b, c, d, a, (((i) + 3) * (by) + (base)) % WORDS, (i) + 3, s3)
#define ROUND(F, i, base, by, s0, s1, s2, s3)                                          \
	FOUR(F, i, base, by, s0, s1, s2, s3);                                          \
	FOUR(F, (i) + 4, base, by, s0, s1, s2, s3);                                    \
	FOUR(F, (i) + 8, base, by, s0, s1, s2, s3);                                    \
	FOUR(F, (i) + 12, base, by, s0, s1, s2, s3)

/* One block, in one lane or all: @type is uint32_t or vector. */
#define ROUNDS(name, type)                                                             \
	static inline __attribute__((always_inline)) void name(type s[4],              \
							       const type w[WORDS])    \
	{                                                                              \
		type a = s[0], b = s[1], c = s[2], d = s[3];                           \
                                                                                       \
		ROUND(F1, 0, 0, 1, 7, 12, 17, 22);                                     \
		ROUND(F2, 16, 1, 5, 5, 9, 14, 20);                                     \
		ROUND(F3, 32, 5, 3, 4, 11, 16, 23);                                    \
		ROUND(F4, 48, 0, 7, 6, 10, 15, 21);                                    \
		s[0] += a;                                                             \
		s[1] += b;                                                             \
		s[2] += c;                                                             \
		s[3] += d;                                                             \
	}
ROUNDS(rounds_one, uint32_t)
ROUNDS(rounds_all, vector)

/* Each lane reads @n blocks at its own address. */
#define BLOCKS(name, attributes)                                                       \
	attributes static void name(vector s[4], const uint8_t *const from[LANES],     \
				    size_t n)                                          \
	{                                                                              \
		for (size_t i = 0; i < n; i++) {                                       \
			vector w[WORDS];                                               \
                                                                                       \
			for (int lane = 0; lane < LANES; lane++) {                     \
				uint32_t block[WORDS];                                 \
                                                                                       \
				memcpy(block, from[lane] + i * BLOCK, BLOCK);          \
				for (int k = 0; k < WORDS; k++)                        \
					w[k][lane] = block[k];                         \
			}                                                              \
			rounds_all(s, w);                                              \
		}                                                                      \
	}
BLOCKS(blocks_any, )
#if defined(__x86_64__)
BLOCKS(blocks_avx2, __attribute__((target("avx2"))))
#endif

static void blocks(vector s[4], const uint8_t *const from[LANES], size_t n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		blocks_avx2(s, from, n);
		return;
	}
#endif
	blocks_any(s, from, n);
}

static void blocks_one(uint32_t s[4], const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t w[WORDS];

		memcpy(w, from + i * BLOCK, BLOCK);
		rounds_one(s, w);
	}
}

/* A range in a lane. */
struct lane {
	const uint8_t *p;
	size_t blocks; /* whole ones that are left */
	size_t i;      /* index of the range */
};

/* Hash what is left of a range, and its padding: a bit, zeros, the bits of all. */
static void end(uint32_t s[4], const struct lane *l, size_t bytes, struct msd_md5 *ret)
{
	const uint64_t bits = (uint64_t)bytes * 8;
	const size_t rest = bytes % BLOCK;
	const size_t n = rest + 1 + sizeof(bits) > BLOCK ? 2 : 1;
	uint8_t last[2 * BLOCK] = {0};

	blocks_one(s, l->p, l->blocks);
	if (rest > 0)
		memcpy(last, l->p + l->blocks * BLOCK, rest);
	last[rest] = 0x80;
	memcpy(last + n * BLOCK - sizeof(bits), &bits, sizeof(bits));
	blocks_one(s, last, n);
	memcpy(ret->b, s, sizeof(ret->b));
}

static void lane_start(vector s[4], struct lane *l, int at, struct msd_span span,
		       size_t i)
{
	l[at] = (struct lane){span.p, span.n / BLOCK, i};
	for (int k = 0; k < 4; k++)
		s[k][at] = start[k];
}

static void lane_end(const vector s[4], const struct lane *l, int at,
		     const struct msd_span *spans, struct msd_md5 *ret)
{
	uint32_t own[4];

	for (int k = 0; k < 4; k++)
		own[k] = s[k][at];
	end(own, &l[at], spans[l[at].i].n, &ret[l[at].i]);
}

/* Move the last of @n lanes to @at. */
static void lane_fill(vector s[4], struct lane *l, int at, int n)
{
	l[at] = l[n - 1];
	for (int k = 0; k < 4; k++)
		s[k][at] = s[k][n - 1];
}

/* Run @n lanes until the first of them has no more blocks. */
static void run(vector s[4], struct lane *l, int n)
{
	const uint8_t *from[LANES];
	size_t least = l[0].blocks;

	for (int i = 1; i < n; i++)
		least = l[i].blocks < least ? l[i].blocks : least;
	for (int i = 0; i < LANES; i++) /* a lane without a range repeats one */
		from[i] = l[i < n ? i : 0].p;
	blocks(s, from, least);
	for (int i = 0; i < n; i++) {
		l[i].p += least * BLOCK;
		l[i].blocks -= least;
	}
}

void msd_md5_of(const struct msd_span *spans, size_t n, struct msd_md5 *ret)
{
	struct lane l[LANES];
	vector s[4] = {{0}};
	size_t next = 0;
	int active = 0;

	while (next < n || active > 0) {
		while (active < LANES && next < n) {
			lane_start(s, l, active++, spans[next], next);
			next++;
		}
		if (active > 1)
			run(s, l, active);
		for (int i = active - 1; i >= 0; i--) {
			if (active > 1 && l[i].blocks > 0)
				continue;
			lane_end(s, l, i, spans, ret);
			lane_fill(s, l, i, active);
			active--;
		}
	}
}

static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool msd_md5_parse(struct msd_span text, struct msd_md5 *ret)
{
	struct msd_md5 read = {{0}};

	if (text.n != 2 * sizeof(read.b))
		return false;
	for (size_t i = 0; i < text.n; i++) {
		const int digit = digit_of(text.p[i]);

		if (digit < 0)
			return false;
		read.b[i / 2] = (uint8_t)(read.b[i / 2] << 4 | digit);
	}
	*ret = read;
	return true;
}
