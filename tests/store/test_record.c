#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/record.h"
#include "tests/store/shelf.h"
#include "tests/support/exact.h"

#define HEX "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static const char whole[] = "modserd-module 1\n"
			    "current 7 " HEX "\n"
			    "name " HEX "\n"
			    "attempts 2\n"
			    "file library 8240 " HEX " deploy.so\n"
			    "file params 12 " HEX " a name with spaces\n"
			    "file test 9 " HEX " test\n"
			    "file manifest 300 " HEX " manifest\n"
			    "file signature 287 " HEX " signature\n"
			    "with workers 2\n"
			    "with device opencl:0\n"
			    "previous 18446744073709551615 " HEX "\n"
			    "file model 0 " HEX " net.tmfile\n"
			    "bad " HEX "\n"
			    "failed 8 " HEX " the worker died (signal 6)\n"
			    "pinned\n";

static msd_err parse(const char *text, struct msd_record *ret)
{
	struct msd_diag d = {0};
	msd_err err = msd_record_parse(msd_span_of(text), ret, &d);

	msd_diag_finish(&d);
	return err;
}

Test(record, is_written_as_it_was_read)
{
	struct msd_buf out = {0};
	struct msd_record r;

	cr_assert_eq(parse(whole, &r), MSD_OK);
	msd_record_write(&r, &out);
	cr_assert_eq(out.n, sizeof(whole) - 1);
	cr_assert_eq(memcmp(out.p, whole, out.n), 0);
	msd_buf_finish(&out);
	msd_record_finish(&r);
}

Test(record, tells_what_its_lines_say)
{
	struct msd_record r;

	cr_assert_eq(parse(whole, &r), MSD_OK);
	const struct msd_edition *e = r.editions[MSD_REF_CURRENT];
	cr_assert_eq(e->version, 7);
	cr_assert_eq(e->attempts, 2);
	cr_assert(e->has_name);
	cr_assert_not(r.editions[MSD_REF_PREVIOUS]->has_name);
	cr_assert_eq(e->n_files, 5);
	cr_assert_eq(e->files[1].role, MSD_ROLE_PARAMS);
	cr_assert_str_eq(e->files[1].name, "a name with spaces");
	cr_assert_str_eq(msd_edition_option(e, "workers"), "2");
	cr_assert_null(msd_edition_option(e, "fill"));
	cr_assert_eq(r.editions[MSD_REF_PREVIOUS]->version, UINT64_MAX);
	cr_assert_null(r.editions[MSD_REF_CANDIDATE]);
	cr_assert_eq(r.n_bad, 1);
	cr_assert_eq(r.failure.version, 8);
	cr_assert_str_eq(r.failure.why, "the worker died (signal 6)");
	cr_assert(r.is_pinned);
	msd_record_finish(&r);
}

/* A prefix that ends with a line is a record again: a shorter one. No other is. */
Test(record, every_prefix_is_a_record_or_refused)
{
	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		uint8_t *text = exact_copy(whole, n);
		struct msd_record r = {0};
		struct msd_diag d = {0};
		msd_err err = msd_record_parse((struct msd_span){text, n}, &r, &d);

		cr_expect_eq(err == MSD_OK, n > 0 && text[n - 1] == '\n', "%zu bytes",
			     n);
		msd_record_finish(&r);
		msd_diag_finish(&d);
		free(text);
	}
}

Test(record, refuses_what_it_does_not_write)
{
	static const char *const bad[] = {
		"modserd-module 2\n",
		"modserd-module 1\ncurrent -1 " HEX "\n",
		"modserd-module 1\ncurrent 18446744073709551616 " HEX "\n",
		"modserd-module 1\ncurrent 1 " HEX "0\n",
		"modserd-module 1\ncurrent 1\n",
		"modserd-module 1\ncurrent 1 " HEX "\ncurrent 1 " HEX "\n",
		"modserd-module 1\nfile library 1 " HEX " a\n",
		"modserd-module 1\ncurrent 1 " HEX "\nfile lib 1 " HEX " a\n",
		"modserd-module 1\ncurrent 1 " HEX "\nfile library 1 " HEX " a/b\n",
		"modserd-module 1\ncurrent 1 " HEX "\nfile library 1 " HEX " \n",
		"modserd-module 1\ncurrent 1 " HEX
		"\nfile library 9223372036854775808 " HEX " a\n",
		"modserd-module 1\ncurrent 1 " HEX "\nattempts 4294967296\n",
		"modserd-module 1\nbad \n",
		"modserd-module 1\nfailed 1 " HEX "\n",
		"modserd-module 1\nfailed 1 " HEX " \n",
		"modserd-module 1\nfailed " HEX " why\n",
		"modserd-module 1\npinned \n",
		"modserd-module 1\n\n",
	};
	struct msd_record r;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(parse(bad[i], &r), MSD_BAD_ARTIFACT, "%s", bad[i]);
}

