/*
 * Happy path: the size of the text is checked without allocation, jansson parses it,
 * and the keys are read one by one. Failures: the error names the key. Only the text
 * is checked here; the caller checks its signature and whether it fits this machine.
 */
#include "store/manifest/manifest.h"

#include <string.h>

#include "proto/base/json.h"
#include "proto/name.h"
#include "store/manifest/instant.h"

static msd_err damaged(struct msd_diag *d, const char *expected)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "expected %s", expected);
}

/* Limits the work of jansson. */
static msd_err check_size(struct msd_span text, struct msd_diag *d)
{
	struct msd_json_parts parts;

	if (text.n == 0)
		return damaged(d, "JSON, and it is empty");
	if (text.n > MSD_MANIFEST_BYTES) {
		return msd_diag_set(d, MSD_TOO_LARGE, "it has more than %u bytes",
				    MSD_MANIFEST_BYTES);
	}
	msd_json_count(text, &parts);
	if (parts.depth > MSD_MANIFEST_DEPTH)
		return damaged(d, "at most 8 brackets in each other");
	return parts.n_commas < MSD_MANIFEST_VALUES
		       ? MSD_OK
		       : damaged(d, "fewer than 262144 values");
}

static msd_err read_number(const json_t *o, const char *key, uint64_t least,
			   uint64_t most, uint64_t *ret, struct msd_diag *d)
{
	const json_t *number = json_object_get(o, key);

	if (!json_is_integer(number) ||
	    json_integer_value(number) < (json_int_t)least ||
	    (uint64_t)json_integer_value(number) > most) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT, "%s: expected a number from %llu to %llu",
			key, (unsigned long long)least, (unsigned long long)most);
	}
	*ret = (uint64_t)json_integer_value(number);
	return MSD_OK;
}

static msd_err read_time(const json_t *o, const char *key, bool is_wanted,
			 uint64_t *ret, struct msd_diag *d)
{
	const json_t *text = json_object_get(o, key);

	if (text == NULL && !is_wanted)
		return MSD_OK;
	if (!json_is_string(text) || !msd_instant_parse(json_string_value(text), ret)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%s: expected a time such as "
				    "\"2026-11-22T10:00:00Z\"",
				    key);
	}
	return MSD_OK;
}

static bool is_word(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
				      "WXYZ0123456789._-";

	return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

static msd_err read_word(const json_t *o, const char *key, bool is_wanted,
			 char ret[static MSD_MANIFEST_WORD], struct msd_diag *d)
{
	const json_t *text = json_object_get(o, key);
	const size_t n = json_string_length(text);

	if (text == NULL && !is_wanted)
		return MSD_OK;
	if (!json_is_string(text) || n >= MSD_MANIFEST_WORD ||
	    !is_word(json_string_value(text))) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "platform: %s: expected a word", key);
	}
	memcpy(ret, json_string_value(text), n + 1);
	return MSD_OK;
}

static msd_err read_platform(const json_t *root, struct msd_edition_manifest *ret,
			     struct msd_diag *d)
{
	const json_t *platform = json_object_get(root, "platform");
	msd_err err;

	if (!json_is_object(platform))
		return damaged(d, "platform: {\"arch\": ...}");
	err = read_word(platform, "arch", true, ret->arch, d);
	if (err == MSD_OK)
		err = read_word(platform, "device", false, ret->device, d);
	if (err == MSD_OK)
		err = read_word(platform, "capability", false, ret->capability, d);
	return err;
}

static bool read_role(const json_t *text, enum msd_role *ret)
{
	for (unsigned i = 0; json_is_string(text) && i < MSD_ROLE_MANIFEST; i++) {
		if (strcmp(json_string_value(text), msd_role_word(i)) == 0) {
			*ret = (enum msd_role)i;
			return true;
		}
	}
	return false;
}

/* Objects and sources need a compiler, which a target machine may lack. */
static bool needs_compiler(const char *name)
{
	static const char *const ends[] = {".tar", ".tar.gz", ".tgz", ".zip", ".a",
					   ".o",   ".c",      ".cc",  ".cu"};
	const size_t n = strlen(name);

	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t k = strlen(ends[i]);

		if (n > k && strcmp(name + n - k, ends[i]) == 0)
			return true;
	}
	return false;
}

/* The file is looked up in the manifest's directory, and keeps this name in the
 * store. */
static msd_err add_file(struct msd_edition_manifest *m,
			const struct msd_edition_file *f, const json_t *path,
			struct msd_diag *d)
{
	const size_t n = json_string_length(path);
	struct msd_edition_file *to = &m->files[m->n_files];

	if (n == 0 || n >= sizeof(f->name))
		return damaged(d, "path: a name of at most 255 bytes");
	*to = *f;
	memcpy(to->name, json_string_value(path), n + 1);
	if (to->name[0] == '.' || strchr(to->name, '/') != NULL)
		return damaged(d, "path: a name without a folder, nor a dot in front");
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)to->name[i] < ' ' || to->name[i] == 0x7f)
			return damaged(d, "path: no control characters");
	}
	for (uint32_t i = 0; i < m->n_files; i++) {
		if (strcmp(m->files[i].name, to->name) == 0)
			return damaged(d, "path: each file once");
		if (m->files[i].role == f->role && f->role < MSD_ROLE_MODEL)
			return damaged(d, "role: one library, one graph, one params");
	}
	if ((f->role == MSD_ROLE_LIBRARY || f->role == MSD_ROLE_MODEL) &&
	    needs_compiler(to->name)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%s: an archive that needs a compiler; export a "
				    "library (.so)",
				    to->name);
	}
	m->n_files++;
	return MSD_OK;
}

