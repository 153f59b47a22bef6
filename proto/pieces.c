#include "proto/pieces.h"

#include <string.h>

size_t msd_pieces_next(const struct iovec *pieces, size_t n, size_t skip, uint8_t *room,
		       size_t most, const uint8_t **ret)
{
	size_t have = 0;

	*ret = room;
	for (size_t i = 0; i < n && have < most; i++) {
		const uint8_t *p = pieces[i].iov_base;
		const size_t bytes = pieces[i].iov_len;

		if (skip >= bytes) {
			skip -= bytes;
			continue;
		}
		if (have == 0 && bytes - skip >= most) {
			*ret = p + skip;
			return most;
		}
		const size_t left = most - have;
		const size_t part = bytes - skip < left ? bytes - skip : left;
		memcpy(room + have, p + skip, part);
		have += part;
		skip = 0;
	}
	return have;
}
