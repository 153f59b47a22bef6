#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/stream/tls.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/rights/acl_read.h"
#include "proto/value.h"

/* A session that asks, without a daemon around it, and without a connection: of that
 * its transport alone says who is there. */
static uv_loop_t loop;
static struct msd_limits limits;
static struct msd_edge edge;
static struct msd_conn conn;
static struct msd_session session;
static struct msd_tls_peer certificate = {
	.is_verified = true, .cn = "alice", .n_sans = 1, .sans = "alice.example"};
static const struct msd_tls_peer nobody;

static const char text[] = "user alice cert:cn=alice +@all -@admin m/*\n"
			   "user app token:sha256="
			   "a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be"
			   "3f333 +@lookup */*\n"
			   "user anonymous +@load */*\nend\n";

/* By TCP, encrypted where @peer is not NULL. */
static void come_in(const struct msd_tls_peer *peer)
{
	struct msd_acl *acl;

	limits.max_peer_connections = limits.max_peer_memory = 1 << 20;
	(void)uv_loop_init(&loop);
	edge = (struct msd_edge){.loop = &loop, .limits = &limits};
	msd_client_peers_init(&edge.peers, 1 << 20);
	cr_assert_eq(msd_acl_parse(
			     "f",
			     (struct msd_span){(const uint8_t *)text, sizeof(text) - 1},
			     &acl, NULL),
		     MSD_OK);
	msd_rights_set(&edge.rights, acl);
	session.edge = &edge;
	msd_list_init(&session.client.directs);
	session.conn = &conn;
	session.principal = msd_principal_of(MSD_ADDRESS_TCP, false);
	conn.transport.fd = socket(AF_INET, SOCK_STREAM, 0);
	conn.transport.peer = peer;
	session.peer = msd_client_peer_get(
		&edge.peers, (struct msd_peer_id){.kind = MSD_PEER_IPV4, .value = 1},
		1 << 20);
	session.came_from = session.peer->who;
	session.peer->n_connections++;
	msd_account_open(&session.client.account, &session.peer->account, 1 << 20);
}

static void go(void)
{
	msd_account_close(&session.client.account);
	session.peer->n_connections--;
	msd_client_peer_unref(session.peer);
	cr_expect(msd_list_is_empty(&edge.peers.all), "no peer is left");
	(void)close(conn.transport.fd);
	msd_rights_finish(&edge.rights);
	(void)uv_loop_close(&loop);
}

TestSuite(authorization, .fini = go);

/* What becomes of a request for @method of the module @name. */
static msd_err ask(enum msd_method method, const char *name)
{
	struct msd_buf params = {0};
	struct msd_in in = {0};

	msd_pack_array(&params, 1);
	msd_pack_cstr(&params, name);
	in.body.params = (struct msd_span){params.p, params.n};
	const msd_err err = msd_authorization_ask(&session, &in, method, NULL);
	msd_buf_finish(&params);
	return err;
}

static msd_err show(const char *token)
{
	return msd_authorization_show(&session, msd_span_of(token), NULL);
}

static void expect_user(const char *name, const char *peer)
{
	char room[MSD_PEER_TEXT_BYTES];

	cr_expect_str_eq(msd_authorization_name(&session, room), name);
	cr_expect_str_eq(msd_peer_id_text(session.peer->who, room), peer);
	cr_expect_eq(session.peer->n_connections, 1);
}

Test(authorization, over_tls_is_that_of_the_certificates_user)
{
	come_in(&certificate);
	expect_user("alice", "0.0.0.1"); /* to look at it counts nothing yet */
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_OK);
	expect_user("alice", "user alice");
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "other"), MSD_REFUSED);
	cr_expect_eq(ask(MSD_M_SERVER_RELOAD, ""), MSD_REFUSED);
}

Test(authorization, over_tls_has_what_a_line_gives_and_the_way_in_does_not)
{
	come_in(&certificate);
	cr_expect_eq(ask(MSD_M_MODULE_UNLOAD, "m"), MSD_OK);
}

