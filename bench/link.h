#ifndef MSD_BENCH_LINK_H
#define MSD_BENCH_LINK_H
/*
 * One connection as the measuring programs read it: as much as one read gives, then the
 * whole frames in it one by one, where they lie. Whoever takes them may write into
 * them.
 */
#include <stdbool.h>

#include "proto/bytes.h"
#include "proto/limits.h"

/* Behind the array, the kind and 0xcf: where a frame has its id in eight bytes. */
#define BENCH_ID_AT (MSD_FRAME_HEADER_BYTES + 3u)

struct bench_link {
	int fd;
	size_t at, n; /* taken, and come */
	uint8_t bytes[1 << 17];
};

/** Drop what was taken and read once; false when the peer has ended. */
bool bench_link_read(struct bench_link *l);

/** The next whole frame, header, body and payload, and its bytes; NULL: none has come.
 * One that does not fit never comes. */
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

/** An epoll with @listener in it, which comes as NULL. */
int bench_epoll(int listener);
/** Have @epoll wait for a link on @fd, which is made for it. */
struct bench_link *bench_link_watch(int epoll, int fd);

#endif
