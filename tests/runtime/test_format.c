/* Which format a file is taken for, and what is said of files that are no module. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "proto/words/model_words.h"
#include "runtime/load/format.h"

static const struct msd_load_options none;

static struct msd_span of(const char *text, size_t n)
{
	return (struct msd_span){(const uint8_t *)text, n};
}

/* What msd_loaded_open() says of @file with these words of its model. */
static void expect_refused_as(struct msd_span file, const char *format,
			      const char *input, msd_err want, const char *words)
{
	struct msd_load_options options = {.label = "x.bin"};
	struct msd_model_words *said = &options.run.words;
	struct msd_loaded *m = NULL;
	struct msd_diag d = {0};

	(void)snprintf(said->format, sizeof(said->format), "%s", format);
	(void)snprintf(said->input, sizeof(said->input), "%s", input);
	cr_expect_eq(msd_loaded_open(-1, file, &options, &m, &d), want);
	cr_expect_null(m);
	cr_expect_not_null(strstr(msd_diag_text(&d), words), "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
}

static void expect_refused(struct msd_span file, msd_err want, const char *words)
{
	expect_refused_as(file, "", "", want, words);
}

Test(format, an_elf_file_is_a_library)
{
	cr_expect_eq(msd_format_find(of("\x7f"
					"ELF....",
					8),
				     &none),
		     &msd_format_library);
}

Test(format, what_nobody_knows_is_for_the_library_to_refuse)
{
	cr_expect_eq(msd_format_find(of("hello", 5), &none), &msd_format_library);
	expect_refused(of("hello", 5), MSD_BAD_ARTIFACT, "x.bin: not an ELF file");
}

Test(format, an_empty_file_is_refused_as_empty)
{
	expect_refused(of("", 0), MSD_BAD_ARTIFACT, "the file is empty");
}

Test(format, a_graph_says_beside_what_it_is_loaded)
{
	static const char graph[] = "{\"nodes\": [], \"arg_nodes\": []}";

	expect_refused(of(graph, sizeof(graph) - 1), MSD_UNSUPPORTED, "--graph");
}

Test(format, json_that_is_no_graph_is_not_taken_for_one)
{
	static const char other[] = "{\"edges\": []}";

	expect_refused(of(other, sizeof(other) - 1), MSD_BAD_ARTIFACT,
		       "not an ELF file");
}

Test(format, parameters_say_beside_what_they_are_loaded)
{
	static const char magic[] = "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7"
				    "\0\0\0\0\0\0\0\0";

	expect_refused(of(magic, sizeof(magic) - 1), MSD_UNSUPPORTED, "--params");
	expect_refused(of(magic, 7), MSD_BAD_ARTIFACT, "not an ELF file");
}

Test(format, one_that_is_said_is_read_whatever_the_bytes_look_like)
{
	static const char elf[] = "\x7f"
				  "ELF....";

	expect_refused_as(
		of("hello", 5), "onnx", "", MSD_BAD_ARTIFACT,
		"the option format is onnx, but the format of the file is unknown");
	expect_refused_as(of(elf, 8), "tmfile", "", MSD_BAD_ARTIFACT,
			  "the option format is tmfile, but the file is a compiled");
}

Test(format, one_that_nobody_knows_lists_those_that_there_are)
{
	expect_refused_as(of("hello", 5), "keras", "", MSD_BAD_ARGUMENT,
			  "unknown format keras; expected tengine, onnx, caffe");
}
