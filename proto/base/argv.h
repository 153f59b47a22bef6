#ifndef MSD_PROTO_ARGV_H
#define MSD_PROTO_ARGV_H
/*
 * Parse the command lines of modser and modserd with getopt_long(), in the order of
 * the arguments, with two changes. Abbreviated option names are refused, because
 * "--dead" would become ambiguous with a new option. A program may declare that some
 * arguments with '-' are not options: numbers, as in `modser call f -17`.
 *
 * getopt's state is global, so only one command line can be parsed at a time.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* The val of a row: the option's letter, or a number from here on if it has none. */
#define MSD_ARGV_NO_LETTER 256

enum {
	MSD_ARGV_END = -1,
	MSD_ARGV_WORD = 1,      /* not an option; every argument after "--" */
	MSD_ARGV_UNKNOWN = '?', /* also "--flag=value" of an option without a value */
	MSD_ARGV_NO_VALUE = ':'
};

struct msd_argv {
	int argc;
	char **argv;
	const struct option *rows; /* terminated by a row without a name */
	bool (*is_word)(const char *text);
	char letters[64]; /* for getopt, generated from the rows */
	bool only_words;  /* "--" was seen */
};

/**
 * Start to parse @argv, which is borrowed, as is @rows. @is_word returns true for a
 * text with '-' that is not an option; NULL: there is none.
 */
void msd_argv_start(struct msd_argv *a, int argc, char **argv,
		    const struct option *rows, bool (*is_word)(const char *text));
/**
 * Parse the next argument: returns the val of an option's row, or a value above.
 * *@ret_value is the option's value (NULL if it has none), otherwise the argument
 * itself.
 */
int msd_argv_next(struct msd_argv *a, const char **ret_value);
/** The argument after the one that msd_argv_next() returned, or NULL at the end. */
const char *msd_argv_peek(const struct msd_argv *a);
/** Skip the argument that msd_argv_peek() returned. */
void msd_argv_skip(struct msd_argv *a);

/** Parse a count of at least 1, as for `--workers`; false if @text is not one. */
bool msd_argv_count(const char *text, uint32_t *ret);
/**
 * Parse a number such as 4096, 64K, 16M or 2G, powers of 1024; false if @text is not
 * one.
 */
bool msd_argv_size(const char *text, uint64_t *ret);
/**
 * Parse "yes", "true", "no" or "false", as in a configuration file; false if @text is
 * another text.
 */
bool msd_argv_flag(const char *text, bool *ret);

#endif
