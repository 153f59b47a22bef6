/*
 * Happy path: for each layer, ask the registry whether it has the blob. If not,
 * upload it to the location that the registry returns. Then put the manifest under
 * the tag. A 401 asks for a token, or for a name and password; the request is
 * repeated once with it. Failures: any failed request ends the push; blobs already
 * sent are found the next time.
 */
#include "daemon/fetch/registry/push.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/fetch/registry/exchange.h"
#include "daemon/fetch/registry/oci_manifest.h"
#include "daemon/fetch/registry/oci_name.h"
#include "daemon/fetch/transfer/network_options.h"
#include "daemon/fetch/transfer/redirects.h"
#include "daemon/fetch/uri.h"
#include "proto/base/errno_text.h"

#define EMPTY_TYPE "application/vnd.oci.empty.v1+json"
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"

static const struct msd_span empty_config = {(const uint8_t *)"{}", 2};

struct push {
	struct msd_oci_name name;
	struct msd_exchange exchange;
	struct msd_push_count count;
};

static msd_err measure(struct msd_push_layer *l, struct msd_diag *d)
{
	struct sha256_ctx hash;
	uint8_t bytes[65536];
	ssize_t n;

	sha256_init(&hash);
	l->bytes = 0;
	while ((n = pread(l->fd, bytes, sizeof(bytes), (off_t)l->bytes)) > 0) {
		sha256_update(&hash, (size_t)n, bytes);
		l->bytes += (uint64_t)n;
	}
	sha256_digest(&hash, MSD_DIGEST_BYTES, l->digest.b);
	if (n < 0) {
		char text[MSD_ERRNO_TEXT_BYTES];

		return msd_diag_set(d, MSD_IO, "%s", msd_errno_text(errno, text));
	}
	return MSD_OK;
}

/* The URL that completes an upload with its digest. The upload began at @url and
 * continues at @location. */
static msd_err upload_url(const char *url, const char *location, const char *digest,
			  char **ret, struct msd_diag *d)
{
	char *where;
	msd_err err = msd_redirects_lead(url, location, false, &where, d);

	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s: the registry's Location", url);
	const char mark = strchr(where, '?') == NULL ? '?' : '&';
	if (asprintf(ret, "%s%cdigest=sha256%%3A%s", where, mark, digest) < 0)
		err = msd_diag_no_memory(d);
	free(where);
	return err;
}

static msd_err send_blob(struct push *p, struct msd_exchange_body body,
			 const char *digest, struct msd_diag *d)
{
	struct msd_exchange_answer a = {0};
	char *url, *where = NULL;
	msd_err err;

	if (asprintf(&url, "%s/blobs/uploads/", p->name.base) < 0)
		return msd_diag_no_memory(d);
	err = msd_exchange_ask(&p->exchange, "POST", url, NULL, &a, d);
	if (err == MSD_OK && (a.status != 202 || a.location == NULL))
		err = msd_exchange_refuse(&a, d);
	if (err == MSD_OK)
		err = upload_url(url, a.location, digest, &where, d);
	msd_exchange_answer_finish(&a);
	free(url);
	if (err != MSD_OK)
		return err;
	err = msd_exchange_ask(&p->exchange, "PUT", where, &body, &a, d);
	free(where);
	if (err == MSD_OK && a.status != 201)
		err = msd_exchange_refuse(&a, d);
	msd_exchange_answer_finish(&a);
	return err;
}

static msd_err put_blob(struct push *p, struct msd_exchange_body body,
			const struct msd_digest *digest, struct msd_diag *d)
{
	struct msd_exchange_answer a = {0};
	char hex[MSD_DIGEST_TEXT];
	char *url = NULL;
	msd_err err;

	msd_digest_format(digest, hex);
	if (asprintf(&url, "%s/blobs/sha256:%s", p->name.base, hex) < 0)
		return msd_diag_no_memory(d);
	err = msd_exchange_ask(&p->exchange, "HEAD", url, NULL, &a, d);
	free(url);
	const long status = a.status;
	if (err == MSD_OK && status != 200 && status != 404)
		err = msd_exchange_refuse(&a, d);
	msd_exchange_answer_finish(&a);
	if (err != MSD_OK)
		return err;
	if (status == 200) {
		p->count.n_there++;
		return MSD_OK;
	}
	p->count.n_sent++;
	return send_blob(p, body, hex, d);
}

