/*
 * bench_call: the client of every measurement, one line of results on standard
 * output.
 *
 *   bench_call ADDRESS latency TARGET N      N round trips: p50_ns p90_ns p99_ns min_ns
 *   bench_call ADDRESS rate TARGET DEPTH N [CONNECTIONS [BYTES]]
 *                                            N calls, DEPTH in flight on each, with
 *                                            a tensor of BYTES: per_s
 *   bench_call ADDRESS differ bodies|tensors DEPTH N
 *                                            N calls of trivial, no two of them equal
 *                                            in numbers or tensors: per_s
 *   bench_call ADDRESS put TARGET BYTES N    BYTES sent, a small reply: p50_ns min_ns
 *   bench_call ADDRESS get TARGET BYTES N    a small request, BYTES back: p50_ns min_ns
 *
 * TARGET is "module:function"; `echo` means that ADDRESS sends frames back unchanged
 * (the client sends the frame of a call to trivial:noop), `sink` that it is
 * bench_sink. The bytes, system calls and code are the same in all cases: only the
 * peer differs.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/link.h"
#include "bench/net.h"
#include "bench/request.h"
#include "proto/body.h"
#include "proto/limits.h"

#define WARM_UP 200u
#define MAX_CONNECTIONS 64u

struct peer {
	bool answers; /* speaks the protocol: frames are checked */
	struct bench_link link;
};

static void fail(const char *what)
{
	(void)fprintf(stderr, "bench_call: %s\n", what);
	exit(1);
}

/* Check for errors: an error reply would be fast. */
static void check_answer(const uint8_t *body, size_t n)
{
	struct msd_body b;
	struct msd_diag d = {0};

	if (msd_body_read((struct msd_span){body, n}, NULL, &b, &d) != MSD_OK ||
	    b.kind != MSD_RESPONSE)
		fail("the answer is not a response");
	if (b.error.n == 1)
		return;
	struct msd_body_error e;
	if (msd_body_error_read(b.error, &e)) {
		(void)fprintf(stderr, "%.*s\n", (int)e.message.n,
			      (const char *)e.message.p);
	}
	fail("the answer is an error");
}

/* Read at least one whole frame; take all whole frames and return their number. */
static size_t take_frames(struct peer *p, bool check)
{
	size_t frames = 0;

	while (frames == 0) {
		const uint8_t *frame;
		size_t n;
		if (!bench_link_read(&p->link))
			bench_die("read");
		for (; (frame = bench_link_take(&p->link, &n)) != NULL; frames++) {
			if (check && p->answers) {
				check_answer(frame + MSD_FRAME_HEADER_BYTES,
					     msd_le32(frame + 4));
			}
		}
	}
	return frames;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_times(uint64_t *ns, size_t n)
{
	qsort(ns, n, sizeof(*ns), by_value);
	(void)printf("p50_ns=%llu p90_ns=%llu p99_ns=%llu min_ns=%llu\n",
		     (unsigned long long)ns[n / 2], (unsigned long long)ns[n * 9 / 10],
		     (unsigned long long)ns[n * 99 / 100], (unsigned long long)ns[0]);
}

static uint64_t *times_new(size_t n)
{
	uint64_t *ns = calloc(n, sizeof(*ns));

	if (ns == NULL)
		fail("out of memory");
	return ns;
}

static void latency(struct peer *p, const char *target, size_t n)
{
	struct msd_buf r = bench_request_call(target);
	uint64_t *ns = times_new(n);

	for (size_t i = 0; i < WARM_UP; i++) {
		bench_write_all(p->link.fd, r.p, r.n);
		(void)take_frames(p, true);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t begin = bench_now_ns();
		bench_write_all(p->link.fd, r.p, r.n);
		(void)take_frames(p, false);
		ns[i] = bench_now_ns() - begin;
	}
	print_times(ns, n);
	free(ns);
	msd_buf_finish(&r);
}

/* Frames one after another in a ring: replies arrive in order, so the next frame to
 * send is always the one with the latest reply. */
struct ring {
	uint8_t *bytes;
	size_t frame_bytes, depth, next;
	uint64_t id;
};

static void ring_init(struct ring *r, const char *target, size_t depth, uint64_t bytes)
{
	struct msd_buf frame = bytes > 0 ? bench_request_tensor(target, bytes, false)
					 : bench_request_call(target);

	bench_request_fill(&frame, bytes);
	*r = (struct ring){.bytes = malloc(depth * frame.n),
			   .frame_bytes = frame.n,
			   .depth = depth,
			   .id = 1};
	if (r->bytes == NULL)
		fail("out of memory");
	for (size_t i = 0; i < depth; i++)
		memcpy(r->bytes + i * frame.n, frame.p, frame.n);
	msd_buf_finish(&frame);
}

/* Send @n frames, at most the depth, with increasing ids, as clients do. */
static void ring_send(struct ring *r, int fd, size_t n)
{
	size_t first = r->next;
	struct iovec parts[2] = {{r->bytes + first * r->frame_bytes, 0}, {r->bytes, 0}};

	for (size_t i = 0; i < n; i++) {
		uint64_t id = htobe64(++r->id);
		memcpy(r->bytes + r->next * r->frame_bytes + BENCH_ID_AT, &id,
		       sizeof(id));
		parts[r->next < first].iov_len += r->frame_bytes; /* wrapped */
		r->next = (r->next + 1) % r->depth;
	}
	bench_write_two(fd, parts);
}

struct load {
	bool answers; /* struct peer's */
	size_t depth, n, connections;
	uint64_t bytes; /* size of each call's tensor; 0: no tensor */
};

/* A connection with a ring of its own. */
struct window {
	struct peer peer;
	struct ring ring;
};

static struct window *window_open(const char *address, const char *target,
				  const struct load *load, int epoll)
{
	struct window *w = calloc(1, sizeof(*w));
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = w};

	if (w == NULL)
		fail("out of memory");
	w->peer.link.fd = bench_connect(address);
	w->peer.answers = load->answers;
	ring_init(&w->ring, target, load->depth, load->bytes);
	ring_send(&w->ring, w->peer.link.fd, 1);
	(void)take_frames(&w->peer, true);
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, w->peer.link.fd, &ev) != 0)
		bench_die("epoll_ctl");
	return w;
}

