#ifndef MSD_BENCH_LINK_H
#define MSD_BENCH_LINK_H
/* One connection of the measuring programs: read once, then take the whole frames in
 * the buffer one by one, in place. The caller may write into them. */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "proto/limits.h"

/* Offset of an eight-byte id in a frame: after the array header, the kind and 0xcf. */
#define BENCH_ID_AT (MSD_FRAME_HEADER_BYTES + 3u)

struct bench_link {
	int fd;
	size_t at, n; /* taken, and received */
	uint8_t bytes[1 << 17];
};

/** Drop the taken frames and read once; false if the peer has closed. */
bool bench_link_read(struct bench_link *l);

/**
 * The next whole frame (header, body and payload) with its size; NULL: none is
 * complete. A frame that does not fit never completes.
 */
static inline uint8_t *bench_link_take(struct bench_link *l, size_t *ret_n)
{
	uint8_t *frame = l->bytes + l->at;
	size_t left = l->n - l->at;

	if (left < MSD_FRAME_HEADER_BYTES ||
	    left - MSD_FRAME_HEADER_BYTES < msd_le32(frame + 4))
		return NULL;
	const size_t bytes = MSD_FRAME_HEADER_BYTES + msd_le32(frame + 4);
	const uint64_t payload_bytes = msd_le64(frame + 8);
	if (left - bytes < payload_bytes)
		return NULL;
	*ret_n = bytes + (size_t)payload_bytes;
	l->at += *ret_n;
	return frame;
}

/** Create an epoll with @listener, which it reports as NULL. */
int bench_epoll(int listener);
/** Create a link on @fd and add it to @epoll. */
struct bench_link *bench_link_watch(int epoll, int fd);

#endif
