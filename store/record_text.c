#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/words/words.h"
#include "store/record.h"

/*
 * Text format of a record: lines of fields separated by one space. A line about an
 * edition follows the line that begins that edition. The parser accepts only what
 * this file writes. One unknown line makes the whole record damaged, because a
 * partial record is worse than none.
 */

#define FIRST_LINE "modserd-module 1"
#define MAX_NUMBER_DIGITS 20

MSD_WORDS_DEFINE(msd_ref_word, enum msd_ref, MSD_REF_MAP)

MSD_WORDS_DEFINE(msd_role_word, enum msd_role, MSD_ROLE_MAP)

const char *msd_edition_option(const struct msd_edition *e, const char *key)
{
	for (uint32_t i = 0; i < e->n_options; i++) {
		if (strcmp(e->options[i].key, key) == 0)
			return e->options[i].value;
	}
	return NULL;
}

/* A text up to the end of a line, without control characters. */
static msd_err keep_word(struct msd_span from, char *to, size_t room, const char *what,
			 struct msd_diag *d)
{
	if (from.n == 0 || from.n >= room) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: %zu bytes long, expected 1 to %zu", what,
				    from.n, room - 1);
	}
	for (size_t i = 0; i < from.n; i++) {
		if (from.p[i] < ' ' || from.p[i] == 0x7f) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "%s: it has a control character", what);
		}
	}
	memcpy(to, from.p, from.n);
	to[from.n] = '\0';
	return MSD_OK;
}

msd_err msd_edition_add_file(struct msd_edition *e, enum msd_role role, uint64_t bytes,
			     const struct msd_digest *digest, struct msd_span name,
			     struct msd_diag *d)
{
	struct msd_edition_file *f = &e->files[e->n_files];

	if (e->n_files == MSD_EDITION_FILES) {
		return msd_diag_set(d, MSD_TOO_LARGE, "more than %d files",
				    MSD_EDITION_FILES);
	}
	*f = (struct msd_edition_file){.role = role, .bytes = bytes, .digest = *digest};
	msd_err err = keep_word(name, f->name, sizeof(f->name), "file name", d);
	if (err == MSD_OK && strchr(f->name, '/') != NULL) {
		err = msd_diag_set(d, MSD_BAD_REQUEST, "file name %s: it has a slash",
				   f->name);
	}
	if (err == MSD_OK)
		e->n_files++;
	return err;
}

static msd_err add_option(struct msd_edition *e, struct msd_span key,
			  struct msd_span value, struct msd_diag *d)
{
	struct msd_edition_option *o = &e->options[e->n_options];

	if (e->n_options == MSD_EDITION_OPTIONS) {
		return msd_diag_set(d, MSD_TOO_LARGE, "more than %d options",
				    MSD_EDITION_OPTIONS);
	}
	msd_err err = keep_word(key, o->key, sizeof(o->key), "option", d);
	if (err == MSD_OK && strchr(o->key, ' ') != NULL) {
		err = msd_diag_set(d, MSD_BAD_REQUEST, "option %s: it has a space",
				   o->key);
	}
	if (err == MSD_OK)
		err = keep_word(value, o->value, sizeof(o->value), o->key, d);
	if (err == MSD_OK)
		e->n_options++;
	return err;
}

msd_err msd_edition_add_option(struct msd_edition *e, const char *key,
			       const char *value, struct msd_diag *d)
{
	return add_option(e, msd_span_of(key), msd_span_of(value), d);
}

/* Cut the bytes up to @end, and remove both; all bytes if @end is absent. */
static struct msd_span cut(struct msd_span *rest, char end)
{
	const uint8_t *at = rest->n > 0 ? memchr(rest->p, end, rest->n) : NULL;
	struct msd_span word = {rest->p, at != NULL ? (size_t)(at - rest->p) : rest->n};
	size_t taken = word.n + (at != NULL);

