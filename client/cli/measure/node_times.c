/*
 * Happy path: the pages of the plan give names, the tensor of module.profile gives
 * times in the same order. Rows are sorted by time, and summed by operator. The nodes
 * of a loop's body are listed but not summed: the loop's time includes them.
 */
#include "client/cli/measure/node_times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/values/print.h"
#include "proto/base/grow.h"
#include "proto/base/json.h"

/* Of the tensor: runs, ns, begin_ns, change_ns. */
enum { COLUMNS = 4 };
enum { MOST_SHOWN = 40 }; /* nodes, for people */
enum { PAIRS = 10, TEXT = 24 };

/* The sums of an operator. */
struct sum {
	const char *op;
	int64_t nodes, ns, operations;
	int64_t change_ns; /* of layouts */
};

static const char *text_at(const modser_value *row, const char *key)
{
	const modser_value *v = modser_find(row, key);

	return v != NULL && v->kind == MODSER_STR ? v->as.str.p : "";
}

/* A worker tells the numbers: any may come. */
static int64_t not_negative(int64_t n)
{
	return n > 0 ? n : 0;
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t times(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t int_at(const modser_value *row, const char *key)
{
	const modser_value *v = modser_find(row, key);

	return v != NULL && v->kind == MODSER_INT ? not_negative(v->as.i) : 0;
}

/* The first node of a group has the time of all, so it gets their operations, too. */
static void add_to_group(struct msd_node_times *t, const struct msd_node_time *r)
{
	if (r->group < 0 || (uint64_t)r->group >= t->n - 1)
		return;
	t->rows[r->group].operations =
		plus(t->rows[r->group].operations, r->operations);
}

static void add(struct msd_node_times *t, const modser_value *row)
{
	const modser_value *body = modser_find(row, "body_of");
	const modser_value *group = modser_find(row, "group");

	if (!msd_grow(&t->rows, t->n, sizeof(*t->rows))) {
		t->is_bad = true;
		return;
	}
	struct msd_node_time *r = &t->rows[t->n++];
	*r = (struct msd_node_time){
		.name = strdup(text_at(row, "name")),
		.op = strdup(text_at(row, "op")),
		.engine = strdup(text_at(row, "engine")),
		.implementation = strdup(text_at(row, "implementation")),
		.node = int_at(row, "node"),
		.operations = int_at(row, "operations"),
		.group = group != NULL && group->kind == MODSER_INT ? group->as.i : -1,
		.is_body = body != NULL && body->kind == MODSER_INT};
	t->is_bad |= r->name == NULL || r->op == NULL || r->engine == NULL ||
		     r->implementation == NULL;
	add_to_group(t, r);
}

void msd_node_times_add(struct msd_node_times *t, const modser_value *page)
{
	const modser_value *rows = modser_find(page, "rows");

	t->threads = int_at(page, "threads");
	for (size_t i = 0; rows != NULL && rows->kind == MODSER_TUPLE &&
			   i < rows->as.tuple.n && !t->is_bad;
	     i++)
		add(t, &rows->as.tuple.item[i]);
}

bool msd_node_times_set(struct msd_node_times *t, const modser_value *answer)
{
	const modser_value *v = answer->kind == MODSER_TUPLE && answer->as.tuple.n == 2
					? &answer->as.tuple.item[1]
					: NULL;
	int64_t at[COLUMNS];

	if (v == NULL || v->kind != MODSER_TENSOR || v->as.tensor.ndim != 2 ||
	    v->as.tensor.dtype.bits != 64 ||
	    v->as.tensor.shape[0] != (int64_t)t->n + 1 ||
	    v->as.tensor.shape[1] != COLUMNS ||
	    v->as.tensor.bytes != (t->n + 1) * sizeof(at))
		return false;
	const char *data = v->as.tensor.data;
	for (size_t i = 0; i <= t->n; i++) {
		memcpy(at, data + i * sizeof(at), sizeof(at));
		if (i == t->n) {
			t->call_ns = not_negative(at[1]);
			break;
		}
		t->rows[i].runs = not_negative(at[0]);
		t->rows[i].ns = not_negative(at[1]);
		t->rows[i].begin_ns = not_negative(at[2]);
		t->rows[i].change_ns = not_negative(at[3]);
	}
	return true;
}

static double share(const struct msd_node_times *t, int64_t ns)
{
	return t->call_ns > 0 ? (double)ns / (double)t->call_ns : 0;
}

/* Operations in a nanosecond: billions in a second. */
static double speed(int64_t operations, int64_t ns)
{
	return ns > 0 ? (double)operations / (double)ns : 0;
}

static double speed_of(const struct msd_node_time *r)
{
	return speed(times(r->operations, r->runs), r->ns);
}

static int by_time(const void *a, const void *b)
{
	const struct msd_node_time *x = *(struct msd_node_time *const *)a;
	const struct msd_node_time *y = *(struct msd_node_time *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int by_op(const void *a, const void *b)
{
	return strcmp(((const struct sum *)a)->op, ((const struct sum *)b)->op);
}

static int by_sum(const void *a, const void *b)
{
	const struct sum *x = a;
	const struct sum *y = b;

	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : by_op(a, b);
}

/* The sums by operator, the longest first; freed by the caller. NULL: memory. */
static struct sum *sum_up(const struct msd_node_times *t, size_t *ret_n)
{
	struct sum *sums = calloc(t->n + 1, sizeof(*sums));
	size_t n = 0, last = 0;

	for (size_t i = 0; sums != NULL && i < t->n; i++) {
		const struct msd_node_time *r = &t->rows[i];

		if (!r->is_body) {
			sums[n++] = (struct sum){r->op, 1, r->ns,
						 times(r->operations, r->runs),
						 r->change_ns};
		}
	}
	if (sums == NULL || n == 0) {
		*ret_n = 0;
		return sums;
	}
	qsort(sums, n, sizeof(*sums), by_op);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(sums[last].op, sums[i].op) == 0) {
			sums[last].nodes++;
			sums[last].ns = plus(sums[last].ns, sums[i].ns);
			sums[last].operations =
				plus(sums[last].operations, sums[i].operations);
			sums[last].change_ns =
				plus(sums[last].change_ns, sums[i].change_ns);
		} else {
			sums[++last] = sums[i];
		}
	}
	*ret_n = last + 1;
	qsort(sums, *ret_n, sizeof(*sums), by_sum);
	return sums;
}

/* Operators that compute nothing: they only move elements to another layout. */
static bool moves(const char *op)
{
	static const char *const ops[] = {
		"Transpose", "Permute", "Reshape", "Flatten",      "Squeeze",
		"Unsqueeze", "Concat",  "Split",   "Slice",        "Expand",
		"Tile",      "Pad",     "Gather",  "DepthToSpace", "SpaceToDepth",
		"Crop",      "Noop"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i], op) == 0)
			return true;
	}
	return false;
}

