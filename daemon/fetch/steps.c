/*
 * Happy path: the manifest arrives, then its signature if signatures are wanted, then
 * each file, which is compared with the manifest. Failures: a failed check ends the
 * plan. A missing manifest does not, unless a signature is required.
 */
#include "daemon/fetch/steps.h"

#include <stdio.h>
#include <string.h>

#include "daemon/fetch/registry/oci_name.h"
#include "daemon/fetch/registry/platform.h"
#include "daemon/fetch/uri.h"

static bool is_signed(const struct msd_fetch_steps *p)
{
	return p->order.trust.policy == MSD_POLICY_SIGNED;
}

static bool has_already(const struct msd_fetch_steps *p)
{
	for (size_t at = 0; at < p->have.n; at += MSD_DIGEST_BYTES) {
		if (memcmp(p->have.p + at, p->edition.b, MSD_DIGEST_BYTES) == 0)
			return true;
	}
	return false;
}

static msd_err refuse_digest(const struct msd_digest *is,
			     const struct msd_digest *expected, struct msd_diag *d)
{
	char is_text[MSD_DIGEST_TEXT], expected_text[MSD_DIGEST_TEXT];

	msd_digest_format(is, is_text);
	msd_digest_format(expected, expected_text);
	return msd_diag_set(d, MSD_NOT_VERIFIED, "its SHA-256 is %s, expected %s",
			    is_text, expected_text);
}

static void end_if_had(struct msd_fetch_steps *p)
{
	p->is_had = has_already(p);
	if (p->is_had)
		p->want = MSD_WANT_NOTHING;
}

msd_err msd_fetch_steps_begin(struct msd_fetch_steps *p, bool may_be_alone,
			      struct msd_diag *d)
{
	p->order.name = p->name;
	p->want = MSD_WANT_MANIFEST;
	if (p->order.trust.policy == MSD_POLICY_DIGEST && !p->has_digest) {
		return msd_diag_set(
			d, MSD_NOT_VERIFIED,
			"the policy is \"digest\", but no SHA-256 was given");
	}
	if (!is_signed(p) && may_be_alone && p->has_digest)
		p->want = MSD_WANT_ALONE;
	return MSD_OK;
}

static msd_err believe(struct msd_fetch_steps *p, struct msd_span signature,
		       struct msd_diag *d);

msd_err msd_fetch_steps_lacks(struct msd_fetch_steps *p, struct msd_diag *d)
{
	/* If no signature is required, any error to get it is ignored. */
	const bool is_absent = d->code == MSD_NOT_FOUND || d->code == MSD_REFUSED ||
			       (p->want == MSD_WANT_SIGNATURE && !is_signed(p));

	if (is_absent && is_signed(p)) {
		struct msd_diag why = *d;

		*d = (struct msd_diag){0};
		(void)msd_diag_set(
			d, MSD_NOT_VERIFIED, "it has no trusted signature: %s%s",
			p->want == MSD_WANT_MANIFEST ? "there is no manifest: " : "",
			msd_diag_text(&why));
		msd_diag_finish(&why);
		return MSD_NOT_VERIFIED;
	}
	if (!is_absent)
		return d->code;
	msd_diag_finish(d);
	*d = (struct msd_diag){0};
	if (p->want == MSD_WANT_SIGNATURE)
		return believe(p, (struct msd_span){NULL, 0}, d);
	p->want = MSD_WANT_ALONE;
	return MSD_OK;
}

static enum msd_role role_of(const struct msd_edition_manifest *m, unsigned part)
{
	static const enum msd_role roles[MSD_FETCH_STEPS_PARTS] = {
		MSD_ROLE_LIBRARY, MSD_ROLE_GRAPH, MSD_ROLE_PARAMS};

	return part == 0 && msd_edition_manifest_file(m, MSD_ROLE_LIBRARY) == NULL
		       ? MSD_ROLE_MODEL
		       : roles[part];
}

