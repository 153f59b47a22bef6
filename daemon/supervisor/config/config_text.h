#ifndef MSD_SUPERVISOR_CONFIG_TEXT_H
#define MSD_SUPERVISOR_CONFIG_TEXT_H
/*
 * Prepare the text of a configuration file for libconfuse, and quote values.
 * libconfuse miscounts lines in comments and rejects comments inside lists. It also
 * closes an open string or comment at the end of the file and expands environment
 * variables in strings.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** The line number of @at in @text, from 1. */
unsigned msd_config_line(const char *text, const char *at);
/**
 * Replace the comments in @text with spaces; line numbers stay the same. Errors:
 * MSD_BAD_REQUEST, with file and line, for text that is not closed at the end and for
 * "${" inside double quotes.
 */
MSD_MUST_CHECK msd_err msd_config_strip(const char *path, char *text,
					struct msd_diag *d);
/** Append @text in quotes, in the syntax of a configuration file. */
void msd_config_quote(const char *text, struct msd_buf *ret);

/** Append the @n values as a list; nothing if @n is 0. */
void msd_config_quote_list(const char *const *values, uint32_t n, struct msd_buf *ret);

#endif
