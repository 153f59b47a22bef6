#include "bench/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"

static struct msd_buf begin(void)
{
	static const uint8_t room[MSD_FRAME_HEADER_BYTES];
	struct msd_buf b = {0};

	msd_buf_put(&b, room, sizeof(room));
	return b;
}

static struct msd_buf end(struct msd_buf b, uint64_t payload_bytes)
{
	if (b.bad) {
		(void)fprintf(stderr, "out of memory for a request\n");
		exit(1);
	}
	msd_frame_write((struct msd_frame){(uint32_t)(b.n - MSD_FRAME_HEADER_BYTES),
					   payload_bytes},
			b.p);
	return b;
}

struct msd_buf bench_request_ping(void)
{
	struct msd_buf b = begin();

	msd_body_begin_request(&b, 1, "ping", false);
	msd_pack_array(&b, 0);
	return end(b, 0);
}

struct msd_buf bench_request_call(const char *target)
{
	struct msd_buf b = begin();

	msd_body_begin_request(&b, 1, "call", false);
	msd_pack_array(&b, 1);
	msd_pack_cstr(&b, target);
	return end(b, 0);
}

struct msd_buf bench_request_tensor(const char *target, uint64_t bytes, bool is_out)
{
	const struct msd_wire_tensor t = {
		.where = is_out ? MSD_AT_OUT : MSD_AT_INLINE,
		.dtype = {.code = 1, .bits = 8, .lanes = 1},
		.bytes = bytes,
		.ndim = 1,
		.shape = {(int64_t)bytes},
	};
	struct msd_buf b = begin();

	msd_body_begin_request(&b, 1, "call", false);
	msd_pack_array(&b, 2);
	msd_pack_cstr(&b, target);
	msd_pack_tensor(&b, &t);
	return end(b, is_out ? 0 : bytes);
}

struct msd_buf bench_request_differing(uint64_t i, bool has_tensor)
{
	char target[32];
	struct msd_buf b;

	if (has_tensor) {
		const uint64_t bytes = 64 + i % 193;
		(void)snprintf(target, sizeof(target), "trivial:take%u",
			       (unsigned)(i % 16));
		b = bench_request_tensor(target, bytes, false);
		bench_request_fill(&b, bytes);
		return b;
	}
	b = begin();
	msd_body_begin_request(&b, 1, "call", false);
	msd_pack_array(&b, 2);
	msd_pack_cstr(&b, "trivial:echo");
	msd_pack_uint(&b, i);
	return end(b, 0);
}

void bench_request_fill(struct msd_buf *frame, uint64_t bytes)
{
	if (!msd_buf_reserve(frame, bytes)) {
		(void)fprintf(stderr, "out of memory for a payload\n");
		exit(1);
	}
	memset(frame->p + frame->n, 0, bytes);
	frame->n += bytes;
}

struct msd_buf bench_request_sink(uint64_t in, uint64_t out)
{
	struct msd_buf b = begin();

	msd_buf_put_u64(&b, out);
	return end(b, in);
}
