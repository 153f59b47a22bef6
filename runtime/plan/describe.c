/*
 * Happy path: rows are numbered once. A page walks over the nodes in the order of a
 * run, skips the rows before its first one, and stops at the first that does not fit.
 * The reason why an engine does not run a node is its answer to another offer of the
 * node.
 */
#include "runtime/plan/describe.h"

#include <inttypes.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "proto/value.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/weights.h"
#include "runtime/plan/entry.h"
#include "runtime/plan/flow.h"
#include "runtime/plan/group.h"
#include "runtime/plan/operations.h"
#include "runtime/plan/outline_flow.h"
#include "runtime/plan/parts.h"
#include "runtime/plan/reorder.h"
#include "runtime/pool/pool.h"

#define HEAD_BYTES 512u /* a page without its rows */
/* A row keeps well below a page. */
#define MOST_NAME 200u
#define MOST_TENSORS 8u
#define MOST_MERGED 32u
#define MOST_WHY 240u

struct page {
	struct msd_buf rows;
	uint64_t from, next; /* rows */
	bool is_full;
};

/* Reasons of engines, as msgpack. */
struct refusals {
	struct msd_buf items;
	size_t n;
};

static size_t number(struct msd_plan *p, size_t first)
{
	size_t next = first;

	for (size_t i = 0; i < p->g->n_nodes; i++)
		next += !msd_sg_node_is_given(p->g->nodes[i]);
	for (size_t i = 0; i < p->g->n_nodes; i++) {
		const struct msd_flow *flow = p->flows[p->program.order[i]];

		for (size_t k = 0; flow != NULL && k < MSD_FLOW_GRAPHS; k++) {
			if (flow->graphs[k].plan != NULL)
				next = number(flow->graphs[k].plan, next);
		}
	}
	p->times.first_row = first;
	p->n_rows = next - first;
	return next;
}

size_t msd_plan_row_count(struct msd_plan *plan)
{
	if (plan->n_rows == 0)
		(void)number(plan, 0);
	return plan->n_rows;
}

static void put_cut(struct msd_buf *out, const char *text, size_t most)
{
	const size_t n = strlen(text);

	msd_pack_text(out, text, n < most ? n : most);
}

static void put_tensor(struct msd_buf *out, const modser_sg_tensor *t)
{
	char dtype[MSD_DTYPE_NAME_MAX];
	struct msd_buf text = {0};

	msd_buf_printf(&text, "%s[", msd_dtype_format(t->dtype, dtype));
	for (int i = 0; i < t->ndim; i++) {
		msd_buf_printf(&text, "%s", i > 0 ? "," : "");
		if (t->dims[i] >= 0) {
			msd_buf_printf(&text, "%" PRId64, t->dims[i]);
		} else {
			msd_buf_printf(&text, "?");
		}
	}
	msd_buf_printf(&text, t->ndim < 0 ? "...]" : "]");
	msd_pack_text(out, (const char *)text.p, text.n);
	out->bad |= text.bad;
	msd_buf_finish(&text);
}

static void put_tensors(struct msd_buf *out, const char *key,
			modser_sg_tensor *const *list, size_t n)
{
	const size_t most = n < MOST_TENSORS ? n : MOST_TENSORS;

	msd_pack_cstr(out, key);
	msd_pack_array(out, most);
	for (size_t i = 0; i < most; i++) {
		if (list[i] != NULL) {
			put_tensor(out, list[i]);
		} else {
			msd_pack_nil(out);
		}
	}
}

static void put_merged(struct msd_buf *out, const modser_sg_node *node)
{
	const size_t n = node->n_merged < MOST_MERGED ? node->n_merged : MOST_MERGED;

	msd_pack_cstr(out, "fused");
	msd_pack_array(out, n);
	for (size_t i = 0; i < n; i++) {
		msd_pack_map(out, 2);
		msd_pack_cstr(out, "name");
		put_cut(out, node->merged[i].name, MOST_NAME);
		msd_pack_pair_str(out, "op", node->merged[i].op);
	}
}

static void add_refusal(void *ctx, const char *engine, const char *why)
{
	struct refusals *r = ctx;

	msd_pack_map(&r->items, 2);
	msd_pack_pair_str(&r->items, "engine", engine);
	msd_pack_cstr(&r->items, "why");
	put_cut(&r->items, why, MOST_WHY);
	r->n++;
}

