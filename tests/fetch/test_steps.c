#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "daemon/fetch/registry/platform.h"
#include "daemon/fetch/steps.h"

static struct msd_platform_machine machine = {.arch = "amd64"};
static struct msd_fetch_steps plan;
static struct msd_download_buffer files, side;
static struct msd_diag d;

static void make(void)
{
	plan = (struct msd_fetch_steps){
		.max_bytes = 100, .name = "digits", .machine = &machine};
	cr_assert_eq(msd_download_buffer_open(&files, 100, &d), MSD_OK);
}

static void finish(void)
{
	msd_fetch_steps_finish(&plan);
	msd_download_buffer_close(&files);
	msd_diag_finish(&d);
}

TestSuite(plan, .init = make, .fini = finish);

static void begin(enum msd_policy policy)
{
	plan.order.trust.policy = policy;
	cr_assert_eq(msd_fetch_steps_begin(&plan, true, &d), MSD_OK);
}

/* @bytes come as what is wanted. */
static msd_err come(const char *bytes)
{
	cr_assert_eq(msd_download_buffer_next(&files, 0, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&files, msd_span_of(bytes), &d),
		     MSD_OK);
	return msd_fetch_steps_came(&plan, &files, &d);
}

static void add_file(struct msd_edition_manifest *m, enum msd_role role,
		     const char *name, const char *bytes)
{
	struct msd_edition_file *f = &m->files[m->n_files++];

	f->role = role;
	f->bytes = strlen(bytes);
	msd_digest_of(msd_span_of(bytes), &f->digest);
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
}

/* The manifest of a library "lib" and its parameters "params" comes. */
static msd_err come_manifest_for(const char *arch, const char *device)
{
	struct msd_edition_manifest m = {.name = "digits", .version = 7};
	struct msd_buf text = {0};

	(void)snprintf(m.arch, sizeof(m.arch), "%s", arch);
	(void)snprintf(m.device, sizeof(m.device), "%s", device);
	add_file(&m, MSD_ROLE_PARAMS, "p", "params");
	add_file(&m, MSD_ROLE_LIBRARY, "l.so", "lib");
	msd_edition_manifest_write(&m, &text);
	cr_assert_eq(msd_download_buffer_open(&side, MSD_MANIFEST_BYTES, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&side,
						(struct msd_span){text.p, text.n}, &d),
		     MSD_OK);
	const msd_err err = msd_fetch_steps_text(&plan, &side, &d);
	msd_download_buffer_close(&side);
	msd_buf_finish(&text);
	if (err != MSD_OK || plan.order.trust.policy == MSD_POLICY_SIGNED)
		return err;
	(void)msd_diag_set(&d, MSD_NOT_FOUND, "404"); /* no signature beside it */
	return msd_fetch_steps_lacks(&plan, &d);
}

static msd_err come_manifest(const char *arch)
{
	return come_manifest_for(arch, "");
}

Test(plan, wants_the_files_in_the_order_of_their_parts)
{
	begin(MSD_POLICY_UNSIGNED);
	cr_assert_eq(plan.want, MSD_WANT_MANIFEST);
	cr_assert_eq(come_manifest("amd64"), MSD_OK);
	cr_assert_str_eq(msd_fetch_steps_file(&plan)->name, "l.so");
	cr_assert_eq(come("lib"), MSD_OK);
	cr_assert_str_eq(msd_fetch_steps_file(&plan)->name, "p");
	cr_assert_eq(come("params"), MSD_OK);
	cr_assert_eq(plan.want, MSD_WANT_NOTHING);
	cr_assert_eq(plan.part_bytes[0], 3);
	cr_assert_eq(plan.part_bytes[1], 0);
	cr_assert_eq(plan.part_bytes[2], 6);
}

Test(plan, takes_no_other_bytes_than_the_manifest_says)
{
	begin(MSD_POLICY_UNSIGNED);
	cr_assert_eq(come_manifest("any"), MSD_OK);
	cr_assert_eq(come("lob"), MSD_NOT_VERIFIED);
}

