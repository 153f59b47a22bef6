/* Happy path: the keys of the map are read group by group. The result borrows from
 * the params. Failures: the error names the key. */
#include "daemon/fetch/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/trusted_clock.h"

#define KEY_BYTES (MSD_KEY_ID_BYTES + MSD_PUBLIC_KEY_BYTES)

static msd_err refuse(const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "fetch.get: %s", what);
}

/* Read an optional digest of the map, or several concatenated digests. */
static msd_err read_digests(const msgpack_object *map, const char *key,
			    struct msd_span *ret, struct msd_diag *d)
{
	const msgpack_object *value = msd_map_find(map, key);
	msd_err err = value != NULL ? msd_object_bin(value, key, ret, d) : MSD_OK;

	if (err == MSD_OK && ret->n % MSD_DIGEST_BYTES != 0)
		err = msd_diag_set(d, MSD_BAD_REQUEST, "%s: no SHA-256", key);
	return err;
}

static msd_err read_all_digests(const msgpack_object *map, struct msd_job_ask *ret,
				struct msd_diag *d)
{
	struct msd_span digest = {0}, of_etag = {0};
	msd_err err = read_digests(map, "have", &ret->have, d);

	if (err == MSD_OK)
		err = read_digests(map, "etag_sha256", &of_etag, d);
	if (err == MSD_OK)
		err = read_digests(map, "sha256", &digest, d);
	if (err == MSD_OK && digest.n != MSD_DIGEST_BYTES &&
	    msd_map_find(map, "sha256") != NULL)
		err = refuse("sha256: no SHA-256", d);
	if (err == MSD_OK)
		err = msd_map_bool(map, "of_manifest", &ret->of_manifest, d);
	ret->has_digest = digest.n == MSD_DIGEST_BYTES;
	if (ret->has_digest)
		memcpy(ret->digest.b, digest.p, MSD_DIGEST_BYTES);
	if (of_etag.n == MSD_DIGEST_BYTES)
		memcpy(ret->etag_digest.b, of_etag.p, MSD_DIGEST_BYTES);
	return err;
}

/* Texts of an edition that the requester already has. */
static msd_err read_texts(const msgpack_object *map, struct msd_job_ask *ret,
			  struct msd_diag *d)
{
	const msgpack_object *manifest = msd_map_find(map, "manifest");
	const msgpack_object *signature = msd_map_find(map, "signature");
	msd_err err = MSD_OK;

	if (manifest != NULL)
		err = msd_object_bin(manifest, "manifest", &ret->manifest, d);
	if (err == MSD_OK && signature != NULL)
		err = msd_object_bin(signature, "signature", &ret->signature, d);
	return err;
}

static msd_err read_limits(const msgpack_object *map, struct msd_job_ask *ret,
			   struct msd_diag *d)
{
	msd_err err = msd_map_uint(map, "max_bytes", UINT64_MAX, &ret->max_bytes, d);

	if (err == MSD_OK)
		err = msd_map_uint(map, "stall_ms", UINT32_MAX, &ret->how.stall_ms, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "retry_ms", UINT32_MAX, &ret->how.retry_ms, d);
	return err;
}

/* Concatenated keys. */
static msd_err read_keys(const msgpack_object *map, struct msd_trust *ret,
			 struct msd_diag *d)
{
	const msgpack_object *value = msd_map_find(map, "keys");
	struct msd_span keys = {0};
	msd_err err = value != NULL ? msd_object_bin(value, "keys", &keys, d) : MSD_OK;

	if (err == MSD_OK && keys.n % KEY_BYTES != 0)
		return refuse("keys: 40 bytes each", d);
	for (; err == MSD_OK && keys.n > 0; keys.n -= KEY_BYTES, keys.p += KEY_BYTES) {
		struct msd_public_key key;

		memcpy(key.id.b, keys.p, MSD_KEY_ID_BYTES);
		memcpy(key.b, keys.p + MSD_KEY_ID_BYTES, MSD_PUBLIC_KEY_BYTES);
		err = msd_trust_add(ret, &key, d);
	}
	return err;
}

/* [[id, version], ...] */
static msd_err read_floors(const msgpack_object *map, struct msd_order *ret,
			   struct msd_diag *d)
{
	const msgpack_object *list = msd_map_find(map, "floors");

	if (list == NULL)
		return MSD_OK;
	if (list->type != MSGPACK_OBJECT_ARRAY || list->via.array.size > MSD_TRUST_KEYS)
		return refuse("floors: at most 16 pairs", d);
	for (uint32_t i = 0; i < list->via.array.size; i++) {
		const msgpack_object *pair = &list->via.array.ptr[i];
		struct msd_floor *f = &ret->floors[i];
		struct msd_span id;

		if (pair->type != MSGPACK_OBJECT_ARRAY || pair->via.array.size != 2)
			return refuse("floors: pairs", d);
		msd_err err = msd_object_bin(&pair->via.array.ptr[0], "floors", &id, d);
		if (err == MSD_OK && id.n != MSD_KEY_ID_BYTES)
			err = refuse("floors: names of 8 bytes", d);
		if (err == MSD_OK) {
			memcpy(f->id.b, id.p, MSD_KEY_ID_BYTES);
			err = msd_object_uint(&pair->via.array.ptr[1], "floors",
					      UINT64_MAX, &f->version, d);
		}
		if (err != MSD_OK)
			return err;
	}
	ret->n_floors = list->via.array.size;
	return MSD_OK;
}

