/*
 * Happy path: read the manifest that the reference names; for an index, the manifest
 * for this machine. Then download the blobs that the owner wants into its sinks. A
 * 401 leads to a token server, with a user name and password if known, or requires
 * these directly. The request is then repeated, and a blob resumes. Failures: a
 * manifest does not match the requested digest, a new token is refused, or a download
 * fails.
 */
#include "daemon/fetch/registry/oci.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fetch/registry/challenge.h"
#include "daemon/fetch/transfer/network_options.h"
#include "daemon/fetch/transfer/sink.h"

#define MAX_MANIFESTS 3u /* an index, a nested index, and the manifest */

/* One download; freed once the loop has closed it. */
struct msd_oci_step {
	struct msd_download download;
	struct msd_oci *oci;
	bool is_token;
	bool is_of_registry; /* token request to the registry's own host */
	const char *asker; /* token request: Authorization header; NULL if anonymous */
	bool has_digest;   /* manifest request */
	struct msd_digest digest;
};

static struct msd_oci_step *step_of(struct msd_download *dl)
{
	return (void *)((char *)dl - offsetof(struct msd_oci_step, download));
}

static void on_closed(struct msd_download *dl)
{
	free(step_of(dl));
}

static void on_step(struct msd_download *dl, msd_err err, struct msd_diag *d);

static msd_err begin_step(struct msd_oci *o, const char *url, struct msd_oci_step how,
			  struct msd_sink *sink, struct msd_diag *d)
{
	struct msd_oci_step *step = malloc(sizeof(*step));

	if (step == NULL)
		return msd_diag_no_memory(d);
	*step = how;
	step->oci = o;
	const bool is_own = !how.is_token || how.is_of_registry;
	step->download = (struct msd_download){
		.net = o->net,
		.sink = sink,
		.how = o->how,
		.accept = how.is_token ? NULL : MSD_OCI_ACCEPT,
		.authorization = how.is_token ? how.asker : o->authorization,
		.on_done = on_step,
		.on_closed = on_closed};
	step->download.how.is_vouched = o->is_listed && is_own;
	const msd_err err = msd_download_begin(&step->download, url, d);
	if (err != MSD_OK) {
		free(step);
		return err;
	}
	o->step = step;
	return MSD_OK;
}

static msd_err ask_manifest(struct msd_oci *o, struct msd_diag *d)
{
	struct msd_oci_step how = {0};
	char *url;

	if (++o->n_manifests > 2 * MAX_MANIFESTS) { /* each may need a token */
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "its manifests refer to each other without end");
	}
	how.has_digest = msd_digest_parse(msd_span_of(o->name.reference), &how.digest);
	if (asprintf(&url, "%s/manifests/%s", o->name.base, o->name.reference) < 0)
		return msd_diag_no_memory(d);
	msd_buf_finish(&o->text.bytes);
	msd_text_init(&o->text);
	const msd_err err = begin_step(o, url, how, &o->text.sink, d);
	free(url);
	return err;
}

static msd_err ask_blob(struct msd_oci *o, struct msd_diag *d)
{
	char digest[MSD_DIGEST_TEXT];
	char *url;

	msd_digest_format(&o->blob, digest);
	if (asprintf(&url, "%s/blobs/sha256:%s", o->name.base, digest) < 0)
		return msd_diag_no_memory(d);
	o->sink->is_checked = true;
	const msd_err err = begin_step(o, url, (struct msd_oci_step){0}, o->sink, d);
	free(url);
	return err;
}

/* The registry chooses its token server. Credentials go there only if the check below
 * allows it, and the permission for the registry's own host does not extend to it. */
static msd_err choose_asker(struct msd_oci *o, const char *url,
			    struct msd_oci_step *ret, struct msd_diag *d)
{
	const bool insecure = o->how.reach->insecure;
	struct msd_uri to, base = {0};
	msd_err err = msd_uri_read(url, insecure, &to, d);

	if (err == MSD_OK)
		err = msd_uri_read(o->name.base, insecure, &base, d);
	if (err == MSD_OK) {
		ret->asker = !to.is_plain || to.is_local ? o->basic : NULL;
		ret->is_of_registry = strcmp(to.host, base.host) == 0;
	}
	if (err == MSD_OK && ret->asker != NULL)
		err = msd_network_options_check_realm(o->how.reach, &base, &to, d);
	msd_uri_finish(&to);
	msd_uri_finish(&base);
	return err != MSD_OK ? msd_diag_wrap(d, err, "%s", o->name.base) : err;
}

/* If a token did not help, a second one does not help either. */
static msd_err ask_token(struct msd_oci *o, const struct msd_challenge *challenge,
			 struct msd_diag *d)
{
	const uint64_t bytes = o->sink != NULL ? o->sink->bytes : 0;
	char *url;
	msd_err err;

