/*
 * bench_patch ADDRESS UPSTREAM: parse each request of any client, replace its id with
 * an id of this program and pass it to the server at UPSTREAM; put the client's id
 * back into each reply. In front of bench_serve it is the lower bound of a supervisor
 * that does not trust client ids: bench_forward's work, one check a frame and a table
 * of requests.
 */
#include <endian.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/link.h"
#include "bench/memo.h"
#include "bench/net.h"

#define REQUESTS 4096u

static struct {
	struct bench_link *from; /* NULL: free */
	uint64_t id;             /* as received */
} requests[REQUESTS];
static uint32_t free_slots[REQUESTS];
static uint32_t n_free;

static _Noreturn void fail(const char *what)
{
	(void)fprintf(stderr, "bench_patch: %s\n", what);
	exit(1);
}

/* A client that leaves must have all its replies. */
static void leave(struct bench_link *client)
{
	for (uint32_t i = 0; i < REQUESTS; i++) {
		if (requests[i].from == client)
			fail("a client left before its answers came");
	}
	(void)close(client->fd);
	free(client);
}

static void pass_requests(struct bench_link *client, int upstream)
{
	uint8_t *frame;
	size_t bytes;

	if (!bench_link_read(client)) {
		leave(client);
		return;
	}
	while ((frame = bench_link_take(client, &bytes)) != NULL) {
		(void)bench_memo_knows(frame, bytes);
		if (n_free == 0)
			fail("too many requests");
		uint32_t slot = free_slots[--n_free];
		uint64_t id = htobe64(slot);
		requests[slot].from = client;
		memcpy(&requests[slot].id, frame + BENCH_ID_AT, sizeof(id));
		memcpy(frame + BENCH_ID_AT, &id, sizeof(id));
	}
	bench_write_all(upstream, client->bytes, client->at);
}

/* Put the client's id into a reply; returns the client. */
static struct bench_link *settle(uint8_t *frame, size_t bytes)
{
	uint64_t slot;

	if (bytes < BENCH_ID_AT + sizeof(slot) ||
	    frame[MSD_FRAME_HEADER_BYTES + 1] != 1)
		fail("the server's frame is no answer");
	memcpy(&slot, frame + BENCH_ID_AT, sizeof(slot));
	slot = be64toh(slot);
	if (slot >= REQUESTS || requests[slot].from == NULL)
		fail("the server answers what it was not asked");
	struct bench_link *client = requests[slot].from;
	memcpy(frame + BENCH_ID_AT, &requests[slot].id, sizeof(slot));
	requests[slot].from = NULL;
	free_slots[n_free++] = (uint32_t)slot;
	return client;
}

/* Adjacent replies to one client leave in one write. */
static void pass_answers(struct bench_link *upstream)
{
	struct bench_link *last = NULL;
	const uint8_t *begin = upstream->bytes;
	uint8_t *frame;
	size_t bytes;

	if (!bench_link_read(upstream))
		fail("the server has ended");
	while ((frame = bench_link_take(upstream, &bytes)) != NULL) {
		struct bench_link *client = settle(frame, bytes);
		if (last != NULL && last != client) {
			bench_write_all(last->fd, begin, (size_t)(frame - begin));
			begin = frame;
		}
		last = client;
	}
	if (last != NULL) {
		bench_write_all(last->fd, begin,
				(size_t)(upstream->bytes + upstream->at - begin));
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];

	if (argc != 3) {
		(void)fprintf(stderr, "usage: bench_patch ADDRESS UPSTREAM\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	while (n_free < REQUESTS) {
		free_slots[n_free] = REQUESTS - 1 - n_free;
		n_free++;
	}
	int upstream_fd = bench_connect(argv[2]);
	int listener = bench_listen(argv[1]);
	int epoll = bench_epoll(listener);
	struct bench_link *upstream = bench_link_watch(epoll, upstream_fd);
	for (;;) {
		int n = epoll_wait(epoll, events, 64, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr == NULL) {
				(void)bench_link_watch(epoll, bench_accept(listener));
			} else if (events[i].data.ptr == upstream) {
				pass_answers(upstream);
			} else {
				pass_requests(events[i].data.ptr, upstream_fd);
			}
		}
	}
}
