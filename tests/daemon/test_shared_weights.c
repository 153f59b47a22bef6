/* The file of packed weights, as the supervisor sees it: given to a first worker, which
 * may leave it in any state, and then to the others or to none. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/shared_weights.h"
#include "proto/value.h"
#include "tests/daemon/conn_rig.h"

#define MODEL 1000u
#define ROOM (8 * MODEL + (1u << 20))
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* Two workers that are sockets. */
struct scene {
	struct rig rig;
	struct msd_process workers[2];
	int ends[2];
	struct msd_shared_weights weights;
};

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	(void)c, (void)err, (void)why;
}

static const struct msd_conn_ops ops = {.on_closed = on_closed};

static void scene_init(struct scene *s)
{
	const struct msd_conn_limits limits = {.max_body_bytes = 4096,
					       .max_queued_bytes = 1u << 20};

	memset(s, 0, sizeof(*s));
	rig_open(&s->rig, false);
	for (unsigned i = 0; i < 2; i++) {
		int ends[2];

		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		s->ends[i] = ends[1];
		cr_assert_eq(msd_conn_open(&s->workers[i].channel, &s->rig.wire,
					   msd_transport_of_socket(ends[0], true), &ops,
					   &limits, &s->workers[i], NULL),
			     MSD_OK);
	}
}

static void scene_finish(struct scene *s)
{
	msd_shared_weights_finish(&s->weights);
	for (unsigned i = 0; i < 2; i++) {
		msd_conn_close(&s->workers[i].channel, MSD_OK, "test over");
		turn(&s->rig);
		(void)close(s->ends[i]);
	}
	rig_close(&s->rig);
}

/* The descriptor that came with a frame whose parameters are @is_filled and @bytes; -1:
 * no frame came. */
static int receive(struct scene *s, unsigned worker, bool is_filled, uint64_t bytes)
{
	uint8_t frame[256], control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec piece = {frame, sizeof(frame)};
	struct msghdr m = {.msg_iov = &piece,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct msd_buf want = {0};
	int fd;

	turn(&s->rig);
	const ssize_t n = recvmsg(s->ends[worker], &m, MSG_DONTWAIT);
	if (n < 0)
		return -1;
	msd_pack_array(&want, 3);
	msd_pack_cstr(&want, "weights");
	msd_pack_uint(&want, is_filled);
	msd_pack_uint(&want, bytes);
	cr_assert(!want.bad && (size_t)n > want.n);
	cr_expect(memcmp(frame + n - want.n, want.p, want.n) == 0, "its parameters");
	msd_buf_finish(&want);
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	cr_assert(c != NULL && c->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static void pass(struct scene *s, unsigned worker)
{
	msd_shared_weights_pass(&s->weights, &s->workers[worker], MODEL, 0);
}

static struct stat stat_of(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return st;
}

/* The first worker has the new file. */
static int begin(struct scene *s)
{
	scene_init(s);
	pass(s, 0);
	const int fd = receive(s, 0, false, ROOM);
	cr_assert_geq(fd, 0);
	cr_expect_eq(stat_of(fd).st_size, ROOM);
	cr_expect_eq(stat_of(fd).st_blocks, 0);
	return fd;
}

static void leave_empty(int fd)
{
	(void)fd;
}

static void write_half(int fd)
{
	cr_assert_eq(pwrite(fd, "half", 4, 4096), 4);
}

static void write_unsealed(int fd)
{
	write_half(fd);
	cr_assert_eq(ftruncate(fd, 8192), 0);
}

static void seal_size_only(int fd)
{
	write_unsealed(fd);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
}

static void seal_nothing(int fd)
{
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, SEALS), 0);
}

static void fill(int fd)
{
	write_unsealed(fd);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, SEALS), 0);
}

/* Each state in which a first worker may leave the file; the last one is whole. */
static void (*const states[])(int fd) = {leave_empty,    write_half,   write_unsealed,
					 seal_size_only, seal_nothing, fill};
#define N_STATES (sizeof(states) / sizeof(states[0]))

Test(shared_weights, have_room_for_the_model_within_the_limit_of_a_worker)
{
	struct scene s;
	const int fd = begin(&s);

	cr_expect_lt(ftruncate(fd, ROOM + 1), 0, "it cannot be made larger");
	cr_expect_lt(pwrite(fd, "x", 1, ROOM), 0);
	(void)close(fd);
	msd_shared_weights_finish(&s.weights);
	s.weights.filler = NULL;
	msd_shared_weights_pass(&s.weights, &s.workers[0], MODEL, 5000);
	const int small = receive(&s, 0, false, 5000);
	cr_expect_eq(stat_of(small).st_size, 5000);
	(void)close(small);
	scene_finish(&s);
}

Test(shared_weights, are_not_passed_while_the_first_worker_fills_them)
{
	struct scene s;
	const int fd = begin(&s);

	pass(&s, 1);
	cr_expect_eq(receive(&s, 1, false, ROOM), -1);
	fill(fd);
	pass(&s, 1);
	cr_expect_eq(receive(&s, 1, true, 8192), -1, "sealed, but not yet open");
	msd_shared_weights_opened(&s.weights, &s.workers[1]);
	cr_expect_eq(s.weights.filler, &s.workers[0], "another one has opened it");
	msd_shared_weights_lost(&s.weights, &s.workers[1]);
	cr_expect(s.weights.has_file, "another one is lost");
	(void)close(fd);
	scene_finish(&s);
}

Test(shared_weights, are_used_only_if_they_are_sealed_when_the_model_is_open)
{
	for (size_t i = 0; i < N_STATES; i++) {
		const bool is_whole = states[i] == fill;
		struct scene s;
		const int fd = begin(&s);

		states[i](fd);
		msd_shared_weights_opened(&s.weights, &s.workers[0]);
		cr_expect_eq(s.weights.has_file, is_whole, "state %zu", i);
		msd_shared_weights_lost(&s.weights, &s.workers[0]);
		pass(&s, 1);
		const int second = receive(&s, 1, true, 8192);
		cr_expect_eq(second >= 0, is_whole, "state %zu", i);
		if (second >= 0) {
			cr_expect_eq(stat_of(second).st_ino, stat_of(fd).st_ino);
			(void)close(second);
		}
		(void)close(fd);
		scene_finish(&s);
	}
}

/* Sealed or not: the worker may have died between two of its blocks. */
Test(shared_weights, of_a_worker_that_dies_before_the_model_is_open_are_dropped)
{
	for (size_t i = 0; i < N_STATES; i++) {
		struct scene s;
		const int fd = begin(&s);

		states[i](fd);
		msd_shared_weights_lost(&s.weights, &s.workers[0]);
		cr_expect_not(s.weights.has_file, "state %zu", i);
		pass(&s, 1);
		const int next = receive(&s, 1, false, ROOM);
		cr_assert_geq(next, 0, "state %zu: the next worker fills one", i);
		cr_expect_neq(stat_of(next).st_ino, stat_of(fd).st_ino);
		cr_expect_eq(stat_of(next).st_size, ROOM);
		(void)close(next);
		(void)close(fd);
		scene_finish(&s);
	}
}
