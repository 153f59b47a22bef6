#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "daemon/stream/tls.h"
#include "daemon/supervisor/rights/acl_read.h"

static struct msd_acl *acl;

static const char text[] =
	"user alice cert:cn=alice cert:san=alice.example +@lookup +@call "
	"resnet18/* digits/main\n"
	"user ops uid=70001 +@all */*\n"
	"user bob gid=70010 +@lookup */*\n"
	"user app token:sha256="
	"a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be3f333 +@call */*\n"
	"group gpu gid=70044 +@load team-*/*\n"
	"group cal gid=70045 +@call mine/f*\nend\n";

static void begin(void)
{
	cr_assert_eq(msd_acl_parse("f", msd_span_of(text), &acl, NULL), MSD_OK);
}

static void end(void)
{
	msd_acl_destroy(acl);
}

TestSuite(acl, .init = begin, .fini = end);

static struct msd_grant of_user(uint32_t uid, uint32_t gid, uint32_t other)
{
	uint32_t gids[] = {gid, other};
	const struct msd_identity who = {
		.has_user = true, .uid = uid, .gids = gids, .n_gids = 2};

	return msd_acl_grant(acl, &who);
}

static struct msd_grant of_certificate(const struct msd_tls_peer *c)
{
	return msd_acl_grant(acl, &(struct msd_identity){.certificate = c});
}

static bool may(struct msd_grant g, enum msd_right right, const char *module,
		const char *function)
{
	const struct msd_acl_target t = {msd_span_of(module), msd_span_of(function)};

	return msd_acl_allows(acl, &g, right, &t);
}

static void expect_user(struct msd_grant g, const char *name)
{
	cr_expect_str_eq(msd_grant_name(acl, &g), name);
}

Test(acl, knows_users_by_what_the_kernel_says)
{
	expect_user(of_user(70001, 1, 1), "ops");
	expect_user(of_user(70002, 1, 70010), "bob");
	expect_user(of_user(70002, 1, 1), "anonymous");
	cr_expect(may(of_user(70001, 1, 1), MSD_RIGHT_ADMIN, "", ""));
	cr_expect(!may(of_user(70002, 1, 1), MSD_RIGHT_LOOKUP, "x", ""));
}

Test(acl, leaves_all_rights_to_the_daemons_own_user)
{
	struct msd_grant g = of_user(geteuid(), 1, 1);

	expect_user(g, "operator");
	cr_expect(may(g, MSD_RIGHT_LOAD, "anything", ""));
	cr_expect(!may(g, MSD_RIGHT_NONE, "", ""), "that is nobody's");
}

Test(acl, knows_users_by_certificates_whatever_their_names_hold)
{
	struct msd_tls_peer c = {.is_verified = true,
				 .cn = "somebody",
				 .n_sans = 2,
				 .sans = "x\0alice.example"};

	expect_user(of_certificate(&c), "alice");
	c.n_sans = 1;
	expect_user(of_certificate(&c), "anonymous");
	static const char *const others[] = {"", "*", "alice.evil", "ALICE", "alic?"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		(void)strcpy(c.cn, others[i]);
		expect_user(of_certificate(&c), "anonymous");
	}
	(void)strcpy(c.cn, "alice");
	expect_user(of_certificate(&c), "alice");
}

Test(acl, takes_a_token_before_all_else_and_a_wrong_one_for_nobody)
{
	struct msd_digest token;
	struct msd_identity who = {.has_user = true, .uid = geteuid(), .token = &token};

	msd_digest_of(msd_span_of("app"), &token);
	expect_user(msd_acl_grant(acl, &who), "app");
	msd_digest_of(msd_span_of("apq"), &token);
	expect_user(msd_acl_grant(acl, &who), "anonymous");
	who.uid = 70001;
	expect_user(msd_acl_grant(acl, &who), "anonymous");
}

Test(acl, gives_a_right_for_the_names_of_the_line_alone)
{
	const struct msd_tls_peer c = {.is_verified = true, .cn = "alice"};
	const struct msd_grant g = of_certificate(&c);

	cr_expect(may(g, MSD_RIGHT_CALL, "digits", "main"));
	cr_expect(!may(g, MSD_RIGHT_CALL, "digits", "other"));
	cr_expect(may(g, MSD_RIGHT_CALL, "resnet18", "anything"));
	cr_expect(!may(g, MSD_RIGHT_CALL, "resnet", "main"));
	cr_expect(may(g, MSD_RIGHT_LOOKUP, "digits", ""), "the module as a whole");
	cr_expect(!may(g, MSD_RIGHT_LOAD, "resnet18", ""));
	cr_expect(may(g, MSD_RIGHT_CALL, "", ""), "no name in particular");
}

Test(acl, wants_all_functions_of_a_module_for_who_brings_another)
{
	struct msd_acl *narrow;
	struct msd_acl_target t = {.module = msd_span_of("m")};

	cr_assert_eq(msd_acl_parse("f",
				   msd_span_of("user a uid=1 +@load m/f*\n"
					       "user b uid=2 +@load m/*\nend\n"),
				   &narrow, NULL),
		     MSD_OK);
	struct msd_grant a, b;
	cr_assert(msd_acl_grant_of(narrow, msd_span_of("a"), &a));
	cr_assert(msd_acl_grant_of(narrow, msd_span_of("b"), &b));
	cr_expect(!msd_acl_allows(narrow, &a, MSD_RIGHT_LOAD, &t));
	cr_expect(msd_acl_allows(narrow, &b, MSD_RIGHT_LOAD, &t));
	msd_acl_destroy(narrow);
}

Test(acl, adds_what_groups_may)
{
	struct msd_grant g = of_user(70002, 70044, 70045);

	expect_user(g, "gpu");
	cr_expect(may(g, MSD_RIGHT_LOAD, "team-a", ""));
	cr_expect(may(g, MSD_RIGHT_CALL, "mine", "f1"));
	cr_expect(!may(g, MSD_RIGHT_CALL, "team-a", "f1"),
		  "a right is for the names of its own line");
	g = of_user(70003, 70010, 70044);
	expect_user(g, "bob");
	cr_expect(may(g, MSD_RIGHT_LOOKUP, "anything", ""));
	cr_expect(may(g, MSD_RIGHT_LOAD, "team-a", ""));
}

Test(acl, tells_which_line_allows)
{
	struct msd_grant g = of_user(70003, 70010, 70044);
	const struct msd_acl_target t = {.module = msd_span_of("team-a")};

	cr_expect_eq(msd_acl_why(acl, &g, MSD_RIGHT_LOAD, &t)->line, 5);
	cr_expect_eq(msd_acl_why(acl, &g, MSD_RIGHT_LOOKUP, &t)->line, 3);
	cr_expect_null(msd_acl_why(acl, &g, MSD_RIGHT_ADMIN, &t));
}

Test(acl, knows_users_and_groups_by_name)
{
	struct msd_grant g;

	cr_expect(msd_acl_grant_of(acl, msd_span_of("gpu"), &g));
	cr_expect(may(g, MSD_RIGHT_LOAD, "team-a", ""));
	cr_expect(msd_acl_grant_of(acl, msd_span_of("anonymous"), &g));
	cr_expect(may(g, MSD_RIGHT_ANY, "", ""));
	cr_expect(!may(g, MSD_RIGHT_LOOKUP, "", ""));
	cr_expect(!msd_acl_grant_of(acl, msd_span_of("mallory"), &g));
}
