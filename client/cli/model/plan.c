/*
 * Happy path: a page is asked for, printed and freed, then the next; so a plan of many
 * nodes needs little memory. A row becomes a line with plain cells. Failures: if no
 * worker answers in time, or the worker dies, a note takes the place of the rows.
 */
#include "client/cli/model/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/values/json.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "proto/base/json.h"

static modser_err ask(const struct msd_plan_source *s, int64_t from,
		      modser_result **ret)
{
	const modser_options options = {.deadline_ms = s->deadline_ms,
					.unordered = true};
	const modser_value pair[] = {modser_str("from"), modser_int(from)};
	const modser_value params[] = {
		modser_str(s->name),
		{.kind = MODSER_MAP, .as.tuple = {.item = pair, .n = 1}}};

	return modser_request(s->client, "module.plan", params, 2, &options, ret);
}

modser_err msd_plan_each(const struct msd_plan_source *from,
			 void (*each)(void *ctx, const modser_value *page), void *ctx,
			 modser_result **ret_last)
{
	int64_t row = 0;

	*ret_last = NULL;
	for (;;) {
		modser_result_free(*ret_last);
		*ret_last = NULL;
		const modser_err err = ask(from, row, ret_last);
		if (err != MODSER_OK)
			return err;
		const modser_value *page = modser_result_value(*ret_last);
		const modser_value *next = modser_find(page, "next");
		each(ctx, page);
		if (next == NULL || next->kind != MODSER_INT || next->as.i <= row)
			return MODSER_OK;
		row = next->as.i;
	}
}

enum { CELLS = 13 }; /* of a row */

static const struct msd_column columns[CELLS] = {{"node", "NODE", false},
						 {"name", "NAME", true},
						 {"op", "OP", false},
						 {"engine", "ENGINE", true},
						 {"implementation", "HOW", true},
						 {"layout", "LAYOUT", true},
						 {"layout_changes", "CHANGES", true},
						 {"output", "OUTPUT", true},
						 {"packed_bytes", "PACKED", true},
						 {"shared", "SHARED", true},
						 {"group", "GROUP", true},
						 {"fused", "FUSED INTO IT", true},
						 {"fallback", "FALLBACK", true}};

/* A row with texts in place of lists. */
struct line {
	modser_value pairs[2 * CELLS];
	struct msd_buf output, fused, fallback;
};

static const char *text_of(const modser_value *map, const char *key)
{
	const modser_value *v = modser_find(map, key);

	return v != NULL && v->kind == MODSER_STR ? v->as.str.p : "";
}

/* How an item of a list is written: a text, or two of a map. */
struct style {
	const char *first, *between, *second, *end;
};

static void join(struct msd_buf *out, const modser_value *row, const char *key,
		 const struct style *s)
{
	const modser_value *list = modser_find(row, key);
	const size_t n =
		list != NULL && list->kind == MODSER_TUPLE ? list->as.tuple.n : 0;

	for (size_t i = 0; i < n; i++) {
		const modser_value *item = &list->as.tuple.item[i];

		msd_buf_printf(out, "%s", i > 0 ? ", " : "");
		if (item->kind == MODSER_STR) {
			msd_buf_printf(out, "%s", item->as.str.p);
		} else if (item->kind == MODSER_MAP) {
			msd_buf_printf(out, "%s%s%s%s", text_of(item, s->first),
				       s->between, text_of(item, s->second), s->end);
		}
	}
	msd_buf_put_u8(out, 0);
}

static modser_value text_value(const struct msd_buf *b)
{
	return modser_str(b->bad ? "" : (const char *)b->p);
}

static void line_init(struct line *l, const modser_value *row)
{
	static const struct style node = {"name", " (", "op", ")"};
	static const struct style refusal = {"engine", ": ", "why", ""};

	*l = (struct line){0};
	join(&l->output, row, "outputs", &node);
	join(&l->fused, row, "fused", &node);
	join(&l->fallback, row, "fallback", &refusal);
	for (size_t i = 0; i < CELLS; i++) {
		const modser_value *v = modser_find(row, columns[i].key);
		const char *key = columns[i].key;

		l->pairs[2 * i] = modser_str(key);
		if (v != NULL && v->kind != MODSER_TUPLE)
			l->pairs[2 * i + 1] = *v;
		if (strcmp(key, "layout_changes") == 0 && v != NULL &&
		    v->kind == MODSER_INT && v->as.i == 0)
			l->pairs[2 * i + 1] = modser_nil();
		if (strcmp(key, "output") == 0)
			l->pairs[2 * i + 1] = text_value(&l->output);
		if (strcmp(key, "fused") == 0)
			l->pairs[2 * i + 1] = text_value(&l->fused);
		if (strcmp(key, "fallback") == 0)
			l->pairs[2 * i + 1] = text_value(&l->fallback);
	}
}

static void line_finish(struct line *l)
{
	msd_buf_finish(&l->output);
	msd_buf_finish(&l->fused);
	msd_buf_finish(&l->fallback);
}

