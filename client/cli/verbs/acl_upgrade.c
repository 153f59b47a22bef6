#include "client/cli/verbs/acl_upgrade.h"

#include <stdlib.h>
#include <string.h>

#include "proto/words/acl_word.h"

/* Parsed line, and the end of its last word. */
struct line {
	struct msd_span who; /* "user", "group", another word, or empty */
	struct msd_span name;
	bool has_names;
	size_t n; /* bytes up to the end of its last word */
};

/* Unquotes the words in place, so @text is a copy. */
static const char *look_at(char *text, size_t n, struct line *ret)
{
	char *at = text;

	*ret = (struct line){0};
	for (unsigned i = 0;; i++) {
		struct msd_span word;
		const char *why = msd_acl_word_next(&at, text + n, &word);

		if (why != NULL)
			return why;
		if (word.n == 0)
			return NULL;
		ret->n = (size_t)(at - text);
		if (i == 0) {
			ret->who = word;
		} else if (i == 1) {
			ret->name = word;
		} else {
			ret->has_names = ret->has_names || msd_acl_word_is_names(word);
		}
	}
}

static bool is_about_rights(const struct line *l)
{
	return msd_span_is(l->who, "user") || msd_span_is(l->who, "group");
}

/* @copy is a copy of the line @old, without its newline. */
static msd_err write_line(const char *file, unsigned number, struct msd_span old,
			  char *copy, struct msd_buf *ret, struct msd_buf *told,
			  struct msd_diag *d)
{
	struct line l;
	const char *why = memchr(old.p, '\0', old.n) != NULL
				  ? "not a text file: it contains a byte 0"
				  : look_at(copy, old.n, &l);

	if (why != NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s:%u: %s", file, number, why);
	}
	if (!is_about_rights(&l) || l.has_names) {
		msd_buf_put(ret, old.p, old.n);
		return MSD_OK;
	}
	msd_buf_put(ret, old.p, l.n);
	msd_buf_printf(ret, "%s", " " MSD_ACL_ALL_NAMES);
	msd_buf_put(ret, old.p + l.n, old.n - l.n);
	msd_buf_printf(told, "%s:%u: %.*s %.*s: added %s, as the line had no names\n",
		       file, number, (int)l.who.n, (const char *)l.who.p, (int)l.name.n,
		       (const char *)l.name.p, MSD_ACL_ALL_NAMES);
	return MSD_OK;
}

static msd_err write_lines(const char *file, struct msd_span old, char *copy,
			   struct msd_buf *ret, struct msd_buf *told,
			   struct msd_diag *d)
{
	msd_err err = MSD_OK;
	unsigned number = 1;
	size_t begin = 0;

	for (; err == MSD_OK && begin < old.n; number++) {
		const uint8_t *from = old.p + begin;
		const uint8_t *newline = memchr(from, '\n', old.n - begin);

		if (newline == NULL) {
			return msd_diag_set(
				d, MSD_BAD_REQUEST,
				"%s:%u: the last line has no newline, so the file may "
				"be cut off: complete it, and run this again",
				file, number);
		}
		const size_t n = (size_t)(newline - from);
		err = write_line(file, number, (struct msd_span){from, n}, copy + begin,
				 ret, told, d);
		msd_buf_put_u8(ret, '\n');
		begin += n + 1;
	}
	if (err == MSD_OK && !msd_acl_text_has_end(old, &begin)) {
		msd_buf_printf(ret, "%s", MSD_ACL_END "\n");
		msd_buf_printf(told, "%s:%u: added the last line, %s\n", file, number,
			       MSD_ACL_END);
	}
	return err;
}

msd_err msd_acl_upgrade(const char *file, struct msd_span old, struct msd_buf *ret,
			struct msd_buf *told, struct msd_diag *d)
{
	char *copy = malloc(old.n + 1);

	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (old.n > 0)
		memcpy(copy, old.p, old.n);
	msd_err err = write_lines(file, old, copy, ret, told, d);
	free(copy);
	if (err == MSD_OK && (ret->bad || told->bad))
		err = msd_diag_no_memory(d);
	return err;
}