Test(authorization, over_tls_without_a_certificate_is_anonymous)
{
	come_in(&nobody);
	expect_user("anonymous", "0.0.0.1");
	cr_expect_eq(ask(MSD_M_MODULE_UNLOAD, "m"), MSD_OK, "its line gives that");
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_REFUSED);
}

Test(authorization, over_plain_tcp_never_has_what_the_way_in_withholds)
{
	come_in(NULL);
	expect_user("anonymous", "0.0.0.1");
	cr_expect_eq(ask(MSD_M_MODULE_UNLOAD, "m"), MSD_REFUSED);
}

Test(authorization, takes_a_token_over_tls_and_counts_as_its_user)
{
	come_in(&nobody);
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_REFUSED);
	cr_expect_eq(show("app"), MSD_OK);
	expect_user("app", "user app");
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_OK);
}

Test(authorization, takes_no_token_over_plain_tcp)
{
	come_in(NULL);
	cr_expect_eq(show("app"), MSD_REFUSED);
	expect_user("anonymous", "0.0.0.1");
}

Test(authorization, is_found_anew_when_the_file_was_read_again)
{
	struct msd_acl *acl;

	come_in(&certificate);
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_OK);
	cr_assert_eq(msd_acl_parse("f", msd_span_of("end\n"), &acl, NULL), MSD_OK);
	msd_rights_set(&edge.rights, acl);
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_REFUSED);
}

Test(authorization, looks_at_no_token_of_a_peer_that_guesses)
{
	come_in(&nobody);
	for (unsigned i = 0; i <= MSD_LOGIN_THROTTLE_FREE; i++)
		cr_expect_eq(show("guessed"), MSD_REFUSED);
	cr_expect_eq(show("app"), MSD_BUSY, "the loop's time does not move");
	expect_user("anonymous", "0.0.0.1");
}

Test(authorization, looks_at_a_token_that_its_peer_has_shown_before)
{
	come_in(&nobody);
	cr_expect_eq(show("app"), MSD_OK);
	for (unsigned i = 0; i <= MSD_LOGIN_THROTTLE_FREE; i++)
		cr_expect_eq(show("guessed"), MSD_REFUSED);
	cr_expect_eq(show("guessed"), MSD_BUSY);
	cr_expect_eq(show("app"), MSD_OK);
	expect_user("app", "user app");
}

/* By a unix socket, whose user is the daemon's own. */
static void come_in_beside_a_token(void)
{
	int pair[2];

	come_in(NULL);
	(void)close(conn.transport.fd);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	(void)close(pair[1]);
	conn.transport.fd = pair[0];
	session.principal = msd_principal_of(MSD_ADDRESS_UNIX, false);
}

static void read_again(const char *file)
{
	struct msd_acl *acl;

	cr_assert_eq(msd_acl_parse("f", msd_span_of(file), &acl, NULL), MSD_OK);
	msd_rights_set(&edge.rights, acl);
}

static void take(const char *token)
{
	struct msd_digest digest;

	msd_digest_of(msd_span_of(token), &digest);
	const struct msd_identity who = {.token = *token != '\0' ? &digest : NULL};
	const struct msd_grant g = msd_acl_grant(edge.rights.acl, &who);
	cr_assert_eq(msd_authorization_set(&session, &g, who.token, NULL), MSD_OK);
}

Test(authorization, of_who_asks_by_a_token_stays_his_when_the_file_was_read_again)
{
	come_in_beside_a_token();
	take("app");
	read_again(text);
	expect_user("app", "user app");
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_OK);
	cr_expect_eq(ask(MSD_M_MODULE_UNLOAD, "m"), MSD_REFUSED, "it is no operator");
	read_again("user anonymous +@load */*\nend\n");
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_REFUSED);
	take("");
	expect_user("anonymous", "0.0.0.1");
	read_again(text);
	cr_expect_eq(ask(MSD_M_MODULE_DESCRIBE, "m"), MSD_REFUSED);
}