const struct msd_edition_file *msd_fetch_steps_file(const struct msd_fetch_steps *p)
{
	return p->want == MSD_WANT_FILE && p->part < MSD_FETCH_STEPS_PARTS
		       ? msd_edition_manifest_file(&p->manifest,
						   role_of(&p->manifest, p->part))
		       : NULL;
}

/* Advance from the current part to the next one that exists. */
static void go_on(struct msd_fetch_steps *p)
{
	while (p->part < MSD_FETCH_STEPS_PARTS && msd_fetch_steps_file(p) == NULL)
		p->part++;
	if (p->part == MSD_FETCH_STEPS_PARTS)
		p->want = MSD_WANT_NOTHING;
}

static msd_err check_files(const struct msd_fetch_steps *p, struct msd_diag *d)
{
	uint64_t left = p->max_bytes;

	for (uint32_t i = 0; i < p->manifest.n_files; i++) {
		const struct msd_edition_file *f = &p->manifest.files[i];

		if (f->role == MSD_ROLE_DATA) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "manifest: %s: files of the role \"data\" "
					    "are not loaded",
					    f->name);
		}
		if (f->role == MSD_ROLE_TEST)
			continue;
		if (f->bytes > left) {
			return msd_diag_set(d, MSD_TOO_LARGE,
					    "manifest: its files are over the limit of "
					    "%llu bytes (max-upload-size)",
					    (unsigned long long)p->max_bytes);
		}
		left -= f->bytes;
	}
	return MSD_OK;
}

/* The requested digest may be that of the manifest, or of its library or model. */
static msd_err check_promise(const struct msd_fetch_steps *p, struct msd_diag *d)
{
	const struct msd_edition_file *first =
		msd_edition_manifest_file(&p->manifest, role_of(&p->manifest, 0));

	if (!p->has_digest || msd_digest_equal(&p->digest, &p->edition) ||
	    msd_digest_equal(&p->digest, &first->digest))
		return MSD_OK;
	return msd_diag_wrap(d, refuse_digest(&p->edition, &p->digest, d), "manifest");
}

static msd_err check_platform(struct msd_fetch_steps *p, struct msd_diag *d)
{
	const struct msd_edition_manifest *m = &p->manifest;
	const struct msd_platform is = {m->arch, m->device, m->capability};
	const enum msd_platform_fit fit = msd_platform_fit(p->machine, &is);
	char why[4 * MSD_MANIFEST_WORD];

	if (fit == MSD_PLATFORM_SUITS)
		return MSD_OK;
	p->needs_devices = fit == MSD_PLATFORM_UNKNOWN;
	(void)snprintf(why, sizeof(why),
		       "manifest: it is for %s%s%s%s%s, and not for "
		       "this machine",
		       m->arch, m->device[0] != '\0' ? " " : "", m->device,
		       m->capability[0] != '\0' ? " " : "", m->capability);
	return msd_platform_refuse(p->machine, why, d);
}

static msd_err believe(struct msd_fetch_steps *p, struct msd_span signature,
		       struct msd_diag *d)
{
	const struct msd_span text = {p->text.p, p->text.n};
	msd_err err =
		msd_verify(&p->order, text, signature, &p->manifest, &p->signers, d);

	p->has_manifest = true;
	if (err == MSD_OK)
		err = check_platform(p, d);
	if (err == MSD_OK)
		err = check_files(p, d);
	if (err == MSD_OK)
		err = check_promise(p, d);
	if (err != MSD_OK)
		return err;
	p->want = MSD_WANT_FILE;
	go_on(p);
	end_if_had(p);
	return MSD_OK;
}

msd_err msd_fetch_steps_text(struct msd_fetch_steps *p,
			     const struct msd_download_buffer *side, struct msd_diag *d)
{
	msd_err err;

	if (p->want == MSD_WANT_MANIFEST) {
		err = msd_download_buffer_read(side, &p->text, d);
		msd_download_buffer_digest(side, &p->edition);
		p->want = MSD_WANT_SIGNATURE;
		return err;
	}
	if (!is_signed(p) &&
	    side->bytes > MSD_SIGNATURE_BYTES) /* too large for a signature */
		return believe(p, (struct msd_span){NULL, 0}, d);
	err = msd_download_buffer_read(side, &p->signature, d);
	return err == MSD_OK
		       ? believe(p, (struct msd_span){p->signature.p, p->signature.n},
				 d)
		       : err;
}

