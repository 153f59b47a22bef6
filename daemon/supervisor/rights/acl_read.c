/*
 * Happy path: the text is copied, because the spans of the lines point into it. It is
 * split into lines and words. The start of each word shows whether it is a right, a
 * credential or a limit; else it is a name.
 *
 * Failures: the first error is reported with its line number; no result is kept.
 */
#include "daemon/supervisor/rights/acl_read.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/rights/acl.h"
#include "proto/base/grow.h"
#include "proto/name.h"
#include "proto/words/acl_word.h"

#define SHOWN 64 /* bytes of a word shown in an error text */
/* The parser state. */
struct reader {
	struct msd_acl *acl;
	char *at, *end; /* the rest of the text */
	unsigned line;
	size_t n_credentials;   /* of all lines */
	struct msd_acl_line *l; /* entry of the current line */
	bool is_group;
	struct msd_diag *d;
};

static msd_err wrong(struct reader *r, struct msd_span word, const char *why)
{
	(void)msd_diag_set(r->d, MSD_BAD_REQUEST, "%s:%u: \"%.*s\": %s", r->acl->file,
			   r->line, (int)(word.n < SHOWN ? word.n : SHOWN),
			   (const char *)word.p, why);
	return MSD_BAD_REQUEST;
}

static msd_err no_memory(struct reader *r)
{
	(void)msd_diag_no_memory(r->d);
	return MSD_NOMEM;
}

static msd_err next_word(struct reader *r, const char *stop, struct msd_span *ret)
{
	const char *why = msd_acl_word_next(&r->at, stop, ret);

	return why == NULL ? MSD_OK : wrong(r, *ret, why);
}

static bool read_number(struct msd_span text, uint32_t *ret)
{
	uint64_t number = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || number > UINT32_MAX)
			return false;
		number = number * 10 + (text.p[i] - '0');
	}
	*ret = (uint32_t)number;
	return text.n > 0 && number < UINT32_MAX; /* UINT32_MAX is not a valid id */
}

static bool is_same(const struct msd_acl_credential *a,
		    const struct msd_acl_credential *b)
{
	return a->kind == b->kind && a->number == b->number &&
	       msd_digest_equal(&a->digest, &b->digest) &&
	       msd_span_same(a->text, b->text);
}

/* Return the line in @lines that has @c, or NULL. */
static const struct msd_acl_line *find_credential(const struct msd_acl_lines *lines,
						  const struct msd_acl_credential *c)
{
	for (size_t i = 0; i < lines->n; i++) {
		const struct msd_acl_line *l = &lines->each[i];
		for (size_t k = 0; k < l->n_credentials; k++) {
			if (is_same(&l->credentials[k], c))
				return l;
		}
	}
	return NULL;
}

static msd_err add_credential(struct reader *r, struct msd_span word,
			      const struct msd_acl_credential *c)
{
	struct msd_acl_line *l = r->l;

	/* A credential may be in several groups, but only one user may have it. */
	if (!r->is_group && find_credential(&r->acl->users, c) != NULL)
		return wrong(r, word, "another user has this identity already");
	if (r->n_credentials++ == MSD_ACL_CREDENTIALS_MAX)
		return wrong(r, word, "there are too many identities");
	if (!msd_grow(&l->credentials, l->n_credentials, sizeof(*c)))
		return no_memory(r);
	l->credentials[l->n_credentials++] = *c;
	return MSD_OK;
}

static msd_err read_credential(struct reader *r, struct msd_span word,
			       enum msd_credential kind, struct msd_span value)
{
	struct msd_acl_credential c = {.kind = kind};

	switch (kind) {
	case MSD_CREDENTIAL_TOKEN:
	case MSD_CREDENTIAL_CERT_SHA256:
		if (value.n != MSD_DIGEST_TEXT - 1 ||
		    !msd_digest_parse(value, &c.digest))
			return wrong(r, word, "expected 64 digits, 0-9 and a-f");
		break;
	case MSD_CREDENTIAL_UID:
	case MSD_CREDENTIAL_GID:
		if (!read_number(value, &c.number))
			return wrong(r, word, "expected a number");
		break;
	case MSD_CREDENTIAL_CERT_SAN:
	case MSD_CREDENTIAL_CERT_CN:
	case MSD_CREDENTIAL_COUNT:
	default:
		c.text = value;
		if (value.n == 0)
			return wrong(r, word, "expected a name");
	}
	return add_credential(r, word, &c);
}

