#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/limits.h"
#include "daemon/loop/work.h"
#include "daemon/stream/wire.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/repository/repository.h"
#include "daemon/supervisor/source/source_job.h"
#include "store/record.h"
#include "tests/store/shelf.h"

/* A store whose record of "m" has a candidate that an earlier daemon left. */
static struct shelf shelf;
static struct msd_keeper keeper;
static uv_loop_t loop;
static struct msd_wire wire;
static struct msd_deadlines deadlines;
static const struct msd_limits limits = {.load_ms = 120000,
					 .max_modules = 4,
					 .max_workers = 1,
					 .max_deaths = 5,
					 .max_memory = 1u << 20};
static struct msd_module_registry registry;
static struct msd_repository repository = {
	.ops = &msd_repository_ops, .registry = &registry, .keeper = &keeper};

static void on_gone(struct msd_module_registry *r)
{
	(void)r;
}

static void leave_candidate(void)
{
	struct msd_record r = {0};

	r.editions[MSD_REF_CANDIDATE] = shelf_edition(1, 1, 100);
	cr_assert_eq(msd_record_save(&shelf.store, "m", &r, NULL), MSD_OK);
	msd_record_finish(&r);
}

static void set_up(void)
{
	shelf_init(&shelf);
	leave_candidate();
	msd_store_close(&shelf.store);
	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(msd_keeper_open(&keeper, &loop, shelf.path, 0, NULL), MSD_OK);
	shelf.store = keeper.store;
	cr_assert_eq(msd_wire_init(&wire, &loop, NULL), MSD_OK);
	msd_deadlines_init(&deadlines, &wire.tasks);
	registry = (struct msd_module_registry){.loop = &loop,
						.wire = &wire,
						.deadlines = &deadlines,
						.limits = &limits,
						.repository = &repository,
						.on_gone = on_gone};
	msd_list_init(&registry.modules);
	msd_list_init(&registry.warm.artifacts);
}

static void tear_down(void)
{
	keeper.is_open = false;
	msd_deadlines_close(&deadlines);
	msd_wire_close(&wire);
	msd_work_close();
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0, "nothing is left");
	msd_wire_finish(&wire);
	shelf_finish(&shelf);
}

TestSuite(kept_load, .init = set_up, .fini = tear_down);

static void expect_candidate(bool is_there)
{
	struct msd_record r = {0};

	cr_assert_eq(msd_record_load(&keeper.store, "m", &r, NULL), MSD_OK);
	cr_expect_eq(r.editions[MSD_REF_CANDIDATE] != NULL, is_there);
	cr_expect_eq(r.n_bad, is_there ? 0 : 1);
	msd_record_finish(&r);
}

/* Load "m" with keep from @file, until it has failed. */
static struct msd_module *fail_to_load(const char *file)
{
	const char *const paths[MSD_PART_COUNT] = {file};
	const struct msd_load how = {
		.file = file,
		.source.fd = -1,
		.bringing = msd_source_job_read(&loop, paths, NULL, 4096),
		.begins = MSD_LOAD_READING_KEPT};
	struct msd_module *m = NULL;

	cr_assert_not_null(how.bringing);
	cr_assert_eq(msd_module_load(&registry, msd_span_of("m"), &how, &m, NULL),
		     MSD_OK);
	while (m->life.state != MSD_STATE_FAILED || msd_keeper_is_busy(&keeper))
		cr_assert_neq(uv_run(&loop, UV_RUN_ONCE), 0);
	return m;
}

Test(kept_load, without_its_bytes_says_nothing_about_an_older_candidate)
{
	struct msd_module *m = fail_to_load("/there/is/no/such.so");

	expect_candidate(true);
	msd_module_unload(m);
}
