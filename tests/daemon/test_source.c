#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/segments/reserve.h"
#include "daemon/supervisor/source/source.h"
#include "proto/words/external_data.h"

static char paths[2][64];

/* Two files of the given texts. */
static void write_files(const char *first, const char *second)
{
	const char *const texts[] = {first, second};

	for (int i = 0; i < 2; i++) {
		(void)strcpy(paths[i], "/tmp/modserd-source-XXXXXX");
		int fd = mkstemp(paths[i]);
		size_t n = strlen(texts[i]);
		cr_assert(fd >= 0 && write(fd, texts[i], n) == (ssize_t)n);
		close(fd);
	}
}

static void remove_files(void)
{
	for (int i = 0; i < 2; i++) {
		if (paths[i][0] != '\0')
			(void)unlink(paths[i]);
	}
}

static void expect_sha256(const struct msd_source *s, const char *digits)
{
	char text[MSD_DIGEST_TEXT];

	msd_digest_format(&s->sha256, text);
	cr_expect_str_eq(text, digits);
}

Test(source, of_no_bytes_or_over_the_limit_is_refused)
{
	cr_expect_eq(msd_source_check_size(0, 100, NULL), MSD_BAD_REQUEST);
	cr_expect_eq(msd_source_check_size(101, 100, NULL), MSD_TOO_LARGE);
	cr_expect_eq(msd_source_check_size(100, 100, NULL), MSD_OK);
}

Test(source, that_is_sealed_cannot_be_written)
{
	struct msd_source s = {.fd = -1};

	s.fd = msd_reserve_now("test", 3);
	cr_assert_eq(pwrite(s.fd, "abc", 3, 0), 3);
	cr_assert_eq(msd_source_seal(&s, NULL), MSD_OK);
	cr_expect_eq(pwrite(s.fd, "b", 1, 0), -1);
	cr_expect_eq(ftruncate(s.fd, 2), -1);
	cr_expect_eq(s.bytes, 3);
	expect_sha256(
		&s, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	msd_source_finish(&s);
}

Test(source, of_files_has_them_one_behind_the_other, .fini = remove_files)
{
	struct msd_source s;
	char text[16] = {0};

	write_files("a", "bc");
	const char *const names[] = {paths[0], NULL, paths[1]};
	cr_assert_eq(msd_source_read(names, NULL, 100, &s, NULL), MSD_OK);
	cr_expect(s.part_bytes[MSD_PART_MODEL] == 1 &&
		  s.part_bytes[MSD_PART_GRAPH] == 0 &&
		  s.part_bytes[MSD_PART_PARAMS] == 2);
	cr_assert_eq(pread(s.fd, text, sizeof(text), 0), 3);
	cr_expect_str_eq(text, "abc");
	cr_expect_eq(pwrite(s.fd, "b", 1, 0), -1, "it is sealed");
	expect_sha256(
		&s, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	msd_source_finish(&s);
}

static void write_in(const char *in, const char *name, const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", in, name);
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f);
	cr_assert_eq(fputs(text, f) >= 0, true);
	cr_assert_eq(fclose(f), 0);
}

static const char *const saved[] = {"saved_model.pb", "variables/other",
				    "variables/variables.data-00000-of-00001",
				    "variables/variables.index"};
static char folder[64];

static void write_saved(void)
{
	char path[128];

	(void)snprintf(folder, sizeof(folder), "%s", "/tmp/modserd-folder-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/variables", folder);
	cr_assert_eq(mkdir(path, 0700), 0);
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++)
		write_in(folder, saved[i], i == 0 ? "m" : i == 3 ? "i" : "dd");
}

/* Remove the folder; with @only_variables, only its variables. */
static void remove_saved(bool only_variables)
{
	char path[128];

	for (size_t i = only_variables; i < sizeof(saved) / sizeof(saved[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, saved[i]);
		(void)unlink(path);
	}
	(void)snprintf(path, sizeof(path), "%s/variables", folder);
	(void)rmdir(path);
	if (!only_variables)
		(void)rmdir(folder);
}

static void remove_all(void)
{
	remove_saved(false);
}

Test(source, of_a_folder_lists_its_variables, .init = write_saved, .fini = remove_all)
{
	const char *const names[MSD_PART_COUNT] = {folder};
	struct msd_source s = {.fd = -1};
	struct msd_external_data_file file;
	char text[2] = {0};

	cr_assert_eq(msd_source_read(names, NULL, 20000, &s, NULL), MSD_OK);
	cr_expect_eq(s.bytes, 2 * 4096 + 1);
	cr_expect_eq(s.part_bytes[MSD_PART_MODEL], 1);
	cr_expect_eq(s.files.p[0], 0x92, "a list of two");
	const struct msd_span items = {s.files.p + 1, s.files.n - 1};
	cr_assert(msd_external_data_find(items, 1, "variables/variables.index", &file));
	cr_assert(file.at == 2 * 4096 && file.bytes == 1);
	cr_assert_eq(pread(s.fd, text, 1, (off_t)file.at), 1);
	cr_expect_str_eq(text, "i");
	msd_source_finish(&s);
}

Test(source, of_a_folder_needs_no_variables, .init = write_saved, .fini = remove_all)
{
	const char *const names[MSD_PART_COUNT] = {folder};
	struct msd_source s = {.fd = -1};

	remove_saved(true);
	cr_assert_eq(msd_source_read(names, NULL, 20000, &s, NULL), MSD_OK);
	cr_expect(s.bytes == 1 && s.files.n == 0);
	msd_source_finish(&s);
}

Test(source, of_files_names_the_one_that_cannot_be_read, .fini = remove_files)
{
	struct msd_source s = {.fd = -1};
	struct msd_diag d = {0};

	write_files("library", "");
	const char *names[] = {paths[0], paths[1], NULL};
	cr_expect_eq(msd_source_read(names, NULL, 100, &s, &d), MSD_BAD_ARTIFACT);
	cr_expect_not_null(strstr(msd_diag_text(&d), paths[1]));
	names[1] = "/nowhere/to/be/found";
	cr_expect_eq(msd_source_read(names, NULL, 100, &s, &d), MSD_IO);
	cr_expect_not_null(strstr(msd_diag_text(&d), "/nowhere/to/be/found"));
	names[1] = "/tmp"; /* only a model may be a folder */
	cr_expect_eq(msd_source_read(names, NULL, 100, &s, &d), MSD_IO);
	cr_expect_eq(s.fd, -1);
	msd_diag_finish(&d);
}
