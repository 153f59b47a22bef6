/*
 * Normal path: the directory of the archive is read, then the index, whose size is
 * checked before jansson allocates anything. Each shard must be a file of the archive,
 * each record a part of its shard with the bytes that its type and shape have, and no
 * two records may overlap. Failures name the shard or the record.
 */
#include "artifact/params/shards.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/params/md5.h"
#include "artifact/params/ustar.h"
#include "proto/base/json.h"
#include "proto/words/params_folder.h"

static const char *const index_names[] = {"tensor-cache.json", "ndarray-cache.json"};

static struct msd_span unpadded(struct msd_span bytes)
{
	for (size_t i = 0; i < MSD_PARAMS_FOLDER_ALIGN && bytes.n > 0 && *bytes.p == 0;
	     i++)
		bytes = (struct msd_span){bytes.p + 1, bytes.n - 1};
	return bytes;
}

bool msd_shards_is(struct msd_span bytes)
{
	return msd_ustar_is(unpadded(bytes));
}

/* Limits the work of jansson. */
static msd_err check_size(struct msd_span text, struct msd_diag *d)
{
	struct msd_json_parts parts;

	if (text.n > MSD_PARAMS_FOLDER_INDEX_MAX) {
		return msd_diag_set(d, MSD_TOO_LARGE, "it has more than %u bytes",
				    MSD_PARAMS_FOLDER_INDEX_MAX);
	}
	msd_json_count(text, &parts);
	if (parts.depth > MSD_SHARDS_DEPTH_MAX) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "it has more than %u brackets in each other",
				    MSD_SHARDS_DEPTH_MAX);
	}
	if (parts.n_commas + parts.n_objects + parts.n_arrays > MSD_SHARDS_VALUES_MAX) {
		return msd_diag_set(d, MSD_TOO_LARGE, "it has more than %u values",
				    MSD_SHARDS_VALUES_MAX);
	}
	return MSD_OK;
}

static msd_err parse(struct msd_span text, json_t **ret, struct msd_diag *d)
{
	json_error_t e;
	const msd_err err = check_size(text, d);

	if (err != MSD_OK)
		return err;
	*ret = json_loadb((const char *)text.p, text.n, JSON_REJECT_DUPLICATES, &e);
	if (*ret != NULL)
		return MSD_OK;
	if (json_error_code(&e) == json_error_out_of_memory)
		return msd_diag_no_memory(d);
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "line %d: %s", e.line, e.text);
}

static msd_err read_text(const json_t *o, const char *key, struct msd_span *ret,
			 struct msd_diag *d)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_string(v) || json_string_length(v) == 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: expected a text", key);
	}
	*ret = (struct msd_span){(const uint8_t *)json_string_value(v),
				 json_string_length(v)};
	return MSD_OK;
}

static msd_err read_number(const json_t *o, const char *key, uint64_t *ret,
			   struct msd_diag *d)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%s: expected a number from 0 on", key);
	}
	*ret = (uint64_t)json_integer_value(v);
	return MSD_OK;
}

static msd_err read_list(const json_t *o, const char *key, const json_t **ret,
			 struct msd_diag *d)
{
	*ret = json_object_get(o, key);
	return json_is_array(*ret)
		       ? MSD_OK
		       : msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: expected a list", key);
}

static msd_err read_shape(const json_t *o, struct msd_tensor_blob *ret,
			  struct msd_diag *d)
{
	const json_t *list;
	msd_err err = read_list(o, "shape", &list, d);

	if (err != MSD_OK)
		return err;
	if (json_array_size(list) > MSD_MAX_NDIM) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "shape: more than %d dimensions", MSD_MAX_NDIM);
	}
	ret->ndim = (uint32_t)json_array_size(list);
	for (uint32_t i = 0; i < ret->ndim; i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_integer(v) || json_integer_value(v) < 0) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "shape: expected numbers from 0 on");
		}
		ret->shape[i] = json_integer_value(v);
	}
	return MSD_OK;
}

