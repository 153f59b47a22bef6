/*
 * Prints maps and lists of maps with any keys, so that additions of a newer daemon
 * appear, too.
 *
 * Happy path of a list: the columns are the keys with a plain value in any row. Each
 * cell is formatted once to measure the column widths, and once more with padding. In
 * a pipe there are no widths; tabs separate the cells. Inside a map, each map, list
 * of maps or text of several lines is a section.
 */
#include <stdio.h>
#include <string.h>

#include "client/cli/values/cell.h"
#include "client/cli/values/print.h"

#define COLUMNS_MAX 64u /* limit of the pairs in a map */

static bool is_plain(const modser_value *v)
{
	return v->kind != MODSER_TUPLE && v->kind != MODSER_MAP &&
	       v->kind != MODSER_TENSOR;
}

static bool is_list_of_maps(const modser_value *v)
{
	return v->kind == MODSER_TUPLE && v->as.tuple.n > 0 &&
	       v->as.tuple.item[0].kind == MODSER_MAP;
}

static bool is_many_lines(const modser_value *v)
{
	return v->kind == MODSER_STR && memchr(v->as.str.p, '\n', v->as.str.n) != NULL;
}

struct columns {
	struct msd_column all[COLUMNS_MAX];
	size_t n;
};

static void add_column(struct columns *to, const char *key)
{
	size_t at = 0;

	while (at < to->n && strcmp(to->all[at].key, key) != 0)
		at++;
	if (at == to->n && to->n < COLUMNS_MAX)
		to->all[to->n++] = (struct msd_column){.key = key};
}

/* Collect the keys of all rows in order of appearance, only those with plain values.
 * For people, omit columns that are empty in all rows; scripts need all columns. */
static void find_columns(const modser_value *list, bool for_people, struct columns *ret)
{
	for (size_t row = 0; row < list->as.tuple.n; row++) {
		const modser_value *map = &list->as.tuple.item[row];
		size_t pairs = map->kind == MODSER_MAP ? map->as.tuple.n : 0;

		for (size_t i = 0; i < pairs; i++) {
			const modser_value *pair = &map->as.tuple.item[2 * i];

			if (pair->kind == MODSER_STR && is_plain(pair + 1) &&
			    !(for_people && msd_cell_is_empty(pair + 1)))
				add_column(ret, pair->as.str.p);
		}
	}
}

/* Number of UTF-8 characters; each takes one column. */
static size_t width_of(const uint8_t *p, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += (p[i] & 0xc0u) != 0x80u;
	return width;
}

static void pad(struct msd_buf *out, size_t from, size_t to)
{
	while (from++ < to && !out->bad)
		msd_buf_put_u8(out, ' ');
}

/* In a column of times, each cell contains its unit. */
static void put_heading(struct msd_buf *out, const struct msd_column *column)
{
	const char *key = column->key;
	size_t n = strlen(key) - (msd_cell_is_time(key) ? 3u : 0u);

	if (column->heading != NULL) {
		msd_buf_printf(out, "%s", column->heading);
		return;
	}
	for (; n > 0; n--, key++) {
		msd_buf_put_u8(out, *key >= 'a' && *key <= 'z'
					    ? (uint8_t)(*key - 'a' + 'A')
					    : (uint8_t)*key);
	}
}

static void put_column(struct msd_buf *out, const modser_value *map,
		       const struct msd_column *column, bool for_people)
{
	if (map != NULL) {
		msd_cell_put(out, column->key, modser_find(map, column->key),
			     for_people);
	} else if (for_people) {
		put_heading(out, column);
	} else {
		msd_print_line(out, column->key, strlen(column->key));
	}
}

/* Append one row, padded to @widths; if @out is NULL, update @widths instead. The
 * heading has a NULL @map. */
