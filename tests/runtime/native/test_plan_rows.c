/* What a plan tells of its nodes, and the times of a run. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/pass/pass.h"
#include "proto/value.h"
#include "runtime/engine/engine.h"
#include "runtime/plan/clock.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/timed.h"
#include "tests/graph/net.h"
#include "tests/runtime/native/agree.h"
#include "tests/support/fail_alloc.h"

/* A convolution of 3x3, + x, ReLu, then a Floor, which the native engine lacks. */
static modser_graph *graph(void)
{
	const int64_t dims[] = {2, 8, 9, 11};
	const int64_t weights[] = {8, 8, 3, 3};
	modser_graph *g = modser_graph_create("rows");
	modser_sg_tensor *x = given(g, 4, dims, 41);
	modser_sg_tensor *y = then(g, "Convolution", x, given(g, 4, weights, 42));
	modser_sg_node *conv = modser_graph_node(g, modser_graph_node_count(g) - 1);

	set_int(conv, "kernel_h", 3);
	set_int(conv, "kernel_w", 3);
	set_int(conv, "pad_h0", 1);
	set_int(conv, "pad_w0", 1);
	set_int(conv, "pad_h1", 1);
	set_int(conv, "pad_w1", 1);
	y = then(g, "ReLu", then(g, "Add", x, y), NULL);
	(void)modser_graph_add_output(g, then(g, "Floor", y, NULL));
	return g;
}