/* Read type and shape; *@ret_bytes is the size of their data in the shard. */
static msd_err read_type(const json_t *o, struct msd_shard_record *r,
			 uint64_t *ret_bytes, struct msd_diag *d)
{
	struct msd_span dtype = {0}, format = {0};
	struct msd_dtype stored;
	uint64_t elements;
	msd_err err = read_text(o, "dtype", &dtype, d);

	if (err == MSD_OK)
		err = read_text(o, "format", &format, d);
	if (err == MSD_OK)
		err = read_shape(o, &r->tensor, d);
	if (err != MSD_OK)
		return err;
	if (!msd_dtype_parse((const char *)dtype.p, dtype.n, &r->tensor.dtype) ||
	    r->tensor.dtype.code == MSD_DT_HANDLE) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "unknown dtype %.*s",
				    (int)dtype.n, (const char *)dtype.p);
	}
	const bool is_packed = msd_span_is(format, "f32-to-bf16");
	if (!is_packed && !msd_span_is(format, "raw")) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "format %.*s: only raw and f32-to-bf16 are known",
				    (int)format.n, (const char *)format.p);
	}
	r->is_bf16 = is_packed && msd_dtype_eq(r->tensor.dtype,
					       (struct msd_dtype){MSD_DT_FLOAT, 32, 1});
	stored =
		r->is_bf16 ? (struct msd_dtype){MSD_DT_BFLOAT, 16, 1} : r->tensor.dtype;
	if (!msd_shape_elements(r->tensor.shape, r->tensor.ndim, &elements) ||
	    !msd_dtype_bytes(stored, elements, ret_bytes))
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "shape: too large");
	return MSD_OK;
}

static msd_err read_record(const json_t *o, struct msd_span shard,
			   struct msd_shard_record *r, struct msd_diag *d)
{
	uint64_t at = 0, bytes = 0, wanted = 0;
	msd_err err = read_text(o, "name", &r->name, d);

	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "a record");
	err = read_type(o, r, &wanted, d);
	if (err == MSD_OK)
		err = read_number(o, "byteOffset", &at, d);
	if (err == MSD_OK)
		err = read_number(o, "nbytes", &bytes, d);
	if (err == MSD_OK && bytes != wanted) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "nbytes is %llu, but its type and shape have %llu",
				   (unsigned long long)bytes,
				   (unsigned long long)wanted);
	}
	if (err == MSD_OK && (at > shard.n || bytes > shard.n - at)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "it ends behind the %zu bytes of its shard",
				   shard.n);
	}
	if (err != MSD_OK) {
		return msd_diag_wrap(d, err, "record %.*s", (int)r->name.n,
				     (const char *)r->name.p);
	}
	r->tensor.data = (struct msd_span){shard.p + at, (size_t)bytes};
	return MSD_OK;
}

/* Read facts about a shard, and find its file. */
static msd_err read_shard(const json_t *o, const struct msd_ustar *archive,
			  struct msd_shard *ret, struct msd_diag *d)
{
	struct msd_span format = {0};
	uint64_t bytes = 0;
	msd_err err = read_text(o, "dataPath", &ret->name, d);

	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "a shard");
	err = read_text(o, "format", &format, d);
	if (err == MSD_OK && !msd_span_is(format, "raw-shard")) {
		err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "format %.*s: only raw-shard is known",
				   (int)format.n, (const char *)format.p);
	}
	if (err == MSD_OK)
		err = read_number(o, "nbytes", &bytes, d);
	if (err == MSD_OK && json_object_get(o, "md5sum") != NULL)
		err = read_text(o, "md5sum", &ret->md5, d);
	if (err == MSD_OK) {
		const struct msd_ustar_file *f = msd_ustar_find(archive, ret->name);

		if (f == NULL) {
			err = msd_diag_set(d, MSD_BAD_ARTIFACT,
					   "the folder has no such file");
		} else if (f->data.n != bytes) {
			err = msd_diag_set(d, MSD_BAD_ARTIFACT,
					   "nbytes is %llu, but the file has %zu",
					   (unsigned long long)bytes, f->data.n);
		} else {
			ret->data = f->data;
		}
	}
	return err == MSD_OK ? err
			     : msd_diag_wrap(d, err, "shard %.*s", (int)ret->name.n,
					     (const char *)ret->name.p);
}