	rest->p += taken;
	rest->n -= taken;
	return word;
}

static bool read_number(struct msd_span word, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (word.n == 0 || word.n > MAX_NUMBER_DIGITS)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		uint8_t c = word.p[i];

		if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
			return false;
	}
	if (value > max)
		return false;
	*ret = value;
	return true;
}

static msd_err damaged(struct msd_diag *d, const char *expected)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "expected %s", expected);
}

/* "current 7 <digest>": *ret is the new edition. */
static msd_err read_edition(struct msd_record *r, enum msd_ref ref,
			    struct msd_span rest, struct msd_edition **ret,
			    struct msd_diag *d)
{
	uint64_t version;
	struct msd_span number = cut(&rest, ' ');
	struct msd_digest digest;

	if (!read_number(number, UINT64_MAX, &version) ||
	    !msd_digest_parse(rest, &digest))
		return damaged(d, "a version and a digest");
	if (r->editions[ref] != NULL)
		return damaged(d, "each of current, previous, candidate once");
	struct msd_edition *e = calloc(1, sizeof(*e));
	if (e == NULL)
		return msd_diag_no_memory(d);
	e->version = version;
	e->digest = digest;
	r->editions[ref] = e;
	*ret = e;
	return MSD_OK;
}

static msd_err read_file(struct msd_edition *e, struct msd_span rest,
			 struct msd_diag *d)
{
	struct msd_span word = cut(&rest, ' ');
	struct msd_digest digest;
	uint64_t bytes;

	for (unsigned role = 0; role < MSD_ROLE_COUNT; role++) {
		if (!msd_span_is(word, msd_role_word((enum msd_role)role)))
			continue;
		if (!read_number(cut(&rest, ' '), INT64_MAX, &bytes) ||
		    !msd_digest_parse(cut(&rest, ' '), &digest))
			break;
		return msd_edition_add_file(e, (enum msd_role)role, bytes, &digest,
					    rest, d);
	}
	return damaged(d, "a role, a number of bytes, a digest and a name");
}

static msd_err read_bad(struct msd_record *r, struct msd_span rest, struct msd_diag *d)
{
	if (r->n_bad == MSD_RECORD_BAD || !msd_digest_parse(rest, &r->bad[r->n_bad]))
		return damaged(d, "a digest, and not more than 64 bad ones");
	r->n_bad++;
	return MSD_OK;
}

/* "failed 8 <digest> why" */
static msd_err read_failure(struct msd_record *r, struct msd_span rest,
			    struct msd_diag *d)
{
	struct msd_failure *f = &r->failure;

	if (!read_number(cut(&rest, ' '), UINT64_MAX, &f->version) ||
	    !msd_digest_parse(cut(&rest, ' '), &f->digest))
		return damaged(d, "a version, a digest and a cause");
	return keep_word(rest, f->why, sizeof(f->why), "cause", d);
}

/* Parse a line about the edition @e, which an earlier line began. */
static msd_err read_detail(struct msd_edition *e, struct msd_span word,
			   struct msd_span rest, struct msd_diag *d)
{
	uint64_t n;

	if (e == NULL)
		return damaged(d, "current, previous or candidate before this line");
	if (msd_span_is(word, "file"))
		return read_file(e, rest, d);
	if (msd_span_is(word, "with")) {
		struct msd_span key = cut(&rest, ' ');
		return add_option(e, key, rest, d);
	}
	if (msd_span_is(word, "name")) {
		e->has_name = msd_digest_parse(rest, &e->name);
		return e->has_name ? MSD_OK : damaged(d, "a digest behind name");
	}
	if (!msd_span_is(word, "attempts") || !read_number(rest, UINT32_MAX, &n))
		return damaged(d, "file, with, name, or attempts and a number");
	e->attempts = (uint32_t)n;
	return MSD_OK;
}