static struct msd_plan *plan_of(modser_graph *g, const char *engine)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	struct msd_passed passed;
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(setenv("MODSERD_ENGINE", engine, 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	return plan;
}

static struct msd_buf page_of(struct msd_plan *plan, uint64_t from)
{
	struct msd_buf page = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_plan_put_page(plan, from, &page, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	return page;
}

/* The object at @key of the map @map. */
static struct msd_span at(struct msd_span map, const char *key)
{
	struct msd_wire_value name;
	struct msd_span object = {0};
	struct msd_cur c;
	uint32_t n;

	cr_assert(msd_map_open(map, &c, &n));
	for (uint32_t i = 0; i < n; i++) {
		cr_assert_eq(msd_value_read(&c, &name, NULL), MSD_OK);
		cr_assert(msd_object_parse(&c, &object));
		if (msd_span_is(name.as.str, key))
			return object;
	}
	cr_assert(false, "no key %s", key);
	return object;
}

static struct msd_span item(struct msd_span list, uint32_t i)
{
	struct msd_span object = {0};
	struct msd_cur c;
	uint32_t n;

	cr_assert(msd_array_open(list, &c, &n));
	cr_assert_lt(i, n);
	for (uint32_t k = 0; k <= i; k++)
		cr_assert(msd_object_parse(&c, &object));
	return object;
}

static struct msd_span row_of(const struct msd_buf *page, uint32_t i)
{
	return item(at((struct msd_span){page->p, page->n}, "rows"), i);
}

static struct msd_wire_value value_at(struct msd_span map, const char *key)
{
	struct msd_cur c = msd_cur_of(at(map, key));
	struct msd_wire_value v;

	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	return v;
}

static void expect_text(struct msd_span map, const char *key, const char *want)
{
	const struct msd_wire_value v = value_at(map, key);

	cr_assert_eq(v.kind, MSD_K_STR);
	cr_expect(msd_span_is(v.as.str, want), "%s is %.*s, not %s", key,
		  (int)v.as.str.n, (const char *)v.as.str.p, want);
}

Test(plan_rows, tell_engine_fused_nodes_and_packed_bytes)
{
	modser_graph *g = graph();
	struct msd_plan *plan = plan_of(g, "native");
	struct msd_buf page = page_of(plan, 0);
	const struct msd_span conv = row_of(&page, 0);

	cr_expect_eq(msd_plan_row_count(plan), 2);
	expect_text(conv, "op", "FusedConvolution");
	expect_text(conv, "engine", "native");
	expect_text(item(at(conv, "fused"), 0), "op", "Add");
	expect_text(item(at(conv, "fused"), 1), "op", "ReLu");
	cr_expect_geq(value_at(conv, "packed_bytes").as.i, 2304);
	cr_expect_eq(value_at(conv, "operations").as.i, 2 * (2 * 8 * 9 * 11) * 8 * 9);
	msd_buf_finish(&page);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

static void expect_reason(const char *engine, uint32_t row, const char *why)
{
	modser_graph *g = graph();
	struct msd_plan *plan = plan_of(g, engine);
	struct msd_buf page = page_of(plan, 0);
	const struct msd_span floor = row_of(&page, row);

	expect_text(floor, "op", "Floor");
	expect_text(floor, "engine", "reference");
	expect_text(item(at(floor, "fallback"), 0), "engine", "native");
	expect_text(item(at(floor, "fallback"), 0), "why", why);
	msd_buf_finish(&page);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

Test(plan_rows, tell_why_another_engine_runs_a_node)
{
	expect_reason("native", 1, "it does not compute this operator");
	expect_reason("reference", 3, "it is switched off");
}

Test(plan_rows, refuse_a_page_beyond_the_end)
{
	modser_graph *g = graph();
	struct msd_plan *plan = plan_of(g, "native");
	struct msd_buf page = page_of(plan, 2);
	struct msd_buf none = {0};
	struct msd_diag d = {0};

	cr_expect_eq(value_at((struct msd_span){page.p, page.n}, "next").kind,
		     MSD_K_NIL);
	cr_expect_eq(msd_plan_put_page(plan, 3, &none, &d), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&d),
			 "from: expected at most 2, the nodes of the plan, got 3");
	msd_diag_finish(&d);
	msd_buf_finish(&page);
	msd_buf_finish(&none);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

/* A long chain with long names. */
static modser_graph *chain(size_t n)
{
	const int64_t dims[] = {4};
	char name[1001];
	modser_graph *g = modser_graph_create("chain");
	modser_sg_tensor *t = given(g, 1, dims, 7);

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < n; i++) {
		modser_sg_tensor *next = modser_sg_tensor_create(g, name);
		modser_sg_node *node = net_node(g, name, "Floor", next);

		(void)modser_sg_node_add_input(node, t);
		t = next;
	}
	(void)modser_graph_add_output(g, t);
	return g;
}

Test(plan_rows, come_once_each_in_pages_of_64_kib)
{
	modser_graph *g = chain(2000);
	struct msd_plan *plan = plan_of(g, "native");
	int64_t from = 0;
	size_t n_pages = 0;

	while (from < 2000) {
		struct msd_buf page = page_of(plan, (uint64_t)from);
		const struct msd_span map = {page.p, page.n};
		const struct msd_wire_value next = value_at(map, "next");

		cr_expect_leq(page.n, MSD_PLAN_PAGE_BYTES);
		cr_expect_eq(value_at(row_of(&page, 0), "node").as.i, from);
		cr_assert(next.kind == MSD_K_NIL || next.as.i > from);
		from = next.kind == MSD_K_NIL ? 2000 : next.as.i;
		n_pages++;
		msd_buf_finish(&page);
	}
	cr_expect_gt(n_pages, 5);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

Test(plan_rows, survive_each_failing_allocation)
{
	modser_graph *g = graph();
	struct msd_plan *plan = plan_of(g, "native");
	bool has_failed = true;

	for (long k = 1; has_failed; k++) {
		struct msd_buf page = {0};
		struct msd_diag d = {0};

		msd_fail_alloc(k);
		const msd_err err = msd_plan_put_page(plan, 0, &page, &d);
		has_failed = msd_fail_alloc_stop();
		cr_expect(err == MSD_OK || err == MSD_NOMEM, "allocation %ld", k);
		msd_diag_finish(&d);
		msd_buf_finish(&page);
	}
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

Test(plan_rows, are_timed_only_while_a_clock_runs)
{
	modser_graph *g = graph();
	struct msd_plan *plan = plan_of(g, "native");
	struct msd_diag d = {0};

	cr_assert_null(msd_plan_clock_stop(plan));
	cr_assert_eq(msd_plan_clock_start(plan, &d), MSD_OK);
	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_OK);
	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_OK);
	struct msd_clock *c = msd_plan_clock_stop(plan);
	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_OK);
	cr_assert_eq(c->n, 2);
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(c->rows[i].runs, 2);
		cr_expect_gt(c->rows[i].ns, 0);
	}
	cr_expect_geq(c->rows[1].begin_ns, c->rows[0].begin_ns);
	free(c);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}
