#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/segments/reserve.h"

/* What on_done was told. */
struct heard {
	unsigned n;
	int fd, error;
};

static void on_done(struct msd_reserve *r)
{
	struct heard *h = r->user;

	h->n++;
	h->fd = r->fd;
	h->error = r->error;
	r->fd = -1;
}

static struct msd_work_lane lane = MSD_WORK_LANE(lane, MSD_WORK_BULK, 0, 2);
static const struct msd_reserve_how how = {
	.name = "test", .bytes = 1 << 20, .lane = &lane, .owner = 1};

static void expect_over(uv_loop_t *loop)
{
	(void)uv_run(loop, UV_RUN_DEFAULT);
	msd_work_close();
	(void)uv_run(loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(loop), 0, "nothing is left");
}

static void limit_files(rlim_t bytes)
{
	const struct rlimit limit = {bytes, bytes};

	cr_assert_neq(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(reserve, has_all_its_bytes)
{
	struct stat st;
	int fd = msd_reserve_now("test", 1 << 20);

	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect_eq(st.st_size, 1 << 20);
	cr_expect_geq(st.st_blocks * 512, 1 << 20);
	close(fd);
}

Test(reserve, says_why_the_memory_is_not_there)
{
	limit_files(4096);
	cr_expect_eq(msd_reserve_now("test", 1 << 20), -1);
	cr_expect_eq(errno, EFBIG);
}

Test(reserve, is_done_on_a_later_turn)
{
	struct heard h = {0};
	struct stat st;
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	cr_assert_not_null(msd_reserve_begin(&loop, &how, on_done, &h));
	cr_expect_eq(h.n, 0);
	expect_over(&loop);
	cr_expect_eq(h.n, 1);
	cr_assert_eq(fstat(h.fd, &st), 0);
	cr_expect_geq(st.st_blocks * 512, 1 << 20);
	close(h.fd);
}

Test(reserve, that_fails_says_so_on_a_later_turn)
{
	struct heard h = {0};
	uv_loop_t loop;

	limit_files(4096);
	(void)uv_loop_init(&loop);
	cr_assert_not_null(msd_reserve_begin(&loop, &how, on_done, &h));
	expect_over(&loop);
	cr_expect(h.n == 1 && h.fd == -1 && h.error == EFBIG);
}

Test(reserve, tells_nobody_who_has_left)
{
	struct heard h = {0};
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	msd_reserve_leave(msd_reserve_begin(&loop, &how, on_done, &h));
	msd_reserve_leave(NULL);
	expect_over(&loop);
	cr_expect_eq(h.n, 0);
}

static void *let_go(void *map)
{
	cr_expect_eq(munmap(map, 4096), 0);
	return NULL;
}

Test(reserve, is_sealed_when_its_last_holder_lets_go)
{
	const int fd = msd_reserve_now("test", 4096);
	void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_t holder;

	cr_assert_eq(pthread_create(&holder, NULL, let_go, map), 0);
	cr_expect_eq(msd_reserve_seal(fd), 0);
	cr_expect_eq(pthread_join(holder, NULL), 0);
	cr_expect(write(fd, "x", 1) < 0 && errno == EPERM);
	cr_expect(ftruncate(fd, 8192) < 0 && errno == EPERM);
	(void)close(fd);
}

Test(reserve, is_not_sealed_while_somebody_holds_it)
{
	const int fd = msd_reserve_now("test", 4096);
	void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	cr_expect_eq(msd_reserve_seal(fd), EBUSY);
	cr_expect_eq(munmap(map, 4096), 0);
	cr_expect_eq(msd_reserve_seal(fd), 0);
	(void)close(fd);
}