static msd_err read_line(struct msd_record *r, struct msd_edition **e,
			 struct msd_span line, struct msd_diag *d)
{
	struct msd_span rest = line;
	struct msd_span word = cut(&rest, ' ');

	for (unsigned ref = 0; ref < MSD_REF_COUNT; ref++) {
		if (msd_span_is(word, msd_ref_word((enum msd_ref)ref)))
			return read_edition(r, (enum msd_ref)ref, rest, e, d);
	}
	if (msd_span_is(word, "bad"))
		return read_bad(r, rest, d);
	if (msd_span_is(word, "failed"))
		return read_failure(r, rest, d);
	if (msd_span_is(line, "pinned")) {
		r->is_pinned = true;
		return MSD_OK;
	}
	return read_detail(*e, word, rest, d);
}

msd_err msd_record_parse(struct msd_span text, struct msd_record *ret,
			 struct msd_diag *d)
{
	struct msd_record r = {0};
	struct msd_edition *e = NULL;
	msd_err err = MSD_OK;

	if (text.n == 0 || text.p[text.n - 1] != '\n')
		return damaged(d, "lines, the last one ended, too");
	if (!msd_span_is(cut(&text, '\n'), FIRST_LINE))
		return damaged(d, "\"" FIRST_LINE "\" in line 1");
	for (unsigned line = 2; err == MSD_OK && text.n > 0; line++) {
		err = read_line(&r, &e, cut(&text, '\n'), d);
		if (err != MSD_OK && err != MSD_NOMEM)
			err = msd_diag_wrap(d, MSD_BAD_ARTIFACT, "line %u", line);
	}
	if (err == MSD_OK) {
		*ret = r;
	} else {
		msd_record_finish(&r);
	}
	return err;
}

static void write_edition(const struct msd_edition *e, enum msd_ref ref,
			  struct msd_buf *out)
{
	char digest[MSD_DIGEST_TEXT];

	msd_digest_format(&e->digest, digest);
	msd_buf_printf(out, "%s %" PRIu64 " %s\n", msd_ref_word(ref), e->version,
		       digest);
	if (e->has_name) {
		msd_digest_format(&e->name, digest);
		msd_buf_printf(out, "name %s\n", digest);
	}
	if (e->attempts > 0)
		msd_buf_printf(out, "attempts %" PRIu32 "\n", e->attempts);
	for (uint32_t i = 0; i < e->n_files; i++) {
		const struct msd_edition_file *f = &e->files[i];

		msd_digest_format(&f->digest, digest);
		msd_buf_printf(out, "file %s %" PRIu64 " %s %s\n",
			       msd_role_word(f->role), f->bytes, digest, f->name);
	}
	for (uint32_t i = 0; i < e->n_options; i++) {
		msd_buf_printf(out, "with %s %s\n", e->options[i].key,
			       e->options[i].value);
	}
}

void msd_record_write(const struct msd_record *r, struct msd_buf *out)
{
	char digest[MSD_DIGEST_TEXT];

	msd_buf_printf(out, FIRST_LINE "\n");
	for (unsigned ref = 0; ref < MSD_REF_COUNT; ref++) {
		if (r->editions[ref] != NULL)
			write_edition(r->editions[ref], (enum msd_ref)ref, out);
	}
	for (uint32_t i = 0; i < r->n_bad; i++) {
		msd_digest_format(&r->bad[i], digest);
		msd_buf_printf(out, "bad %s\n", digest);
	}
	if (r->failure.why[0] != '\0') {
		msd_digest_format(&r->failure.digest, digest);
		msd_buf_printf(out, "failed %" PRIu64 " %s %s\n", r->failure.version,
			       digest, r->failure.why);
	}
	if (r->is_pinned)
		msd_buf_printf(out, "pinned\n");
}

void msd_record_finish(struct msd_record *r)
{
	for (unsigned ref = 0; ref < MSD_REF_COUNT; ref++)
		free(r->editions[ref]);
	*r = (struct msd_record){0};
}
