/* A folder of parameters becomes one part of a module. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/words/params_folder.h"

#define SHARD(name) "{\"dataPath\" : \"" name "\", \"records\": [{\"name\": \"w\"}]}"
#define INDEX                                                                          \
	"{\"metadata\": {\"dataPath\": \"no\"}, \"records\": [" SHARD(                 \
		"a.bin") ", " SHARD("b.bin") "]}"

static char dir[64];

static void put(const char *name, const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f);
	(void)fputs(text, f);
	cr_assert_eq(fclose(f), 0);
}

static void make(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/params-folder-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	put("a.bin", "12345678");
	put("b.bin", "123");
	put("other.bin", "no");
}

static void drop(void)
{
	static const char *const names[] = {"a.bin",
					    "b.bin",
					    "other.bin",
					    "pipe",
					    "tensor-cache.json",
					    "ndarray-cache.json"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(dir);
}

TestSuite(params_folder, .init = make, .fini = drop);

static void expect_refused(const char *index, msd_err code, const char *text)
{
	struct msd_params_folder f = {0};
	struct msd_diag d = {0};

	if (index != NULL)
		put("tensor-cache.json", index);
	cr_expect_eq(msd_params_folder_open(dir, 0, &f, &d), code, "%s", text);
	cr_expect(strstr(msd_diag_text(&d), text) != NULL, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(params_folder, packs_the_index_and_the_files_that_it_names)
{
	struct msd_params_folder f = {0};
	uint8_t *whole;

	put("ndarray-cache.json", INDEX);
	cr_assert_eq(msd_params_folder_open(dir, 100, &f, NULL), MSD_OK);
	cr_expect_eq(f.n, 3);
	cr_expect_eq(f.zeros, 28); /* 100 + 28 is a multiple of 64 */
	cr_assert_eq(f.bytes, 28 + 6 * 512 + 1024);
	whole = malloc(f.bytes);
	cr_assert_eq(msd_params_folder_read(&f, 0, whole, f.bytes, NULL), MSD_OK);
	cr_expect_str_eq((char *)whole + 28, "ndarray-cache.json");
	cr_expect_arr_eq(whole + 28 + 512, INDEX, strlen(INDEX));
	cr_expect_str_eq((char *)whole + 28 + 1024, "a.bin");
	cr_expect_arr_eq(whole + 28 + 1536, "12345678", 9);
	cr_expect_arr_eq(whole + 28 + 2560, "123", 4);
	free(whole);
	msd_params_folder_finish(&f);
}

Test(params_folder, reads_any_piece)
{
	struct msd_params_folder f = {0};
	uint8_t *whole, *piece;

	put("tensor-cache.json", INDEX);
	cr_assert_eq(msd_params_folder_open(dir, 1, &f, NULL), MSD_OK);
	whole = malloc(f.bytes);
	piece = malloc(f.bytes);
	cr_assert_eq(msd_params_folder_read(&f, 0, whole, f.bytes, NULL), MSD_OK);
	for (uint64_t at = 0; at < f.bytes; at += 37) {
		for (uint64_t n = 0; n <= f.bytes - at; n += 241) {
			memset(piece, 0xff, n);
			cr_assert_eq(msd_params_folder_read(&f, at, piece, n, NULL),
				     MSD_OK);
			cr_expect(memcmp(piece, whole + at, n) == 0);
		}
	}
	free(whole);
	free(piece);
	msd_params_folder_finish(&f);
}

Test(params_folder, refuses_files_elsewhere_and_absent_ones)
{
	expect_refused(NULL, MSD_BAD_ARTIFACT, "a folder of parameters has an index");
	expect_refused("{\"records\": [" SHARD("../a.bin") "]}", MSD_BAD_ARTIFACT,
		       "\"../a.bin\": expected the name of a file of this folder");
	expect_refused("{\"records\": [" SHARD("..") "]}", MSD_BAD_ARTIFACT, "\"..\"");
	expect_refused("{\"records\": [" SHARD("") "]}", MSD_BAD_ARTIFACT, "\"\"");
	expect_refused("{\"records\": [" SHARD("a\\u002fb") "]}", MSD_BAD_ARTIFACT,
		       "\"a\\u002fb\"");
	expect_refused("{\"records\": [" SHARD("absent.bin") "]}", MSD_IO,
		       "absent.bin: No such file");
}

Test(params_folder, refuses_what_is_not_a_regular_file)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/pipe", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_refused("{\"records\": [" SHARD("pipe") "]}", MSD_IO,
		       "pipe: not a regular file");
}

Test(params_folder, reports_a_shard_that_shrinks)
{
	struct msd_params_folder f = {0};
	struct msd_diag d = {0};
	uint8_t *whole;

	put("tensor-cache.json", INDEX);
	cr_assert_eq(msd_params_folder_open(dir, 0, &f, NULL), MSD_OK);
	put("b.bin", "1");
	whole = malloc(f.bytes);
	cr_expect_eq(msd_params_folder_read(&f, 0, whole, f.bytes, &d), MSD_IO);
	cr_expect(strstr(msd_diag_text(&d), "b.bin: shrank") != NULL);
	free(whole);
	msd_diag_finish(&d);
	msd_params_folder_finish(&f);
}

Test(params_folder, every_prefix_of_an_index_ends)
{
	char text[sizeof(INDEX)];

	for (size_t n = 0; n < sizeof(INDEX); n++) {
		struct msd_params_folder f = {0};
		struct msd_diag d = {0};

		memcpy(text, INDEX, n);
		text[n < sizeof(INDEX) - 1 ? n : sizeof(INDEX) - 1] = '\0';
		put("tensor-cache.json", text);
		if (msd_params_folder_open(dir, 0, &f, &d) == MSD_OK)
			cr_expect_leq(f.n, 3);
		msd_params_folder_finish(&f);
		msd_diag_finish(&d);
	}
}
