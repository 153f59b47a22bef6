/* The reader of a folder of parameters takes good archives, and names the fault of
 * others. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "artifact/params/md5.h"
#include "artifact/params/shards.h"
#include "tests/artifact/tar_writer.h"
#include "tests/support/fail_alloc.h"

#define SHARD "0123456789abcdef"
#define SUM "4032af8d61035123906e58e067140cc5"
#define HEAD "{\"dataPath\": \"s.bin\", \"format\": \"raw-shard\", \"nbytes\": 16, "
#define A                                                                              \
	"{\"name\": \"a\", \"dtype\": \"float32\", \"shape\": [2], "                   \
	"\"format\": \"raw\", \"nbytes\": 8, \"byteOffset\": 0}"
#define B                                                                              \
	"{\"name\": \"b\", \"dtype\": \"float32\", \"shape\": [2, 2], "                \
	"\"format\": \"f32-to-bf16\", \"nbytes\": 8, \"byteOffset\": 8}"
#define INDEX(head, sum, records)                                                      \
	"{\"metadata\": {}, \"records\": [" head "\"md5sum\": \"" sum                  \
	"\", \"records\": [" records "]}]}"
#define GOOD INDEX(HEAD, SUM, A ", " B)

static void folder(struct bw *w, const char *index_name, const char *index)
{
	tar_put_text(w, index_name, index);
	tar_put(w, "s.bin", '0', SHARD, strlen(SHARD));
	tar_end(w);
}

static msd_err read_index(const char *index, struct msd_diag *d)
{
	struct msd_shards s = {0};
	struct bw w = {0};

	folder(&w, "tensor-cache.json", index);
	msd_err err = msd_shards_read(bw_span(&w), &s, d);
	if (err == MSD_OK)
		err = msd_shards_check(&s, d);
	msd_shards_finish(&s);
	bw_free(&w);
	return err;
}

static void expect_refused(const char *index, msd_err code, const char *text)
{
	struct msd_diag d = {0};

	cr_expect_eq(read_index(index, &d), code, "%s: %s", text, msd_diag_text(&d));
	cr_expect(strstr(msd_diag_text(&d), text) != NULL, "expected %s, got %s", text,
		  msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(shards, finds_records_in_their_places)
{
	static const char *const names[] = {"tensor-cache.json", "ndarray-cache.json"};

	for (int i = 0; i < 2; i++) {
		struct msd_shards s = {0};
		struct bw w = {0};

		bw_raw(&w, "\0\0\0\0\0", 5);
		folder(&w, names[i], GOOD);
		cr_expect(msd_shards_is(bw_span(&w)));
		cr_assert_eq(msd_shards_read(bw_span(&w), &s, NULL), MSD_OK);
		cr_assert_eq(msd_shards_check(&s, NULL), MSD_OK);
		const struct msd_shard_record *b =
			msd_shards_find(&s, msd_span_of("b"));
		cr_assert_not_null(b);
		cr_expect(b->is_bf16);
		cr_expect_eq(b->tensor.ndim, 2);
		cr_expect_arr_eq(b->tensor.data.p, "89abcdef", 8);
		cr_expect_eq(s.n, 2);
		cr_expect_null(msd_shards_find(&s, msd_span_of("c")));
		msd_shards_finish(&s);
		bw_free(&w);
	}
}

Test(shards, refuses_what_an_index_may_not_say)
{
	expect_refused("", MSD_BAD_ARTIFACT, "tensor-cache.json: line 1");
	expect_refused("[]", MSD_BAD_ARTIFACT, "records: expected a list");
	expect_refused("{\"records\": [], \"records\": []}", MSD_BAD_ARTIFACT,
		       "duplicate object key");
	expect_refused("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", MSD_TOO_LARGE, "brackets");
	expect_refused(INDEX("{\"dataPath\": \"../s.bin\", \"format\": \"raw-shard\", "
			     "\"nbytes\": 16, ",
			     SUM, A),
		       MSD_BAD_ARTIFACT, "shard ../s.bin: the folder has no such file");
	expect_refused(INDEX("{\"dataPath\": \"s.bin\", \"format\": \"raw-shard\", "
			     "\"nbytes\": 17, ",
			     SUM, A),
		       MSD_BAD_ARTIFACT, "nbytes is 17, but the file has 16");
	expect_refused(INDEX("{\"dataPath\": \"s.bin\", \"format\": \"zip\", "
			     "\"nbytes\": 16, ",
			     SUM, A),
		       MSD_UNSUPPORTED, "format zip");
	expect_refused(INDEX(HEAD, "4032af8d61035123906e58e067140cc6", A),
		       MSD_BAD_ARTIFACT, "shard s.bin: its MD5 is not the");
	expect_refused(INDEX(HEAD, "4032", A), MSD_BAD_ARTIFACT, "its MD5 is not");
	expect_refused("{\"records\": [1]}", MSD_BAD_ARTIFACT, "a shard: dataPath");
}

#define RECORD(name, dtype, shape, format, bytes, at)                                  \
	"{\"name\": " name ", \"dtype\": \"" dtype "\", \"shape\": " shape             \
	", \"format\": \"" format "\", \"nbytes\": " bytes ", \"byteOffset\": " at "}"

static const struct {
	const char *index;
	msd_err code;
	const char *text;
} bad_records[] = {
	{INDEX(HEAD, SUM, RECORD("1", "float32", "[2]", "raw", "8", "0")),
	 MSD_BAD_ARTIFACT, "a record: name: expected a text"},
	{INDEX(HEAD, SUM, RECORD("\"r\"", "float32", "[2]", "raw", "8", "9")),
	 MSD_BAD_ARTIFACT, "record r: it ends behind the 16 bytes"},
	{INDEX(HEAD, SUM, RECORD("\"r\"", "float32", "[2]", "raw", "4", "0")),
	 MSD_BAD_ARTIFACT, "nbytes is 4, but its type and shape have 8"},
	{INDEX(HEAD, SUM, RECORD("\"r\"", "float32", "[2]", "raw", "8", "-1")),
	 MSD_BAD_ARTIFACT, "byteOffset: expected a number"},
	{INDEX(HEAD, SUM,
	       RECORD("\"r\"", "float32", "[2]", "raw", "8", "9223372036854775807")),
	 MSD_BAD_ARTIFACT, "it ends behind"},
	{INDEX(HEAD, SUM, RECORD("\"r\"", "float32", "[-2]", "raw", "8", "0")),
	 MSD_BAD_ARTIFACT, "shape: expected numbers"},
	{INDEX(HEAD, SUM,
	       RECORD("\"r\"", "float32", "[4611686018427387904, 8]", "raw", "8", "0")),
	 MSD_BAD_ARTIFACT, "shape: too large"},
	{INDEX(HEAD, SUM, RECORD("\"r\"", "float", "[2]", "raw", "8", "0")),
	 MSD_UNSUPPORTED, "unknown dtype float"},
	{INDEX(HEAD, SUM, RECORD("\"r\"", "float32", "[2]", "q4", "8", "0")),
	 MSD_UNSUPPORTED, "format q4"},
	{INDEX(HEAD, SUM, A ", " RECORD("\"r\"", "float32", "[2]", "raw", "8", "4")),
	 MSD_BAD_ARTIFACT, "records a and r overlap"},
	{INDEX(HEAD, SUM, A ", " RECORD("\"a\"", "float32", "[2]", "raw", "8", "8")),
	 MSD_BAD_ARTIFACT, "records a and a have one name"},
};

Test(shards, refuses_what_a_record_may_not_say)
{
	for (size_t i = 0; i < sizeof(bad_records) / sizeof(bad_records[0]); i++) {
		expect_refused(bad_records[i].index, bad_records[i].code,
			       bad_records[i].text);
	}
}

#define LARGE                                                                          \
	"{\"dataPath\": \"s.bin\", \"format\": \"raw-shard\", \"nbytes\": 8192, "      \
	"\"records\": []}"

Test(shards, refuses_a_shard_that_would_be_hashed_twice)
{
	static const uint8_t zeros[8192];
	struct msd_shards s = {0};
	struct msd_diag d = {0};
	struct bw w = {0};

	tar_put_text(&w, "tensor-cache.json", "{\"records\": [" LARGE ", " LARGE "]}");
	tar_put(&w, "s.bin", '0', zeros, sizeof(zeros));
	tar_end(&w);
	cr_expect_eq(msd_shards_read(bw_span(&w), &s, &d), MSD_BAD_ARTIFACT);
	cr_expect(strstr(msd_diag_text(&d), "shard s.bin: it is listed twice") != NULL);
	msd_diag_finish(&d);
	bw_free(&w);
}

Test(shards, refuses_every_prefix)
{
	struct bw w = {0};

	folder(&w, "tensor-cache.json", GOOD);
	for (size_t n = 0; n < w.n; n++) {
		struct msd_shards s = {0};
		struct msd_diag d = {0};

		cr_expect_eq(msd_shards_read((struct msd_span){w.p, n}, &s, &d),
			     MSD_BAD_ARTIFACT, "%zu", n);
		msd_diag_finish(&d);
	}
	bw_free(&w);
}

Test(shards, refuses_damaged_archives)
{
	static const struct {
		size_t at;
		const char *text;
	} rows[] = {{0, "sum does not match"}, {SIZE_MAX, "tensor-cache.json twice"}};
	struct bw w = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct msd_shards s = {0};
		struct msd_diag d = {0};

		if (rows[i].at == SIZE_MAX)
			tar_put_text(&w, "tensor-cache.json", GOOD);
		folder(&w, "tensor-cache.json", GOOD);
		if (rows[i].at != SIZE_MAX)
			w.p[rows[i].at] ^= 1;
		cr_expect_eq(msd_shards_read(bw_span(&w), &s, &d), MSD_BAD_ARTIFACT);
		cr_expect(strstr(msd_diag_text(&d), rows[i].text) != NULL, "%s",
			  msd_diag_text(&d));
		msd_diag_finish(&d);
		bw_free(&w);
		w = (struct bw){0};
	}
}

Test(shards, reports_every_failing_allocation)
{
	struct bw w = {0};
	bool failed = true;

	folder(&w, "tensor-cache.json", GOOD);
	for (long k = 0; failed; k++) {
		struct msd_shards s = {0};
		struct msd_diag d = {0};

		msd_fail_alloc(k);
		msd_err err = msd_shards_read(bw_span(&w), &s, &d);
		if (err == MSD_OK)
			err = msd_shards_check(&s, &d);
		failed = msd_fail_alloc_stop();
		cr_expect_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld", k);
		msd_shards_finish(&s);
		msd_diag_finish(&d);
	}
	bw_free(&w);
}

/* RFC 1321's own examples, and ranges of other sizes beside them. */
Test(md5, hashes_ranges_of_any_number_and_size)
{
	static const struct {
		const char *text, *sum;
	} rows[] = {
		{"", "d41d8cd98f00b204e9800998ecf8427e"},
		{"a", "0cc175b9c0f1b6a831c399e269772661"},
		{"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
		 "d174ab98d277d9f5a5611c2c9f419d9f"},
		{"1234567890123456789012345678901234567890"
		 "1234567890123456789012345678901234567890",
		 "57edf4a22be3c955ac49da2e2107b67a"},
	};
	struct msd_span spans[25];
	struct msd_md5 got[25], want;

	for (size_t n = 1; n <= 25; n++) {
		for (size_t i = 0; i < n; i++)
			spans[i] = msd_span_of(rows[(i * 3) % 5].text);
		msd_md5_of(spans, n, got);
		for (size_t i = 0; i < n; i++) {
			cr_assert(msd_md5_parse(msd_span_of(rows[(i * 3) % 5].sum),
						&want));
			cr_expect_arr_eq(got[i].b, want.b, MSD_MD5_BYTES, "%zu of %zu",
					 i, n);
		}
	}
}

Test(md5, reads_32_digits_only)
{
	struct msd_md5 sum;

	cr_expect(msd_md5_parse(msd_span_of("D41D8CD98F00B204E9800998ECF8427E"), &sum));
	cr_expect_not(
		msd_md5_parse(msd_span_of("d41d8cd98f00b204e9800998ecf8427"), &sum));
	cr_expect_not(
		msd_md5_parse(msd_span_of("g41d8cd98f00b204e9800998ecf8427e"), &sum));
}
