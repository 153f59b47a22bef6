#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "daemon/stream/shared.h"
#include "daemon/supervisor/module/workers/facts.h"
#include "proto/value.h"

/* {"device": @device, "functions": [{"name": ...} of each of @names]} */
static struct msd_buf description(const char *device, const char *const *names,
				  uint32_t n)
{
	struct msd_buf b = {0};

	msd_pack_map(&b, 2);
	msd_pack_cstr(&b, "functions");
	msd_pack_array(&b, n);
	for (uint32_t i = 0; i < n; i++) {
		msd_pack_map(&b, 2);
		msd_pack_cstr(&b, "style");
		msd_pack_cstr(&b, "prim");
		msd_pack_cstr(&b, "name");
		msd_pack_cstr(&b, names[i]);
	}
	msd_pack_cstr(&b, "device");
	msd_pack_cstr(&b, device);
	cr_assert_not(b.bad);
	return b;
}

static msd_err take(struct msd_facts *f, const struct msd_buf *b, struct msd_diag *d)
{
	const struct msd_body body = {.kind = MSD_RESPONSE, .result = {b->p, b->n}};

	return msd_facts_set(f, &body, d);
}

static bool has(const struct msd_facts *f, const char *name)
{
	return msd_facts_function(f, msd_span_of(name)) != NULL;
}

Test(facts, functions_are_found_by_their_whole_names)
{
	static const char *const names[] = {"main", "add", "main_kernel", "b"};
	struct msd_buf b = description("cpu", names, 4);
	struct msd_facts f = {0};

	cr_assert_eq(take(&f, &b, NULL), MSD_OK);
	msd_buf_finish(&b); /* it has a copy */
	for (int i = 0; i < 4; i++)
		cr_expect(has(&f, names[i]), "%s", names[i]);
	cr_expect_not(has(&f, "mai"));
	cr_expect_not(has(&f, "main_"));
	cr_expect_not(has(&f, ""));
	msd_facts_finish(&f);
}

Test(facts, nothing_is_found_before_anything_was_said)
{
	struct msd_facts f = {0};

	cr_expect_not(msd_facts_are_known(&f));
	cr_expect_not(has(&f, "main"));
	msd_facts_finish(&f);
}

Test(facts, the_text_has_all_parts_in_order)
{
	struct msd_buf b = description("cuda:0", NULL, 0), expected = {0};
	struct msd_facts f = {0};

	cr_assert_eq(take(&f, &b, NULL), MSD_OK);
	msd_facts_put_unknown(&expected);
	/* The device is there instead of nil, and so are no functions. */
	cr_expect_eq(f.text->n, expected.n + strlen("cuda:0"));
	cr_expect(f.has_pins);
	cr_expect_eq(f.functions.p + f.functions.n, f.text->bytes + f.text->n);
	cr_expect_eq(f.functions.p[0], 0x90);
	msd_buf_finish(&expected);
	msd_buf_finish(&b);
	msd_facts_finish(&f);
}

Test(facts, what_is_refused_changes_nothing)
{
	static const char *const names[] = {"main"};
	struct msd_buf good = description("cpu", names, 1), bad = {0};
	struct msd_facts f = {0};
	struct msd_diag d = {0};

	cr_assert_eq(take(&f, &good, NULL), MSD_OK);
	msd_pack_map(&bad, 1);
	msd_pack_cstr(&bad, "functions");
	msd_pack_array(&bad, 1);
	msd_pack_map(&bad, 0);
	cr_expect_eq(take(&f, &bad, &d), MSD_INTERNAL);
	cr_expect_not_null(strstr(msd_diag_text(&d), "a function without a name"));
	cr_expect(has(&f, "main"));
	msd_diag_finish(&d);
	msd_buf_finish(&bad);
	msd_buf_finish(&good);
	msd_facts_finish(&f);
}

Test(facts, a_text_outlives_what_it_was_of)
{
	struct msd_buf b = description("cpu", NULL, 0);
	struct msd_facts f = {0};

	cr_assert_eq(take(&f, &b, NULL), MSD_OK);
	struct msd_shared *text = msd_shared_ref(f.text);
	const uint8_t first = text->bytes[0];
	cr_assert_eq(take(&f, &b, NULL), MSD_OK);
	msd_facts_finish(&f);
	cr_expect_eq(text->refs, 1);
	cr_expect_eq(text->bytes[0], first);
	msd_shared_unref(text);
	msd_buf_finish(&b);
}
