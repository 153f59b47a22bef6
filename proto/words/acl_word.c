#include "proto/words/acl_word.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

const char *msd_acl_word_next(char **at, const char *stop, struct msd_span *ret)
{
	bool is_quoted = false;
	char *p = *at;

	while (p < stop && is_blank(*p))
		p++;
	char *begin = p, *out = p;
	if (begin < stop && *begin == '#')
		p += stop - begin;
	for (; p < stop && (is_quoted || !is_blank(*p)); p++) {
		if (*p == '"') {
			is_quoted = !is_quoted;
		} else {
			*out++ = *p;
		}
	}
	*at = p;
	*ret = (struct msd_span){(const uint8_t *)begin, (size_t)(out - begin)};
	if (is_quoted)
		return "the quote is not closed";
	if (ret->n == 0 && p > begin && *begin == '"')
		return "nothing is between the quotes";
	return NULL;
}

/* True for a character of a module name, and for * and ?. A misspelled keyword
 * usually contains another character. */
static bool is_of_module(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c != '\0' && strchr("._-*?", c) != NULL);
}

bool msd_acl_word_is_names(struct msd_span word)
{
	size_t i = 0;

	while (i < word.n && is_of_module(word.p[i]))
		i++;
	return i > 0 && i + 1 < word.n && word.p[i] == '/';
}

bool msd_acl_text_has_end(struct msd_span text, size_t *ret_begin)
{
	size_t end = text.n;

	if (end == 0 || text.p[--end] != '\n')
		return false;
	size_t begin = end;
	while (begin > 0 && text.p[begin - 1] != '\n')
		begin--;
	*ret_begin = begin;
	while (begin < end && is_blank((char)text.p[begin]))
		begin++;
	while (end > begin && is_blank((char)text.p[end - 1]))
		end--;
	return msd_span_is((struct msd_span){text.p + begin, end - begin}, MSD_ACL_END);
}
