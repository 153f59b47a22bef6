#include <criterion/criterion.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/supervisor/rights/acl.h"
#include "store/digest.h"

static struct msd_identity i;

static void end(void)
{
	msd_identity_finish(&i);
}

TestSuite(identity, .fini = end);

static bool has(uint32_t gid)
{
	for (size_t k = 0; k < i.n_gids; k++) {
		if (i.gids[k] == gid)
			return true;
	}
	return false;
}

Test(identity, of_a_unix_socket_is_the_user_with_all_groups)
{
	int ends[2];
	gid_t groups[256];
	const int n = getgroups(256, groups);

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	cr_assert(msd_identity_of_socket(ends[0], &i));
	cr_expect(i.has_user);
	cr_expect_eq(i.uid, geteuid());
	cr_expect_eq(i.gids[0], getegid());
	for (int k = 0; k < n; k++)
		cr_expect(has(groups[k]), "%u", groups[k]);
	cr_expect(msd_identity_is_operator(&i));
	(void)close(ends[0]);
	(void)close(ends[1]);
}

Test(identity, of_who_has_many_groups_has_them_all)
{
	gid_t many[500];
	int ends[2];

	for (gid_t k = 0; k < 500; k++)
		many[k] = 70000 + k;
	if (setgroups(500, many) != 0)
		cr_skip("only root may have groups at will");
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	cr_assert(msd_identity_of_socket(ends[0], &i));
	cr_expect_eq(i.n_gids, 501);
	cr_expect(has(70499));
	(void)close(ends[0]);
	(void)close(ends[1]);
}

Test(identity, of_another_socket_is_nobody)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert(msd_identity_of_socket(fd, &i));
	cr_expect(!i.has_user);
	cr_expect_eq(i.n_gids, 0);
	cr_expect(!msd_identity_is_operator(&i));
	(void)close(fd);
}

Test(identity, with_a_token_is_not_the_operators)
{
	struct msd_digest token = {{0}};

	i = (struct msd_identity){.has_user = true, .uid = geteuid(), .token = &token};
	cr_expect(!msd_identity_is_operator(&i));
}
