/*
 * Maps and lists of maps of whatever keys: what a newer daemon adds shows up too.
 *
 * Happy path of a list: the columns are the keys that any row has with a plain value;
 * each cell is written once to learn the columns' widths, and once more padded to them.
 * In a pipe there are no widths: the cells of a line are parted by tabs. Within a map,
 * maps, lists of maps and texts of several lines are sections of their own.
 */
#include <stdlib.h>
#include <string.h>

#include "client/cli/print.h"

#define LIST_SHOWN 8u   /* items of a list within a table */
#define COLUMNS_MAX 64u /* as a map can have pairs */

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

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text);
	size_t k = strlen(tail);

	return n >= k && strcmp(text + n - k, tail) == 0;
}

/* A number of bytes, by its key. */
static bool is_bytes(const char *key, const modser_value *v)
{
	return v->kind == MODSER_INT &&
	       (ends_with(key, "bytes") || strcmp(key, "rss") == 0);
}

static void put_size(struct msd_buf *out, int64_t n)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)n;
	size_t i = 0;

	while (v >= 1024 && i + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1024;
		i++;
	}
	msd_buf_printf(out, "%.*f %s", i > 0 && v < 100 ? 1 : 0, v, units[i]);
}

static bool is_empty(const modser_value *v)
{
	return v == NULL || v->kind == MODSER_NIL ||
	       (v->kind == MODSER_STR && v->as.str.n == 0);
}

static void put_cell(struct msd_buf *out, const char *key, const modser_value *v,
		     bool for_people)
{
	if (is_empty(v)) {
		msd_buf_put_u8(out, '-');
	} else if (for_people && is_bytes(key, v)) {
		put_size(out, v->as.i);
	} else if (for_people && v->kind == MODSER_TUPLE &&
		   v->as.tuple.n > LIST_SHOWN) {
		msd_buf_printf(out, "%zu (--json lists them)", v->as.tuple.n);
	} else {
		msd_print_value(out, v, for_people);
	}
}

/* The keys of all rows in the order in which they come, of plain values alone. People
 * are spared what is empty everywhere; scripts count on it. */
static size_t find_columns(const modser_value *list, bool for_people,
			   const char *ret[COLUMNS_MAX])
{
	size_t n = 0;

	for (size_t row = 0; row < list->as.tuple.n; row++) {
		const modser_value *map = &list->as.tuple.item[row];
		size_t pairs = map->kind == MODSER_MAP ? map->as.tuple.n : 0;

		for (size_t i = 0; i < pairs; i++) {
			const modser_value *pair = &map->as.tuple.item[2 * i];
			size_t at = 0;

			if (pair->kind != MODSER_STR || !is_plain(pair + 1) ||
			    (for_people && is_empty(pair + 1)))
				continue;
			while (at < n && strcmp(ret[at], pair->as.str.p) != 0)
				at++;
			if (at == n && n < COLUMNS_MAX)
				ret[n++] = pair->as.str.p;
		}
	}
	return n;
}

/* Characters of UTF-8 text, one column each. */
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

static void put_heading(struct msd_buf *out, const char *key)
{
	for (; *key != '\0'; key++) {
		msd_buf_put_u8(out, *key >= 'a' && *key <= 'z'
					    ? (uint8_t)(*key - 'a' + 'A')
					    : (uint8_t)*key);
	}
}

/* One row, padded to @widths; or its widths taken into them when @out is NULL. */
static void put_row(struct msd_buf *out, const modser_value *map,
		    const char *const *columns, size_t n, size_t *widths,
		    bool for_people)
{
	for (size_t i = 0; i < n; i++) {
		struct msd_buf cell = {0};

		if (map == NULL) {
			put_heading(&cell, columns[i]);
		} else {
			put_cell(&cell, columns[i], modser_find(map, columns[i]),
				 for_people);
		}
		size_t width = width_of(cell.p, cell.n);
		if (out == NULL && width > widths[i])
			widths[i] = width;
		if (out != NULL) {
			msd_buf_put(out, cell.p, cell.n);
			if (i + 1 < n && for_people) {
				pad(out, width, widths[i] + 2);
			} else if (i + 1 < n) {
				msd_buf_put_u8(out, '\t');
			}
		}
		msd_buf_finish(&cell);
	}
	if (out != NULL)
		msd_buf_put_u8(out, '\n');
}

static void put_table(struct msd_buf *out, const modser_value *list, const char *prefix,
		      bool for_people)
{
	const char *columns[COLUMNS_MAX];
	size_t widths[COLUMNS_MAX] = {0};
	size_t n = find_columns(list, for_people, columns);

	if (n == 0)
		return;
	if (for_people) {
		put_row(NULL, NULL, columns, n, widths, true);
		for (size_t i = 0; i < list->as.tuple.n; i++) {
			put_row(NULL, &list->as.tuple.item[i], columns, n, widths,
				true);
		}
		msd_buf_printf(out, "%s", prefix);
		put_row(out, NULL, columns, n, widths, true);
	}
	for (size_t i = 0; i < list->as.tuple.n; i++) {
		msd_buf_printf(out, "%s", prefix);
		put_row(out, &list->as.tuple.item[i], columns, n, widths, for_people);
	}
}

void msd_print_table(struct msd_buf *out, const modser_value *list, bool for_people)
{
	put_table(out, list, "", for_people);
}

/* Each line of @text behind @prefix. */
static void put_lines(struct msd_buf *out, const modser_value *text, const char *prefix)
{
	const char *p = text->as.str.p;
	const char *end = p + text->as.str.n;

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

/* @key with a value that takes lines of its own. */
static void put_section(struct msd_buf *out, const char *key, const modser_value *v,
			const char *prefix, bool for_people)
{
	struct msd_buf inner = {0};

	if (for_people) {
		msd_buf_printf(out, "%s%s:\n", prefix, key);
		msd_buf_printf(&inner, "%s  ", prefix);
	} else if (v->kind == MODSER_MAP) {
		msd_buf_printf(&inner, "%s%s.", prefix, key);
	} else {
		msd_buf_printf(&inner, "%s%s\t", prefix, key);
	}
	msd_buf_put_u8(&inner, '\0');
	if (!inner.bad && v->kind == MODSER_MAP) {
		put_map(out, v, (const char *)inner.p, for_people);
	} else if (!inner.bad && v->kind == MODSER_STR) {
		put_lines(out, v, (const char *)inner.p);
	} else if (!inner.bad) {
		put_table(out, v, (const char *)inner.p, for_people);
	}
	msd_buf_finish(&inner);
}

static void put_map(struct msd_buf *out, const modser_value *map, const char *prefix,
		    bool for_people)
{
	size_t widest = 0;

	for (size_t i = 0; i < map->as.tuple.n; i++) {
		if (map->as.tuple.item[2 * i].kind == MODSER_STR &&
		    map->as.tuple.item[2 * i].as.str.n > widest)
			widest = map->as.tuple.item[2 * i].as.str.n;
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
		msd_buf_printf(out, "%s%s", prefix, key->as.str.p);
		if (for_people) {
			pad(out, key->as.str.n, widest + 2);
		} else {
			msd_buf_put_u8(out, '\t');
		}
		put_cell(out, key->as.str.p, v, for_people);
		msd_buf_put_u8(out, '\n');
	}
}

void msd_print_map(struct msd_buf *out, const modser_value *map, bool for_people)
{
	put_map(out, map, "", for_people);
}
