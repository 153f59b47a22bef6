#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/manifest/manifest.h"
#include "tests/support/exact.h"

#define HEX "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define HEAD                                                                           \
	"{\"name\": \"digits\", \"version\": 7, "                                      \
	"\"created\": \"2026-11-22T10:00:00Z\", "                                      \
	"\"platform\": {\"arch\": \"amd64\"}, "
#define FILE_OF(path, role)                                                            \
	"{\"path\": \"" path "\", \"sha256\": \"" HEX "\", \"size\": 9, \"role\": "    \
	"\"" role "\"}"
#define WITH(files) HEAD "\"files\": [" files "]}"
#define LIBRARY FILE_OF("digits.so", "library")

static msd_err parse_bytes(const char *text, size_t n, struct msd_edition_manifest *ret)
{
	struct msd_diag d = {0};
	uint8_t *copy = exact_copy(text, n);
	const msd_err err =
		msd_edition_manifest_parse((struct msd_span){copy, n}, ret, &d);

	msd_diag_finish(&d);
	free(copy);
	return err;
}

static msd_err outcome(const char *text)
{
	struct msd_edition_manifest m;
	const msd_err err = parse_bytes(text, strlen(text), &m);

	msd_edition_manifest_finish(&m);
	return err;
}

Test(manifest, tells_what_it_says)
{
	static const char text[] = HEAD
		"\"expires\": \"2027-11-22T10:00:00Z\", \"warmup\": 3, "
		"\"later\": [1], \"files\": [" LIBRARY
		", " FILE_OF("graph.json", "graph") ", " FILE_OF("p", "params") "]}";
	struct msd_edition_manifest m;

	cr_assert_eq(parse_bytes(text, sizeof(text) - 1, &m), MSD_OK);
	cr_assert_str_eq(m.name, "digits");
	cr_assert_eq(m.version, 7);
	cr_assert_eq(m.expires_s - m.created_s, 365 * 86400);
	cr_assert_str_eq(m.arch, "amd64");
	cr_assert_eq(m.n_files, 3);
	cr_assert_str_eq(msd_edition_manifest_file(&m, MSD_ROLE_GRAPH)->name,
			 "graph.json");
	cr_assert_null(msd_edition_manifest_file(&m, MSD_ROLE_MODEL));
	cr_assert_eq(m.warmup, 3);
	msd_edition_manifest_finish(&m);
}

Test(manifest, every_prefix_is_refused)
{
	static const char text[] = WITH(LIBRARY);

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		struct msd_edition_manifest m;

		cr_expect_eq(parse_bytes(text, n, &m), MSD_BAD_ARTIFACT, "%zu bytes",
			     n);
		msd_edition_manifest_finish(&m);
	}
}

