#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/loop/work.h"
#include "daemon/segments/segpool.h"
#include "proto/limits.h"

struct announced {
	unsigned n_grown;
	unsigned n, n_gone;
	int fd; /* of the latest, ours */
	uint64_t bytes;
	uint16_t index;
};

static void on_change(void *ctx, uint16_t index, int fd, uint64_t bytes)
{
	struct announced *a = ctx;

	if (bytes == 0) {
		cr_assert_eq(fd, -1);
		a->n_gone++;
		return;
	}
	a->n++;
	a->index = index;
	a->bytes = bytes;
	a->fd = dup(fd);
}

Test(segpool, slots_are_aligned_and_apart)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot one, two;

	msd_segpool_init(&p, 1u << 24, on_change, &a);
	cr_assert_eq(msd_segpool_alloc(&p, 1, &one, NULL), MSD_OK);
	cr_assert_eq(msd_segpool_alloc(&p, 300, &two, NULL), MSD_OK);
	cr_expect_eq((uintptr_t)one.p % MSD_TENSOR_ALIGN, 0);
	cr_expect_eq((uintptr_t)two.p % MSD_TENSOR_ALIGN, 0);
	cr_expect_geq(two.offset, one.offset + one.bytes);
	cr_expect_eq(a.n, 1, "both fit one segment");
	close(a.fd);
	msd_segpool_finish(&p);
}

Test(segpool, zero_bytes_is_a_slot_of_its_own)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot one, two;

	msd_segpool_init(&p, 1u << 24, on_change, &a);
	cr_assert_eq(msd_segpool_alloc(&p, 0, &one, NULL), MSD_OK);
	cr_assert_eq(msd_segpool_alloc(&p, 0, &two, NULL), MSD_OK);
	cr_expect_neq(one.offset, two.offset);
	close(a.fd);
	msd_segpool_finish(&p);
}

Test(segpool, freed_neighbours_join)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot s[4], whole;

	msd_segpool_init(&p, MSD_MIN_SEGMENT_BYTES, on_change, &a);
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(
			msd_segpool_alloc(&p, MSD_MIN_SEGMENT_BYTES / 4, &s[i], NULL),
			MSD_OK);
	}
	cr_expect_eq(msd_segpool_alloc(&p, 1, &whole, NULL), MSD_NO_SPACE);
	const int order[] = {1, 3, 0, 2};
	for (int i = 0; i < 4; i++) {
		cr_assert(
			msd_segpool_free(&p, s[order[i]].segment, s[order[i]].offset));
	}
	cr_expect_eq(msd_segpool_alloc(&p, MSD_MIN_SEGMENT_BYTES, &whole, NULL),
		     MSD_OK);
	cr_expect_eq(p.used_bytes, MSD_MIN_SEGMENT_BYTES);
	close(a.fd);
	msd_segpool_finish(&p);
}

Test(segpool, refuses_to_free_what_is_not_live)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot one;

	msd_segpool_init(&p, 1u << 24, on_change, &a);
	cr_assert_eq(msd_segpool_alloc(&p, 256, &one, NULL), MSD_OK);
	cr_expect_not(msd_segpool_free(&p, one.segment, one.offset + 128));
	cr_expect_not(msd_segpool_free(&p, 7, one.offset));
	cr_expect(msd_segpool_free(&p, one.segment, one.offset));
	cr_expect_not(msd_segpool_free(&p, one.segment, one.offset), "twice");
	close(a.fd);
	msd_segpool_finish(&p);
}

Test(segpool, over_the_limit_changes_nothing)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot one;

	msd_segpool_init(&p, 1u << 20, on_change, &a);
	cr_expect_eq(msd_segpool_alloc(&p, (1u << 20) + 1, &one, NULL), MSD_NO_SPACE);
	cr_expect_eq(msd_segpool_alloc(&p, UINT64_MAX, &one, NULL), MSD_NO_SPACE);
	cr_expect_eq(a.n, 0);
	cr_expect_eq(p.total_bytes, 0);
	msd_segpool_finish(&p);
}