/* The whole call in numbers. */
struct total {
	int64_t nodes_ns, moves_ns, operations;
};

static struct total total_of(const struct sum *sums, size_t n)
{
	struct total all = {0};

	for (size_t i = 0; i < n; i++) {
		all.nodes_ns = plus(all.nodes_ns, sums[i].ns);
		all.nodes_ns = plus(all.nodes_ns, sums[i].change_ns);
		all.moves_ns = plus(all.moves_ns, sums[i].change_ns);
		all.operations = plus(all.operations, sums[i].operations);
		if (moves(sums[i].op))
			all.moves_ns = plus(all.moves_ns, sums[i].ns);
	}
	return all;
}

/* Time in the slow engine: often a dtype or an operator without a native kernel. */
static int64_t reference_ns(const struct msd_node_times *t)
{
	int64_t ns = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (!t->rows[i].is_body && strcmp(t->rows[i].engine, "reference") == 0)
			ns = plus(ns, t->rows[i].ns);
	}
	return ns;
}

/* A line of a table, with memory for its texts. */
struct line {
	modser_value pairs[2 * PAIRS];
	size_t n;
	char share[TEXT], speed[TEXT];
};

static void put(struct line *l, const char *key, modser_value v)
{
	l->pairs[2 * l->n] = modser_str(key);
	l->pairs[2 * l->n + 1] = v;
	l->n++;
}

static void put_speed(struct line *l, double share_of_call, double gflops)
{
	(void)snprintf(l->share, sizeof(l->share), "%.1f %%", 100 * share_of_call);
	(void)snprintf(l->speed, sizeof(l->speed), "%.1f", gflops);
	put(l, "share", modser_str(l->share));
	put(l, "gflops", gflops > 0 ? modser_str(l->speed) : modser_nil());
}

static void print_lines(struct msd_buf *out, const char *key, struct line *lines,
			size_t n, const struct msd_column *columns, size_t n_columns,
			bool for_people)
{
	modser_value *maps = calloc(n + 1, sizeof(*maps));
	const modser_value list = {.kind = MODSER_TUPLE,
				   .as.tuple = {.item = maps, .n = n}};

	out->bad |= maps == NULL;
	for (size_t i = 0; maps != NULL && i < n; i++) {
		maps[i] = (modser_value){
			.kind = MODSER_MAP,
			.as.tuple = {.item = lines[i].pairs, .n = lines[i].n}};
	}
	if (maps != NULL) {
		msd_print_section(out, key, &list, columns, n_columns, for_people);
	}
	free(maps);
}