static json_t *descriptor(const char *type, const struct msd_digest *digest,
			  uint64_t bytes, const char *title)
{
	char hex[MSD_DIGEST_TEXT];

	msd_digest_format(digest, hex);
	json_t *o = json_pack("{s:s, s:s+, s:I}", "mediaType", type, "digest",
			      "sha256:", hex, "size", (json_int_t)bytes);
	if (title != NULL) {
		(void)json_object_set_new(
			o, "annotations",
			json_pack("{s:s}", "org.opencontainers.image.title", title));
	}
	return o;
}

/* Owned by the caller; NULL if out of memory. */
static char *registry_manifest(const struct msd_push_layer *layers, unsigned n)
{
	struct msd_digest digest;
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++) {
		(void)json_array_append_new(
			list, descriptor(layers[i].type, &layers[i].digest,
					 layers[i].bytes, layers[i].title));
	}
	msd_digest_of(empty_config, &digest);
	json_t *root = json_pack(
		"{s:i, s:s, s:s, s:o, s:o}", "schemaVersion", 2, "mediaType",
		MANIFEST_TYPE, "artifactType", MSD_OCI_MANIFEST_TYPE, "config",
		descriptor(EMPTY_TYPE, &digest, empty_config.n, NULL), "layers", list);
	char *text = json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	return text;
}

static msd_err put_manifest(struct push *p, const struct msd_push_layer *layers,
			    unsigned n, struct msd_diag *d)
{
	struct msd_exchange_answer a = {0};
	char *text = registry_manifest(layers, n), *url = NULL;
	msd_err err;

	if (text == NULL ||
	    asprintf(&url, "%s/manifests/%s", p->name.base, p->name.reference) < 0) {
		free(text);
		return msd_diag_no_memory(d);
	}
	const struct msd_exchange_body body = {
		.type = MANIFEST_TYPE,
		.fd = -1,
		.text = {(const uint8_t *)text, strlen(text)},
		.bytes = strlen(text)};
	err = msd_exchange_ask(&p->exchange, "PUT", url, &body, &a, d);
	if (err == MSD_OK && a.status != 201)
		err = msd_exchange_refuse(&a, d);
	msd_exchange_answer_finish(&a);
	free(text);
	free(url);
	return err;
}

static msd_err put_config(struct push *p, struct msd_diag *d)
{
	const struct msd_exchange_body body = {.type = "application/octet-stream",
					       .fd = -1,
					       .text = empty_config,
					       .bytes = empty_config.n};
	struct msd_digest digest;

	msd_digest_of(empty_config, &digest);
	return put_blob(p, body, &digest, d);
}

static msd_err put_all(struct push *p, struct msd_push_layer *layers, unsigned n,
		       struct msd_diag *d)
{
	msd_err err = put_config(p, d);

	for (unsigned i = 0; err == MSD_OK && i < n; i++) {
		err = measure(&layers[i], d);
		if (err == MSD_OK) {
			const struct msd_exchange_body body = {
				.type = "application/octet-stream",
				.fd = layers[i].fd,
				.bytes = layers[i].bytes};
			err = put_blob(p, body, &layers[i].digest, d);
		}
	}
	return err == MSD_OK ? put_manifest(p, layers, n, d) : err;
}

msd_err msd_push(const char *uri, const struct msd_network_options *reach,
		 struct msd_push_layer *layers, unsigned n, struct msd_push_count *ret,
		 struct msd_diag *d)
{
	struct push p = {.exchange = {.reach = *reach}};
	struct msd_uri to;
	msd_err err = msd_uri_read(uri, false, &to, d);

	if (err == MSD_OK && to.scheme != MSD_SCHEME_OCI) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "%s: expected oci://HOST/REPOSITORY:TAG", uri);
	}
	if (err == MSD_OK)
		err = msd_oci_name_read(&to, &p.name, d);
	if (err == MSD_OK)
		err = msd_exchange_open(&p.exchange, d);
	if (err == MSD_OK)
		err = put_all(&p, layers, n, d);
	msd_exchange_close(&p.exchange);
	msd_oci_name_finish(&p.name);
	msd_uri_finish(&to);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "push");
	*ret = p.count;
	return MSD_OK;
}
