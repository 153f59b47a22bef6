#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/loop/work.h"
#include "daemon/stream/transport.h"
#include "tests/support/linger.h"

/* Far above what anything takes, far below a close that sleeps. */
#define PATIENCE_S 300

static long now_s(void)
{
	struct timespec t;

	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return t.tv_sec;
}

/* One byte with @n times @fd on its way to ends[0]; here it is closed. */
static void pass(int ends[2], unsigned n, int fd)
{
	char room[CMSG_SPACE(253 * sizeof(int))] = {0};
	struct iovec piece = {(char[]){'x'}, 1};
	struct msghdr m = {.msg_iov = &piece,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(n * sizeof(int));
	for (unsigned i = 0; i < n; i++)
		memcpy(CMSG_DATA(h) + i * sizeof(int), &fd, sizeof(fd));
	cr_assert_eq(sendmsg(ends[1], &m, 0), 1);
	close(fd);
}

/* The peer of the passed socket hears of its close, whoever did it. */
static void expect_end(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	cr_assert_eq(poll(&p, 1, PATIENCE_S * 1000), 1, "nobody closed it");
}

Test(aside, closes_a_descriptor)
{
	int ends[2];
	char byte;

	cr_assert_eq(pipe(ends), 0);
	msd_closer_close(ends[1]);
	expect_end(ends[0]);
	cr_expect_eq(read(ends[0], &byte, 1), 0, "no writer is left");
	close(ends[0]);
}

Test(aside, closes_as_many_as_come)
{
	int ends[2];
	char byte;

	cr_assert_eq(pipe(ends), 0);
	for (unsigned i = 0; i < MSD_CLOSER_BEHIND; i++)
		msd_closer_close(fcntl(ends[1], F_DUPFD, 0));
	close(ends[1]);
	expect_end(ends[0]);
	cr_expect_eq(read(ends[0], &byte, 1), 0, "no writer is left");
	close(ends[0]);
}

Test(aside, nothing_is_no_descriptor)
{
	msd_closer_close(-1);
	cr_expect_neq(fcntl(STDIN_FILENO, F_GETFD), -1);
}

Test(aside, unmaps_what_a_peer_shares)
{
	const size_t bytes = 1u << 20;
	int ends[2];
	int fd = memfd_create("test", MFD_CLOEXEC);

	cr_assert_eq(ftruncate(fd, (off_t)bytes), 0);
	unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(p, MAP_FAILED);
	p[bytes - 1] = 7;
	cr_assert_eq(pipe(ends), 0);
	msd_closer_unmap(p, bytes);
	msd_closer_close(ends[1]);
	expect_end(ends[0]);
	unsigned char last = 0;
	cr_expect_eq(pread(fd, &last, 1, (off_t)bytes - 1), 1);
	cr_expect_eq(last, 7, "the pages are the file's, not the mapping's");
	close(ends[0]);
	close(fd);
}

/* Nothing is closed any more: as if each close slept. */
static void refuse_threads(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	cr_assert_eq(
		seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0),
		0);
	cr_assert_eq(
		seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAGAIN), SCMP_SYS(clone), 0),
		0);
	cr_assert_eq(seccomp_load(filter), 0);
	seccomp_release(filter);
}

Test(aside, closes_what_is_its_own_where_no_thread_can_be_started_any_more)
{
	int ends[2];

	cr_assert_eq(msd_work_open(MSD_WORK_RELEASE, 1, 0), 0);
	refuse_threads();
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		msd_closer_close(ends[0]);
		expect_end(ends[1]);
		close(ends[1]);
	}
}

Test(aside, closes_what_was_passed_when_a_thread_can_be_started_again)
{
	struct rlimit none, many;
	int ends[2];

	if (geteuid() == 0) /* for root there is no such limit */
		cr_assert_eq(setresuid(65534, 65534, 65534), 0);
	cr_assert_eq(getrlimit(RLIMIT_NPROC, &many), 0);
	none = (struct rlimit){0, many.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_NPROC, &none), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	msd_closer_close_passed(ends[0], 7);
	cr_expect_neq(fcntl(ends[0], F_GETFD), -1, "there is no thread");
	cr_assert_eq(setrlimit(RLIMIT_NPROC, &many), 0);
	cr_expect_not(msd_closer_is_crowded(7));
	expect_end(ends[1]);
	close(ends[1]);
}

/* As one read of @passer may bring; nobody closes it. */
static unsigned bring(uint64_t passer, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		msd_closer_close_passed(STDIN_FILENO, passer);
	return n;
}

Test(aside, has_room_for_one_read_of_each_passer_whoever_came_before)
{
	unsigned n = 0;

	refuse_threads();
	for (uint64_t passer = 1; passer <= MSD_CLOSER_PASSERS; passer++) {
		cr_expect_not(msd_closer_is_crowded(passer), "passer %d", (int)passer);
		/* The worst that it can do. */
		while (n < MSD_CLOSER_OF_ALL && !msd_closer_is_crowded(passer))
			n += bring(passer, passer % 2 == 0 ? MSD_CLOSER_AT_ONCE : 1);
		n += bring(passer, passer % 2 == 0 ? 0 : MSD_CLOSER_AT_ONCE - 1);
		cr_expect(msd_closer_is_crowded(passer), "passer %d", (int)passer);
	}
	cr_expect_leq(n, MSD_CLOSER_OF_ALL);
}

