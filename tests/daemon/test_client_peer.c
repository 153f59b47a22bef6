#include <criterion/criterion.h>
#include <unistd.h>

#include "daemon/supervisor/edge/session/session.h"

static struct msd_client_peers peers;

static void begin(void)
{
	msd_client_peers_init(&peers, 1u << 30);
}

static void end(void)
{
	cr_expect(msd_list_is_empty(&peers.all));
	cr_expect_eq(peers.account.n_children, 0);
}

static struct msd_client_peer *take(enum msd_peer_kind kind, uint64_t value)
{
	return msd_client_peer_get(
		&peers, (struct msd_peer_id){.kind = kind, .value = value}, 1 << 20);
}

Test(client_peer, is_one_however_often_it_comes, .init = begin, .fini = end)
{
	struct msd_client_peer *a = take(MSD_PEER_USER, 1000),
			       *b = take(MSD_PEER_USER, 1000),
			       *c = take(MSD_PEER_IPV4, 1000);

	cr_expect_eq(a, b);
	cr_expect_neq(a, c);
	cr_expect_eq(peers.account.n_children, 2);
	msd_client_peer_unref(a);
	cr_expect_eq(take(MSD_PEER_USER, 1000), b, "it is still held");
	msd_client_peer_unref(b);
	msd_client_peer_unref(b);
	msd_client_peer_unref(c);
}

Test(client_peer, is_the_operator_as_root_or_the_daemons_own_user, .init = begin,
     .fini = end)
{
	const uint64_t own = geteuid();
	struct msd_client_peer *all[] = {
		take(MSD_PEER_USER, 0), take(MSD_PEER_USER, own),
		take(MSD_PEER_USER, own + 1), take(MSD_PEER_IPV4, own),
		take(MSD_PEER_UNKNOWN, 0)};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cr_expect_eq(msd_client_peer_is_operator(all[i]), i < 2, "%zu", i);
		msd_client_peer_unref(all[i]);
	}
}
