/* Work that is captured once and launched often, and what a virtual machine keeps of
 * it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/device/captures.h"
#include "runtime/device/memory.h"
#include "runtime/packed/global.h"
#include "runtime/packed/vm_memory.h"
#include "runtime/value/error.h"
#include "tests/runtime/cuda/cuda_support.h"
#include "tests/runtime/cuda/stub.h"

#define BYTES 64u

/* A device with a piece of memory, and regions that work on it. */
struct world {
	struct msd_dev *dev;
	void *p;
	struct msd_captures *captures;
	struct msd_diag d;
	int runs;
	bool allocates, waits, waits_itself, fails;
};

static void world_open(struct world *w)
{
	*w = (struct world){.dev = cuda_open(0)};
	cr_assert_eq(msd_dev_alloc(w->dev, BYTES, &w->p, &w->d), MSD_OK);
	w->captures = msd_captures_new(w->dev);
	cr_assert_not_null(w->captures);
}

static void world_close(struct world *w)
{
	msd_captures_free(w->captures);
	msd_dev_free(w->dev, w->p, BYTES);
	msd_dev_close(w->dev);
	msd_diag_finish(&w->d);
	expect_clean();
}

static void fill(struct world *w, uint8_t value)
{
	cr_assert_eq(w->dev->ops->fill(w->dev, w->p, value, BYTES, &w->d), MSD_OK);
}

static uint8_t last_byte(struct world *w)
{
	uint8_t got[BYTES] = {0};

	cr_assert_eq(msd_dev_copy(NULL, got, w->dev, w->p, BYTES, &w->d), MSD_OK);
	cr_assert_eq(msd_dev_sync(w->dev, &w->d), MSD_OK);
	return got[BYTES - 1];
}

Test(cuda_graph, is_done_as_often_as_it_is_launched_and_not_when_it_is_captured)
{
	struct world w;
	struct msd_dev_graph *graph = NULL;

	world_open(&w);
	fill(&w, 1);
	cr_assert_eq(w.dev->ops->capture_begin(w.dev, &w.d), MSD_OK);
	fill(&w, 2);
	cr_assert_eq(w.dev->ops->capture_end(w.dev, &graph, &w.d), MSD_OK);
	cr_expect_eq(last_byte(&w), 1);
	for (uint8_t i = 3; i < 5; i++) {
		fill(&w, i);
		cr_assert_eq(w.dev->ops->graph_launch(graph, &w.d), MSD_OK);
		cr_expect_eq(last_byte(&w), 2);
	}
	w.dev->ops->graph_free(graph);
	world_close(&w);
}

Test(cuda_graph, holds_nothing_that_is_the_hosts_for_the_moment)
{
	struct world w;
	uint8_t bytes[BYTES] = {0};
	void *more = NULL;

	world_open(&w);
	cr_assert_eq(w.dev->ops->capture_begin(w.dev, &w.d), MSD_OK);
	cr_expect_eq(msd_dev_alloc(w.dev, BYTES, &more, &w.d), MSD_UNSUPPORTED);
	cr_expect_eq(msd_dev_copy(w.dev, w.p, NULL, bytes, BYTES, &w.d),
		     MSD_UNSUPPORTED);
	cr_expect_eq(msd_dev_copy(NULL, bytes, w.dev, w.p, BYTES, &w.d),
		     MSD_UNSUPPORTED);
	cr_expect_eq(msd_dev_sync(w.dev, &w.d), MSD_UNSUPPORTED);
	cr_expect_eq(w.dev->ops->set_stream(w.dev, NULL, &w.d), MSD_UNSUPPORTED);
	cr_expect_eq(w.dev->ops->capture_end(w.dev, NULL, &w.d), MSD_OK);
	fill(&w, 6);
	cr_expect_eq(last_byte(&w), 6);
	world_close(&w);
}

static int wait_itself(struct world *w)
{
	int (*wait)(void *);
	void *symbol = stub_symbol("cuStreamSynchronize");

	memcpy(&wait, &symbol, sizeof(wait));
	(void)wait(w->dev->ops->stream(w->dev));
	return 0;
}

