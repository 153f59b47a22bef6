#ifndef MSD_CLI_PRINT_H
#define MSD_CLI_PRINT_H
/*
 * Formats values as text. On a terminal, for people: aligned, large tensors
 * truncated, sizes in KiB. In a pipe, for scripts: one fact a line, fields separated
 * by a tab. Terminal control characters are escaped (proto/base/utf8.h), because names
 * and texts are untrusted.
 */
#include <stdio.h>

#include "client/modser.h"
#include "proto/base/bytes.h"

/** Append @n bytes of text as one line; "\n" and similar characters become escapes. */
void msd_print_line(struct msd_buf *out, const char *p, size_t n);
/**
 * Append text of several lines and a final newline; other control characters are
 * escaped.
 */
void msd_print_text(struct msd_buf *out, const char *p, size_t n);
/** The same for a chunk of text, which may end within a line. */
void msd_print_piece(struct msd_buf *out, const char *p, size_t n);
/** Append text of several lines, each after @prefix and with a newline. */
void msd_print_indented(struct msd_buf *out, const char *p, size_t n,
			const char *prefix);
/** Append one value on one line, without the newline. */
void msd_print_value(struct msd_buf *out, const modser_value *v, bool for_people);
/** Append @n bytes as "3.0 MiB", and @ns nanoseconds as "1.5 ms". */
void msd_print_size(struct msd_buf *out, int64_t n);
void msd_print_ns(struct msd_buf *out, double ns);
/** Append a map: one key and value a line. */
void msd_print_map(struct msd_buf *out, const modser_value *map, bool for_people);
/**
 * Append a list of maps: a row for each map, a column for each key with plain values.
 * @has_header: print the keys as the first line for scripts; people always get
 * headings.
 */
void msd_print_table(struct msd_buf *out, const modser_value *list, bool for_people,
		     bool has_header);
/* A column of a table with selected columns. */
struct msd_column {
	const char *key;
	const char *heading; /* for people */
	bool may_lack;       /* not shown to people if all rows are empty */
};
/** The same, with only the @n columns. */
void msd_print_columns(struct msd_buf *out, const modser_value *list,
		       const struct msd_column *columns, size_t n, bool for_people,
		       bool has_header);
/**
 * The same as a section of a map: for people below a line with @key, for scripts each
 * row begins with @key.
 */
void msd_print_section(struct msd_buf *out, const char *key, const modser_value *list,
		       const struct msd_column *columns, size_t n, bool for_people);
/** True if standard output is a terminal. */
bool msd_print_for_people(void);
/** Columns of that terminal; SIZE_MAX: unknown. */
size_t msd_print_width(void);
/** Write @out to standard output and empty it. msd_report_stdout() reports errors. */
void msd_print_flush(struct msd_buf *out);
void msd_print_flush_to(struct msd_buf *out, FILE *file);

#endif