Test(plan, takes_no_manifest_of_another_machine)
{
	begin(MSD_POLICY_UNSIGNED);
	cr_assert_eq(come_manifest("pdp11"), MSD_UNSUPPORTED);
}

Test(plan, refuses_what_is_for_a_device_that_the_machine_lacks)
{
	machine.is_known = true;
	begin(MSD_POLICY_UNSIGNED);
	cr_assert_eq(come_manifest_for("any", "cuda"), MSD_UNSUPPORTED);
	cr_assert_not(plan.needs_devices);
	cr_assert(strstr(msd_diag_text(&d), "cuda") != NULL, "%s", msd_diag_text(&d));
}

Test(plan, says_that_it_depends_on_devices_which_are_not_known)
{
	begin(MSD_POLICY_UNSIGNED);
	cr_assert_eq(come_manifest_for("any", "cuda"), MSD_UNSUPPORTED);
	cr_assert(plan.needs_devices);
}

Test(plan, ends_where_the_edition_is_there)
{
	struct msd_fetch_steps first;

	begin(MSD_POLICY_UNSIGNED);
	cr_assert_eq(come_manifest("any"), MSD_OK);
	first = plan;
	make();
	msd_buf_put(&plan.have, first.edition.b, MSD_DIGEST_BYTES);
	begin(MSD_POLICY_UNSIGNED);
	cr_assert_eq(come_manifest("any"), MSD_OK);
	cr_assert(plan.is_had);
	cr_assert_eq(plan.want, MSD_WANT_NOTHING);
	msd_fetch_steps_finish(&first);
}

Test(plan, without_a_manifest_is_one_file_where_nobody_must_sign)
{
	begin(MSD_POLICY_UNSIGNED);
	(void)msd_diag_set(&d, MSD_NOT_FOUND, "404");
	cr_assert_eq(msd_fetch_steps_lacks(&plan, &d), MSD_OK);
	cr_assert_eq(plan.want, MSD_WANT_ALONE);
	cr_assert_eq(come("lib"), MSD_OK);
	cr_assert_eq(plan.want, MSD_WANT_NOTHING);
}

Test(plan, without_a_manifest_is_refused_where_somebody_must)
{
	begin(MSD_POLICY_SIGNED);
	(void)msd_diag_set(&d, MSD_NOT_FOUND, "404");
	cr_assert_eq(msd_fetch_steps_lacks(&plan, &d), MSD_NOT_VERIFIED);
}

Test(plan, a_manifest_that_cannot_be_asked_for_is_not_absent)
{
	begin(MSD_POLICY_UNSIGNED);
	(void)msd_diag_set(&d, MSD_IO, "503");
	cr_assert_eq(msd_fetch_steps_lacks(&plan, &d), MSD_IO);
}

Test(plan, a_signature_is_wanted_before_anything_is_believed)
{
	begin(MSD_POLICY_SIGNED);
	cr_assert_eq(come_manifest("pdp11"), MSD_OK);
	cr_assert_eq(plan.want, MSD_WANT_SIGNATURE);
	cr_assert_not(plan.has_manifest);
}

static msd_err come_signature(size_t n)
{
	uint8_t *bytes = calloc(1, n);

	cr_assert_eq(msd_download_buffer_open(&side, MSD_MANIFEST_BYTES, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&side, (struct msd_span){bytes, n}, &d),
		     MSD_OK);
	free(bytes);
	return msd_fetch_steps_text(&plan, &side, &d);
}

Test(plan, a_signature_that_nobody_wants_is_kept_unless_it_is_none)
{
	static const size_t sizes[] = {300, MSD_SIGNATURE_BYTES + 1};

	for (unsigned i = 0; i < 2; i++) {
		finish();
		make();
		begin(MSD_POLICY_SIGNED);
		cr_assert_eq(come_manifest("any"), MSD_OK);
		plan.order.trust.policy = MSD_POLICY_UNSIGNED;
		cr_assert_eq(come_signature(sizes[i]), MSD_OK);
		cr_expect_eq(plan.want, MSD_WANT_FILE);
		cr_expect_eq(plan.signature.n, i == 0 ? 300 : 0);
		msd_download_buffer_close(&side);
	}
}

