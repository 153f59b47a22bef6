#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/segments/segmap.h"
#include "daemon/segments/segpool.h"

struct announced {
	int fd; /* of the latest, ours */
	uint64_t bytes;
	uint16_t index;
};

static void on_new(void *ctx, uint16_t index, int fd, uint64_t bytes)
{
	*(struct announced *)ctx =
		(struct announced){.index = index, .bytes = bytes, .fd = dup(fd)};
}

Test(segmap, sees_what_the_other_side_wrote)
{
	struct msd_segpool p;
	struct msd_segmap m;
	struct announced a = {0};
	struct msd_slot one;

	msd_segpool_init(&p, 1u << 24, on_new, &a);
	msd_segmap_init(&m, 0);
	cr_assert_eq(msd_segpool_alloc(&p, 64, &one, NULL), MSD_OK);
	cr_assert_eq(msd_segmap_add(&m, a.index, a.fd, a.bytes, false, NULL), MSD_OK);
	memcpy(one.p, "tensor", 7);
	cr_expect_str_eq((char *)msd_segmap_at(&m, one.segment, one.offset, 7),
			 "tensor");
	msd_segmap_finish(&m);
	msd_segpool_finish(&p);
}

Test(segmap, ranges_outside_are_null)
{
	struct msd_segpool p;
	struct msd_segmap m;
	struct announced a = {0};
	struct msd_slot one;

	msd_segpool_init(&p, 1u << 24, on_new, &a);
	msd_segmap_init(&m, 0);
	cr_assert_eq(msd_segpool_alloc(&p, 64, &one, NULL), MSD_OK);
	cr_assert_eq(msd_segmap_add(&m, a.index, a.fd, a.bytes, false, NULL), MSD_OK);
	cr_expect_not_null(msd_segmap_at(&m, 0, a.bytes, 0));
	cr_expect_null(msd_segmap_at(&m, 0, a.bytes, 1));
	cr_expect_null(msd_segmap_at(&m, 0, 1, UINT64_MAX));
	cr_expect_null(msd_segmap_at(&m, 0, UINT64_MAX, 1));
	cr_expect_null(msd_segmap_at(&m, 1, 0, 1));
	msd_segmap_finish(&m);
	msd_segpool_finish(&p);
}

/* A memfd that was not sealed could be truncated under the reader. */
Test(segmap, refuses_what_is_not_sealed)
{
	struct msd_segmap m;
	struct msd_diag d = {0};
	int fd = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	msd_segmap_init(&m, 0);
	cr_assert_eq(ftruncate(fd, 4096), 0);
	cr_expect_eq(msd_segmap_add(&m, 0, fd, 4096, false, &d), MSD_PROTOCOL);
	cr_expect_not_null(strstr(msd_diag_text(&d), "sealed"));
	msd_diag_finish(&d);
	msd_segmap_finish(&m);
}

Test(segmap, consumes_what_it_refuses)
{
	struct msd_segmap m;
	int ends[2];
	char byte;

	cr_assert_eq(pipe(ends), 0);
	msd_segmap_init(&m, 1u << 20);
	cr_expect_eq(msd_segmap_add(&m, 0, ends[1], 4096, false, NULL), MSD_PROTOCOL);
	cr_expect_eq(read(ends[0], &byte, 1), 0, "no writer is left");
	close(ends[0]);
	msd_segmap_finish(&m);
}

Test(segmap, refuses_a_wrong_size_a_second_index_and_no_descriptor)
{
	struct msd_segpool p;
	struct msd_segmap m;
	struct announced a = {0};
	struct msd_slot one;

	msd_segpool_init(&p, 1u << 24, on_new, &a);
	msd_segmap_init(&m, 0);
	cr_assert_eq(msd_segpool_alloc(&p, 64, &one, NULL), MSD_OK);
	cr_expect_eq(msd_segmap_add(&m, 0, dup(a.fd), a.bytes + 1, false, NULL),
		     MSD_PROTOCOL);
	cr_expect_eq(msd_segmap_add(&m, 0, -1, a.bytes, false, NULL), MSD_PROTOCOL);
	cr_expect_eq(msd_segmap_add(&m, MSD_FIRST_LENT + MSD_MAX_LENT, dup(a.fd),
				    a.bytes, false, NULL),
		     MSD_PROTOCOL);
	cr_assert_eq(msd_segmap_add(&m, 0, dup(a.fd), a.bytes, false, NULL), MSD_OK);
	cr_expect_eq(msd_segmap_add(&m, 0, a.fd, a.bytes, false, NULL), MSD_PROTOCOL);
	msd_segmap_finish(&m);
	msd_segpool_finish(&p);
}

/* A memfd of @bytes with the seals that a segment needs. */
static int make_segment(uint64_t bytes, bool is_sparse)
{
	int fd = memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)bytes), 0);
	cr_assert(is_sparse || fallocate(fd, 0, 0, (off_t)bytes) == 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	return fd;
}