static msd_err read_right(struct reader *r, struct msd_span word)
{
	const struct msd_span category = {word.p + 2, word.n - 2};
	unsigned bits = 0;

	for (unsigned right = 0; right < MSD_RIGHT_ANY; right++) {
		if (msd_span_is(category, "all") ||
		    msd_span_is(category, msd_right_name((enum msd_right)right)))
			bits |= 1u << right;
	}
	if (bits == 0) {
		return wrong(r, word,
			     "expected lookup, call, load, read, admin or all");
	}
	r->l->rights = word.p[0] == '+' ? r->l->rights | bits : r->l->rights & ~bits;
	return MSD_OK;
}

static msd_err read_names(struct reader *r, struct msd_span word)
{
	struct msd_acl_line *l = r->l;
	const uint8_t *slash = memchr(word.p, '/', word.n);

	if (slash == NULL) {
		return wrong(r, word,
			     "neither a right (+@call), an identity (uid=1000) nor "
			     "names (MODULE/FUNCTION)");
	}
	struct msd_acl_names n = {
		.module = {word.p, (size_t)(slash - word.p)},
		.function = {slash + 1, (size_t)(word.p + word.n - slash - 1)}};
	if (!msd_acl_word_is_names(word) ||
	    !msd_glob_shorten(&n.module, MSD_MAX_NAME_BYTES) ||
	    !msd_glob_shorten(&n.function, MSD_MAX_FUNC_NAME_BYTES))
		return wrong(r, word, "this is not a valid MODULE/FUNCTION");
	if (l->n_names == MSD_ACL_NAMES_MAX)
		return wrong(r, word, "there are too many names on the line");
	if (!msd_grow(&l->names, l->n_names, sizeof(n)))
		return no_memory(r);
	l->names[l->n_names++] = n;
	return MSD_OK;
}

/* True if @word is `key=...`. *@ret_value: the part after `=`. */
static bool is_pair(struct msd_span word, const char *key, struct msd_span *ret_value)
{
	struct msd_span rest;

	if (!msd_span_behind(word, key, &rest) || rest.n == 0 || rest.p[0] != '=')
		return false;
	*ret_value = (struct msd_span){rest.p + 1, rest.n - 1};
	return true;
}

static msd_err read_limit(struct reader *r, struct msd_span word,
			  enum msd_quota_kind kind, struct msd_span value)
{
	uint64_t *limit = &r->l->quota.of[kind];

	if (r->is_group)
		return wrong(r, word, "a limit is for users, not for groups");
	if (*limit != 0)
		return wrong(r, word, "the line has this limit already");
	if (!msd_quota_read(value, kind, limit)) {
		return wrong(r, word,
			     "expected a limit such as rate=200/s, bytes=10M/s, "
			     "requests=8, modules=4, resident=1G");
	}
	return MSD_OK;
}

static msd_err read_word(struct reader *r, struct msd_span word)
{
	struct msd_span value;

	if (msd_span_behind(word, "+@", &value) || msd_span_behind(word, "-@", &value))
		return read_right(r, word);
	for (unsigned i = 0; i < MSD_CREDENTIAL_COUNT; i++) {
		const enum msd_credential kind = (enum msd_credential)i;
		if (is_pair(word, msd_credential_word(kind), &value))
			return read_credential(r, word, kind, value);
	}
	for (unsigned i = 0; i < MSD_QUOTA_COUNT; i++) {
		const enum msd_quota_kind kind = (enum msd_quota_kind)i;
		if (is_pair(word, msd_quota_word(kind), &value))
			return read_limit(r, word, kind, value);
	}
	return read_names(r, word);
}

static bool is_known(const struct msd_acl_lines *lines, struct msd_span name)
{
	for (size_t i = 0; i < lines->n; i++) {
		if (msd_span_is(name, lines->each[i].name))
			return true;
	}
	return false;
}

/* Add a line for @name. */
static msd_err add_line(struct reader *r, struct msd_span name)
{
	struct msd_acl_lines *all = r->is_group ? &r->acl->groups : &r->acl->users;
	const size_t max = r->is_group ? MSD_ACL_GROUPS_MAX : MSD_ACL_USERS_MAX;

	if (!msd_name_valid(name))
		return wrong(r, name, "expected a name: letters, digits, . _ -");
	if (msd_span_is(name, MSD_ACL_OPERATOR)) {
		return wrong(r, name,
			     "this is the daemon's own user, which has all rights");
	}
	if (is_known(&r->acl->users, name) || is_known(&r->acl->groups, name))
		return wrong(r, name, "another line already has this user or group");
	if (all->n == max)
		return wrong(r, name, "there are too many lines");
	if (!msd_grow(&all->each, all->n, sizeof(*r->l)))
		return no_memory(r);
	r->l = &all->each[all->n++];
	*r->l = (struct msd_acl_line){.line = r->line};
	memcpy(r->l->name, name.p, name.n);
	return MSD_OK;
}