static void put_rows(struct msd_buf *out, const modser_value *rows, bool for_people)
{
	const size_t n = rows->as.tuple.n;
	struct line *lines = calloc(n + 1, sizeof(*lines));
	modser_value *maps = calloc(n + 1, sizeof(*maps));
	const modser_value list = {.kind = MODSER_TUPLE,
				   .as.tuple = {.item = maps, .n = n}};

	out->bad |= lines == NULL || maps == NULL;
	for (size_t i = 0; !out->bad && i < n; i++) {
		line_init(&lines[i], &rows->as.tuple.item[i]);
		maps[i] = (modser_value){
			.kind = MODSER_MAP,
			.as.tuple = {.item = lines[i].pairs, .n = CELLS}};
	}
	if (!out->bad)
		msd_print_section(out, "plan", &list, columns, CELLS, for_people);
	for (size_t i = 0; lines != NULL && i < n; i++)
		line_finish(&lines[i]);
	free(lines);
	free(maps);
}

/* Facts of the whole plan, which each page repeats. */
static const char *const facts[] = {"nodes",       "shapes",       "threads",
				    "arena_bytes", "packed_bytes", "shared_bytes"};

static void put_facts(struct msd_buf *out, const modser_value *page, bool for_people)
{
	modser_value pairs[2 * sizeof(facts) / sizeof(facts[0])];
	char keys[sizeof(facts) / sizeof(facts[0])][32];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const modser_value *v = modser_find(page, facts[i]);

		if (v == NULL)
			continue;
		(void)snprintf(keys[n], sizeof(keys[n]), "plan.%s", facts[i]);
		pairs[2 * n] = modser_str(keys[n]);
		pairs[2 * n + 1] = *v;
		n++;
	}
	const modser_value map = {.kind = MODSER_MAP,
				  .as.tuple = {.item = pairs, .n = n}};
	msd_print_map(out, &map, for_people);
}

struct printer {
	struct msd_buf *out;
	bool as_json, for_people;
	bool has_begun;
};

static void begin_json(struct msd_buf *out, const modser_value *page)
{
	msd_buf_put_u8(out, '{');
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const modser_value *v = modser_find(page, facts[i]);

		if (v == NULL)
			continue;
		msd_buf_printf(out, "\"%s\": ", facts[i]);
		msd_json_put_value(out, v);
		msd_buf_printf(out, ", ");
	}
	msd_buf_printf(out, "\"rows\": [");
}

static void print_page(void *ctx, const modser_value *page)
{
	struct printer *p = ctx;
	const modser_value *rows = modser_find(page, "rows");

	if (!p->has_begun && p->as_json) {
		begin_json(p->out, page);
	} else if (!p->has_begun) {
		put_facts(p->out, page, p->for_people);
	}
	if (rows == NULL || rows->kind != MODSER_TUPLE)
		return;
	if (!p->as_json)
		put_rows(p->out, rows, p->for_people);
	for (size_t i = 0; p->as_json && i < rows->as.tuple.n; i++) {
		msd_buf_printf(p->out, "%s", p->has_begun || i > 0 ? ", " : "");
		msd_json_put_value(p->out, &rows->as.tuple.item[i]);
	}
	p->has_begun = true;
}

/* The module itself has been shown: that no worker answers is no failure. */
static bool is_told_later(modser_err err)
{
	return err == MODSER_DEADLINE || err == MODSER_BUSY ||
	       err == MODSER_NOT_READY || err == MODSER_DRAINING ||
	       err == MODSER_UNSUPPORTED || err == MODSER_UNKNOWN_METHOD ||
	       err == MODSER_NOT_FOUND || err == MODSER_REFUSED ||
	       err == MODSER_WORKER_LOST || err == MODSER_MODULE_FAILED ||
	       err == MODSER_QUARANTINED;
}

static void put_note(const struct printer *p, modser_err err,
		     const modser_result *answer)
{
	const char *why = modser_result_error(answer)->message;
	const bool is_busy = err == MODSER_DEADLINE || err == MODSER_BUSY;
	struct msd_buf text = {0};

	msd_buf_printf(&text, "not told: %s%s", is_busy ? "its workers are busy: " : "",
		       why);
	if (p->as_json && p->has_begun) {
		msd_buf_printf(p->out, "], \"error\": ");
		msd_json_str(p->out, (struct msd_span){text.p, text.n});
		msd_buf_put_u8(p->out, '}');
	} else if (p->as_json) {
		msd_buf_printf(p->out, "{\"error\": ");
		msd_json_str(p->out, (struct msd_span){text.p, text.n});
		msd_buf_put_u8(p->out, '}');
	} else {
		msd_buf_printf(p->out, "plan%s", p->for_people ? "  " : "\t");
		msd_print_line(p->out, (const char *)text.p, text.n);
		msd_buf_put_u8(p->out, '\n');
	}
	p->out->bad |= text.bad;
	msd_buf_finish(&text);
}

enum msd_exit msd_plan_print(const struct msd_plan_source *from, bool as_json,
			     struct msd_buf *out)
{
	struct printer p = {out, as_json, msd_print_for_people(), false};
	modser_result *last = NULL;
	const modser_err err = msd_plan_each(from, print_page, &p, &last);
	enum msd_exit code = MSD_EXIT_OK;

	if (err == MODSER_OK) {
		if (as_json)
			msd_buf_printf(out, "]}");
	} else if (is_told_later(err)) {
		put_note(&p, err, last);
	} else {
		code = msd_report_result(from->client, last);
	}
	modser_result_free(last);
	return code == MSD_EXIT_OK && out->bad ? msd_report_no_memory() : code;
}
