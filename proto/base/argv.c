#include "proto/base/argv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put_letters(struct msd_argv *a)
{
	/* '-' keeps the order. ':' suppresses getopt's messages, and separates a
	 * missing value from an unknown option. */
	size_t n = 2;

	memcpy(a->letters, "-:", n);
	for (const struct option *o = a->rows; o->name != NULL; o++) {
		if (o->val >= MSD_ARGV_NO_LETTER || n + 3 > sizeof(a->letters))
			continue;
		a->letters[n++] = (char)o->val;
		if (o->has_arg == required_argument)
			a->letters[n++] = ':';
	}
	a->letters[n] = '\0';
}

void msd_argv_start(struct msd_argv *a, int argc, char **argv,
		    const struct option *rows, bool (*is_word)(const char *text))
{
	*a = (struct msd_argv){
		.argc = argc, .argv = argv, .rows = rows, .is_word = is_word};
	put_letters(a);
	/* An empty command line resets getopt, and leaves optind at the first
	 * argument. */
	optind = 0;
	(void)getopt_long(1, argv, a->letters, rows, NULL);
}

/* True if @text has the letter or a whole name of the option @val, which may have
 * several names: getopt accepts a prefix, too. */
static bool is_whole(const struct msd_argv *a, const char *text, int val)
{
	if (strncmp(text, "--", 2) != 0)
		return true;
	const size_t n = strcspn(text + 2, "=");
	for (const struct option *o = a->rows; o->name != NULL; o++) {
		if (o->val == val && strlen(o->name) == n &&
		    strncmp(text + 2, o->name, n) == 0)
			return true;
	}
	return false;
}

static int take_word(struct msd_argv *a, const char **ret_value)
{
	*ret_value = msd_argv_peek(a);
	if (*ret_value == NULL)
		return MSD_ARGV_END;
	msd_argv_skip(a);
	return MSD_ARGV_WORD;
}

int msd_argv_next(struct msd_argv *a, const char **ret_value)
{
	const char *text = msd_argv_peek(a);

	*ret_value = text;
	if (a->only_words || text == NULL ||
	    (text[0] == '-' && a->is_word != NULL && a->is_word(text)))
		return take_word(a, ret_value);
	int val = getopt_long(a->argc, a->argv, a->letters, a->rows, NULL);
	if (val == MSD_ARGV_END) {
		a->only_words = true;
		return take_word(a, ret_value);
	}
	if (val == MSD_ARGV_NO_VALUE)
		return is_whole(a, text, optopt) ? val : MSD_ARGV_UNKNOWN;
	if (val == MSD_ARGV_UNKNOWN)
		return val;
	if (val != MSD_ARGV_WORD && !is_whole(a, text, val))
		return MSD_ARGV_UNKNOWN;
	*ret_value = optarg;
	return val;
}

const char *msd_argv_peek(const struct msd_argv *a)
{
	return optind < a->argc ? a->argv[optind] : NULL;
}

void msd_argv_skip(struct msd_argv *a)
{
	(void)a;
	optind++;
}

bool msd_argv_count(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || n < 1 || n > UINT32_MAX)
		return false;
	*ret = (uint32_t)n;
	return true;
}

bool msd_argv_size(const char *text, uint64_t *ret)
{
	char *end;
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	uint64_t v = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'M' || *end == 'G')
		shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
	end += shift > 0;
	if (errno != 0 || *end != '\0' || v > UINT64_MAX >> shift)
		return false;
	*ret = v << shift;
	return true;
}

bool msd_argv_flag(const char *text, bool *ret)
{
	static const char *const words[] = {"no", "false", "yes", "true"};

	for (unsigned i = 0; i < 4; i++) {
		if (strcmp(text, words[i]) == 0) {
			*ret = i >= 2;
			return true;
		}
	}
	return false;
}
