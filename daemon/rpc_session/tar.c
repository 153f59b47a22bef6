#include "daemon/rpc_session/tar.h"

#include <string.h>

#define BLOCK 512u
#define AT_SIZE 124u
#define SIZE_DIGITS 11u
#define AT_TYPE 156u
#define AT_MAGIC 257u
#define MAGIC "ustar"

static bool is_header(const uint8_t *block)
{
	return memcmp(block + AT_MAGIC, MAGIC, strlen(MAGIC)) == 0;
}

bool msd_rpc_tar_is(struct msd_span bytes)
{
	return bytes.n >= BLOCK && is_header(bytes.p);
}

static bool is_zero(const uint8_t *block)
{
	for (size_t i = 0; i < BLOCK; i++) {
		if (block[i] != 0)
			return false;
	}
	return true;
}

/* Octal digits, then a NUL or a space. */
static bool read_size(const uint8_t *p, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < SIZE_DIGITS; i++) {
		if (p[i] < '0' || p[i] > '7')
			return i > 0 && (p[i] == 0 || p[i] == ' ');
		*ret = *ret * 8 + (uint64_t)(p[i] - '0');
	}
	return true;
}

msd_err msd_rpc_tar_next(struct msd_span *at, struct msd_span *ret, struct msd_diag *d)
{
	uint64_t size;

	*ret = (struct msd_span){0};
	while (at->n >= BLOCK && !is_zero(at->p)) {
		const uint8_t *head = at->p;
		if (!is_header(head) || !read_size(head + AT_SIZE, &size)) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "the tar archive is damaged");
		}
		at->p += BLOCK;
		at->n -= BLOCK;
		const uint64_t padded = (size + BLOCK - 1) / BLOCK * BLOCK;
		if (size > at->n) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "the tar archive ends too early");
		}
		const struct msd_span data = {at->p, (size_t)size};
		const size_t n = padded < at->n ? (size_t)padded : at->n;
		at->p += n;
		at->n -= n;
		if (head[AT_TYPE] == '0' || head[AT_TYPE] == 0) {
			*ret = data;
			return MSD_OK;
		}
	}
	return MSD_OK;
}
