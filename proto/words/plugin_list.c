#include "proto/words/plugin_list.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/grow.h"

static const char *const words[] = {
	[MSD_PLUGIN_FUNCTION] = "function", [MSD_PLUGIN_KIND] = "kind",
	[MSD_PLUGIN_SYMBOL] = "symbol",     [MSD_PLUGIN_FORMAT] = "format",
	[MSD_PLUGIN_OPERATOR] = "operator", [MSD_PLUGIN_KERNEL] = "kernel",
	[MSD_PLUGIN_ENGINE] = "engine",
};
#define N_WORDS (sizeof(words) / sizeof(words[0]))

const char *msd_plugin_word_name(enum msd_plugin_word word)
{
	return words[word];
}

struct msd_plugin_item *msd_plugin_list_find(const struct msd_plugin_list *list,
					     enum msd_plugin_word word,
					     const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->items[i].word == word &&
		    strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	}
	return NULL;
}

static bool is_printable(struct msd_span name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] < ' ' || name.p[i] > '~')
			return false;
	}
	return true;
}

static msd_err bad_line(size_t number, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    MSD_PLUGIN_LIST_SYMBOL
			    ", line %zu: expected \"WORD NAME\" once, where WORD is "
			    "function, kind, symbol, format, operator, kernel or "
			    "engine, and NAME has 1 to %u printable bytes",
			    number, MSD_PLUGIN_LIST_NAME_MAX);
}

static msd_err read_line(struct msd_span line, size_t number,
			 struct msd_plugin_list *list, struct msd_diag *d)
{
	const uint8_t *space = memchr(line.p, ' ', line.n);
	struct msd_plugin_item item = {0};
	size_t w = 0;

	if (space == NULL)
		return bad_line(number, d);
	const struct msd_span word = {line.p, (size_t)(space - line.p)};
	const struct msd_span name = {space + 1, line.n - word.n - 1};
	while (w < N_WORDS && !msd_span_is(word, words[w]))
		w++;
	if (w == N_WORDS || name.n == 0 || name.n > MSD_PLUGIN_LIST_NAME_MAX ||
	    !is_printable(name))
		return bad_line(number, d);
	item.word = (enum msd_plugin_word)w;
	item.name = strndup((const char *)name.p, name.n);
	if (item.name == NULL)
		return msd_diag_no_memory(d);
	if (msd_plugin_list_find(list, item.word, item.name) != NULL) {
		free(item.name);
		return bad_line(number, d);
	}
	if (!msd_grow(&list->items, list->n, sizeof(item))) {
		free(item.name);
		return msd_diag_no_memory(d);
	}
	list->items[list->n++] = item;
	return MSD_OK;
}

msd_err msd_plugin_list_read(struct msd_span text, struct msd_plugin_list *ret,
			     struct msd_diag *d)
{
	struct msd_plugin_list list = {0};
	msd_err err = MSD_OK;

	if (text.n > MSD_PLUGIN_LIST_BYTES) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    MSD_PLUGIN_LIST_SYMBOL
				    " has %zu bytes; at most %u are supported",
				    text.n, MSD_PLUGIN_LIST_BYTES);
	}
	const uint8_t *end = text.n > 0 ? memchr(text.p, '\0', text.n) : NULL;
	if (end == NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    MSD_PLUGIN_LIST_SYMBOL " does not end with NUL");
	}
	const uint8_t *p = text.p;
	for (size_t number = 1; err == MSD_OK && p < end; number++) {
		const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));

		if (stop == NULL)
			stop = end;
		if (stop > p) {
			err = read_line((struct msd_span){p, (size_t)(stop - p)},
					number, &list, d);
		}
		p = stop < end ? stop + 1 : end;
	}
	if (err != MSD_OK) {
		msd_plugin_list_finish(&list);
		return err;
	}
	*ret = list;
	return MSD_OK;
}

void msd_plugin_list_finish(struct msd_plugin_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i].name);
	free(list->items);
	*list = (struct msd_plugin_list){0};
}