static msd_err read_file(const json_t *o, struct msd_edition_manifest *ret,
			 struct msd_diag *d)
{
	const json_t *sha256 = json_object_get(o, "sha256");
	const struct msd_span hex = {(const uint8_t *)json_string_value(sha256),
				     json_string_length(sha256)};
	const json_t *path = json_object_get(o, "path");
	struct msd_edition_file f = {0};
	msd_err err;

	if (hex.n != MSD_DIGEST_TEXT - 1 || !msd_digest_parse(hex, &f.digest))
		return damaged(d, "sha256: 64 hexadecimal digits");
	if (!read_role(json_object_get(o, "role"), &f.role)) {
		return damaged(d, "role: library, graph, params, model, data or test");
	}
	err = read_number(o, "size", 1, INT64_MAX, &f.bytes, d);
	return err == MSD_OK ? add_file(ret, &f, path, d) : err;
}

const struct msd_edition_file *
msd_edition_manifest_file(const struct msd_edition_manifest *m, enum msd_role role)
{
	for (uint32_t i = 0; i < m->n_files; i++) {
		if (m->files[i].role == role)
			return &m->files[i];
	}
	return NULL;
}

/* Files to load: a library with an optional graph and parameters, or a model. */
static msd_err check_roles(const struct msd_edition_manifest *m, struct msd_diag *d)
{
	const bool has_library = msd_edition_manifest_file(m, MSD_ROLE_LIBRARY) != NULL;
	const bool has_model = msd_edition_manifest_file(m, MSD_ROLE_MODEL) != NULL;
	const bool has_more = msd_edition_manifest_file(m, MSD_ROLE_GRAPH) != NULL ||
			      msd_edition_manifest_file(m, MSD_ROLE_PARAMS) != NULL;
	unsigned n_models = 0;

	for (uint32_t i = 0; i < m->n_files; i++)
		n_models += m->files[i].role == MSD_ROLE_MODEL ? 1 : 0;
	if (has_library == has_model || n_models > 1)
		return damaged(d, "files: one library, or one model");
	if (has_more && has_model)
		return damaged(d, "files: graph and params beside a library alone");
	return MSD_OK;
}

static msd_err read_files(const json_t *root, struct msd_edition_manifest *ret,
			  struct msd_diag *d)
{
	const json_t *files = json_object_get(root, "files");
	const size_t n = json_array_size(files);

	if (n == 0 || n > MSD_EDITION_FILES)
		return damaged(d, "files: an array of 1 to 16");
	for (size_t i = 0; i < n; i++) {
		const msd_err err = read_file(json_array_get(files, i), ret, d);

		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "files[%zu]", i);
	}
	return check_roles(ret, d);
}

static msd_err read_name(const json_t *root, struct msd_edition_manifest *ret,
			 struct msd_diag *d)
{
	const json_t *name = json_object_get(root, "name");
	const struct msd_span span = {(const uint8_t *)json_string_value(name),
				      json_string_length(name)};

	if (span.n == 0 || !msd_name_valid(span))
		return damaged(d, "name: a module's");
	memcpy(ret->name, span.p, span.n + 1);
	return MSD_OK;
}

static msd_err read_root(const json_t *root, struct msd_edition_manifest *ret,
			 struct msd_diag *d)
{
	uint64_t warmup = 0;
	msd_err err = read_name(root, ret, d);

	if (err == MSD_OK)
		err = read_number(root, "version", 1, INT64_MAX, &ret->version, d);
	if (err == MSD_OK)
		err = read_time(root, "created", true, &ret->created_s, d);
	if (err == MSD_OK)
		err = read_time(root, "expires", false, &ret->expires_s, d);
	if (err == MSD_OK)
		err = read_platform(root, ret, d);
	if (err == MSD_OK)
		err = read_files(root, ret, d);
	if (err == MSD_OK)
		err = msd_vectors_read(json_object_get(root, "tests"), &ret->tests, d);
	if (err == MSD_OK && json_object_get(root, "warmup") != NULL) {
		err = read_number(root, "warmup", 0, MSD_MANIFEST_WARMUP, &warmup, d);
	}
	ret->warmup = (uint32_t)warmup;
	return err;
}

msd_err msd_edition_manifest_parse(struct msd_span text,
				   struct msd_edition_manifest *ret, struct msd_diag *d)
{
	json_error_t where;
	json_t *root = NULL;
	msd_err err;

	*ret = (struct msd_edition_manifest){0};
	err = check_size(text, d);
	if (err == MSD_OK) {
		root = json_loadb((const char *)text.p, text.n, JSON_REJECT_DUPLICATES,
				  &where);
		if (root == NULL) {
			/* jansson's error text quotes the input, which may be any
			 * data from a server. */
			err = msd_diag_set(d, MSD_BAD_ARTIFACT,
					   "line %d: expected JSON, each key once",
					   where.line);
		}
	}
	if (err == MSD_OK)
		err = read_root(root, ret, d);
	json_decref(root);
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "manifest");
}

void msd_edition_manifest_finish(struct msd_edition_manifest *m)
{
	msd_vectors_finish(&m->tests);
}