Test(plan, whatever_keeps_a_signature_away_that_nobody_wants_is_no_fault)
{
	begin(MSD_POLICY_SIGNED);
	cr_assert_eq(come_manifest("any"), MSD_OK);
	plan.order.trust.policy = MSD_POLICY_UNSIGNED;
	(void)msd_diag_set(&d, MSD_IO, "503");
	cr_assert_eq(msd_fetch_steps_lacks(&plan, &d), MSD_OK);
	cr_expect_eq(plan.want, MSD_WANT_FILE);
}

Test(plan, nothing_is_taken_by_digest_without_one)
{
	plan.order.trust.policy = MSD_POLICY_DIGEST;
	cr_assert_eq(msd_fetch_steps_begin(&plan, true, &d), MSD_NOT_VERIFIED);
}

Test(plan, what_was_promised_is_asked_for_alone)
{
	msd_digest_of(msd_span_of("lib"), &plan.digest);
	plan.has_digest = true;
	begin(MSD_POLICY_DIGEST);
	cr_assert_eq(plan.want, MSD_WANT_ALONE);
	cr_assert_eq(come("lob"), MSD_NOT_VERIFIED);
	cr_assert_eq(come("lib"), MSD_OK);
}

Test(plan, an_empty_file_is_none)
{
	begin(MSD_POLICY_UNSIGNED);
	(void)msd_diag_set(&d, MSD_NOT_FOUND, "404");
	cr_assert_eq(msd_fetch_steps_lacks(&plan, &d), MSD_OK);
	cr_assert_eq(come(""), MSD_BAD_ARTIFACT);
}

/* What was taken at an earlier time; @name is its module. */
static struct msd_buf text_for(const char *name)
{
	struct msd_edition_manifest m = {.name = "digits", .version = 7, .arch = "any"};
	struct msd_buf text = {0};

	(void)snprintf(m.name, sizeof(m.name), "%s", name);
	add_file(&m, MSD_ROLE_LIBRARY, "l.so", "lib");
	msd_edition_manifest_write(&m, &text);
	return text;
}

Test(plan, asks_nobody_for_what_the_asker_has_with_its_manifest)
{
	struct msd_buf text = text_for("digits");
	const struct msd_span manifest = {text.p, text.n};
	struct msd_digest digest;

	msd_digest_of(manifest, &digest);
	begin(MSD_POLICY_UNSIGNED);
	cr_assert_not(msd_fetch_steps_settle(&plan, manifest,
					     (struct msd_span){NULL, 0}, &d));
	cr_assert_eq(plan.want, MSD_WANT_MANIFEST, "it is not among what there is");
	cr_assert_eq(d.code, MSD_OK);
	msd_buf_put(&plan.have, digest.b, sizeof(digest.b));
	cr_assert(msd_fetch_steps_settle(&plan, manifest, (struct msd_span){NULL, 0},
					 &d));
	cr_assert(plan.is_had);
	msd_buf_finish(&text);
}

Test(plan, begins_as_ever_where_what_the_asker_has_may_not_be_believed)
{
	struct msd_buf text = text_for("digits");
	const struct msd_span manifest = {text.p, text.n};
	struct msd_digest digest;

	msd_digest_of(manifest, &digest);
	msd_buf_put(&plan.have, digest.b, sizeof(digest.b));
	begin(MSD_POLICY_SIGNED);
	cr_assert_not(
		msd_fetch_steps_settle(&plan, manifest, msd_span_of("nobody's"), &d));
	cr_assert_eq(plan.want, MSD_WANT_MANIFEST);
	cr_assert_eq(plan.text.n, 0);
	cr_assert_not(plan.has_manifest);
	cr_assert_eq(d.code, MSD_OK);
	msd_buf_finish(&text);
}