/* Reset to the state after begin. */
static void forget_texts(struct msd_fetch_steps *p)
{
	if (p->has_manifest)
		msd_edition_manifest_finish(&p->manifest);
	p->has_manifest = false;
	p->signers = (struct msd_signers){0};
	p->want = MSD_WANT_MANIFEST;
	p->part = 0;
	msd_buf_finish(&p->text);
	msd_buf_finish(&p->signature);
}

bool msd_fetch_steps_settle(struct msd_fetch_steps *p, struct msd_span manifest,
			    struct msd_span signature, struct msd_diag *d)
{
	if (manifest.n == 0 || p->want != MSD_WANT_MANIFEST)
		return false;
	msd_buf_put(&p->text, manifest.p, manifest.n);
	msd_digest_of(manifest, &p->edition);
	if (!p->text.bad &&
	    ((believe(p, signature, d) == MSD_OK && p->is_had) || p->needs_devices))
		return true;
	msd_diag_finish(d); /* the source may have a newer version */
	*d = (struct msd_diag){0};
	forget_texts(p);
	return false;
}

msd_err msd_fetch_steps_announce(struct msd_fetch_steps *p,
				 const struct msd_digest *digest, bool may_be_archive,
				 struct msd_diag *d)
{
	if (p->has_digest && !may_be_archive && !msd_digest_equal(&p->digest, digest))
		return refuse_digest(digest, &p->digest, d);
	p->edition = *digest;
	end_if_had(p);
	return MSD_OK;
}

msd_err msd_fetch_steps_came(struct msd_fetch_steps *p,
			     const struct msd_download_buffer *l, struct msd_diag *d)
{
	const struct msd_edition_file *f = msd_fetch_steps_file(p);
	const struct msd_digest *expected = f != NULL       ? &f->digest
					    : p->has_digest ? &p->digest
							    : NULL;
	struct msd_digest is;

	if (l->bytes == l->part_at)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "it is empty");
	msd_download_buffer_digest(l, &is);
	if (expected != NULL && !msd_digest_equal(&is, expected))
		return refuse_digest(&is, expected, d);
	p->part_bytes[p->part++] = l->bytes - l->part_at;
	if (f != NULL) {
		go_on(p);
		return MSD_OK;
	}
	p->edition = is;
	p->want = MSD_WANT_NOTHING;
	p->is_had = has_already(p);
	return MSD_OK;
}

void msd_fetch_steps_known(struct msd_fetch_steps *p, const struct msd_digest *digest)
{
	p->edition = *digest;
	p->is_had = true;
	p->want = MSD_WANT_NOTHING;
}

void msd_fetch_steps_finish(struct msd_fetch_steps *p)
{
	if (p->has_manifest)
		msd_edition_manifest_finish(&p->manifest);
	msd_buf_finish(&p->have);
	msd_buf_finish(&p->text);
	msd_buf_finish(&p->signature);
}

/* Run the first step of the plan, without a requested digest. */
static msd_err check_policy(enum msd_policy policy, struct msd_diag *d)
{
	struct msd_fetch_steps p = {.order.trust.policy = policy};
	const msd_err err = msd_fetch_steps_begin(&p, false, d);

	msd_fetch_steps_finish(&p);
	return err;
}

msd_err msd_source_check(const char *uri, enum msd_policy policy, bool insecure,
			 struct msd_diag *d)
{
	struct msd_oci_name name = {0};
	struct msd_uri u;
	msd_err err = msd_uri_read(uri, insecure, &u, d);

	if (err == MSD_OK && u.scheme == MSD_SCHEME_OCI)
		err = msd_oci_name_read(&u, &name, d);
	if (err == MSD_OK && !msd_oci_is_by_digest(&u))
		err = check_policy(policy, d);
	msd_oci_name_finish(&name);
	msd_uri_finish(&u);
	return err;
}
