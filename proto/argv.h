#ifndef MSD_PROTO_ARGV_H
#define MSD_PROTO_ARGV_H
/*
 * The command lines of modser and modserd: getopt_long(), in the order of the words,
 * but for two things. A name that is cut short is no option: "--dead" for --deadline
 * would mean another one as soon as a second option begins so. And a program may say
 * which words that begin with '-' are none, as numbers are for `modser call f -17`.
 *
 * getopt's state is the process's: one command line is read at a time.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* The val of a row: the option's letter, or from here on for one that has none. */
#define MSD_ARGV_NO_LETTER 256

enum {
	MSD_ARGV_END = -1,
	MSD_ARGV_WORD = 1,      /* no option; everything is one behind "--" */
	MSD_ARGV_UNKNOWN = '?', /* also "--flag=value" of one that takes none */
	MSD_ARGV_NO_VALUE = ':'
};

struct msd_argv {
	int argc;
	char **argv;
	const struct option *rows; /* ended by a row without a name */
	bool (*is_word)(const char *text);
	char letters[64]; /* getopt's, made of the rows */
	bool only_words;  /* "--" has come */
};

/**
 * Begin to read @argv, which is borrowed like @rows. @is_word says of a text that
 * begins with '-' whether it is no option all the same; NULL: none is.
 */
void msd_argv_start(struct msd_argv *a, int argc, char **argv,
		    const struct option *rows, bool (*is_word)(const char *text));
/**
 * The next of the command line: the val of an option's row, or one of the above.
 * *@ret_value is the option's value (NULL when it has none), else the word as it
 * stands.
 */
int msd_argv_next(struct msd_argv *a, const char **ret_value);
/** The word behind what msd_argv_next() gave, or NULL at the end. */
const char *msd_argv_peek(const struct msd_argv *a);
/** Pass over the word that msd_argv_peek() gave. */
void msd_argv_skip(struct msd_argv *a);

/** Parse a count of at least 1, as `--workers` takes it; false when @text is none. */
bool msd_argv_count(const char *text, uint32_t *ret);
/** Parse a number such as 4096, 64K, 16M or 2G, powers of 1024; false when @text is
 * none. */
bool msd_argv_size(const char *text, uint64_t *ret);
/** Parse "yes", "true", "no" or "false", as a file says flags; false when @text is
 * none. */
bool msd_argv_flag(const char *text, bool *ret);

#endif