Test(segpool, trimmed_memory_is_usable_again)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot one;

	msd_segpool_init(&p, 1u << 24, on_change, &a);
	cr_assert_eq(msd_segpool_alloc(&p, 4096, &one, NULL), MSD_OK);
	memset(one.p, 7, 4096);
	cr_assert(msd_segpool_free(&p, one.segment, one.offset));
	msd_segpool_trim(&p, 0);
	cr_assert_eq(msd_segpool_alloc(&p, 4096, &one, NULL), MSD_OK);
	cr_expect_eq(one.p[0], 0, "its pages went back");
	one.p[0] = 1;
	close(a.fd);
	msd_segpool_finish(&p);
}

static void alloc(struct msd_segpool *p, uint64_t bytes, struct msd_slot *ret)
{
	struct msd_diag d = {0};

	cr_assert_eq(msd_segpool_alloc(p, bytes, ret, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	memset(ret->p, 1, bytes);
}

Test(segpool, unused_segments_make_room_for_a_larger_slot)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot s[4], large;

	msd_segpool_init(&p, 16u << 20, on_change, &a);
	for (int i = 0; i < 4; i++)
		alloc(&p, 3900u << 10, &s[i]);
	cr_expect_geq(a.n, 3, "none is large enough");
	for (int i = 0; i < 4; i++)
		cr_assert(msd_segpool_free(&p, s[i].segment, s[i].offset));
	alloc(&p, 12u << 20, &large);
	cr_expect_geq(a.n_gone, 1, "the other side is told");
	cr_expect_leq(p.warm_bytes, p.max_bytes);
	msd_segpool_finish(&p);
}

Test(segpool, free_pages_between_used_slots_make_room)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot big[4], small[4], large;

	msd_segpool_init(&p, 16u << 20, on_change, &a);
	for (int i = 0; i < 4; i++) { /* a used slot pins each segment */
		alloc(&p, 3u << 20, &big[i]);
		alloc(&p, 1000u << 10, &small[i]);
	}
	for (int i = 0; i < 4; i++)
		cr_assert(msd_segpool_free(&p, big[i].segment, big[i].offset));
	alloc(&p, 7u << 20, &large);
	cr_expect_leq(p.warm_bytes, p.max_bytes);
	cr_expect_leq(p.total_bytes, msd_segpool_most_addresses(p.max_bytes));
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(small[i].p[0], 1, "what is used stays");
		cr_assert(msd_segpool_free(&p, small[i].segment, small[i].offset));
	}
	cr_expect_eq(a.n_gone, 3, "a segment with holes goes with its last slot");
	msd_segpool_finish(&p);
}

Test(segpool, pages_that_a_device_holds_are_not_given_up)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot big, small, large;

	msd_segpool_init(&p, 4u << 20, on_change, &a);
	p.is_pinned = true;
	alloc(&p, 3u << 20, &big);
	alloc(&p, 1000u << 10, &small);
	cr_assert(msd_segpool_free(&p, big.segment, big.offset));
	cr_expect_eq(msd_segpool_alloc(&p, 3500u << 10, &large, NULL), MSD_NO_SPACE);
	cr_expect_eq(p.warm_bytes, p.total_bytes);
	msd_segpool_trim(&p, 0);
	cr_expect_eq(a.n_gone, 0);
	msd_segpool_finish(&p);
}

Test(segpool, an_index_that_was_taken_back_comes_again)
{
	struct msd_segpool p;
	struct announced a = {0};
	struct msd_slot one, two;

	msd_segpool_init(&p, 16u << 20, on_change, &a);
	alloc(&p, 1u << 20, &one);
	alloc(&p, 2u << 20, &two);
	cr_assert(msd_segpool_free(&p, one.segment, one.offset));
	msd_segpool_trim(&p, 0);
	cr_expect_eq(a.n_gone, 1);
	cr_expect_not(msd_segpool_free(&p, one.segment, one.offset));
	alloc(&p, 4u << 20, &one);
	cr_expect_eq(a.index, 0);
	cr_expect_eq(p.n_segments, 2);
	cr_expect_eq(two.p[0], 1);
	msd_segpool_finish(&p);
}

static void on_grown(void *ctx)
{
	((struct announced *)ctx)->n_grown++;
}