Test(record, names_the_line_that_is_wrong)
{
	struct msd_record r;
	struct msd_diag d = {0};

	cr_assert_eq(
		msd_record_parse(msd_span_of("modserd-module 1\npinned\nnonsense\n"),
				 &r, &d),
		MSD_BAD_ARTIFACT);
	cr_assert(strncmp(msd_diag_text(&d), "line 3: ", 8) == 0, "%s",
		  msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(edition, has_as_many_files_as_it_may)
{
	struct msd_edition e = {0};
	struct msd_digest digest = {{0}};
	struct msd_diag d = {0};

	for (int i = 0; i < MSD_EDITION_FILES; i++) {
		cr_assert_eq(msd_edition_add_file(&e, MSD_ROLE_DATA, 1, &digest,
						  msd_span_of("f"), &d),
			     MSD_OK);
	}
	cr_assert_eq(msd_edition_add_file(&e, MSD_ROLE_DATA, 1, &digest,
					  msd_span_of("f"), &d),
		     MSD_TOO_LARGE);
	msd_diag_finish(&d);
}

Test(edition, refuses_values_that_would_break_a_line)
{
	struct msd_edition e = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_edition_add_option(&e, "device", "cpu\npinned", &d),
		     MSD_BAD_REQUEST);
	cr_assert_eq(msd_edition_add_option(&e, "a b", "c", &d), MSD_BAD_REQUEST);
	cr_assert_eq(msd_edition_add_option(&e, "", "c", &d), MSD_BAD_REQUEST);
	cr_assert_eq(e.n_options, 0);
	msd_diag_finish(&d);
}

static msd_err keep_names(void *ctx, const char *name, struct msd_diag *d)
{
	char *all = ctx;

	(void)d;
	strcat(strcat(all, name), " ");
	return MSD_OK;
}

Test(record, of_each_module_is_kept_apart_and_listed_by_name)
{
	struct msd_record r, found;
	char names[64] = "";
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	cr_assert_eq(parse(whole, &r), MSD_OK);
	cr_assert_eq(msd_record_save(&s.store, "zoo", &r, &d), MSD_OK);
	cr_assert_eq(msd_record_save(&s.store, "add", &r, &d), MSD_OK);
	cr_assert_eq(shelf_reopen(&s), MSD_OK);
	cr_assert_eq(msd_record_load(&s.store, "zoo", &found, &d), MSD_OK);
	cr_assert(found.is_pinned);
	cr_assert_eq(msd_record_each(&s.store, keep_names, names, &d), MSD_OK);
	cr_assert_str_eq(names, "add zoo ");
	cr_assert_eq(msd_record_remove(&s.store, "add", &d), MSD_OK);
	cr_assert_eq(msd_record_remove(&s.store, "add", &d), MSD_NOT_FOUND);
	msd_record_finish(&found);
	msd_record_finish(&r);
	msd_diag_finish(&d);
	shelf_finish(&s);
}

/* As `modser store ls` beside a daemon that unloads it. */
static msd_err forget_zoo(void *ctx, const char *name, struct msd_diag *d)
{
	struct shelf *s = ctx;
	struct msd_record r = {0};
	msd_err err = strcmp(name, "add") == 0
			      ? msd_record_remove(&s->store, "zoo", d)
			      : msd_record_load(&s->store, name, &r, d);

	msd_record_finish(&r);
	return err;
}

Test(record, that_is_forgotten_while_others_are_read_is_passed_over)
{
	struct msd_record r;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	cr_assert_eq(parse(whole, &r), MSD_OK);
	cr_assert_eq(msd_record_save(&s.store, "add", &r, &d), MSD_OK);
	cr_assert_eq(msd_record_save(&s.store, "zoo", &r, &d), MSD_OK);
	cr_assert_eq(msd_record_each(&s.store, forget_zoo, &s, &d), MSD_OK);
	cr_assert_eq(d.code, MSD_OK);
	msd_record_finish(&r);
	shelf_finish(&s);
}

Test(record, in_whose_place_is_no_file_is_damaged_and_not_waited_for, .timeout = 60)
{
	struct msd_record r, found = {0};
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	cr_assert_eq(parse(whole, &r), MSD_OK);
	cr_assert_eq(mkfifoat(s.store.modules, "zoo", 0600), 0);
	cr_expect_eq(msd_record_load(&s.store, "zoo", &found, &d), MSD_BAD_ARTIFACT);
	cr_assert_eq(mkfifoat(s.store.modules, ".zoo.new", 0600), 0);
	cr_expect_neq(msd_record_save(&s.store, "zoo", &r, &d), MSD_OK);
	cr_expect_eq(msd_record_save(&s.store, "zoo", &r, &d), MSD_OK);
	cr_expect_eq(msd_record_load(&s.store, "zoo", &found, &d), MSD_OK);
	msd_record_finish(&found);
	msd_record_finish(&r);
	msd_diag_finish(&d);
	shelf_finish(&s);
}

Test(record, of_a_name_that_is_a_path_is_refused)
{
	struct msd_record r = {0};
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	cr_assert_eq(msd_record_save(&s.store, "../version", &r, &d), MSD_BAD_REQUEST);
	cr_assert_eq(msd_record_load(&s.store, "../version", &r, &d), MSD_NOT_FOUND);
	msd_diag_finish(&d);
	shelf_finish(&s);
}