Test(aside, what_workers_bring_is_behind_no_passers)
{
	refuse_threads();
	for (uint64_t passer = 1; passer <= MSD_CLOSER_PASSERS; passer++)
		(void)bring(passer, MSD_CLOSER_AT_ONCE);
	cr_expect_not(msd_closer_is_crowded(MSD_CLOSER_WORKERS));
	(void)bring(MSD_CLOSER_WORKERS, 1);
	cr_expect_not(msd_closer_is_crowded(MSD_CLOSER_WORKERS));
	(void)bring(MSD_CLOSER_WORKERS, MSD_CLOSER_AT_ONCE);
	cr_expect(msd_closer_is_crowded(MSD_CLOSER_WORKERS));
	cr_expect_not(msd_closer_is_behind());
}

Test(aside, one_passer_has_so_many_closes)
{
	unsigned n = 0;

	refuse_threads();
	while (!msd_closer_is_crowded(1))
		n += bring(1, 1);
	cr_expect_eq(n, MSD_CLOSER_OF_ONE + 1);
	cr_expect_not(msd_closer_is_crowded(2));
}

Test(socket, reads_on_though_passed_sockets_linger)
{
	int ends[2], peer;
	char bytes[4];
	struct iovec piece = {bytes, sizeof(bytes)};
	struct msd_fds fds = {.n = 0};

	pass(ends, 253, lingering_socket(&peer));
	const long start = now_s();
	struct msd_transport t = msd_transport_of_socket(ends[0], true);
	cr_expect_eq(t.ops->read(&t, &piece, 1, &fds), 1);
	cr_expect_eq(fds.n, MSD_TRANSPORT_FDS);
	for (unsigned i = 0; i < fds.n; i++)
		msd_closer_close(fds.fd[i]);
	cr_expect_lt(now_s() - start, PATIENCE_S, "the read slept");
	t.ops->close(&t);
	close(ends[1]);
	close(peer);
}

/* What was not read makes the close a reset; the shutdown before it is an end. Which of
 * both is met depends on how soon the thread comes to the close. */
static bool hears_its_end(int fd)
{
	char byte;
	const ssize_t n = read(fd, &byte, 1);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

Test(socket, closes_though_unread_sockets_linger)
{
	int ends[2], peer;

	pass(ends, 1, lingering_socket(&peer));
	const long start = now_s();
	struct msd_transport t = msd_transport_of_socket(ends[0], true);
	t.ops->close(&t);
	cr_expect_lt(now_s() - start, PATIENCE_S, "the close slept");
	cr_expect(hears_its_end(ends[1]), "its peer hears of it at once");
	cr_expect_lt(now_s() - start, PATIENCE_S, "its peer had to wait");
	close(ends[1]);
	close(peer);
}

Test(socket, its_number_is_anothers_once_it_is_closed)
{
	for (int i = 0; i < 100; i++) {
		int ends[2], peer, other[2];
		struct stat now;

		pass(ends, 1, lingering_socket(&peer));
		cr_assert_eq(pipe(other), 0);
		struct msd_transport t = msd_transport_of_socket(ends[0], true);
		t.ops->close(&t);
		cr_assert_eq(dup2(other[0], ends[0]), ends[0]);
		close(ends[1]);
		close(peer);
		/* The thread has closed all that came before this. */
		msd_closer_close(other[1]);
		expect_end(other[0]);
		cr_expect(fstat(ends[0], &now) == 0 && S_ISFIFO(now.st_mode),
			  "round %d: who has the number now was closed", i);
		close(other[0]);
		close(ends[0]);
	}
}

Test(socket, ends_though_unread_sockets_linger)
{
	int ends[2], peer;
	char scratch[64];

	pass(ends, 1, lingering_socket(&peer));
	const long start = now_s();
	struct msd_transport t = msd_transport_of_socket(ends[0], true);
	t.ops->end(&t, scratch, sizeof(scratch));
	t.ops->close(&t);
	cr_expect_lt(now_s() - start, PATIENCE_S, "the end slept");
	close(ends[1]);
	close(peer);
}

Test(aside, unix_sockets_are_its_own_on_kernels_that_collect_in_close)
{
	cr_expect(msd_closer_wants_unix("4.19.0"));
	cr_expect(msd_closer_wants_unix("6.1.0-37-amd64"));
	cr_expect(msd_closer_wants_unix("6.9.12"));
	cr_expect_not(msd_closer_wants_unix("6.10.0-rc1"));
	cr_expect_not(msd_closer_wants_unix("6.18.44-fc"));
	cr_expect_not(msd_closer_wants_unix("7.0"));
	cr_expect(msd_closer_wants_unix("unknown"), "to be sure");
}