static void window_close(struct window *w)
{
	(void)close(w->peer.link.fd);
	free(w->ring.bytes);
	free(w);
}

/* The numbers of outstanding replies and of requests to send. */
struct left {
	size_t answers, requests;
};

/* Process the replies of one read, and send as many requests. */
static void turn(struct window *w, struct left *left)
{
	size_t came = take_frames(&w->peer, false);

	left->answers -= came;
	if (came > left->requests)
		came = left->requests;
	left->requests -= came;
	if (came > 0)
		ring_send(&w->ring, w->peer.link.fd, came);
}

/* With a single connection, wait in read(): the least that a client needs. */
static void turns(struct window *w[], size_t n, int epoll, struct left *left)
{
	struct epoll_event events[MAX_CONNECTIONS];

	while (left->answers > 0 && n == 1)
		turn(w[0], left);
	while (left->answers > 0) {
		int ready = epoll_wait(epoll, events, MAX_CONNECTIONS, -1);
		for (int i = 0; i < ready; i++)
			turn(events[i].data.ptr, left);
	}
}

static void rate(const char *address, const char *target, const struct load *load)
{
	struct window *w[MAX_CONNECTIONS];
	const size_t n = load->n, depth = load->depth, connections = load->connections;
	struct left left = {.answers = n, .requests = n};
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (connections > MAX_CONNECTIONS || n < depth * connections)
		fail("too many connections, or fewer calls than are in flight");
	for (size_t i = 0; i < connections; i++)
		w[i] = window_open(address, target, load, epoll);
	uint64_t begin = bench_now_ns();
	for (size_t i = 0; i < connections; i++)
		ring_send(&w[i]->ring, w[i]->peer.link.fd, depth);
	left.requests -= depth * connections;
	turns(w, connections, epoll, &left);
	(void)printf("per_s=%.0f\n",
		     (double)n * 1e9 / (double)(bench_now_ns() - begin));
	for (size_t i = 0; i < connections; i++)
		window_close(w[i]);
	(void)close(epoll);
}

/* Frames that differ, one behind the other, and where each ends. */
struct sequence {
	struct msd_buf bytes;
	size_t *ends, n, next;
};

static struct sequence sequence_new(size_t n, bool has_tensor)
{
	struct sequence s = {.ends = calloc(n, sizeof(*s.ends)), .n = n};

	if (s.ends == NULL)
		fail("out of memory");
	for (size_t i = 0; i < n; i++) {
		struct msd_buf frame = bench_request_differing(i, has_tensor);
		const uint64_t id = htobe64(i + 1);
		memcpy(frame.p + BENCH_ID_AT, &id, sizeof(id));
		msd_buf_put(&s.bytes, frame.p, frame.n);
		s.ends[i] = s.bytes.n;
		msd_buf_finish(&frame);
	}
	if (s.bytes.bad)
		fail("out of memory");
	return s;
}