/* Fills the memory with 9 and gives how often it ran. */
static int run(void *ctx, struct msd_any *ret)
{
	struct world *w = ctx;
	struct msd_diag d = {0};
	void *p = NULL;
	msd_err err = w->dev->ops->fill(w->dev, w->p, 9, BYTES, &d);

	w->runs++;
	if (err == MSD_OK && w->allocates)
		err = msd_dev_alloc(w->dev, BYTES, &p, &d);
	if (err == MSD_OK && w->waits)
		err = msd_dev_sync(w->dev, &d);
	if (err == MSD_OK && w->waits_itself)
		(void)wait_itself(w);
	msd_dev_free(w->dev, p, BYTES);
	if (err == MSD_OK && w->fails)
		err = msd_diag_set(&d, MSD_CALL_FAILED, "it does not want to");
	if (err != MSD_OK)
		(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	*ret = err == MSD_OK ? msd_int(w->runs) : msd_none();
	return err == MSD_OK ? 0 : -1;
}

/* Region @index for one @extent: what it gave. */
static int64_t gave(struct world *w, int64_t index, int64_t extent)
{
	const struct msd_region r = {index, &extent, 1, NULL, 0, run, w};
	struct msd_any ret = msd_none();

	fill(w, 0);
	cr_assert_eq(msd_captures_run(w->captures, &r, &ret), 0);
	cr_expect_eq(last_byte(w), 9, "the work was done");
	return ret.as.i;
}

Test(captures, a_region_runs_twice_and_then_its_graph)
{
	struct world w;
	struct msd_captures_count n;

	world_open(&w);
	cr_expect_eq(gave(&w, 0, 1), 1);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(gave(&w, 0, 1), 2, "what was captured");
	cr_expect_eq(w.runs, 2);
	msd_captures_counted(&n);
	cr_expect(n.captured == 1 && n.launched == 3 && n.uncaptured == 0);
	world_close(&w);
}

Test(captures, other_extents_and_other_regions_have_their_own)
{
	struct world w;
	struct msd_captures_count n;

	world_open(&w);
	for (int64_t index = 0; index < 2; index++) {
		for (int64_t extent = 0; extent < 2; extent++) {
			(void)gave(&w, index, extent);
			(void)gave(&w, index, extent);
		}
	}
	cr_expect_eq(w.runs, 8);
	msd_captures_counted(&n);
	cr_expect(n.captured == 4 && n.launched == 4);
	world_close(&w);
}

/* Runs each time, and is not tried again. */
static void expect_uncaptured(struct world *w, const char *why)
{
	struct msd_captures_count n;

	for (int64_t i = 0; i < 3; i++)
		cr_expect_eq(gave(w, 0, 0), i == 0 ? 1 : i + 2);
	msd_captures_counted(&n);
	cr_expect(n.captured == 0 && n.launched == 0 && n.uncaptured == 1);
	cr_expect_not_null(strstr(n.why, why), "%s", n.why);
}

/* The addresses are in the graph: with others it would work on the first ones. */
Test(captures, other_arguments_than_the_captured_ones_are_not_the_graphs)
{
	struct world w;
	struct msd_captures_count n;
	int64_t at[2] = {0};
	struct msd_dltensor here = {.data = &at[0]}, there = {.data = &at[1]};
	struct msd_any args[] = {{.type = MSD_T_DLTENSOR, .as.p = &here}, msd_int(7)};
	const struct msd_region r = {0, NULL, 0, args, 2, run, &w};
	struct msd_any ret = msd_none();

	world_open(&w);
	cr_assert_eq(msd_captures_run(w.captures, &r, &ret), 0); /* and is captured */
	cr_assert_eq(msd_captures_run(w.captures, &r, &ret), 0);
	cr_expect_eq(w.runs, 2);
	args[0].as.p = &there;
	cr_assert_eq(msd_captures_run(w.captures, &r, &ret), 0);
	cr_expect_eq(w.runs, 3);
	args[0].as.p = &here;
	args[1] = msd_int(8);
	cr_assert_eq(msd_captures_run(w.captures, &r, &ret), 0);
	cr_expect_eq(w.runs, 4);
	args[1] = msd_int(7);
	cr_assert_eq(msd_captures_run(w.captures, &r, &ret), 0);
	cr_expect_eq(w.runs, 4);
	msd_captures_counted(&n);
	cr_expect(n.launched == 2 && n.uncaptured == 1);
	world_close(&w);
}

static struct msd_function region;
static struct world *region_world;

static int call_region(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	(void)self;
	(void)args;
	cr_expect_eq(n, 0);
	return run(region_world, ret);
}

/* As a model calls it. */
Test(captures, are_a_virtual_machines)
{
	struct world w;
	struct msd_captures_count n;
	struct msd_array *tuple = msd_array_new(0);
	struct msd_function *f =
		msd_global_find("vm.builtin.cuda_graph.run_or_capture");

	world_open(&w);
	struct msd_vm_memory vm = {.dev = w.dev};
	msd_function_init(&region, "region", call_region);
	region_world = &w;
	const struct msd_any args[] = {{.type = MSD_T_POINTER, .as.p = &vm},
				       {.type = MSD_T_FUNCTION, .as.obj = &region.obj},
				       msd_of_obj(&tuple->obj),
				       msd_int(0)};
	for (int i = 0; i < 3; i++) {
		struct msd_any ret = msd_none();
		cr_assert_eq(f->call(f, args, 4, &ret), 0);
	}
	msd_captures_counted(&n);
	cr_expect(n.captured == 1 && n.launched == 2 && w.runs == 2);
	msd_captures_free(vm.captures);
	msd_obj_unref(&tuple->obj);
	world_close(&w);
}

Test(captures, a_region_that_allocates_runs_each_time)
{
	struct world w;

	world_open(&w);
	w.allocates = true;
	expect_uncaptured(&w, "allocates");
	world_close(&w);
}

Test(captures, a_region_that_waits_runs_each_time)
{
	struct world w;

	world_open(&w);
	w.waits = true;
	expect_uncaptured(&w, "waits");
	world_close(&w);
}

Test(captures, a_library_that_waits_by_itself_spoils_its_capture_alone)
{
	struct world w;

	world_open(&w);
	w.waits_itself = true;
	expect_uncaptured(&w, "cuStreamEndCapture");
	world_close(&w);
}

Test(captures, an_error_of_the_first_run_is_its_callers_and_nothing_is_kept)
{
	struct world w;
	const struct msd_region r = {0, NULL, 0, NULL, 0, run, &w};
	struct msd_any ret = msd_none();

	world_open(&w);
	w.fails = true;
	cr_expect_eq(msd_captures_run(w.captures, &r, &ret), -1);
	cr_expect_eq(msd_abi_fetch_error(&w.d), MSD_CALL_FAILED);
	w.fails = false;
	cr_expect_eq(msd_captures_run(w.captures, &r, &ret), 0);
	cr_expect_eq(w.runs, 3);
	world_close(&w);
}

Test(captures, beyond_their_number_regions_run_each_time)
{
	struct world w;

	world_open(&w);
	for (int64_t i = 0; i < MSD_MAX_CAPTURES; i++)
		(void)gave(&w, i, 0);
	w.runs = 0;
	(void)gave(&w, MSD_MAX_CAPTURES, 0);
	(void)gave(&w, MSD_MAX_CAPTURES, 0);
	cr_expect_eq(w.runs, 2);
	(void)gave(&w, 0, 0);
	cr_expect_eq(w.runs, 2);
	world_close(&w);
}

Test(captures, what_is_kept_is_made_once)
{
	struct world w;
	const struct msd_region r = {0, NULL, 0, NULL, 0, run, &w};
	struct msd_any ret = msd_none();

	world_open(&w);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(msd_captures_keep(w.captures, &r, &ret), 0);
		cr_expect_eq(ret.as.i, 1);
	}
	cr_expect_eq(gave(&w, 0, 0), 2, "a region of that number is another thing");
	world_close(&w);
}