/* A pool whose large segments are reserved by threads of @loop. */
static void begin_aside(struct msd_segpool *p, uv_loop_t *loop, struct announced *a)
{
	cr_assert_eq(uv_loop_init(loop), 0);
	msd_segpool_init(p, 1u << 30, on_change, a);
	msd_segpool_grow_aside(p, loop, on_grown);
}

static void expect_loop_over(uv_loop_t *loop)
{
	(void)uv_run(loop, UV_RUN_DEFAULT);
	msd_work_close();
	(void)uv_run(loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(loop), 0, "nothing is left");
}

Test(segpool, a_large_segment_is_reserved_beside_the_loop)
{
	struct msd_segpool p;
	struct announced a = {0};
	uv_loop_t loop;
	struct msd_slot one;

	begin_aside(&p, &loop, &a);
	cr_expect_eq(msd_segpool_alloc(&p, 8u << 20, &one, NULL), MSD_WAIT);
	cr_expect_eq(msd_segpool_alloc(&p, 8u << 20, &one, NULL), MSD_WAIT);
	cr_expect_eq(a.n, 0, "the other side knows of none yet");
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect(a.n_grown == 1 && a.n == 1);
	cr_expect_eq(msd_segpool_alloc(&p, 8u << 20, &one, NULL), MSD_OK);
	memset(one.p, 1, 8u << 20);
	msd_segpool_finish(&p);
	close(a.fd);
	expect_loop_over(&loop);
}

Test(segpool, what_is_being_reserved_counts_before_it_is_there)
{
	struct msd_segpool p;
	struct announced a = {0};
	uv_loop_t loop;
	struct msd_slot large, small, other;

	cr_assert_eq(uv_loop_init(&loop), 0);
	msd_segpool_init(&p, 16u << 20, NULL, &a);
	alloc(&p, (8u << 20) - 4096, &large);
	alloc(&p, 4096, &small);
	cr_assert(msd_segpool_free(&p, large.segment, large.offset));
	msd_segpool_grow_aside(&p, &loop, on_grown);
	cr_expect_eq(msd_segpool_alloc(&p, 12u << 20, &other, NULL), MSD_WAIT);
	cr_expect_eq(msd_segpool_alloc(&p, 7u << 20, &large, NULL), MSD_WAIT);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_leq(p.warm_bytes, p.max_bytes);
	cr_expect_eq(msd_segpool_alloc(&p, 12u << 20, &other, NULL), MSD_OK);
	msd_segpool_finish(&p);
	expect_loop_over(&loop);
}

Test(segpool, a_small_segment_is_there_at_once)
{
	struct msd_segpool p;
	struct announced a = {0};
	uv_loop_t loop;
	struct msd_slot one;

	begin_aside(&p, &loop, &a);
	cr_expect_eq(msd_segpool_alloc(&p, 1000, &one, NULL), MSD_OK);
	msd_segpool_finish(&p);
	close(a.fd);
	expect_loop_over(&loop);
}

Test(segpool, memory_that_is_not_there_is_told_to_who_waited)
{
	const struct rlimit little = {1u << 20, 1u << 20};
	struct msd_segpool p;
	struct announced a = {0};
	uv_loop_t loop;
	struct msd_slot one;

	cr_assert_neq(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
	begin_aside(&p, &loop, &a);
	cr_expect_eq(msd_segpool_alloc(&p, 8u << 20, &one, NULL), MSD_WAIT);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(a.n_grown, 1);
	cr_expect_eq(msd_segpool_alloc(&p, 8u << 20, &one, NULL), MSD_NO_SPACE);
	cr_expect_eq(msd_segpool_alloc(&p, 8u << 20, &one, NULL), MSD_WAIT,
		     "the next one tries again");
	msd_segpool_finish(&p);
	expect_loop_over(&loop);
}

Test(segpool, that_ends_while_it_grows_leaves_nothing)
{
	struct msd_segpool p;
	struct announced a = {0};
	uv_loop_t loop;
	struct msd_slot one;

	begin_aside(&p, &loop, &a);
	cr_expect_eq(msd_segpool_alloc(&p, 8u << 20, &one, NULL), MSD_WAIT);
	msd_segpool_finish(&p);
	expect_loop_over(&loop);
	cr_expect_eq(a.n_grown, 0, "nobody is told");
}