static void put_operators(struct msd_buf *out, const struct msd_node_times *t,
			  const struct sum *sums, size_t n, bool for_people)
{
	static const struct msd_column columns[] = {{"op", "OP", false},
						    {"nodes", "NODES", false},
						    {"time_ns", "TIME", false},
						    {"share", "SHARE", false},
						    {"gflops", "GFLOP/S", true}};
	struct line *lines = calloc(n + 1, sizeof(*lines));

	out->bad |= lines == NULL;
	for (size_t i = 0; lines != NULL && i < n; i++) {
		put(&lines[i], "op", modser_str(sums[i].op));
		put(&lines[i], "nodes", modser_int(sums[i].nodes));
		put(&lines[i], "time_ns", modser_int(sums[i].ns));
		put_speed(&lines[i], share(t, sums[i].ns),
			  speed(sums[i].operations, sums[i].ns));
	}
	if (lines != NULL) {
		print_lines(out, "operators", lines, n, columns,
			    sizeof(columns) / sizeof(columns[0]), for_people);
	}
	free(lines);
}

static void put_nodes(struct msd_buf *out, const struct msd_node_times *t,
		      bool for_people)
{
	static const struct msd_column columns[] = {
		{"node", "NODE", false},    {"name", "NAME", true},
		{"op", "OP", false},        {"engine", "ENGINE", false},
		{"group", "GROUP", true},   {"runs", "RUNS", false},
		{"time_ns", "TIME", false}, {"layout_change_ns", "CHANGES", true},
		{"share", "SHARE", false},  {"gflops", "GFLOP/S", true}};
	const size_t n = for_people && t->n > MOST_SHOWN ? MOST_SHOWN : t->n;
	struct msd_node_time **sorted = calloc(t->n + 1, sizeof(*sorted));
	struct line *lines = calloc(n + 1, sizeof(*lines));

	out->bad |= lines == NULL || sorted == NULL;
	for (size_t i = 0; sorted != NULL && i < t->n; i++)
		sorted[i] = &t->rows[i];
	if (sorted != NULL)
		qsort(sorted, t->n, sizeof(*sorted), by_time);
	for (size_t i = 0; !out->bad && i < n; i++) {
		const struct msd_node_time *r = sorted[i];

		put(&lines[i], "node", modser_int(r->node));
		put(&lines[i], "name", modser_str(r->name));
		put(&lines[i], "op", modser_str(r->op));
		put(&lines[i], "engine", modser_str(r->engine));
		put(&lines[i], "group",
		    r->group >= 0 ? modser_int(r->group) : modser_nil());
		put(&lines[i], "runs", modser_int(r->runs));
		put(&lines[i], "time_ns", modser_int(r->ns));
		put(&lines[i], "layout_change_ns",
		    r->change_ns > 0 ? modser_int(r->change_ns) : modser_nil());
		put_speed(&lines[i], share(t, r->ns), speed_of(r));
	}
	if (!out->bad) {
		print_lines(out, "nodes", lines, n, columns,
			    sizeof(columns) / sizeof(columns[0]), for_people);
	}
	if (n < t->n)
		msd_buf_printf(out, "  and %zu more; a pipe gets all\n", t->n - n);
	free(sorted);
	free(lines);
}

void msd_node_times_text(struct msd_buf *out, const struct msd_node_times *t,
			 bool for_people)
{
	size_t n;
	struct sum *sums = sum_up(t, &n);
	struct line l = {0};
	char in_nodes[TEXT], in_reference[TEXT], in_moves[TEXT];

	if (sums == NULL) {
		out->bad = true;
		return;
	}
	const struct total all = total_of(sums, n);
	(void)snprintf(in_nodes, sizeof(in_nodes), "%.1f %%",
		       100 * share(t, all.nodes_ns));
	(void)snprintf(in_reference, sizeof(in_reference), "%.1f %%",
		       100 * share(t, reference_ns(t)));
	(void)snprintf(in_moves, sizeof(in_moves), "%.1f %%",
		       100 * share(t, all.moves_ns));
	(void)snprintf(l.speed, sizeof(l.speed), "%.1f",
		       speed(all.operations, t->call_ns));
	put(&l, "call_ns", modser_int(t->call_ns));
	put(&l, "threads", modser_int(t->threads));
	put(&l, "in nodes", modser_str(in_nodes));
	put(&l, "in reference", modser_str(in_reference));
	put(&l, "layout changes", modser_str(in_moves));
	put(&l, "gflops", modser_str(l.speed));
	const modser_value map = {.kind = MODSER_MAP,
				  .as.tuple = {.item = l.pairs, .n = l.n}};
	msd_print_map(out, &map, for_people);
	put_operators(out, t, sums, n, for_people);
	put_nodes(out, t, for_people);
	free(sums);
}

