#include <criterion/criterion.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/repository.h"
#include "tests/support/fail_alloc.h"

/* A pull without a daemon, of which no program to fetch is installed. */
static struct msd_limits limits = {.max_modules = 1, .max_workers = 1, .max_pulls = 1};
static struct msd_module_registry registry;
static struct msd_keeper keeper = {.is_open = true};
static struct msd_fetcher fetcher;
static struct msd_edge edge;
static struct msd_client_peer peer = {.who = {.kind = MSD_PEER_USER, .value = 1}};
static struct msd_session session;
static unsigned n_told;
static msd_err told;

static void on_error(struct msd_client *c, uint64_t id, const struct msd_diag *why)
{
	(void)c;
	cr_expect_eq(id, 7);
	n_told++;
	told = why->code;
}

static void on_done(struct msd_client *c, const struct msd_req *r)
{
	(void)c;
	(void)r;
}

static const struct msd_client_ops ops = {.reply_error = on_error, .on_done = on_done};

static const struct msd_fetch_options *terms(struct msd_repository *r, const char *name)
{
	(void)r;
	(void)name;
	return NULL;
}

static const struct msd_repository_ops repository_ops = {.terms = terms};
static struct msd_repository repository = {.ops = &repository_ops};

static void set_up(void)
{
	msd_list_init(&registry.modules);
	registry.limits = &limits;
	registry.repository = &repository;
	msd_fetcher_init(&fetcher);
	fetcher.limits = &limits;
	edge = (struct msd_edge){.registry = &registry,
				 .limits = &limits,
				 .keeper = &keeper,
				 .fetcher = &fetcher};
	msd_list_init(&edge.pulls);
	session.edge = &edge;
	session.peer = &peer;
	msd_client_init(&session.client, &ops);
}

/* The answer of the method; what its request was told is in `told`. */
static msd_err pull(bool *ret_later)
{
	msgpack_object words[] = {
		{.type = MSGPACK_OBJECT_STR, .via.str = {.ptr = "m", .size = 1}},
		{.type = MSGPACK_OBJECT_STR, .via.str = {.ptr = "file:/x", .size = 7}}};
	const msgpack_object params = {.type = MSGPACK_OBJECT_ARRAY,
				       .via.array = {.ptr = words, .size = 2}};
	struct msd_in in = {.body = {.kind = MSD_REQUEST, .id = 7}};
	struct msd_method_call c = {.session = &session,
				    .in = &in,
				    .method = MSD_M_MODULE_PULL,
				    .params = &params};
	struct msd_diag d = {0};
	const msd_err err = msd_method_pull(&c, &d);

	*ret_later = c.later;
	msd_diag_finish(&d);
	return err;
}

Test(pull, without_memory_for_its_request_is_no_success, .init = set_up)
{
	bool later;
	long k = 0;

	for (;; k++) {
		msd_fail_alloc(k);
		const msd_err err = pull(&later);
		if (!msd_fail_alloc_stop())
			break;
		cr_expect_neq(later ? told : err, MSD_OK, "allocation %ld", k);
		n_told = 0;
		told = MSD_OK;
	}
	cr_expect_gt(k, 1, "it has some");
	cr_expect(later, "its request was answered");
	cr_expect_eq(told, MSD_UNSUPPORTED);
	cr_expect_eq(n_told, 1);
	cr_expect(msd_list_is_empty(&session.client.requests));
}