Test(manifest, names_that_lead_elsewhere_are_refused)
{
	static const char *const bad[] = {
		WITH(FILE_OF("../digits.so", "library")),
		WITH(FILE_OF("a/digits.so", "library")),
		WITH(FILE_OF("/etc/passwd", "library")),
		WITH(FILE_OF("..", "library")),
		WITH(FILE_OF(".digits.so", "library")),
		WITH(FILE_OF("", "library")),
		WITH(FILE_OF("a\\nb", "library")),
		WITH(FILE_OF("a\\u0000b", "library")),
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(outcome(bad[i]), MSD_BAD_ARTIFACT, "%s", bad[i]);
}

Test(manifest, files_that_are_no_module_are_refused)
{
	static const char *const bad[] = {
		WITH(""),
		WITH(FILE_OF("g", "graph")),
		WITH(LIBRARY ", " FILE_OF("m", "model")),
		WITH(LIBRARY ", " FILE_OF("b.so", "library")),
		WITH(LIBRARY ", " FILE_OF("digits.so", "data")),
		WITH(LIBRARY ", " FILE_OF("m", "manifest")),
		WITH(LIBRARY ", " FILE_OF("s", "signature")),
		WITH(FILE_OF("m", "model") ", " FILE_OF("n", "model")),
		WITH(FILE_OF("m", "model") ", " FILE_OF("g", "graph")),
		WITH(FILE_OF("digits.so", "program")),
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(outcome(bad[i]), MSD_BAD_ARTIFACT, "%s", bad[i]);
}

Test(manifest, archives_that_need_a_compiler_are_refused_by_name)
{
	cr_expect_eq(outcome(WITH(FILE_OF("digits.tar", "library"))), MSD_UNSUPPORTED);
	cr_expect_eq(outcome(WITH(FILE_OF("digits.o", "library"))), MSD_UNSUPPORTED);
	cr_expect_eq(outcome(WITH(FILE_OF("digits.tar", "model"))), MSD_UNSUPPORTED);
	cr_expect_eq(outcome(WITH(FILE_OF("tar", "library"))), MSD_OK);
}

Test(manifest, keys_that_are_missing_doubled_or_of_another_kind_are_refused)
{
	static const char *const bad[] = {
		"[]",
		"{}",
		"null",
		HEAD "\"files\": {}}",
		HEAD "\"version\": 7, \"files\": [" LIBRARY "]}",
		"{\"name\": \"a/b\", \"version\": 7}",
		"{\"name\": \"a\", \"version\": 0}",
		"{\"name\": \"a\", \"version\": -1}",
		"{\"name\": \"a\", \"version\": 9223372036854775808}",
		"{\"name\": \"a\", \"version\": 7.0}",
		"{\"name\": \"a\", \"version\": 7, \"created\": 5}",
		HEAD "\"warmup\": 1001, \"files\": [" LIBRARY "]}",
		HEAD "\"expires\": \"never\", \"files\": [" LIBRARY "]}",
		WITH("{\"path\": \"a\", \"sha256\": \"" HEX
		     "\", \"size\": 0, \"role\": \"library\"}"),
		WITH("{\"path\": \"a\", \"sha256\": \"12\", \"size\": 1, "
		     "\"role\": \"library\"}"),
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(outcome(bad[i]), MSD_BAD_ARTIFACT, "%s", bad[i]);
}

Test(manifest, a_thousand_brackets_are_refused_unread)
{
	struct msd_edition_manifest m;
	char text[2001];

	memset(text, '[', 1000);
	memset(text + 1000, ']', 1000);
	cr_expect_eq(parse_bytes(text, 2000, &m), MSD_BAD_ARTIFACT);
	msd_edition_manifest_finish(&m);
}

Test(manifest, more_values_or_bytes_than_there_may_be_are_refused_unread)
{
	const size_t n = MSD_MANIFEST_BYTES + 1;
	struct msd_edition_manifest m;
	char *text = malloc(n);

	cr_assert_not_null(text);
	memset(text, ',', n);
	cr_expect_eq(parse_bytes(text, n, &m), MSD_TOO_LARGE);
	cr_expect_eq(parse_bytes(text, n - 1, &m), MSD_BAD_ARTIFACT);
	msd_edition_manifest_finish(&m);
	free(text);
}

Test(manifest, brackets_in_texts_are_no_brackets)
{
	cr_expect_eq(outcome(HEAD
			     "\"note\": \"[[[[[[[[[[[[\\\"[[[\", \"files\": [" LIBRARY
			     "]}"),
		     MSD_OK);
}

Test(manifest, is_read_as_it_was_written)
{
	struct msd_edition_manifest m = {.name = "digits",
					 .version = 1795341600,
					 .created_s = 1795341600,
					 .arch = "arm64",
					 .device = "cuda",
					 .n_files = 1};
	struct msd_edition_manifest again;
	struct msd_buf text = {0};

	m.files[0] = (struct msd_edition_file){.role = MSD_ROLE_MODEL, .bytes = 12};
	(void)snprintf(m.files[0].name, sizeof(m.files[0].name), "a \"model\".onnx");
	msd_edition_manifest_write(&m, &text);
	cr_assert_not(text.bad);
	cr_assert_eq(parse_bytes((const char *)text.p, text.n, &again), MSD_OK);
	cr_assert_eq(memcmp(&m, &again, sizeof(m)), 0);
	msd_edition_manifest_finish(&again);
	msd_buf_finish(&text);
}