static void put_row(struct msd_buf *out, const modser_value *map,
		    const struct columns *columns, size_t *widths, bool for_people)
{
	for (size_t i = 0; i < columns->n; i++) {
		struct msd_buf cell = {0};

		put_column(&cell, map, &columns->all[i], for_people);
		size_t width = width_of(cell.p, cell.n);
		if (out == NULL && width > widths[i])
			widths[i] = width;
		if (out != NULL) {
			msd_buf_put(out, cell.p, cell.n);
			if (i + 1 < columns->n && for_people) {
				pad(out, width, widths[i] + 2);
			} else if (i + 1 < columns->n) {
				msd_buf_put_u8(out, '\t');
			}
		}
		msd_buf_finish(&cell);
	}
	if (out != NULL)
		msd_buf_put_u8(out, '\n');
}

/* Start of the last column. */
static size_t begin_of_last(const struct columns *columns, const size_t *widths)
{
	size_t at = 0;

	for (size_t i = 0; i + 1 < columns->n; i++)
		at += widths[i] + 2;
	return at;
}

/* Append a row as separate lines, one for each column, for a terminal that is too
 * narrow. */
static void put_lines(struct msd_buf *out, const modser_value *map,
		      const struct columns *columns, const char *prefix)
{
	size_t widest = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < columns->n; i++) {
			struct msd_buf line = {0};

			put_heading(&line, &columns->all[i]);
			const size_t width = width_of(line.p, line.n);
			widest = width > widest ? width : widest;
			pad(&line, width, widest + 1);
			put_column(&line, map, &columns->all[i], true);
			if (pass > 0) {
				msd_buf_printf(out, "%s", prefix);
				msd_buf_put(out, line.p, line.n);
				msd_buf_put_u8(out, '\n');
			}
			msd_buf_finish(&line);
		}
	}
}

static void put_columns(struct msd_buf *out, const modser_value *list,
			const struct columns *columns, const char *prefix,
			bool for_people, bool has_header)
{
	size_t widths[COLUMNS_MAX] = {0};

	if (columns->n == 0)
		return;
	if (for_people) {
		put_row(NULL, NULL, columns, widths, true);
		for (size_t i = 0; i < list->as.tuple.n; i++)
			put_row(NULL, &list->as.tuple.item[i], columns, widths, true);
	}
	if (for_people &&
	    strlen(prefix) + begin_of_last(columns, widths) >= msd_print_width()) {
		for (size_t i = 0; i < list->as.tuple.n; i++) {
			if (i > 0)
				msd_buf_put_u8(out, '\n');
			put_lines(out, &list->as.tuple.item[i], columns, prefix);
		}
		return;
	}
	if (for_people || has_header) {
		msd_buf_printf(out, "%s", prefix);
		put_row(out, NULL, columns, widths, for_people);
	}
	for (size_t i = 0; i < list->as.tuple.n; i++) {
		msd_buf_printf(out, "%s", prefix);
		put_row(out, &list->as.tuple.item[i], columns, widths, for_people);
	}
}

static void put_table(struct msd_buf *out, const modser_value *list, const char *prefix,
		      bool for_people, bool has_header)
{
	struct columns columns = {0};

	find_columns(list, for_people, &columns);
	put_columns(out, list, &columns, prefix, for_people, has_header);
}

void msd_print_table(struct msd_buf *out, const modser_value *list, bool for_people,
		     bool has_header)
{
	put_table(out, list, "", for_people, has_header);
}

static bool is_empty_in_all(const modser_value *list, const char *key)
{
	for (size_t i = 0; i < list->as.tuple.n; i++) {
		if (!msd_cell_is_empty(modser_find(&list->as.tuple.item[i], key)))
			return false;
	}
	return true;
}

static void keep_columns(const modser_value *list, const struct msd_column *columns,
			 size_t n, bool for_people, struct columns *ret)
{
	for (size_t i = 0; i < n && i < COLUMNS_MAX; i++) {
		if (!for_people || !columns[i].may_lack ||
		    !is_empty_in_all(list, columns[i].key))
			ret->all[ret->n++] = columns[i];
	}
}

void msd_print_columns(struct msd_buf *out, const modser_value *list,
		       const struct msd_column *columns, size_t n, bool for_people,
		       bool has_header)
{
	struct columns kept = {0};

	keep_columns(list, columns, n, for_people, &kept);
	put_columns(out, list, &kept, "", for_people, has_header);
}