/* Whatever call of the driver fails: the region's work is done or its error told. */
Test(captures, any_call_that_fails_leaves_nothing_behind)
{
	static const int codes[] = {999, OUT_OF_MEMORY, ILLEGAL_ADDRESS};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		bool was_reached = true;
		for (unsigned k = 1; was_reached; k++) {
			struct world w;
			struct msd_any ret = msd_none();
			world_open(&w);
			const struct msd_region r = {0, NULL, 0, NULL, 0, run, &w};
			stub()->fail_at(k, codes[i]);
			for (int n = 0; n < 3; n++) {
				if (msd_captures_run(w.captures, &r, &ret) != 0)
					(void)msd_abi_fetch_error(&w.d);
			}
			was_reached = stub()->calls() >= k;
			stub()->fail_at(0, 0);
			cr_expect_not(w.dev->is_capturing);
			world_close(&w);
			cr_assert_lt(k, 100u);
		}
	}
}

Test(captures, a_device_that_is_lost_is_no_reason_to_go_on)
{
	struct world w;
	const struct msd_region r = {0, NULL, 0, NULL, 0, run, &w};
	struct msd_any ret = msd_none();

	world_open(&w);
	stub()->fail_on("cuStreamEndCapture", ILLEGAL_ADDRESS);
	cr_expect_eq(msd_captures_run(w.captures, &r, &ret), -1);
	cr_expect_eq(msd_abi_fetch_error(&w.d), MSD_GPU_FAULT);
	world_close(&w);
}