static void json_speed(struct msd_buf *out, const struct msd_node_times *t, int64_t ns,
		       int64_t operations, double gflops)
{
	msd_buf_printf(out,
		       "\"ns\": %" PRId64 ", \"share\": %.6f, \"operations\": %" PRId64
		       ", \"gflops\": %.3f}",
		       ns, share(t, ns), operations, gflops);
}

static void json_node(struct msd_buf *out, const struct msd_node_times *t,
		      const struct msd_node_time *r)
{
	msd_buf_printf(out, "{\"node\": %" PRId64 ", \"name\": ", r->node);
	msd_json_cstr(out, r->name);
	msd_buf_printf(out, ", \"op\": ");
	msd_json_cstr(out, r->op);
	msd_buf_printf(out, ", \"engine\": ");
	msd_json_cstr(out, r->engine);
	msd_buf_printf(out, ", \"implementation\": ");
	msd_json_cstr(out, r->implementation);
	msd_buf_printf(out, ", \"group\": ");
	if (r->group >= 0) {
		msd_buf_printf(out, "%" PRId64, r->group);
	} else {
		msd_buf_printf(out, "null");
	}
	msd_buf_printf(
		out,
		", \"is_body\": %s, \"runs\": %" PRId64 ", \"begin_ns\": %" PRId64
		", \"layout_change_ns\": %" PRId64 ", ",
		r->is_body ? "true" : "false", r->runs, r->begin_ns, r->change_ns);
	json_speed(out, t, r->ns, r->operations, speed_of(r));
}

void msd_node_times_json(struct msd_buf *out, const struct msd_node_times *t)
{
	size_t n;
	struct sum *sums = sum_up(t, &n);

	if (sums == NULL) {
		out->bad = true;
		return;
	}
	const struct total all = total_of(sums, n);
	msd_buf_printf(out,
		       "{\"call_ns\": %" PRId64 ", \"threads\": %" PRId64
		       ", \"nodes_ns\": %" PRId64 ", \"reference_ns\": %" PRId64
		       ", \"layout_changes_ns\": %" PRId64 ", \"operators\": [",
		       t->call_ns, t->threads, all.nodes_ns, reference_ns(t),
		       all.moves_ns);
	for (size_t i = 0; i < n; i++) {
		msd_buf_printf(out, "%s{\"op\": ", i > 0 ? ", " : "");
		msd_json_cstr(out, sums[i].op);
		msd_buf_printf(out, ", \"nodes\": %" PRId64 ", ", sums[i].nodes);
		json_speed(out, t, sums[i].ns, sums[i].operations,
			   speed(sums[i].operations, sums[i].ns));
	}
	msd_buf_printf(out, "], \"nodes\": [");
	for (size_t i = 0; i < t->n; i++) {
		msd_buf_printf(out, "%s", i > 0 ? ", " : "");
		json_node(out, t, &t->rows[i]);
	}
	msd_buf_printf(out, "]}\n");
	free(sums);
}

/* Times are microseconds there. Nodes of bodies have only sums, and no own events. */
void msd_node_times_chrome(struct msd_buf *out, const struct msd_node_times *t)
{
	msd_buf_printf(out,
		       "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
		       "{\"name\": \"call\", \"cat\": \"call\", \"ph\": \"X\", "
		       "\"ts\": 0, \"dur\": %.3f, \"pid\": 1, \"tid\": 1}",
		       (double)t->call_ns / 1e3);
	for (size_t i = 0; i < t->n; i++) {
		const struct msd_node_time *r = &t->rows[i];

		if (r->is_body || r->runs == 0)
			continue;
		msd_buf_printf(out, ",\n{\"name\": ");
		msd_json_cstr(out, *r->name != '\0' ? r->name : r->op);
		msd_buf_printf(out, ", \"cat\": ");
		msd_json_cstr(out, r->op);
		msd_buf_printf(out,
			       ", \"ph\": \"X\", \"ts\": %.3f, \"dur\": %.3f, "
			       "\"pid\": 1, \"tid\": 1, \"args\": {\"node\": %" PRId64
			       ", \"engine\": ",
			       (double)r->begin_ns / 1e3, (double)r->ns / 1e3, r->node);
		msd_json_cstr(out, r->engine);
		msd_buf_printf(out, ", \"implementation\": ");
		msd_json_cstr(out, r->implementation);
		msd_buf_printf(out, ", \"gflops\": %.3f}}", speed_of(r));
	}
	msd_buf_printf(out, "\n]}\n");
}

void msd_node_times_finish(struct msd_node_times *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->rows[i].name);
		free(t->rows[i].op);
		free(t->rows[i].engine);
		free(t->rows[i].implementation);
	}
	free(t->rows);
	*t = (struct msd_node_times){0};
}