Test(segmap, segments_are_bounded_in_sum)
{
	struct msd_segmap m;

	msd_segmap_init(&m, 3u << 20);
	cr_expect_eq(msd_segmap_add(&m, 0, make_segment(2u << 20, false), 2u << 20,
				    false, NULL),
		     MSD_OK);
	cr_expect_eq(msd_segmap_add(&m, 1, make_segment(2u << 20, false), 2u << 20,
				    false, NULL),
		     MSD_PROTOCOL);
	cr_expect_eq(msd_segmap_add(&m, 1, make_segment(1u << 20, false), 1u << 20,
				    false, NULL),
		     MSD_OK, "it still fits");
	msd_segmap_finish(&m);
}

Test(segmap, a_bounded_one_refuses_holes)
{
	struct msd_segmap m;

	msd_segmap_init(&m, 1u << 20);
	cr_expect_eq(msd_segmap_add(&m, 0, make_segment(1u << 20, true), 1u << 20,
				    false, NULL),
		     MSD_PROTOCOL);
	msd_segmap_finish(&m);
}

Test(segmap, refuses_huge_pages)
{
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	struct msd_diag d = {0};
	struct msd_segmap m;

	if (fd < 0)
		cr_skip_test("the system has no huge pages: %s", strerror(errno));
	msd_segmap_init(&m, 0);
	cr_assert_eq(ftruncate(fd, 2 << 20), 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	cr_expect_eq(msd_segmap_add(&m, 0, fd, 2u << 20, false, &d), MSD_PROTOCOL);
	cr_expect_not_null(strstr(msd_diag_text(&d), "ordinary pages"));
	msd_diag_finish(&d);
	msd_segmap_finish(&m);
}

Test(segmap, one_that_is_taken_back_makes_room)
{
	struct msd_segmap m;

	msd_segmap_init(&m, 1u << 20);
	cr_expect_eq(msd_segmap_remove(&m, 0, NULL), MSD_PROTOCOL, "none is there");
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(msd_segmap_add(&m, 0, make_segment(1u << 20, false),
					    1u << 20, false, NULL),
			     MSD_OK);
		cr_assert_eq(msd_segmap_remove(&m, 0, NULL), MSD_OK);
		cr_expect_null(msd_segmap_at(&m, 0, 0, 1));
	}
	msd_segmap_finish(&m);
}

Test(segmap, one_that_is_held_is_not_taken_back)
{
	struct msd_segmap m;
	struct msd_range in = {.bytes = 1}, out = {.at = 1u << 20, .bytes = 1};
	const uint8_t *p = NULL;

	msd_segmap_init(&m, 1u << 20);
	cr_assert_eq(msd_segmap_add(&m, 0, make_segment(1u << 20, false), 1u << 20,
				    false, NULL),
		     MSD_OK);
	cr_expect_eq(msd_segmap_hold(&m, 0, &in, &p, NULL), MSD_OK);
	cr_expect_not_null(p);
	cr_expect_eq(msd_segmap_hold(&m, 0, &out, &p, NULL), MSD_PROTOCOL,
		     "outside: not held");
	cr_expect_eq(msd_segmap_remove(&m, 0, NULL), MSD_PROTOCOL);
	msd_segmap_let_go(&m, 0, &in);
	cr_expect_eq(msd_segmap_remove(&m, 0, NULL), MSD_OK);
	msd_segmap_finish(&m);
}

Test(segmap, what_is_held_is_held_once)
{
	struct msd_segmap m;
	struct msd_range first = {.at = 128, .bytes = 256}, second = {.at = 256};
	struct msd_diag d = {0};
	const uint8_t *p;

	msd_segmap_init(&m, 1u << 20);
	cr_assert_eq(msd_segmap_add(&m, 0, make_segment(1u << 20, false), 1u << 20,
				    false, NULL),
		     MSD_OK);
	cr_assert_eq(msd_segmap_hold(&m, 0, &first, &p, NULL), MSD_OK);
	cr_expect_eq(msd_segmap_hold(&m, 0, &second, &p, &d), MSD_PROTOCOL);
	cr_expect_not_null(strstr(msd_diag_text(&d), "shares a slot"));
	msd_segmap_let_go(&m, 0, &first);
	cr_expect_eq(msd_segmap_hold(&m, 0, &second, &p, NULL), MSD_OK);
	msd_segmap_let_go(&m, 0, &second);
	msd_diag_finish(&d);
	msd_segmap_finish(&m);
}

/* Bytes of memfds that are in this process's memory. */
static uint64_t resident_shared(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long kib = 0;
	char line[128];

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f) != NULL &&
	       sscanf(line, "RssShmem: %lu", &kib) != 1)
		continue;
	(void)fclose(f);
	return (uint64_t)kib << 10;
}

Test(segmap, cooled_ones_are_not_in_memory_and_keep_their_bytes)
{
	const uint64_t bytes = 8u << 20;
	struct msd_segmap m;
	uint64_t sum = 0;

	msd_segmap_init(&m, bytes);
	cr_assert_eq(
		msd_segmap_add(&m, 0, make_segment(bytes, false), bytes, true, NULL),
		MSD_OK);
	uint8_t *p = msd_segmap_at(&m, 0, 0, bytes);
	memset(p, 1, bytes);
	cr_expect_geq(resident_shared(), bytes);
	msd_segmap_cool(&m);
	cr_expect_lt(resident_shared(), bytes);
	for (uint64_t i = 0; i < bytes; i++)
		sum += p[i];
	cr_expect_eq(sum, bytes);
	msd_segmap_finish(&m);
}