static void sequence_send(struct sequence *s, int fd, size_t n)
{
	const size_t begin = s->next > 0 ? s->ends[s->next - 1] : 0;

	if (n > s->n - s->next)
		n = s->n - s->next;
	if (n == 0)
		return;
	s->next += n;
	bench_write_all(fd, s->bytes.p + begin, s->ends[s->next - 1] - begin);
}

static void differ(struct peer *p, bool has_tensor, size_t depth, size_t n)
{
	struct sequence s = sequence_new(n, has_tensor);
	const uint64_t begin = bench_now_ns();
	size_t left = n;

	sequence_send(&s, p->link.fd, depth);
	while (left > 0) {
		const size_t came = take_frames(p, true);
		left -= came;
		sequence_send(&s, p->link.fd, came);
	}
	(void)printf("per_s=%.0f\n",
		     (double)n * 1e9 / (double)(bench_now_ns() - begin));
	free(s.ends);
	msd_buf_finish(&s.bytes);
}

/* Send one frame, receive one: into @data if it has a payload. */
static void exchange(struct peer *p, const struct msd_buf *r, uint8_t *data,
		     uint64_t bytes, bool is_put)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	struct iovec parts[2] = {{r->p, r->n}, {data, is_put ? (size_t)bytes : 0}};

	bench_write_two(p->link.fd, parts);
	bench_read_all(p->link.fd, head, sizeof(head));
	uint32_t body = msd_le32(head + 4);
	if (body > sizeof(p->link.bytes) || msd_le64(head + 8) != (is_put ? 0 : bytes))
		fail("the answer has not the size that was asked for");
	bench_read_all(p->link.fd, p->link.bytes, body);
	if (p->answers)
		check_answer(p->link.bytes, body);
	if (!is_put)
		bench_read_all(p->link.fd, data, (size_t)bytes);
}

static void bulk(struct peer *p, const char *target, bool is_put, uint64_t bytes,
		 size_t n)
{
	uint8_t *data = malloc((size_t)bytes);
	uint64_t *ns = times_new(n);
	struct msd_buf r =
		p->answers ? bench_request_tensor(target, bytes, !is_put)
			   : bench_request_sink(is_put ? bytes : 0, is_put ? 0 : bytes);

	if (data == NULL)
		fail("out of memory");
	memset(data, 1, (size_t)bytes);
	for (int i = 0; i < 3; i++) /* warm up both sides */
		exchange(p, &r, data, bytes, is_put);
	for (size_t i = 0; i < n; i++) {
		uint64_t begin = bench_now_ns();
		exchange(p, &r, data, bytes, is_put);
		ns[i] = bench_now_ns() - begin;
	}
	print_times(ns, n);
	free(ns);
	free(data);
	msd_buf_finish(&r);
}

static size_t number(const char *text)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);

	if (*text == '\0' || *end != '\0' || v == 0)
		fail("a positive number was expected");
	return (size_t)v;
}

static int usage(void)
{
	(void)fprintf(stderr,
		      "usage: bench_call ADDRESS latency TARGET N\n"
		      "       bench_call ADDRESS rate TARGET DEPTH N [CONNECTIONS "
		      "[BYTES]]\n"
		      "       bench_call ADDRESS differ bodies|tensors DEPTH N\n"
		      "       bench_call ADDRESS put|get TARGET BYTES N\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct peer p;
	const char *mode = argc > 2 ? argv[2] : "";
	bool is_bulk = strcmp(mode, "put") == 0 || strcmp(mode, "get") == 0;
	bool is_latency = strcmp(mode, "latency") == 0;
	bool is_rate = strcmp(mode, "rate") == 0;
	bool is_differ = strcmp(mode, "differ") == 0;

	if (!(is_differ && argc == 6) && !(is_latency && argc == 5) &&
	    !(is_bulk && argc == 6) && !(is_rate && argc >= 6 && argc <= 8))
		return usage();
	const char *target = argv[3];
	p.answers = is_differ || strchr(target, ':') != NULL;
	if (!is_bulk && !p.answers)
		target = "trivial:noop";
	if (is_rate) {
		const struct load load = {.answers = p.answers,
					  .depth = number(argv[4]),
					  .n = number(argv[5]),
					  .connections = argc > 6 ? number(argv[6]) : 1,
					  .bytes = argc > 7 ? number(argv[7]) : 0};
		rate(argv[1], target, &load);
		return 0;
	}
	p.link.fd = bench_connect(argv[1]);
	if (is_differ) {
		differ(&p, strcmp(target, "tensors") == 0, number(argv[4]),
		       number(argv[5]));
	} else if (is_latency) {
		latency(&p, target, number(argv[4]));
	} else {
		bulk(&p, target, *mode == 'p', number(argv[4]), number(argv[5]));
	}
	(void)close(p.link.fd);
	return 0;
}
