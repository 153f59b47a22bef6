#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/loop/work.h"
#include "daemon/supervisor/keep/keep.h"
#include "store/maintenance.h"
#include "tests/store/shelf.h"

#define N 5000

static uv_loop_t loop;
static struct msd_keeper keeper;
static struct shelf shelf;

/* A store that may have @max_bytes. */
static void open_keeper(uint64_t max_bytes)
{
	struct msd_diag d = {0};

	shelf_init(&shelf);
	msd_store_close(&shelf.store);
	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(msd_keeper_open(&keeper, &loop, shelf.path, max_bytes, &d), MSD_OK,
		     "%s", msd_diag_text(&d));
	shelf.store = keeper.store;
}

static void close_keeper(void)
{
	keeper.is_open = false;
	shelf_finish(&shelf);
	msd_work_close();
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0, "nothing is left");
}

static void on_kept(struct msd_keeper_job *job, struct msd_keeper *k)
{
	(void)job;
	(void)k;
}

static void put_bytes(int fd, unsigned seed, size_t n)
{
	uint8_t *bytes = shelf_bytes(seed, n);

	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	free(bytes);
}

/* A library of N bytes of seed 1, and parameters of @n bytes of seed 2. */
static msd_err keep(size_t n)
{
	struct msd_keep k = {.fd = memfd_create("kept", MFD_CLOEXEC),
			     .part_bytes = {N, 0, n},
			     .edition = calloc(1, sizeof(struct msd_edition))};

	cr_assert_not_null(k.edition);
	put_bytes(k.fd, 1, N);
	put_bytes(k.fd, 2, n);
	msd_keep_label(&k, (struct msd_span){(const uint8_t *)"m", 1},
		       (struct msd_span){(const uint8_t *)"f", 1});
	msd_keep_candidate(&keeper, &k, on_kept);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	msd_diag_finish(&k.job.d);
	free(k.edition);
	(void)close(k.fd);
	return k.job.err;
}

Test(keep, puts_the_parts_and_the_record_that_names_them)
{
	open_keeper(2 * N);
	cr_assert_eq(keep(N), MSD_OK);
	cr_expect(shelf_has(&shelf, 1, N));
	cr_expect(shelf_has(&shelf, 2, N));
	close_keeper();
}

static void write_papers(struct msd_attachment papers[MSD_PAPERS])
{
	for (unsigned i = 0; i < MSD_PAPERS; i++) {
		uint8_t *bytes = shelf_bytes(4 + i, 7 + i);

		cr_assert_eq(msd_attachment_write((struct msd_span){bytes, 7 + i},
						  &papers[i], NULL),
			     MSD_OK);
		free(bytes);
	}
}

Test(keep, puts_self_tests_manifest_and_signature_beside_the_parts)
{
	struct msd_keep k = {.fd = memfd_create("kept", MFD_CLOEXEC),
			     .part_bytes = {N},
			     .edition = calloc(1, sizeof(struct msd_edition))};
	struct msd_record r;

	open_keeper(2 * N);
	put_bytes(k.fd, 1, N);
	write_papers(k.papers);
	msd_keep_label(&k, msd_span_of("m"), msd_span_of("f"));
	msd_keep_candidate(&keeper, &k, on_kept);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(k.job.err, MSD_OK, "%s", msd_diag_text(&k.job.d));
	cr_assert_eq(msd_record_load(&shelf.store, "m", &r, NULL), MSD_OK);
	const struct msd_edition *e = r.editions[MSD_REF_CANDIDATE];
	cr_assert_eq(e->n_files, 1 + MSD_PAPERS);
	for (unsigned i = 0; i < MSD_PAPERS; i++) {
		cr_expect(shelf_has(&shelf, 4 + i, 7 + i));
		cr_expect_eq(e->files[1 + i].role, MSD_ROLE_TEST + i);
		cr_expect_eq(e->files[1 + i].bytes, 7 + i);
		msd_attachment_close(&k.papers[i]);
	}
	cr_assert(msd_digest_equal(&e->digest, &e->files[0].digest),
		  "they are no part of its name");
	msd_record_finish(&r);
	(void)close(k.fd);
	close_keeper();
}

Test(keep, counts_what_a_collection_takes_of_its_own)
{
	struct msd_store_use use;
	struct msd_digest digest;

	open_keeper(3 * N);
	cr_assert_eq(shelf_put(&shelf, 1, N, &digest, NULL), MSD_OK);
	cr_assert_eq(shelf_put(&shelf, 3, N, &digest, NULL), MSD_OK);
	cr_expect_eq(keep((5 * N) / 2), MSD_NO_SPACE, "both parts are over the limit");
	cr_assert_eq(msd_store_measure(&shelf.store, &use, NULL), MSD_OK);
	cr_expect_leq(use.blob_bytes, 3 * N);
	close_keeper();
}