	if (o->is_token_fresh && bytes == o->token_bytes) {
		return msd_diag_set(
			d, MSD_REFUSED,
			"%s: the registry rejects the token that it requested",
			o->name.base);
	}
	err = msd_challenge_url(challenge, o->name.base, "pull", o->how.reach->insecure,
				&url, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", o->name.base);
	o->token_bytes = bytes;
	msd_buf_finish(&o->text.bytes);
	msd_text_init(&o->text);
	struct msd_oci_step how = {.is_token = true};
	err = choose_asker(o, url, &how, d);
	if (err == MSD_OK)
		err = begin_step(o, url, how, &o->text.sink, d);
	free(url);
	return err;
}

static msd_err ask_again(struct msd_oci *o, struct msd_diag *d)
{
	return o->sink != NULL ? ask_blob(o, d) : ask_manifest(o, d);
}

/* Send the name and password, unless the registry has already refused them. */
static msd_err ask_by_name(struct msd_oci *o, struct msd_diag *d)
{
	if (o->basic == NULL || o->authorization != NULL) {
		return msd_diag_set(
			d, MSD_REFUSED,
			o->basic != NULL
				? "%s: the registry rejects the name and password in "
				  "the file of auth"
				: "%s: the registry requires a name and password, but "
				  "the file of auth has none for it",
			o->name.base);
	}
	o->authorization = strdup(o->basic);
	return o->authorization != NULL ? ask_again(o, d) : msd_diag_no_memory(d);
}

static msd_err ask_otherwise(struct msd_oci *o, const char *text, struct msd_diag *d)
{
	struct msd_challenge c;
	msd_err err = msd_challenge_read(text, &c, d);

	if (err != MSD_OK) {
		err = msd_diag_wrap(d, err, "%s", o->name.base);
	} else {
		err = c.realm != NULL ? ask_token(o, &c, d) : ask_by_name(o, d);
	}
	msd_challenge_finish(&c);
	return err;
}

static struct msd_span text_of(const struct msd_oci *o)
{
	return (struct msd_span){o->text.bytes.p, o->text.bytes.n};
}

static msd_err want_next(struct msd_oci *o, struct msd_diag *d)
{
	o->sink = NULL;
	const msd_err err = o->on_next(o, d);
	return err == MSD_OK && o->sink != NULL ? ask_blob(o, d) : err;
}

static msd_err read_manifest(struct msd_oci *o, const struct msd_oci_step *step,
			     struct msd_diag *d)
{
	struct msd_oci_manifest m;
	struct msd_digest is;
	char digest[MSD_DIGEST_TEXT];
	msd_err err;

	msd_digest_of(text_of(o), &is);
	if (step->has_digest && !msd_digest_equal(&is, &step->digest)) {
		return msd_diag_set(d, MSD_NOT_VERIFIED,
				    "%s: the received manifest is not %s", o->name.base,
				    o->name.reference);
	}
	if (!o->has_first)
		o->first = is;
	o->has_first = true;
	err = msd_oci_manifest_read(text_of(o), o->machine, &m, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", o->name.base);
	if (m.needs_devices) {
		o->needs_devices = true;
		return msd_platform_refuse(o->machine, "its devices are unknown", d);
	}
	if (!m.is_index) {
		msd_oci_manifest_finish(&o->manifest);
		o->manifest = m;
		return want_next(o, d);
	}
	msd_digest_format(&m.blob.digest, digest);
	free(o->name.reference);
	if (asprintf(&o->name.reference, "sha256:%s", digest) < 0) {
		o->name.reference = NULL;
		return msd_diag_no_memory(d);
	}
	return ask_manifest(o, d);
}

static msd_err read_token(struct msd_oci *o, struct msd_diag *d)
{
	char *header;
	msd_err err = msd_token_header(text_of(o), &header, d);

	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s: token", o->name.base);
	free(o->authorization);
	o->authorization = header;
	o->is_token_fresh = true;
	return ask_again(o, d);
}

/* Decide the next action after a step. MSD_OK with *ret_over false: the next step has
 * started. */
static msd_err go_on(struct msd_oci *o, const struct msd_oci_step *step, msd_err err,
		     bool *ret_over, struct msd_diag *d)
{
	*ret_over = false;
	if (err == MSD_REFUSED && step->download.challenge != NULL && !step->is_token) {
		msd_diag_finish(d);
		return ask_otherwise(o, step->download.challenge, d);
	}
	if (err != MSD_OK)
		return err;
	if (step->is_token)
		return read_token(o, d);
	o->is_token_fresh = false;
	err = o->sink != NULL ? want_next(o, d) : read_manifest(o, step, d);
	*ret_over = o->step == NULL && !o->is_paused;
	return err;
}

static void on_step(struct msd_download *dl, msd_err err, struct msd_diag *d)
{
	struct msd_oci_step *step = step_of(dl);
	struct msd_oci *o = step->oci;
	bool is_over;

	o->step = NULL;
	err = go_on(o, step, err, &is_over, d);
	msd_download_close(dl);
	if (err != MSD_OK || is_over)
		o->on_done(o, err, d);
}

void msd_oci_want(struct msd_oci *o, const struct msd_digest *digest,
		  struct msd_sink *sink)
{
	o->blob = *digest;
	o->sink = sink;
}

void msd_oci_pause(struct msd_oci *o)
{
	o->is_paused = true;
}

void msd_oci_resume(struct msd_oci *o, msd_err err, struct msd_diag *d)
{
	o->is_paused = false;
	if (err == MSD_OK && o->sink != NULL)
		err = ask_blob(o, d);
	if (err != MSD_OK || o->step == NULL)
		o->on_done(o, err, d);
}

msd_err msd_oci_begin(struct msd_oci *o, const struct msd_uri *uri, struct msd_diag *d)
{
	msd_err err = msd_oci_name_read(uri, &o->name, d);

	msd_text_init(&o->text);
	if (err == MSD_OK) {
		err = msd_network_options_header(o->how.reach, uri->host, uri,
						 &o->basic, d);
	}
	if (err == MSD_OK)
		err = ask_manifest(o, d);
	if (err != MSD_OK)
		msd_oci_close(o);
	return err;
}

void msd_oci_close(struct msd_oci *o)
{
	if (o->step != NULL)
		msd_download_close(&o->step->download);
	o->step = NULL;
	msd_oci_name_finish(&o->name);
	o->name = (struct msd_oci_name){0};
	msd_buf_finish(&o->text.bytes);
	msd_oci_manifest_finish(&o->manifest);
	free(o->authorization);
	free(o->basic);
	o->authorization = o->basic = NULL;
}
