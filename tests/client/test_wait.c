#include <criterion/criterion.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/client.h"
#include "proto/frame.h"
#include "tests/client/peer.h"
#include "tests/support/clock.h"

#define TWO 2000u /* thousandths of a processor */

/* How the library has waited: instead of the C library's. */
static unsigned n_reads, n_sleeps;
/* Whose request is answered when it sleeps; NULL: nobody's. */
static struct peer *sleeper;
static uint64_t answered_asleep;

__attribute__((visibility("default"))) ssize_t recvmsg(int fd, struct msghdr *m,
						       int flags)
{
	n_reads++;
	n_sleeps += (flags & MSG_DONTWAIT) == 0;
	return syscall(SYS_recvmsg, fd, m, flags);
}

__attribute__((visibility("default"))) int poll(struct pollfd *p, nfds_t n, int ms)
{
	n_sleeps++;
	if (sleeper != NULL)
		peer_answer(sleeper, answered_asleep, 1);
	sleeper = NULL;
	return (int)syscall(SYS_poll, p, n, ms);
}

static uint64_t next_id = 1;

static struct peer open_client(uint64_t millis)
{
	struct peer p = peer_open();

	msd_spin_init(&p.client->spin, MSD_SPIN_MOST_NS, millis);
	return p;
}

/* A request whose answer is there when it is sent. */
static void ask(struct peer *p)
{
	modser_result *r = NULL;

	peer_answer(p, next_id++, 1);
	cr_assert_eq(modser_request(p->client, "ping", NULL, 0, NULL, &r), MODSER_OK);
	modser_result_free(r);
}

static void make_look(struct peer *p)
{
	while (p->client->spin.count.hits == 0)
		ask(p);
	cr_assert_eq(p->client->spin.rest, 0);
}

static uint64_t start(struct peer *p, uint32_t deadline_ms)
{
	const modser_options options = {.deadline_ms = deadline_ms};
	uint64_t id;

	cr_assert_eq(modser_start(p->client, "ping", NULL, 0, &options, &id),
		     MODSER_OK);
	return id;
}

static modser_err end(struct peer *p, uint64_t id)
{
	modser_result *r = NULL;
	const modser_err err = modser_wait(p->client, id, &r);

	modser_result_free(r);
	return err;
}

Test(wait, with_one_processor_an_answer_takes_one_system_call)
{
	struct peer p = open_client(1000);

	n_reads = n_sleeps = 0;
	for (unsigned i = 1; i <= 100; i++) {
		ask(&p);
		cr_assert_eq(n_reads, i);
		cr_assert_eq(n_sleeps, i);
	}
	cr_expect_eq(p.client->spin.count.hits + p.client->spin.count.misses, 0);
	peer_close(&p);
}

Test(wait, with_two_it_looks_and_takes_what_is_there)
{
	struct peer p = open_client(TWO);

	make_look(&p);
	n_reads = n_sleeps = 0;
	ask(&p);
	cr_expect_eq(n_reads, 1);
	cr_expect_eq(n_sleeps, 0);
	peer_close(&p);
}

/* However fast or slow the machine is, there are so many looks at most. */
Test(wait, what_does_not_come_soon_is_slept_for)
{
	struct peer p = open_client(TWO);

	make_look(&p);
	const uint64_t misses = p.client->spin.count.misses;
	answered_asleep = start(&p, 60000);
	sleeper = &p;
	n_reads = n_sleeps = 0;
	cr_expect_eq(end(&p, answered_asleep), MODSER_OK);
	cr_expect_eq(n_sleeps, 1);
	cr_expect_leq(n_reads, MSD_SPIN_LOOKS + 1);
	cr_expect_eq(p.client->spin.count.misses, misses + 1);
	cr_expect_gt(p.client->spin.count.waste_ns, 0);
	peer_close(&p);
}

Test(wait, a_deadline_that_passes_meanwhile_ends_it)
{
	struct peer p = open_client(TWO);

	make_look(&p);
	p.client->is_direct = true;
	const uint64_t id = start(&p, 1);
	clock_pass(2);
	n_sleeps = 0;
	cr_expect_eq(end(&p, id), MODSER_DEADLINE);
	cr_expect_eq(n_sleeps, 0, "nothing else would have woken it");
	peer_close(&p);
}

