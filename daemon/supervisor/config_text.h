#ifndef MSD_SUPERVISOR_CONFIG_TEXT_H
#define MSD_SUPERVISOR_CONFIG_TEXT_H
/*
 * The text of a configuration file, before and after libconfuse: it miscounts the lines
 * of comments, does not know them inside lists, takes an open string or comment for one
 * that ends with the file, and puts the environment into strings.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

/** Where @at stands in @text: the number of its line, from 1. */
unsigned msd_config_line(const char *text, const char *at);
/**
 * Make spaces of the comments in @text of the file @path, whose lines stay where they
 * are. Errors: MSD_BAD_REQUEST, beginning with file and line, for what is not closed at
 * the end and for "${" inside double quotes.
 */
MSD_MUST_CHECK msd_err msd_config_strip(const char *path, char *text,
					struct msd_diag *d);
/** Append @text in quotes, as a file has it. */
void msd_config_quote(const char *text, struct msd_buf *ret);

/** Append the @n values as a list; none: nothing. */
void msd_config_quote_list(const char *const *values, uint32_t n, struct msd_buf *ret);

#endif