void msd_print_section(struct msd_buf *out, const char *key, const modser_value *list,
		       const struct msd_column *columns, size_t n, bool for_people)
{
	struct columns kept = {0};
	char prefix[32];

	keep_columns(list, columns, n, for_people, &kept);
	if (for_people)
		msd_buf_printf(out, "%s:\n", key);
	(void)snprintf(prefix, sizeof(prefix), "%s%s", for_people ? "  " : key,
		       for_people ? "" : "\t");
	put_columns(out, list, &kept, prefix, for_people, false);
}

void msd_print_indented(struct msd_buf *out, const char *p, size_t n,
			const char *prefix)
{
	const char *end = p + n;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if (stop == NULL)
			stop = end;
		msd_buf_printf(out, "%s", prefix);
		msd_print_line(out, p, (size_t)(stop - p));
		msd_buf_put_u8(out, '\n');
		p = stop + 1;
	}
}

static void put_map(struct msd_buf *out, const modser_value *map, const char *prefix,
		    bool for_people);

/* Append @key and a value that takes several lines. */
static void put_section(struct msd_buf *out, const char *key, const modser_value *v,
			const char *prefix, bool for_people)
{
	struct msd_buf inner = {0};

	msd_buf_printf(for_people ? out : &inner, "%s", prefix);
	msd_print_line(for_people ? out : &inner, key, strlen(key));
	if (for_people) {
		msd_buf_printf(out, ":\n");
		msd_buf_printf(&inner, "%s  ", prefix);
	} else {
		msd_buf_put_u8(&inner, v->kind == MODSER_MAP ? '.' : '\t');
	}
	msd_buf_put_u8(&inner, '\0');
	if (!inner.bad && v->kind == MODSER_MAP) {
		put_map(out, v, (const char *)inner.p, for_people);
	} else if (!inner.bad && v->kind == MODSER_STR) {
		msd_print_indented(out, v->as.str.p, v->as.str.n,
				   (const char *)inner.p);
	} else if (!inner.bad) {
		put_table(out, v, (const char *)inner.p, for_people, false);
	}
	msd_buf_finish(&inner);
}

/* Bytes of @key without its unit, if the cell for people has a unit of its own. */
static size_t label_bytes(const modser_value *key, const modser_value *v,
			  bool for_people)
{
	static const char *const units[] = {"_bytes", "_ns", "_us", "_ms"};
	const size_t n = key->as.str.n;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t k = strlen(units[i]);

		if (for_people && v->kind == MODSER_INT && n > k &&
		    memcmp(key->as.str.p + n - k, units[i], k) == 0)
			return n - k;
	}
	return n;
}

static void put_map(struct msd_buf *out, const modser_value *map, const char *prefix,
		    bool for_people)
{
	size_t widest = 0;

	for (size_t i = 0; i < map->as.tuple.n; i++) {
		const modser_value *key = &map->as.tuple.item[2 * i];
		const size_t n = key->kind == MODSER_STR
					 ? label_bytes(key, key + 1, for_people)
					 : 0;

		widest = n > widest ? n : widest;
	}
	for (size_t i = 0; i < map->as.tuple.n; i++) {
		const modser_value *key = &map->as.tuple.item[2 * i];
		const modser_value *v = key + 1;

		if (key->kind != MODSER_STR)
			continue;
		if (v->kind == MODSER_MAP || is_list_of_maps(v) || is_many_lines(v)) {
			put_section(out, key->as.str.p, v, prefix, for_people);
			continue;
		}
		msd_buf_printf(out, "%s", prefix);
		const size_t n = label_bytes(key, v, for_people);
		msd_print_line(out, key->as.str.p, n);
		if (for_people) {
			pad(out, n, widest + 2);
		} else {
			msd_buf_put_u8(out, '\t');
		}
		msd_cell_put(out, key->as.str.p, v, for_people);
		msd_buf_put_u8(out, '\n');
	}
}

void msd_print_map(struct msd_buf *out, const modser_value *map, bool for_people)
{
	put_map(out, map, "", for_people);
}
