#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/http_session.h"
#include "daemon/supervisor/http/page/page.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/repository.h"
#include "proto/unpack.h"
#include "proto/value.h"

#define N (2 * MSD_MODULE_LISTING_PIECE + 1)

/* Modules without workers. */
static struct msd_unpack unpack;
static struct msd_module_registry registry;
static struct msd_edge edge;
static struct msd_http_session caller;
static struct msd_module modules[N];
static char names[N][16];
static struct msd_module_listing_position at = {.of = &msd_status_roll};

static void put_info(struct msd_edge *e, struct msd_buf *ret)
{
	(void)e;
	msd_pack_map(ret, 0);
}

static const struct msd_limits limits;

static void put_source(struct msd_repository *r, const char *name, struct msd_buf *ret)
{
	(void)r;
	(void)name;
	msd_pack_nil(ret);
}

static const struct msd_repository_ops repository_ops = {.put_source = put_source};
static struct msd_repository repository = {.ops = &repository_ops};

static const char *config_word(struct msd_edge *e, const struct msd_module *m)
{
	(void)e;
	(void)m;
	return NULL;
}

static void add(unsigned i)
{
	(void)snprintf(names[i], sizeof(names[i]), "m%u", i);
	modules[i].group.name = names[i];
	modules[i].group.source.fd = -1;
	modules[i].group.registry = &registry;
	modules[i].group.file = modules[i].group.name;
	msd_list_append(&registry.modules, &modules[i].link);
	registry.generation++;
}

static void set_up(void)
{
	msd_list_init(&registry.modules);
	registry.repository = &repository;
	edge = (struct msd_edge){.registry = &registry,
				 .limits = &limits,
				 .unpack = &unpack,
				 .put_info = put_info,
				 .config_word = config_word};
	caller.session.edge = &edge;
	caller.asking = (struct msd_http_exchange){.edge = &edge, .caller = &caller};
}

static void tear_down(void)
{
	msd_buf_finish(&caller.asking.body);
	msd_unpack_finish(&unpack);
}

TestSuite(roll, .init = set_up, .fini = tear_down);

static bool go_on(void)
{
	return msd_module_listing_go_on(&caller.asking, &at);
}

/* Each of @n modules once, in their order. */
static void expect_modules(size_t n)
{
	const struct msd_buf *b = &caller.asking.body;
	json_t *all =
		json_loadb((const char *)b->p, b->n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *list = json_object_get(all, "modules");
	char name[16];

	cr_assert_not_null(list);
	cr_expect_eq(json_array_size(list), n);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "m%zu", i);
		cr_expect_str_eq(json_string_value(json_object_get(
					 json_array_get(list, i), "name")),
				 name);
	}
	json_decref(all);
}

Test(roll, is_made_in_pieces)
{
	for (unsigned i = 0; i < N; i++)
		add(i);
	cr_expect_not(go_on());
	cr_expect_eq(at.n_passed, MSD_MODULE_LISTING_PIECE);
	cr_expect_not(go_on());
	cr_expect(go_on());
	expect_modules(N);
}

Test(roll, of_one_piece_is_there_at_once)
{
	cr_expect(go_on());
	expect_modules(0);
	at = (struct msd_module_listing_position){.of = &msd_status_roll};
	for (unsigned i = 0; i < MSD_MODULE_LISTING_PIECE; i++)
		add(i);
	cr_expect(go_on());
	expect_modules(MSD_MODULE_LISTING_PIECE);
}

Test(roll, is_made_anew_when_a_module_comes_meanwhile)
{
	for (unsigned i = 0; i < N - 1; i++)
		add(i);
	cr_expect_not(go_on());
	add(N - 1);
	cr_expect_not(go_on());
	cr_expect_not(go_on());
	cr_expect(go_on());
	expect_modules(N);
}

Test(roll, ends_whatever_comes_and_goes)
{
	unsigned turns = 1;

	for (unsigned i = 0; i < N; i++)
		add(i);
	for (; !go_on() && turns < 100; turns++)
		registry.generation++;
	cr_expect_eq(turns, MSD_MODULE_LISTING_ATTEMPTS);
	expect_modules(N);
}