/* Count the records of all shards, and make room for them. */
static msd_err make_room(const json_t *shards, struct msd_shards *s, struct msd_diag *d)
{
	size_t n = 0, i;
	json_t *shard;

	json_array_foreach(shards, i, shard) n +=
		json_array_size(json_object_get(shard, "records"));
	if (n > MSD_SHARDS_RECORDS_MAX) {
		(void)msd_diag_set(d, MSD_TOO_LARGE, "it has more than %u records",
				   MSD_SHARDS_RECORDS_MAX);
		return MSD_TOO_LARGE;
	}
	s->shards = calloc(json_array_size(shards) + 1, sizeof(*s->shards));
	s->records = calloc(n + 1, sizeof(*s->records));
	s->by_name = calloc(n + 1, sizeof(struct msd_shard_record *));
	if (s->shards != NULL && s->records != NULL && s->by_name != NULL)
		return MSD_OK;
	(void)msd_diag_no_memory(d);
	return MSD_NOMEM;
}

/* Read all shards and records. The files have at most @left bytes together, unless one
 * is named twice; its bytes would be hashed more than once. */
static msd_err read_shards(const struct msd_ustar *archive, size_t left,
			   struct msd_shards *s, struct msd_diag *d)
{
	const json_t *shards, *records;
	msd_err err = read_list(s->index, "records", &shards, d);

	if (err == MSD_OK)
		err = make_room(shards, s, d);
	for (size_t i = 0; err == MSD_OK && i < json_array_size(shards); i++) {
		const json_t *o = json_array_get(shards, i);
		struct msd_shard *shard = &s->shards[s->n_shards++];

		err = read_shard(o, archive, shard, d);
		if (err == MSD_OK && shard->data.n > left) {
			err = msd_diag_set(
				d, MSD_BAD_ARTIFACT, "shard %.*s: it is listed twice",
				(int)shard->name.n, (const char *)shard->name.p);
		}
		left -= err == MSD_OK ? shard->data.n : 0;
		if (err == MSD_OK)
			err = read_list(o, "records", &records, d);
		for (size_t k = 0; err == MSD_OK && k < json_array_size(records); k++) {
			err = read_record(json_array_get(records, k), shard->data,
					  &s->records[s->n], d);
			s->by_name[s->n] = &s->records[s->n];
			s->n++;
		}
	}
	return err;
}

static const struct msd_shard_record *record_of(const void *p)
{
	return *(const struct msd_shard_record *const *)p;
}

static int by_place(const void *a, const void *b)
{
	const struct msd_span x = record_of(a)->tensor.data;
	const struct msd_span y = record_of(b)->tensor.data;

	return x.p != y.p ? (x.p > y.p) - (x.p < y.p) : (x.n > y.n) - (x.n < y.n);
}

static int compare(struct msd_span a, struct msd_span b)
{
	const int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

static int by_name(const void *a, const void *b)
{
	return compare(record_of(a)->name, record_of(b)->name);
}

static void sort(struct msd_shards *s, int (*order)(const void *, const void *))
{
	if (s->n > 0)
		qsort((void *)s->by_name, s->n, sizeof(*s->by_name), order);
}

static msd_err refuse_pair(const struct msd_shard_record *const *pair, const char *what,
			   struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "records %.*s and %.*s %s",
			    (int)pair[0]->name.n, (const char *)pair[0]->name.p,
			    (int)pair[1]->name.n, (const char *)pair[1]->name.p, what);
}

