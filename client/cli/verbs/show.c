#include "client/cli/verbs/show.h"

#include <string.h>

#include "client/cli/session.h"
#include "proto/base/bytes.h"

#define PAIRS_MAX 64u /* limit of the pairs in a map */

/* True for lines of the inspection that the surrounding map repeats: the file's size,
 * ABI and machine, and the functions, which are listed below with their kinds. */
static bool is_said_around(const char *line, size_t n)
{
	static const char *const heads[] = {"file ", "era ", "machine ", "functions "};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const size_t k = strlen(heads[i]);

		if (n >= k && memcmp(line, heads[i], k) == 0)
			return true;
	}
	return false;
}

/* Append @text without such lines and their continuation lines. */
static void put_rest(struct msd_buf *out, const modser_value *text)
{
	const char *p = text->as.str.p;
	const char *end = p + text->as.str.n;
	bool is_left_out = false;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const size_t n =
			stop != NULL ? (size_t)(stop - p) + 1 : (size_t)(end - p);

		if (*p != ' ')
			is_left_out = is_said_around(p, n);
		if (!is_left_out)
			msd_buf_put(out, p, n);
		p += n;
	}
}

/* Copy the pairs of @map to @ret, with @v as the value of @key. */
static modser_value replaced(const modser_value *map, const char *key,
			     const modser_value *v,
			     modser_value ret[static 2 * PAIRS_MAX])
{
	const size_t n = map->as.tuple.n < PAIRS_MAX ? map->as.tuple.n : PAIRS_MAX;

	for (size_t i = 0; i < n; i++) {
		ret[2 * i] = map->as.tuple.item[2 * i];
		ret[2 * i + 1] = map->as.tuple.item[2 * i + 1];
		if (ret[2 * i].kind == MODSER_STR &&
		    strcmp(ret[2 * i].as.str.p, key) == 0)
			ret[2 * i + 1] = *v;
	}
	return (modser_value){.kind = MODSER_MAP, .as.tuple = {.item = ret, .n = n}};
}

void msd_show_print(const struct msd_cli *cli, const modser_value *about)
{
	modser_value outer[2 * PAIRS_MAX], inner[2 * PAIRS_MAX];
	const modser_value *inspect = modser_find(about, "inspect");
	const modser_value *text = modser_find(inspect, "text");
	struct msd_buf rest = {0};

	if (!cli->json && text != NULL && text->kind == MODSER_STR)
		put_rest(&rest, text);
	if (rest.n == 0 || rest.bad) {
		msd_session_print_value(cli, about);
	} else {
		const modser_value thin = {
			.kind = MODSER_STR,
			.as.str = {.p = (const char *)rest.p, .n = rest.n}};
		const modser_value part = replaced(inspect, "text", &thin, inner);
		const modser_value whole = replaced(about, "inspect", &part, outer);

		msd_session_print_value(cli, &whole);
	}
	msd_buf_finish(&rest);
}
