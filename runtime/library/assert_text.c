#include "runtime/library/assert_text.h"

#include <string.h>

#define MAX_DIGITS 18

/* Read digits from *@p on and advance it. */
static bool take_number(const char **p, const char *end, int64_t *ret)
{
	const char *begin = *p;
	int64_t v = 0;

	while (*p < end && *p - begin < MAX_DIGITS && **p >= '0' && **p <= '9')
		v = v * 10 + (*(*p)++ - '0');
	*ret = v;
	return *p > begin;
}

bool msd_text_number(struct msd_span s, int64_t *ret)
{
	const char *p = (const char *)s.p;

	return s.n > 0 && take_number(&p, p + s.n, ret);
}

static bool skip(const char **p, const char *word)
{
	const size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0)
		return false;
	*p += n;
	return true;
}

/* Read 64, T.int64(64) or (int64)64 and advance *@p. */
static bool take_literal(const char **p, int64_t *ret)
{
	const char *end = *p + strlen(*p);
	bool is_call = skip(p, "T.int64(") || skip(p, "T.int32(");

	if (!is_call)
		(void)(skip(p, "(int64)") || skip(p, "(uint64)") || skip(p, "(int32)"));
	return take_number(p, end, ret) && (!is_call || skip(p, ")"));
}

bool msd_text_constraint(const char *text, const char *at, int64_t *ret)
{
	const char *p = at;

	if (!skip(&p, ": ")) { /* not repeated there: it is the condition that failed */
		p = text;
		if (!skip(&p, "Assert fail: "))
			return false;
	}
	const char *bare = p;
	if (take_literal(&p, ret) && skip(&p, " == "))
		return true;
	p = bare;
	if (skip(&p, "(") && take_literal(&p, ret) && skip(&p, " == "))
		return true;
	p = strstr(bare, " == ");
	if (p == NULL)
		return false;
	p += 4;
	return take_literal(&p, ret) && (*p == '\0' || *p == ')' || *p == ',');
}