static msd_err read_order(const msgpack_object *map, struct msd_order *ret,
			  struct msd_diag *d)
{
	struct msd_span policy = {0};
	uint64_t least = 0, newest_s = 0;
	msd_err err = msd_map_str(map, "policy", &policy, d);

	if (err == MSD_OK && policy.n > 0 &&
	    !msd_policy_parse(policy, &ret->trust.policy))
		err = refuse("policy: unknown word", d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "least", MSD_TRUST_KEYS, &least, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "newest", INT64_MAX, &newest_s, d);
	if (err == MSD_OK)
		err = read_keys(map, &ret->trust, d);
	if (err == MSD_OK)
		err = read_floors(map, ret, d);
	ret->trust.least = (uint32_t)least;
	ret->now_s = msd_trusted_clock((uint64_t)time(NULL), newest_s);
	return err;
}

/* This key alone means that the requester is not the operator. */
static msd_err read_bound(const msgpack_object *map, struct msd_network_options *ret,
			  struct msd_diag *d)
{
	const msgpack_object *list = msd_map_find(map, "pull_from");
	msd_err err = MSD_OK;

	if (list == NULL)
		return MSD_OK;
	if (list->type != MSGPACK_OBJECT_ARRAY)
		return refuse("pull_from: expected an array", d);
	err = msd_network_options_bound(ret, (struct msd_span){NULL, 0}, d);
	for (uint32_t i = 0; err == MSD_OK && i < list->via.array.size; i++) {
		struct msd_span url;

		err = msd_object_str(&list->via.array.ptr[i], "pull_from", &url, d);
		if (err == MSD_OK)
			err = msd_network_options_bound(ret, url, d);
	}
	return err;
}

static msd_err read_reach(const msgpack_object *map, struct msd_network_options *ret,
			  struct msd_diag *d)
{
	struct msd_span auth = {0}, ca = {0}, proxy = {0}, realm = {0};
	msd_err err = msd_map_str(map, "auth", &auth, d);

	if (err == MSD_OK)
		err = msd_map_str(map, "ca", &ca, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "proxy", &proxy, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "realm", &realm, d);
	if (err == MSD_OK)
		err = msd_network_options_init(ret, auth, ca, proxy, realm, d);
	if (err == MSD_OK)
		err = msd_map_bool(map, "insecure", &ret->insecure, d);
	return err == MSD_OK ? read_bound(map, ret, d) : err;
}

static msd_err keep_texts(struct msd_fetch_request *a, struct msd_span uri,
			  struct msd_span etag, struct msd_span name,
			  struct msd_diag *d)
{
	if (name.n >= sizeof(a->name))
		return refuse("name: too long", d);
	(void)snprintf(a->name, sizeof(a->name), "%.*s", (int)name.n,
		       (const char *)name.p);
	a->uri = strndup((const char *)uri.p, uri.n);
	a->etag = etag.n > 0 ? strndup((const char *)etag.p, etag.n) : NULL;
	if (a->uri == NULL || (etag.n > 0 && a->etag == NULL))
		return msd_diag_no_memory(d);
	a->ask.uri = a->uri;
	a->ask.etag = a->etag;
	a->ask.name = a->name;
	return MSD_OK;
}

msd_err msd_fetch_request_read(struct msd_unpack *unpack, struct msd_span params,
			       struct msd_fetch_request *ret, struct msd_diag *d)
{
	static const char *const known[] = {
		"uri",         "name",      "sha256",    "have",       "etag",
		"etag_sha256", "policy",    "keys",      "least",      "floors",
		"newest",      "max_bytes", "stall_ms",  "retry_ms",   "auth",
		"ca",          "proxy",     "insecure",  "max_memory", "of_manifest",
		"manifest",    "signature", "pull_from", "realm",      NULL};
	struct msd_span uri = {(const uint8_t *)"", 0}, etag = uri, name = uri;
	const msgpack_object *list, *map = NULL;
	msd_err err;

	*ret = (struct msd_fetch_request){0};
	err = msd_unpack(unpack, params, &list, d);
	if (err == MSD_OK)
		err = msd_params_check(list, "fetch.get", 1, 1, d);
	if (err != MSD_OK)
		return err;
	map = &list->via.array.ptr[0];
	err = msd_map_check(map, "fetch.get", known, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "uri", &uri, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "etag", &etag, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "name", &name, d);
	if (err == MSD_OK)
		err = read_limits(map, &ret->ask, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "max_memory", UINT64_MAX, &ret->max_memory, d);
	if (err == MSD_OK)
		err = read_all_digests(map, &ret->ask, d);
	if (err == MSD_OK)
		err = read_texts(map, &ret->ask, d);
	if (err == MSD_OK)
		err = read_order(map, &ret->ask.order, d);
	if (err == MSD_OK)
		err = read_reach(map, &ret->ask.reach, d);
	return err == MSD_OK ? keep_texts(ret, uri, etag, name, d) : err;
}

void msd_fetch_request_finish(struct msd_fetch_request *a)
{
	free(a->uri);
	free(a->etag);
	msd_network_options_finish(&a->ask.reach);
}
