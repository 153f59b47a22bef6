#include <criterion/criterion.h>
#include <stdio.h>

#include "daemon/http/reader.h"
#include "daemon/stream/tls.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/http_session.h"
#include "daemon/supervisor/rights/acl_read.h"

/* A request, without its connection. */
static uv_loop_t loop;
static struct msd_edge edge;
static const struct msd_tls_peer nobody;
static struct msd_conn conn = {.transport = {.peer = &nobody}};
static struct msd_http_request request;
static struct msd_http_session caller;
static const struct msd_peer_id shared = {.kind = MSD_PEER_IPV4, .value = 1};

static const char text[] = "user app token:sha256="
			   "a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be"
			   "3f333 +@lookup */*\n"
			   "user other token:sha256="
			   "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2"
			   "fcffa +@lookup */*\nend\n";

static void read_file(const char *file)
{
	struct msd_acl *acl;

	cr_assert_eq(msd_acl_parse("f", msd_span_of(file), &acl, NULL), MSD_OK);
	msd_rights_set(&edge.rights, acl);
}

static void set_up(void)
{
	(void)uv_loop_init(&loop);
	edge.loop = &loop;
	read_file(text);
	caller.session.edge = &edge;
	caller.session.conn = &conn;
	caller.session.came_from = shared;
	caller.asking = (struct msd_http_exchange){
		.edge = &edge, .caller = &caller, .request = &request};
}

static void tear_down(void)
{
	msd_rights_finish(&edge.rights);
	(void)uv_loop_close(&loop);
}

TestSuite(bearer, .init = set_up, .fini = tear_down);

/* The next request comes, with this token. */
static void come(const char *token)
{
	static char field[64];

	(void)snprintf(field, sizeof(field), "Bearer %s", token);
	request.fields[MSD_HTTP_F_AUTHORIZATION] = msd_span_of(field);
	caller.bearer.is_found = false;
}

static bool sees(void)
{
	return msd_bearer_sees(&caller.asking, "m");
}

static void guess_until_it_waits(void)
{
	for (unsigned i = 0; i <= MSD_LOGIN_THROTTLE_FREE; i++)
		msd_login_throttle_note(&edge.rights.guesses, shared, uv_now(&loop));
}

Test(bearer, is_looked_up_once_a_request)
{
	come("app");
	cr_expect(sees());
	request.fields[MSD_HTTP_F_AUTHORIZATION] = msd_span_of("Bearer wrong");
	cr_expect(sees(), "the token is not looked at again");
	come("wrong");
	cr_expect_not(sees());
	cr_expect_not(sees());
	cr_expect_eq(edge.rights.guesses.peers[0].n, 1, "a guess is one");
}

Test(bearer, goes_on_whatever_wrong_tokens_come_meanwhile)
{
	come("app");
	cr_expect(sees());
	guess_until_it_waits();
	cr_expect(sees());
}

Test(bearer, is_found_again_when_the_file_has_changed)
{
	come("app");
	cr_expect(sees());
	read_file(text);
	cr_expect(sees());
	read_file("user app uid=1 */*\nend\n");
	cr_expect_not(sees());
	cr_expect_eq(edge.rights.guesses.peers[0].n, 0, "it was right once");
}

Test(bearer, need_not_wait_where_its_token_was_shown_before)
{
	come("app");
	cr_expect(sees());
	guess_until_it_waits();
	come("app");
	cr_expect(sees(), "of this connection");
	caller.bearer = (struct msd_bearer){0};
	come("app");
	cr_expect(sees(), "of another one");
	come("other");
	cr_expect_not(sees());
	cr_expect_eq(caller.bearer.verdict, MSD_BEARER_WAIT, "it may be a guess");
	come("wrong");
	cr_expect_not(sees());
	cr_expect_eq(caller.bearer.verdict, MSD_BEARER_WAIT, "they are told the same");
}