static msd_err check_line(struct reader *r)
{
	const char *name = r->l->name;
	const struct msd_span word = msd_span_of(name);
	const bool is_anonymous = strcmp(name, MSD_ACL_ANONYMOUS) == 0;

	if (is_anonymous && (r->is_group || r->l->n_credentials > 0)) {
		return wrong(r, word,
			     "is the user without identities: remove its identities");
	}
	if (!is_anonymous && r->l->n_credentials == 0)
		return wrong(r, word, "expected an identity, such as uid=1000");
	if (r->l->n_names == 0) {
		return wrong(r, word,
			     "expected the MODULE/FUNCTION that the line is for, "
			     "such as " MSD_ACL_ALL_NAMES " for all");
	}
	return MSD_OK;
}

static msd_err read_line(struct reader *r, const char *stop)
{
	struct msd_span word;
	msd_err err = next_word(r, stop, &word);

	if (err != MSD_OK || word.n == 0)
		return err;
	if (msd_span_is(word, MSD_ACL_END))
		return wrong(r, word, "lines follow, and it must be the last one");
	r->is_group = msd_span_is(word, "group");
	if (!r->is_group && !msd_span_is(word, "user"))
		return wrong(r, word, "expected user or group");
	err = next_word(r, stop, &word);
	if (err == MSD_OK)
		err = add_line(r, word);
	while (err == MSD_OK) {
		err = next_word(r, stop, &word);
		if (err != MSD_OK || word.n == 0)
			break;
		err = read_word(r, word);
	}
	return err == MSD_OK ? check_line(r) : err;
}

/* A truncated file may grant more than the whole file: missing names no longer
 * restrict a line, and missing words no longer remove rights. */
static msd_err check_end(struct reader *r, struct msd_span text)
{
	const char *file = r->acl->file;
	size_t begin = 0;
	unsigned n_lines = 1;

	if (msd_acl_text_has_end(text, &begin)) {
		r->end = r->at + begin;
		return MSD_OK;
	}
	for (size_t i = 0; i + 1 < text.n; i++)
		n_lines += text.p[i] == '\n';
	return msd_diag_set(r->d, MSD_BAD_REQUEST,
			    "%s:%u: expected a last line \"end\" with its newline: the "
			    "file was cut, or is older than this rule. If the file is "
			    "whole, run: modser acl upgrade %s",
			    file, n_lines, file);
}

static msd_err read_lines(struct reader *r)
{
	msd_err err = MSD_OK;

	while (err == MSD_OK && r->at < r->end) {
		char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
		char *stop = newline != NULL ? newline : r->end;
		r->line++;
		if (memchr(r->at, '\0', (size_t)(stop - r->at)) != NULL) {
			return wrong(r, (struct msd_span){(const uint8_t *)"", 0},
				     "not a text file: it contains a byte 0");
		}
		err = read_line(r, stop);
		r->at = newline != NULL ? newline + 1 : r->end;
	}
	return err;
}

msd_err msd_acl_parse(const char *file, struct msd_span text, struct msd_acl **ret,
		      struct msd_diag *d)
{
	struct msd_acl *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return msd_diag_no_memory(d);
	a->n_owners = 1;
	a->file = strdup(file);
	a->text = malloc(text.n + 1);
	if (a->file == NULL || a->text == NULL) {
		msd_acl_destroy(a);
		return msd_diag_no_memory(d);
	}
	msd_err err = MSD_OK;
	if (text.n > MSD_ACL_FILE_MAX) {
		err = msd_diag_set(d, MSD_BAD_REQUEST, "%s:1: more than %u bytes", file,
				   MSD_ACL_FILE_MAX);
	}
	if (err == MSD_OK) {
		if (text.n > 0)
			memcpy(a->text, text.p, text.n);
		msd_digest_of(text, &a->digest);
		struct reader r = {
			.acl = a, .at = a->text, .end = a->text + text.n, .d = d};
		err = check_end(&r, text);
		if (err == MSD_OK)
			err = read_lines(&r);
	}
	if (err != MSD_OK) {
		msd_acl_destroy(a);
		return err;
	}
	*ret = a;
	return MSD_OK;
}