/* The engine that runs @node with its shapes; NULL: the next run chooses it. */
static const struct msd_engine_node *engine_of(const struct msd_plan *p,
					       const modser_sg_node *node)
{
	struct msd_claim *claim = &p->program.claims[node->index];
	const struct msd_engine_node *by = NULL;
	struct msd_diag d = {0};

	if (claim->by.engine == NULL)
		return NULL;
	const msd_err err = msd_claim_choose(claim, node, &by, &d);
	msd_diag_finish(&d);
	return err == MSD_OK ? by : NULL;
}

/* True if the last run had nothing to do for @node. */
static bool is_view(const struct msd_plan *p, const modser_sg_node *node)
{
	for (size_t i = 0; i < MSD_SHAPES_KEPT; i++) {
		const struct msd_entry *e = &p->shapes.entries[i];

		if (e->g != NULL && e->g == p->now)
			return e->views.is_view[node->index];
	}
	return false;
}

static void put_engine(struct msd_buf *out, const struct msd_engine_node *by,
		       const modser_sg_node *node, bool is_a_view)
{
	struct msd_engine_way way = {.implementation = "view"};
	struct refusals refusals = {0};

	if (!is_a_view) {
		way.implementation[0] = '\0';
		if (by != NULL && by->engine->tell != NULL)
			by->engine->tell(by->state, &way);
		if (by != NULL && by->state != NULL) /* no graphs of its own */
			msd_engine_refusals(by, node, add_refusal, &refusals);
	}
	msd_pack_pair_str(out, "engine", by != NULL ? by->engine->name : "");
	msd_pack_pair_str(out, "implementation", way.implementation);
	msd_pack_pair_uint(out, "packed_bytes", way.packed_bytes);
	msd_pack_cstr(out, "shared");
	msd_pack_bool(out, way.is_shared);
	msd_pack_cstr(out, "fallback");
	msd_pack_array(out, refusals.n);
	msd_buf_put(out, refusals.items.p, refusals.items.n);
	out->bad |= refusals.items.bad;
	msd_buf_finish(&refusals.items);
}

/* How the node writes its outputs, and what is converted for it. @i: its number in the
 * run of its graph. */
static void put_layout(struct msd_buf *out, const struct msd_plan *p, size_t i,
		       const modser_sg_node *node)
{
	const struct msd_reorder_row *row =
		p->now_by != NULL && p->now_by->reorders != NULL
			? &p->now_by->reorders->rows[i]
			: NULL;
	const char *name = NULL;

	for (size_t k = 0;
	     row != NULL && row->outputs != NULL && k < node->n_outputs && name == NULL;
	     k++)
		name = row->outputs[k] != NULL ? row->outputs[k]->name : NULL;
	msd_pack_cstr(out, "layout");
	put_cut(out, name != NULL ? name : "row-major", MOST_NAME);
	msd_pack_pair_uint(out, "layout_changes", row != NULL ? row->n : 0);
	msd_pack_pair_uint(out, "layout_change_bytes", row != NULL ? row->bytes : 0);
}

/* The row of the first node of the group that runs @node. */
static void put_group(struct msd_buf *out, const struct msd_plan *p,
		      const modser_sg_node *node)
{
	const struct msd_entry *entry = p->now_by;
	const struct msd_group *group =
		entry != NULL ? msd_groups_find(&entry->groups, node) : NULL;

	msd_pack_cstr(out, "group");
	if (group == NULL) {
		msd_pack_nil(out);
	} else {
		msd_pack_uint(out, p->times.first_row +
					   entry->groups.row[group->nodes[0]->index]);
	}
}