Test(wait, a_connection_that_ends_meanwhile_ends_it)
{
	struct peer p = open_client(TWO);

	make_look(&p);
	const uint64_t id = start(&p, 0);
	cr_assert_eq(shutdown(p.fd, SHUT_RDWR), 0);
	cr_expect_eq(end(&p, id), MODSER_IO);
	peer_close(&p);
}

Test(wait, what_comes_for_another_request_is_taken_meanwhile)
{
	struct peer p = open_client(TWO);

	make_look(&p);
	const uint64_t first = start(&p, 0), second = start(&p, 0);
	peer_answer(&p, second, 2);
	peer_answer(&p, first, 1);
	cr_expect_eq(end(&p, first), MODSER_OK);
	cr_expect_eq(end(&p, second), MODSER_OK);
	peer_close(&p);
}

/* As the supervisor takes it back: nothing is read any more, and the worker, which runs
 * another's call, says nothing yet. */
static struct peer open_taken_back(uint64_t millis)
{
	struct peer p = open_client(millis);

	if (millis == TWO)
		make_look(&p);
	p.client->is_direct = true;
	cr_assert_eq(shutdown(p.fd, SHUT_RD), 0);
	return p;
}

static void expect_not_begun(uint64_t millis, uint32_t deadline_ms)
{
	struct peer p = open_taken_back(millis);
	const uint64_t id = start(&p, deadline_ms);

	n_sleeps = 0;
	cr_expect_eq(end(&p, id), MODSER_DRAINING);
	cr_expect_eq(n_sleeps, 0, "nobody would wake it");
	peer_close(&p);
}

Test(wait, what_a_channel_takes_no_more_is_not_waited_for, .timeout = 20)
{
	expect_not_begun(1000, 0);
	next_id = 1;
	expect_not_begun(1000, 60000);
	next_id = 1;
	expect_not_begun(TWO, 0);
}

static void process(void *ctx, modser_result *result)
{
	struct peer *p = ctx;

	cr_expect_eq(modser_process(p->client), MODSER_OK);
	modser_result_free(result);
}

/* What has been sent. */
static void drain(const struct peer *p, struct msd_buf *all)
{
	ssize_t n;

	do {
		cr_assert(msd_buf_reserve(all, 65536));
		n = recv(p->fd, all->p + all->n, 65536, MSG_DONTWAIT);
		all->n += n > 0 ? (size_t)n : 0;
	} while (n > 0);
}

static void expect_frames(struct msd_buf *all, unsigned n)
{
	size_t at = 0;

	for (struct msd_frame f; at < all->n; n--) {
		cr_assert_gt(n, 0, "one was sent twice");
		cr_assert_eq(msd_frame_read(all->p + at, MSD_MAX_BODY_BYTES,
					    MSD_MAX_PAYLOAD_BYTES, &f, NULL),
			     MSD_OK);
		at += MSD_FRAME_HEADER_BYTES + f.body_bytes + f.payload_bytes;
	}
	cr_expect_eq(at, all->n);
	cr_expect_eq(n, 0);
	msd_buf_finish(all);
}

/* It ends with its last byte, for it was answered before: what went with that does not
 * go again. */
Test(wait, a_done_function_may_process_what_is_being_sent, .timeout = 20)
{
	static const uint8_t large[300000]; /* more than a socket holds */
	const int64_t extent = sizeof(large);
	struct peer p = open_client(1000);
	const modser_options options = {.done = process, .ctx = &p};
	const modser_value x =
		modser_tensor_arg((modser_dtype){1, 8, 1}, &extent, 1, large);
	struct msd_buf sent = {0};

	cr_assert_eq(modser_start(p.client, "x", &x, 1, &options, NULL), MODSER_OK);
	peer_answer(&p, 1, 1);
	cr_assert_eq(modser_process(p.client), MODSER_OK);
	cr_assert_eq(modser_in_flight(p.client), 1);
	drain(&p, &sent);
	const uint64_t second = start(&p, 0);
	peer_answer(&p, second, 2);
	cr_expect_eq(end(&p, second), MODSER_OK);
	drain(&p, &sent);
	expect_frames(&sent, 2);
	peer_close(&p);
}
