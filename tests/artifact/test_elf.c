#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/elf/elf.h"
#include "tests/artifact/elf_writer.h"
#include "tests/artifact/mangle.h"
#include "tests/support/exact.h"

static const struct ew_lib plain = {
	.machine = EM_X86_64,
	.needed = {"libm.so.6"},
	.syms = {{"TVMFuncCall", 'U'}, {"optional", 'W'}, {"f", 'F'}, {"data", 'O'}},
};

static bool reads(struct msd_span image, void *ctx)
{
	struct msd_elf elf = {0};
	struct msd_diag d = {0};
	msd_err err = msd_elf_read(image, &elf, &d);

	(void)ctx;
	msd_elf_finish(&elf);
	msd_diag_finish(&d);
	return err == MSD_OK;
}

static void expect_refusal(struct msd_span image, msd_err code, const char *words)
{
	struct msd_elf elf = {0};
	struct msd_diag d = {0};

	cr_expect_eq(msd_elf_read(image, &elf, &d), code, "%s", msd_diag_text(&d));
	cr_expect(strstr(msd_diag_text(&d), words) != NULL, "\"%s\" is not in \"%s\"",
		  words, msd_diag_text(&d));
	msd_diag_finish(&d);
}

/* The library that @lib describes; its bytes in *@image, the caller frees both. */
static struct msd_elf read_lib(const struct ew_lib *lib, struct bw *image)
{
	struct msd_elf elf = {0};
	struct msd_diag d = {0};

