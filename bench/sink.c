/*
 * bench_sink ADDRESS: the raw socket, for bulk data. Frames have the protocol's
 * header and a body whose last eight bytes give the reply's payload size. Payloads
 * are received into and sent from one warm buffer.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/net.h"
#include "proto/base/bytes.h"
#include "proto/frame.h"

#define BUFFER_BYTES (64u << 20)
#define BODY_BYTES 8u

static void answer(int fd, uint8_t *buffer, uint64_t bytes)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES + BODY_BYTES] = {0};
	struct iovec parts[2] = {{head, sizeof(head)}, {buffer, (size_t)bytes}};

	msd_frame_write((struct msd_frame){BODY_BYTES, bytes}, head);
	bench_write_two(fd, parts);
}

static void serve(int fd, uint8_t *buffer)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	uint8_t body[BODY_BYTES];

	while (bench_read_or_end(fd, head, sizeof(head))) {
		struct msd_frame f;
		if (msd_frame_read(head, BODY_BYTES, BUFFER_BYTES, &f, NULL) != MSD_OK)
			return;
		bench_read_all(fd, body, f.body_bytes);
		uint64_t want = msd_le64(body);
		if (want > BUFFER_BYTES)
			return;
		if (f.payload_bytes > 0)
			bench_read_all(fd, buffer, (size_t)f.payload_bytes);
		answer(fd, buffer, want);
	}
}

int main(int argc, char **argv)
{
	static uint8_t buffer[BUFFER_BYTES];

	if (argc != 2) {
		(void)fprintf(stderr, "usage: bench_sink ADDRESS\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	memset(buffer, 1, BUFFER_BYTES); /* warm: its pages are resident */
	int listener = bench_listen(argv[1]);
	for (;;) {
		int fd = bench_accept(listener);
		serve(fd, buffer);
		(void)close(fd);
	}
}
