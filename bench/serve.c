/*
 * bench_serve ADDRESS: parse each call, execute it, reply, from one epoll loop. It is
 * the lower bound of a server that executes requests: bench_echo's work, and one
 * check a frame.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/link.h"
#include "bench/memo.h"
#include "bench/net.h"
#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"

static uint8_t out[1 << 17];

static int do_nothing(const void *frame)
{
	(void)frame;
	return 0;
}

/* Not known at compile time, as a module's function is not. */
static int (*volatile function)(const void *) = do_nothing;

/* The reply to every call, without the id. */
static struct msd_buf make_answer(void)
{
	static const uint8_t room[MSD_FRAME_HEADER_BYTES];
	struct msd_buf b = {0};

	msd_buf_put(&b, room, sizeof(room));
	msd_body_begin_response(&b, 0, false);
	msd_pack_nil(&b);
	msd_pack_nil(&b);
	if (b.bad)
		bench_die("malloc");
	msd_frame_write((struct msd_frame){(uint32_t)(b.n - MSD_FRAME_HEADER_BYTES), 0},
			b.p);
	return b;
}

static void serve(struct bench_link *l, struct msd_buf answer)
{
	const uint8_t *frame;
	size_t bytes, n = 0;

	if (!bench_link_read(l)) {
		(void)close(l->fd);
		free(l);
		return;
	}
	while ((frame = bench_link_take(l, &bytes)) != NULL) {
		(void)bench_memo_knows(frame, bytes);
		(void)function(frame);
		memcpy(out + n, answer.p, answer.n);
		memcpy(out + n + BENCH_ID_AT, frame + BENCH_ID_AT, 8);
		n += answer.n;
		if (n > sizeof(out) - answer.n) {
			bench_write_all(l->fd, out, n);
			n = 0;
		}
	}
	bench_write_all(l->fd, out, n);
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];

	if (argc != 2) {
		(void)fprintf(stderr, "usage: bench_serve ADDRESS\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	struct msd_buf answer = make_answer();
	int listener = bench_listen(argv[1]);
	int epoll = bench_epoll(listener);
	for (;;) {
		int n = epoll_wait(epoll, events, 64, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr == NULL) {
				(void)bench_link_watch(epoll, bench_accept(listener));
			} else {
				serve(events[i].data.ptr, answer);
			}
		}
	}
}