/* No two records may have a byte or the name in common. */
static msd_err check_pairs(struct msd_shards *s, struct msd_diag *d)
{
	sort(s, by_place);
	for (size_t i = 1; i < s->n; i++) {
		const struct msd_span x = s->by_name[i - 1]->tensor.data;

		if (x.n > (size_t)(s->by_name[i]->tensor.data.p - x.p))
			return refuse_pair(&s->by_name[i - 1], "overlap", d);
	}
	sort(s, by_name);
	for (size_t i = 1; i < s->n; i++) {
		if (by_name(&s->by_name[i - 1], &s->by_name[i]) == 0)
			return refuse_pair(&s->by_name[i - 1], "have one name", d);
	}
	return MSD_OK;
}

static msd_err read_folder(const struct msd_ustar *archive, size_t bytes,
			   struct msd_shards *s, struct msd_diag *d)
{
	const struct msd_ustar_file *index = NULL;
	size_t i = 0;

	for (; index == NULL && i < sizeof(index_names) / sizeof(index_names[0]); i++)
		index = msd_ustar_find(archive, msd_span_of(index_names[i]));
	if (index == NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "the archive has no tensor-cache.json");
	}
	msd_err err = parse(index->data, &s->index, d);
	if (err == MSD_OK)
		err = read_shards(archive, bytes, s, d);
	if (err == MSD_OK)
		err = check_pairs(s, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s", index_names[i - 1]);
}

msd_err msd_shards_read(struct msd_span bytes, struct msd_shards *ret,
			struct msd_diag *d)
{
	struct msd_ustar archive = {0};
	struct msd_shards s = {0};
	msd_err err = msd_ustar_read(unpadded(bytes), &archive, d);

	if (err == MSD_OK)
		err = read_folder(&archive, bytes.n, &s, d);
	msd_ustar_finish(&archive);
	if (err != MSD_OK) {
		msd_shards_finish(&s);
		return err;
	}
	*ret = s;
	return MSD_OK;
}

static msd_err check_sum(const struct msd_shard *s, const struct msd_md5 *got,
			 struct msd_diag *d)
{
	struct msd_md5 want;

	if (s->md5.n == 0)
		return MSD_OK;
	if (msd_md5_parse(s->md5, &want) && memcmp(&want, got, sizeof(want)) == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "shard %.*s: its MD5 is not the %.*s of the index: the "
			    "file is damaged, or of another folder",
			    (int)s->name.n, (const char *)s->name.p, (int)s->md5.n,
			    (const char *)s->md5.p);
}

msd_err msd_shards_check(const struct msd_shards *s, struct msd_diag *d)
{
	struct msd_span *spans = calloc(s->n_shards + 1, sizeof(*spans));
	struct msd_md5 *got = calloc(s->n_shards + 1, sizeof(*got));
	msd_err err = MSD_OK;
	size_t n = 0;

	if (spans == NULL || got == NULL) {
		free(spans);
		free(got);
		return msd_diag_no_memory(d);
	}
	for (size_t i = 0; i < s->n_shards; i++) {
		if (s->shards[i].md5.n > 0)
			spans[n++] = s->shards[i].data;
	}
	msd_md5_of(spans, n, got);
	n = 0;
	for (size_t i = 0; err == MSD_OK && i < s->n_shards; i++) {
		err = check_sum(&s->shards[i], &got[n], d);
		n += s->shards[i].md5.n > 0;
	}
	free(spans);
	free(got);
	return err;
}

const struct msd_shard_record *msd_shards_find(const struct msd_shards *s,
					       struct msd_span name)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int c = compare(name, s->by_name[middle]->name);

		if (c == 0)
			return s->by_name[middle];
		if (c < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return NULL;
}

void msd_shards_finish(struct msd_shards *s)
{
	if (s == NULL)
		return;
	json_decref(s->index);
	free(s->shards);
	free(s->records);
	free((void *)s->by_name);
	*s = (struct msd_shards){0};
}