	ew_write(image, lib);
	cr_assert_eq(msd_elf_read(bw_span(image), &elf, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	return elf;
}

Test(elf, finds_symbols_with_every_kind_of_table)
{
	for (enum ew_hash hash = EW_SYSV; hash <= EW_SECTIONS_ONLY; hash++) {
		struct ew_lib lib = plain;
		struct bw image = {0};

		lib.hash = hash;
		struct msd_elf elf = read_lib(&lib, &image);
		cr_assert_eq(elf.n_syms, 4, "hash %d gives %zu", hash, elf.n_syms);
		cr_assert_not_null(msd_elf_find(&elf, "f"));
		cr_expect_eq(msd_elf_find(&elf, "f")->type, MSD_SYM_FUNC);
		cr_expect_eq(msd_elf_find(&elf, "data")->type, MSD_SYM_OBJECT);
		msd_elf_finish(&elf);
		bw_free(&image);
	}
}

Test(elf, an_undefined_symbol_is_not_found)
{
	struct bw image = {0};
	struct msd_elf elf = read_lib(&plain, &image);

	cr_expect_null(msd_elf_find(&elf, "TVMFuncCall"));
	cr_expect_null(msd_elf_find(&elf, "nothing"));
	msd_elf_finish(&elf);
	bw_free(&image);
}

Test(elf, only_strong_undefined_symbols_are_wanted)
{
	struct bw image = {0};
	struct msd_elf elf = read_lib(&plain, &image);
	size_t n = 0;

	for (size_t i = 0; i < elf.n_syms; i++) {
		if (!msd_elf_sym_is_wanted(&elf.syms[i]))
			continue;
		cr_expect_str_eq(elf.syms[i].name, "TVMFuncCall");
		n++;
	}
	cr_expect_eq(n, 1);
	msd_elf_finish(&elf);
	bw_free(&image);
}

Test(elf, lists_needed_libraries)
{
	struct bw image = {0};
	struct msd_elf elf = read_lib(&plain, &image);

	cr_assert_eq(elf.n_needed, 1);
	cr_expect_str_eq(elf.needed[0], "libm.so.6");
	msd_elf_finish(&elf);
	bw_free(&image);
}

/* Whether a library with this search path and need depends on its neighbours. */
static bool uses_origin(const char *runpath, const char *needed)
{
	struct ew_lib lib = plain;
	struct bw image = {0};

	lib.runpath = runpath;
	lib.needed[0] = needed;
	struct msd_elf elf = read_lib(&lib, &image);
	bool uses = elf.uses_origin;
	msd_elf_finish(&elf);
	bw_free(&image);
	return uses;
}

Test(elf, tells_libraries_that_need_their_neighbours)
{
	cr_expect(uses_origin("$ORIGIN/../lib", "libextra.so"));
	cr_expect(uses_origin("/opt:${ORIGIN}", "libextra.so"));
	cr_expect(uses_origin(NULL, "./libextra.so"));
	cr_expect(!uses_origin("$ORIGIN", "libm.so.6"));
	cr_expect(!uses_origin("/opt/lib", "libextra.so"));
	cr_expect(!uses_origin("$ORIGIN", "/opt/lib/libextra.so"));
	cr_expect(!uses_origin("$ORIGIN", NULL));
}

Test(elf, gives_the_bytes_at_an_address)
{
	struct bw image = {0};
	struct msd_elf elf = read_lib(&plain, &image);
	struct msd_span s;

	cr_expect(msd_elf_at(&elf, 1, 3, &s));
	cr_expect(msd_span_is(s, "ELF"));
	cr_expect(msd_elf_at(&elf, image.n, 0, &s));
	cr_expect(!msd_elf_at(&elf, image.n, 1, &s));
	cr_expect(!msd_elf_at(&elf, 1, UINT64_MAX, &s));
	cr_expect(!msd_elf_at(&elf, UINT64_MAX, 8, &s));
	msd_elf_finish(&elf);
	bw_free(&image);
}

Test(elf, every_prefix_is_refused)
{
	for (enum ew_hash hash = EW_SYSV; hash <= EW_SECTIONS_ONLY; hash++) {
		struct ew_lib lib = plain;
		struct bw image = {0};

		lib.hash = hash;
		ew_write(&image, &lib);
		cr_expect_eq(mangle_prefixes(bw_span(&image), reads, NULL), 0);
		bw_free(&image);
	}
}

Test(elf, a_flipped_byte_does_no_harm)
{
	for (enum ew_hash hash = EW_SYSV; hash <= EW_SECTIONS_ONLY; hash++) {
		struct ew_lib lib = plain;
		struct bw image = {0};

		lib.hash = hash;
		ew_write(&image, &lib);
		cr_expect(mangle_flips(bw_span(&image), reads, NULL));
		bw_free(&image);
	}
}

Test(elf, a_library_for_another_machine_is_refused_by_both_names)
{
	struct ew_lib lib = plain;
	struct bw image = {0};
	struct msd_diag d = {0};

	lib.machine = EM_S390;
	struct msd_elf elf = read_lib(&lib, &image);
	cr_expect_eq(msd_elf_check_host(&elf, &d), MSD_UNSUPPORTED);
	cr_expect(strstr(msd_diag_text(&d), "s390") != NULL);
	cr_expect(strstr(msd_diag_text(&d), "this machine is") != NULL);
	msd_diag_finish(&d);
	msd_elf_finish(&elf);
	bw_free(&image);
}

Test(elf, files_of_others_are_named_with_what_to_do)
{
	expect_refusal((struct msd_span){(const uint8_t *)"GGUF\3\0\0\0", 8},
		       MSD_UNSUPPORTED, "llama-server");
}

Test(elf, a_machine_without_a_name_has_a_number)
{
	char buf[MSD_MACHINE_NAME_MAX];

	cr_expect_str_eq(msd_elf_machine_format(EM_AARCH64, buf), "aarch64");
	cr_expect_str_eq(msd_elf_machine_format(60000, buf), "machine 60000");
}

Test(elf, other_files_are_told_apart)
{
	expect_refusal(msd_span_of(""), MSD_BAD_ARTIFACT, "empty");
	expect_refusal(msd_span_of("#!/bin/sh\n"), MSD_BAD_ARTIFACT, "not an ELF file");
	expect_refusal(msd_span_of("!<arch>\n"), MSD_UNSUPPORTED,
		       "cc -shared -o NAME.so");
	expect_refusal(msd_span_of("\x1f\x8b\x08"), MSD_UNSUPPORTED,
		       "modser convert NAME.tar");
}

/* A library's image with one header field changed. */
static void expect_header_refusal(size_t at, uint8_t value, msd_err code,
				  const char *words)
{
	struct bw image = {0};

	ew_write(&image, &plain);
	image.p[at] = value;
	expect_refusal(bw_span(&image), code, words);
	bw_free(&image);
}

Test(elf, other_elf_files_are_told_apart)
{
	expect_header_refusal(EI_CLASS, ELFCLASS32, MSD_UNSUPPORTED, "32-bit");
	expect_header_refusal(EI_DATA, ELFDATA2MSB, MSD_UNSUPPORTED, "big-endian");
	expect_header_refusal(16, ET_REL, MSD_UNSUPPORTED, "modser convert NAME.o");
	expect_header_refusal(16, ET_EXEC, MSD_UNSUPPORTED, "an executable");
	expect_header_refusal(16, ET_CORE, MSD_BAD_ARTIFACT, "not a shared library");
}

/* One 512-byte header of the oldest tar format and one block of contents. */
static void put_tar_member(struct bw *b, const char *name)
{
	uint8_t block[512] = {0};
	unsigned sum = 0;

	memcpy(block, name, strlen(name));
	memcpy(block + 124, "00000000007", 11);
	memcpy(block + 148, "        ", 8);
	for (size_t i = 0; i < sizeof(block); i++)
		sum += block[i];
	block[148] = '0';
	for (int i = 5; i > 0; i--, sum /= 8)
		block[148 + i] = (uint8_t)('0' + sum % 8);
	block[154] = '\0';
	bw_raw(b, block, sizeof(block));
	memset(block, 0, sizeof(block));
	bw_raw(b, block, sizeof(block));
}

static const uint8_t zeros[512];

Test(elf, a_tar_archive_that_is_cut_off_is_refused_as_such)
{
	struct bw tar = {0};

	put_tar_member(&tar, "./lib0.o");
	put_tar_member(&tar, "./codegen/");
	for (size_t n = 512; n <= tar.n; n++) {
		struct msd_elf elf;
		struct msd_diag d = {0};
		uint8_t *copy = exact_copy(tar.p, n);

		cr_assert_eq(msd_elf_read((struct msd_span){copy, n}, &elf, &d),
			     MSD_BAD_ARTIFACT, "%zu bytes", n);
		cr_assert_not_null(strstr(msd_diag_text(&d), "damaged or cut off"),
				   "%s", msd_diag_text(&d));
		msd_diag_finish(&d);
		free(copy);
	}
	bw_free(&tar);
}

Test(elf, a_tar_archive_is_refused_with_the_command_that_links_it)
{
	struct bw tar = {0};

	put_tar_member(&tar, "./lib0.o");
	put_tar_member(&tar, "devc.o");
	bw_raw(&tar, zeros, sizeof(zeros));
	expect_refusal(bw_span(&tar), MSD_UNSUPPORTED,
		       "not linked; make a library of it: modser convert");
	bw_free(&tar);
}

Test(elf, a_package_of_tvmc_is_told_what_it_holds)
{
	struct bw tar = {0};

	put_tar_member(&tar, "./mod.so");
	put_tar_member(&tar, "./mod.json");
	bw_raw(&tar, zeros, sizeof(zeros));
	expect_refusal(bw_span(&tar), MSD_UNSUPPORTED, "a package of tvmc");
	bw_free(&tar);
}

Test(elf, an_archive_of_other_things_is_told_to_link_nothing)
{
	struct bw tar = {0};

	put_tar_member(&tar, "notes.txt");
	bw_raw(&tar, zeros, sizeof(zeros));
	expect_refusal(bw_span(&tar), MSD_UNSUPPORTED,
		       "a tar archive without a library");
	bw_free(&tar);
}