static void put_row(struct msd_buf *out, const struct msd_plan *p, size_t row,
		    const modser_sg_node *node, int64_t body_of)
{
	const bool is_shaped = msd_outline_is_shaped(node);
	const bool is_flow = p->flows[node->index] != NULL;

	msd_pack_map(out, 17);
	msd_pack_pair_uint(out, "node", row);
	msd_pack_cstr(out, "name");
	put_cut(out, node->name, MOST_NAME);
	msd_pack_pair_str(out, "op", modser_sg_op_name(node->op));
	if (is_flow) {
		put_engine(out, &(struct msd_engine_node){&msd_engine_reference, NULL},
			   node, false);
	} else {
		put_engine(out, is_shaped ? engine_of(p, node) : NULL, node,
			   is_view(p, node));
	}
	put_layout(out, p, row - p->times.first_row, node);
	put_merged(out, node);
	put_group(out, p, node);
	put_tensors(out, "inputs", node->inputs, node->n_inputs);
	put_tensors(out, "outputs", node->outputs, node->n_outputs);
	msd_pack_pair_uint(out, "operations",
			   is_shaped ? msd_plan_operations(node) : 0);
	msd_pack_cstr(out, "body_of");
	if (body_of < 0) {
		msd_pack_nil(out);
	} else {
		msd_pack_int(out, body_of);
	}
}

static void add_row(struct page *page, const struct msd_plan *p, size_t row,
		    const modser_sg_node *node, int64_t body_of)
{
	const size_t begin = page->rows.n;

	if (page->is_full || row < page->from)
		return;
	put_row(&page->rows, p, row, node, body_of);
	if (page->rows.n > MSD_PLAN_PAGE_BYTES - HEAD_BYTES && begin > 0) {
		page->rows.n = begin;
		page->is_full = true;
		return;
	}
	page->next = row + 1;
}

static void walk(struct page *page, struct msd_plan *p, int64_t body_of);

/* The graphs of node @node, which is row @row. */
static void walk_bodies(struct page *page, const struct msd_plan *p, size_t node,
			size_t row)
{
	const struct msd_flow *flow = p->flows[node];

	for (size_t k = 0; flow != NULL && k < MSD_FLOW_GRAPHS; k++) {
		if (flow->graphs[k].plan != NULL)
			walk(page, flow->graphs[k].plan, (int64_t)row);
	}
}

static void walk(struct page *page, struct msd_plan *p, int64_t body_of)
{
	size_t row = p->times.first_row;

	if (page->is_full || p->times.first_row + p->n_rows <= page->from)
		return;
	for (size_t i = 0; i < p->g->n_nodes; i++) {
		const modser_sg_node *node = p->now->nodes[p->program.order[i]];

		if (!msd_sg_node_is_given(node))
			add_row(page, p, row++, node, body_of);
	}
	row = p->times.first_row;
	for (size_t i = 0; i < p->g->n_nodes; i++) {
		const size_t node = p->program.order[i];

		if (!msd_sg_node_is_given(p->g->nodes[node]))
			walk_bodies(page, p, node, row++);
	}
}

static const char *shapes_word(const struct msd_plan *p)
{
	switch (p->mode) {
	case MSD_PLAN_STATIC:
		return "fixed";
	case MSD_PLAN_CACHED_SHAPES:
		return "by call";
	case MSD_PLAN_DYNAMIC:
	default:
		return "by values";
	}
}

msd_err msd_plan_put_page(struct msd_plan *plan, uint64_t from, struct msd_buf *out,
			  struct msd_diag *d)
{
	const size_t n = msd_plan_row_count(plan);
	const struct msd_weights_sums sums = msd_weights_sum();
	struct page page = {.from = from, .next = from};

	if (from > n) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "from: expected at most %zu, the nodes of the "
				    "plan, got %" PRIu64,
				    n, from);
	}
	walk(&page, plan, -1);
	msd_pack_map(out, 9);
	msd_pack_pair_uint(out, "nodes", n);
	msd_pack_pair_uint(out, "from", from);
	msd_pack_cstr(out, "next");
	if (page.next < n) {
		msd_pack_uint(out, page.next);
	} else {
		msd_pack_nil(out);
	}
	msd_pack_pair_str(out, "shapes", shapes_word(plan));
	msd_pack_pair_uint(out, "threads", msd_pool_size());
	msd_pack_pair_uint(out, "arena_bytes", plan->arena.bytes);
	msd_pack_pair_uint(out, "packed_bytes", sums.bytes);
	msd_pack_pair_uint(out, "shared_bytes", sums.shared_bytes);
	msd_pack_cstr(out, "rows");
	msd_pack_array(out, (size_t)(page.next - from));
	msd_buf_put(out, page.rows.p, page.rows.n);
	const bool is_bad = page.rows.bad || out->bad;
	msd_buf_finish(&page.rows);
	return is_bad ? msd_diag_no_memory(d) : MSD_OK;
}
