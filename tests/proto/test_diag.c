#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/diag.h"
#include "tests/support/fail_alloc.h"

static struct msd_diag d;

static void finish(void)
{
	msd_diag_finish(&d);
}
TestSuite(diag, .fini = finish);

Test(err, every_code_has_a_name_that_leads_back)
{
	for (int i = 0; i < MSD_ERR_COUNT; i++) {
		const char *name = msd_err_name((msd_err)i);

		cr_assert_eq(msd_err_from_name(name), i, "%s", name);
		cr_assert_gt(strlen(msd_err_sentence((msd_err)i)), 0);
	}
}

Test(err, numbers_outside_the_table_are_safe)
{
	cr_assert_str_eq(msd_err_name((msd_err)-1), "UNKNOWN");
	cr_assert_str_eq(msd_err_name(MSD_ERR_COUNT), "UNKNOWN");
	cr_assert_str_eq(msd_err_sentence((msd_err)1000), "unknown error");
	cr_assert_eq(msd_err_from_name("NO_SUCH"), MSD_INTERNAL);
}

Test(diag, short_memory_has_a_text_that_takes_none)
{
	(void)msd_diag_set(&d, MSD_IO, "before");
	msd_fail_alloc(0);
	cr_expect_eq(msd_diag_no_memory(&d), MSD_NOMEM);
	(void)msd_fail_alloc_stop();
	cr_expect_eq(d.code, MSD_NOMEM);
	cr_expect_str_eq(msd_diag_text(&d), "out of memory");
	cr_expect_eq(msd_diag_no_memory(NULL), MSD_NOMEM);
}

Test(diag, layers_add_prefixes_and_keep_the_code)
{
	cr_assert_eq(msd_diag_set(&d, MSD_IO, "read: %s", "short"), MSD_IO);
	cr_assert_eq(msd_diag_wrap(&d, MSD_IO, "load %s", "add"), MSD_IO);
	cr_assert_str_eq(msd_diag_text(&d), "load add: read: short");
	cr_assert_eq(d.len, strlen("load add: read: short"));
}

Test(diag, may_quote_its_own_text)
{
	(void)msd_diag_set(&d, MSD_IO, "inner");
	(void)msd_diag_set(&d, MSD_INTERNAL, "outer of %s", msd_diag_text(&d));
	cr_assert_str_eq(msd_diag_text(&d), "outer of inner");
	cr_assert_eq(d.code, MSD_INTERNAL);
}

Test(diag, takes_bytes_without_nul)
{
	cr_assert_eq(msd_diag_set_bytes(&d, MSD_CALL_FAILED, "abcdef", 3),
		     MSD_CALL_FAILED);
	cr_assert_str_eq(msd_diag_text(&d), "abc");
}

Test(diag, long_texts_are_cut_at_the_limit)
{
	char *text = malloc(MSD_DIAG_MAX + 2);

	memset(text, 'x', MSD_DIAG_MAX + 1);
	text[MSD_DIAG_MAX + 1] = '\0';
	(void)msd_diag_set(&d, MSD_IO, "%s", text);
	cr_assert_eq(d.len, MSD_DIAG_MAX);
	cr_assert_eq(strlen(d.text), MSD_DIAG_MAX);
	(void)msd_diag_set_bytes(&d, MSD_IO, text, MSD_DIAG_MAX + 1);
	cr_assert_eq(d.len, MSD_DIAG_MAX);
	(void)msd_diag_wrap(&d, MSD_IO, "p");
	cr_assert_eq(strncmp(d.text, "p: xx", 5), 0);
	free(text);
}

static void expect_kind(const char *kind)
{
	size_t n;
	const char *p = msd_diag_kind(&d, &n);

	cr_expect_eq(n, strlen(kind));
	cr_expect_eq(strncmp(p, kind, n), 0, "%s", p);
}

Test(diag, a_kind_is_kept_behind_prefixes)
{
	(void)msd_diag_set(&d, MSD_CALL_FAILED, "KeyError: no such key");
	expect_kind("");
	msd_diag_begins_with_kind(&d, 8);
	expect_kind("KeyError");
	(void)msd_diag_wrap(&d, MSD_CALL_FAILED, "call of %s", "f");
	(void)msd_diag_wrap(&d, MSD_CALL_FAILED, "module");
	cr_assert_str_eq(d.text, "module: call of f: KeyError: no such key");
	expect_kind("KeyError");
	(void)msd_diag_set(&d, MSD_IO, "else");
	expect_kind("");
	msd_diag_begins_with_kind(&d, 5); /* longer than the text */
	expect_kind("");
}

Test(diag, null_is_taken_everywhere)
{
	cr_assert_eq(msd_diag_set(NULL, MSD_IO, "x"), MSD_IO);
	cr_assert_eq(msd_diag_set_bytes(NULL, MSD_IO, "x", 1), MSD_IO);
	cr_assert_eq(msd_diag_wrap(NULL, MSD_IO, "x"), MSD_IO);
	msd_diag_finish(NULL);
}

Test(diag, without_memory_keeps_the_code_and_its_sentence)
{
	msd_fail_alloc(0);
	(void)msd_diag_set(&d, MSD_IO, "read: %s", "short");
	cr_assert(msd_fail_alloc_stop());
	cr_assert_str_eq(msd_diag_text(&d), msd_err_sentence(MSD_IO));
}

Test(diag, prefix_without_memory_keeps_the_text)
{
	(void)msd_diag_set(&d, MSD_IO, "cause");
	msd_fail_alloc(0);
	(void)msd_diag_wrap(&d, MSD_IO, "layer");
	cr_assert(msd_fail_alloc_stop());
	cr_assert_str_eq(msd_diag_text(&d), "cause");
}
