/*
 * Happy path: the description is printed without lines that it repeats, or as JSON. A
 * ready model of a framework is asked for its plan, which is printed below. Failures:
 * if its workers are busy, a note takes the place of the plan.
 */
#include "client/cli/verbs/show.h"

#include <string.h>

#include "client/cli/model/plan.h"
#include "client/cli/session.h"
#include "client/cli/values/json.h"
#include "client/cli/values/print.h"
#include "proto/base/bytes.h"

#define PAIRS_MAX 64u /* limit of the pairs in a map */
#define PLAN_PATIENCE_MS 2000u

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

/* Print @about without what the map around the inspection repeats. */
static void put_about(struct msd_buf *out, const modser_value *about)
{
	modser_value outer[2 * PAIRS_MAX], inner[2 * PAIRS_MAX];
	const modser_value *inspect = modser_find(about, "inspect");
	const modser_value *text = modser_find(inspect, "text");
	const bool for_people = msd_print_for_people();
	struct msd_buf rest = {0};

	if (text != NULL && text->kind == MODSER_STR)
		put_rest(&rest, text);
	if (rest.n == 0 || rest.bad) {
		msd_print_map(out, about, for_people);
	} else {
		const modser_value thin = {
			.kind = MODSER_STR,
			.as.str = {.p = (const char *)rest.p, .n = rest.n}};
		const modser_value part = replaced(inspect, "text", &thin, inner);
		const modser_value whole = replaced(about, "inspect", &part, outer);

		msd_print_map(out, &whole, for_people);
	}
	msd_buf_finish(&rest);
}

static bool is_text(const modser_value *map, const char *key, const char *text)
{
	const modser_value *v = modser_find(map, key);

	return v != NULL && v->kind == MODSER_STR && strcmp(v->as.str.p, text) == 0;
}

/* To ask another module would wake it, or wait for it. */
static bool has_plan(const modser_value *about)
{
	const modser_value *list = modser_find(about, "functions");

	if (!is_text(about, "state", "READY") || list == NULL ||
	    list->kind != MODSER_TUPLE || list->as.tuple.n == 0)
		return false;
	return is_text(&list->as.tuple.item[0], "kind", "StaticGraph");
}

static enum msd_exit put_plan(const struct msd_cli *cli, const char *name,
			      struct msd_buf *out)
{
	const bool has_less =
		cli->deadline_ms != 0 && cli->deadline_ms < PLAN_PATIENCE_MS;
	modser_client *client = NULL;
	const enum msd_exit code = msd_session_open(cli, &client);

	if (code != MSD_EXIT_OK)
		return code;
	const enum msd_exit result = msd_plan_print(
		&(struct msd_plan_source){
			client, name, has_less ? cli->deadline_ms : PLAN_PATIENCE_MS},
		cli->json, out);
	modser_close(client);
	return result;
}

enum msd_exit msd_show_print(const struct msd_cli *cli, const modser_value *about)
{
	const modser_value *name = modser_find(about, "name");
	struct msd_buf out = {0};
	enum msd_exit code = MSD_EXIT_OK;

	if (about->kind != MODSER_MAP) { /* a newer daemon */
		msd_session_print_value(cli, about);
		return MSD_EXIT_OK;
	}
	if (cli->json) {
		msd_json_put_value(&out, about);
	} else {
		put_about(&out, about);
	}
	if (has_plan(about) && name != NULL && name->kind == MODSER_STR) {
		if (cli->json && out.n > 0) { /* one more key */
			out.n--;
			msd_buf_printf(&out, ", \"plan\": ");
		}
		code = put_plan(cli, name->as.str.p, &out);
		if (cli->json)
			msd_buf_put_u8(&out, '}');
	}
	if (cli->json)
		msd_buf_put_u8(&out, '\n');
	if (code == MSD_EXIT_OK)
		msd_print_flush(&out);
	msd_buf_finish(&out);
	return code;
}
