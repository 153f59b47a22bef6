#ifndef MSD_CLI_PRINT_H
#define MSD_CLI_PRINT_H
/*
 * Values as text: for people on a terminal (aligned, large tensors cut short, sizes in
 * KiB), for scripts in a pipe (one fact a line, fields parted by a tab). Characters
 * that a terminal obeys are escaped (proto/utf8.h): names and texts come from foreign
 * code.
 */
#include <stdio.h>

#include "client/modser.h"
#include "proto/bytes.h"

/** Append @n bytes of text as one line: "\n" and the like are written as escapes. */
void msd_print_line(struct msd_buf *out, const char *p, size_t n);
/** Append text of many lines, ended by a newline; other control characters escaped. */
void msd_print_text(struct msd_buf *out, const char *p, size_t n);
/** The same of a piece, which may end within a line. */
void msd_print_piece(struct msd_buf *out, const char *p, size_t n);
/** Append text of many lines, each behind @prefix and ended by a newline. */
void msd_print_indented(struct msd_buf *out, const char *p, size_t n,
			const char *prefix);
/** Append one value on one line, without the newline. */
void msd_print_value(struct msd_buf *out, const modser_value *v, bool for_people);
/** Append @n bytes as "3.0 MiB", and @ns nanoseconds as "1.5 ms". */
void msd_print_size(struct msd_buf *out, int64_t n);
void msd_print_ns(struct msd_buf *out, double ns);
/** Append a map: a key and its value a line. */
void msd_print_map(struct msd_buf *out, const modser_value *map, bool for_people);
/** Append a list of maps: a row each, a column for each key whose values are plain.
 * @has_header: scripts get the keys as the first line; people get headings anyway. */
void msd_print_table(struct msd_buf *out, const modser_value *list, bool for_people,
		     bool has_header);
/* One of the columns of a table that has not all that there are. */
struct msd_column {
	const char *key;
	const char *heading; /* for people */
	bool may_lack;       /* people are spared it when it is empty in all rows */
};
/** The same of the @n columns alone. */
void msd_print_columns(struct msd_buf *out, const modser_value *list,
		       const struct msd_column *columns, size_t n, bool for_people,
		       bool has_header);
/** Is standard output a terminal? */
bool msd_print_for_people(void);
/** Columns of that terminal; SIZE_MAX: it does not say. */
size_t msd_print_width(void);
/** Write @out to standard output and empty it. Errors show in msd_report_stdout(). */
void msd_print_flush(struct msd_buf *out);
void msd_print_flush_to(struct msd_buf *out, FILE *file);

#endif
