#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/fetch/transfer/download_buffer.h"

#define MIB (1u << 20)
#define FILE_BYTES (3u * MIB)

static char path[] = "/tmp/modserd-saved-XXXXXX";
static int folder;
static uint8_t *file; /* all of it, its bytes as random as needed */
static struct msd_digest digest;
static char name[MSD_DIGEST_TEXT];
static struct msd_diag d;

static void begin(void)
{
	cr_assert_not_null(mkdtemp(path));
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	file = malloc(FILE_BYTES);
	cr_assert(folder >= 0 && file != NULL);
	for (uint32_t i = 0; i < FILE_BYTES; i++)
		file[i] = (uint8_t)((i * 2654435761u) >> 24);
	msd_digest_of((struct msd_span){file, FILE_BYTES}, &digest);
	msd_digest_format(&digest, name);
}

static void end(void)
{
	char command[64];

	free(file);
	close(folder);
	msd_diag_finish(&d);
	(void)snprintf(command, sizeof(command), "rm -r %s", path);
	cr_expect_eq(system(command), 0);
}

TestSuite(saved, .init = begin, .fini = end);

/* One that goes on with what is there. */
static void open_landing(struct msd_download_buffer *l)
{
	cr_assert_eq(msd_download_buffer_open(l, 8 * MIB, &d), MSD_OK);
	msd_resume_file_init(&l->saved, folder, 8 * MIB);
	cr_assert_eq(msd_download_buffer_next(l, FILE_BYTES, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_go_on(l, &digest, FILE_BYTES, &d), MSD_OK);
}

static void take_to(struct msd_download_buffer *l, uint64_t bytes)
{
	const struct msd_span rest = {file + l->sink.bytes, bytes - l->sink.bytes};

	cr_assert_eq(l->sink.take(&l->sink, rest, &d), MSD_OK);
}

static void expect_whole(struct msd_download_buffer *l)
{
	struct msd_digest is;

	take_to(l, FILE_BYTES);
	msd_download_buffer_digest(l, &is);
	cr_expect(msd_digest_equal(&is, &digest));
	cr_assert_eq(msd_download_buffer_seal(l, &is, &d), MSD_OK);
	cr_expect(msd_digest_equal(&is, &digest));
	msd_download_buffer_close(l);
	cr_expect_neq(faccessat(folder, name, F_OK, 0), 0, "nothing is left of it");
}

static off_t saved_bytes(void)
{
	struct stat st;

	return fstatat(folder, name, &st, 0) == 0 ? st.st_size : -1;
}

Test(saved, what_was_broken_off_is_gone_on_with_but_for_a_byte)
{
	struct msd_download_buffer l;

	open_landing(&l);
	cr_expect_eq(l.sink.bytes, 0);
	take_to(&l, 2 * MIB);
	msd_download_buffer_close(&l);
	cr_expect_eq(saved_bytes(), 2 * MIB);
	open_landing(&l);
	cr_expect_eq(l.sink.bytes, 2 * MIB - 1);
	cr_expect(l.has_old);
	expect_whole(&l);
}

/* A FIFO, on which an open() waits for who writes: the fetch goes on without it. */
Test(saved, what_is_no_file_is_not_waited_for, .timeout = 60)
{
	struct msd_download_buffer l;

	cr_assert_eq(mkfifoat(folder, name, 0600), 0);
	open_landing(&l);
	cr_expect_eq(l.sink.bytes, 0);
	take_to(&l, 2 * MIB);
	msd_download_buffer_close(&l);
	cr_expect_leq(saved_bytes(), 0, "nothing was written");
	open_landing(&l);
	cr_expect_eq(l.sink.bytes, 0);
	expect_whole(&l);
}

Test(saved, it_grows_from_one_fetch_to_the_next)
{
	struct msd_download_buffer l;

	for (uint32_t n = MIB; n <= FILE_BYTES; n += MIB) {
		open_landing(&l);
		take_to(&l, n);
		msd_download_buffer_close(&l);
		cr_expect_eq(saved_bytes(), n);
	}
	open_landing(&l);
	cr_expect_eq(l.sink.bytes, FILE_BYTES - 1);
	expect_whole(&l);
}

Test(saved, a_fetch_is_saved_while_it_goes_on)
{
	struct msd_download_buffer l;

	open_landing(&l);
	take_to(&l, MIB / 2 - 1);
	cr_expect_eq(saved_bytes(), -1);
	for (uint64_t n = MIB / 2; n < FILE_BYTES; n += MIB / 4) {
		take_to(&l, n);
		cr_expect(l.sink.bytes - (uint64_t)saved_bytes() < MIB / 2);
	}
	expect_whole(&l);
}

Test(saved, less_than_half_a_mebibyte_is_not)
{
	struct msd_download_buffer l;

	open_landing(&l);
	take_to(&l, MIB / 2 - 1);
	msd_download_buffer_close(&l);
	cr_expect_eq(saved_bytes(), -1);
}

Test(saved, a_restart_forgets_it)
{
	struct msd_download_buffer l;

	open_landing(&l);
	take_to(&l, 2 * MIB);
	msd_download_buffer_save(&l);
	cr_assert_eq(l.sink.restart(&l.sink, &d), MSD_OK);
	cr_expect_eq(saved_bytes(), -1);
	expect_whole(&l);
}

Test(saved, what_is_longer_than_the_file_is_thrown_away)
{
	struct msd_download_buffer l;
	const int fd = openat(folder, name, O_WRONLY | O_CREAT, 0600);

	cr_assert_eq(ftruncate(fd, FILE_BYTES + 1), 0);
	close(fd);
	open_landing(&l);
	cr_expect_eq(l.sink.bytes, 0);
	expect_whole(&l);
}

Test(saved, what_somebody_else_has_written_meanwhile_is_written_anew)
{
	struct msd_download_buffer l, other;
	uint8_t *there = malloc(2 * MIB);

	open_landing(&l);
	open_landing(&other);
	take_to(&l, MIB);
	msd_download_buffer_save(&l);
	take_to(&other, 2 * MIB);
	msd_download_buffer_save(&other);
	const int fd = openat(folder, name, O_RDONLY);
	cr_expect_eq(read(fd, there, 2 * MIB), 2 * MIB);
	cr_expect_eq(memcmp(there, file, 2 * MIB), 0);
	close(fd);
	free(there);
	expect_whole(&l);
	expect_whole(&other);
}

Test(saved, a_link_is_not_followed)
{
	struct msd_download_buffer l;

	cr_assert_eq(symlinkat("/etc/passwd", folder, name), 0);
	open_landing(&l);
	cr_expect_eq(l.sink.bytes, 0);
	take_to(&l, 2 * MIB);
	msd_download_buffer_save(&l);
	expect_whole(&l);
}

static void put_old(const char *digits, time_t at)
{
	char text[MSD_DIGEST_TEXT];
	const struct timespec times[2] = {{.tv_sec = at}, {.tv_sec = at}};

	memset(text, digits[0], MSD_DIGEST_TEXT - 1);
	text[MSD_DIGEST_TEXT - 1] = '\0';
	const int fd = openat(folder, text, O_WRONLY | O_CREAT, 0600);
	cr_assert_eq(ftruncate(fd, 3 * MIB), 0);
	cr_assert_eq(futimens(fd, times), 0);
	close(fd);
}

static bool has_old(const char *digits)
{
	char text[MSD_DIGEST_TEXT];

	memset(text, digits[0], MSD_DIGEST_TEXT - 1);
	text[MSD_DIGEST_TEXT - 1] = '\0';
	return faccessat(folder, text, F_OK, 0) == 0;
}

Test(saved, the_oldest_of_others_gives_way)
{
	struct msd_download_buffer l;

	put_old("1", 1000);
	put_old("2", 3000);
	put_old("3", 2000);
	open_landing(&l);
	take_to(&l, 2 * MIB);
	msd_download_buffer_close(&l);
	cr_expect_eq(saved_bytes(), 2 * MIB);
	cr_expect(!has_old("1") && has_old("2") && has_old("3"),
		  "eight MiB are the bound");
}

Test(saved, what_is_over_the_bound_alone_is_not_saved)
{
	struct msd_download_buffer l;

	open_landing(&l);
	l.saved.max_bytes = MIB;
	put_old("1", 1000);
	take_to(&l, 2 * MIB);
	msd_download_buffer_save(&l);
	cr_expect_eq(saved_bytes(), -1);
	cr_expect(has_old("1"));
	expect_whole(&l);
}

Test(saved, without_a_folder_nothing_is)
{
	struct msd_download_buffer l;

	cr_assert_eq(msd_download_buffer_open(&l, 8 * MIB, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_next(&l, FILE_BYTES, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_go_on(&l, &digest, FILE_BYTES, &d), MSD_OK);
	take_to(&l, 2 * MIB);
	msd_download_buffer_close(&l);
	cr_expect_eq(saved_bytes(), -1);
}
