#include "runtime/artifact/sha256.h"

#include <string.h>

#define BLOCK 64u

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t v, unsigned n)
{
	return v >> n | v << (32 - n);
}

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void add_block(uint32_t h[static 8], const uint8_t *p)
{
	uint32_t w[64];
	uint32_t s[8];

	for (unsigned i = 0; i < 16; i++)
		w[i] = big_endian(p + (size_t)4 * i);
	for (unsigned i = 16; i < 64; i++) {
		const uint32_t a = w[i - 15];
		const uint32_t b = w[i - 2];
		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(s, h, sizeof(s));
	for (unsigned i = 0; i < 64; i++) {
		const uint32_t e = s[4];
		const uint32_t a = s[0];
		const uint32_t one = s[7] +
				     (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
				     ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
		const uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
				     ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (unsigned i = 0; i < 8; i++)
		h[i] += s[i];
}

void msd_sha256(struct msd_span bytes, char ret[static MSD_SHA256_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	uint8_t tail[2 * BLOCK] = {0};
	const size_t whole = bytes.n / BLOCK;
	const size_t rest = bytes.n % BLOCK;
	const size_t n_tail = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;

	for (size_t i = 0; i < whole; i++)
		add_block(h, bytes.p + i * BLOCK);
	if (rest > 0)
		memcpy(tail, bytes.p + whole * BLOCK, rest);
	tail[rest] = 0x80;
	for (unsigned i = 0; i < 8; i++) /* the length in bits */
		tail[n_tail - 1 - i] = (uint8_t)((uint64_t)bytes.n * 8 >> 8 * i);
	add_block(h, tail);
	if (n_tail > BLOCK)
		add_block(h, tail + BLOCK);
	for (size_t i = 0; i < 64; i++)
		ret[i] = digits[h[i / 8] >> (28 - i % 8 * 4) & 0xf];
	ret[64] = '\0';
}
