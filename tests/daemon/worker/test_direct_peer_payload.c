/* Memory for what a guest sends: which is used again, and how much of it is kept. */
#include <criterion/criterion.h>
#include <string.h>

#include "daemon/worker/direct/direct_peer.h"

#define KIB 1024u
#define MIB (1024u * KIB)

static struct msd_direct_peer guest;

static void begin(void)
{
	guest = (struct msd_direct_peer){.max_bytes = 16 * MIB};
	msd_direct_peer_payloads_init(&guest);
}

static void finish(void)
{
	msd_direct_peer_payloads_finish(&guest);
}

static struct msd_direct_peer_payload *take(uint64_t bytes)
{
	struct msd_direct_peer_payload *p = msd_direct_peer_payload_get(&guest, bytes);

	cr_assert_not_null(p);
	memset(p->bytes, 1, bytes); /* all of it is there */
	return p;
}

/* Take as many bytes as each of @n at the same time, and give all back in that order.
 */
static void use(unsigned n, const uint64_t bytes[])
{
	struct msd_direct_peer_payload *p[8];

	for (unsigned i = 0; i < n; i++)
		p[i] = take(bytes[i]);
	for (unsigned i = 0; i < n; i++)
		msd_direct_peer_payload_free(&guest, p[i]);
}

Test(guest_payload, begins_with_a_page, .init = begin, .fini = finish)
{
	struct msd_direct_peer_payload *p = take(100);

	cr_expect_eq((uintptr_t)p->bytes % 4096, 0);
	msd_direct_peer_payload_free(&guest, p);
}

Test(guest_payload, what_was_given_back_is_used_again, .init = begin, .fini = finish)
{
	struct msd_direct_peer_payload *p = take(MIB);

	msd_direct_peer_payload_free(&guest, p);
	cr_expect_eq(guest.kept_bytes, MIB);
	cr_expect_eq(take(MIB), p);
	cr_expect_eq(guest.kept_bytes, 0);
	msd_direct_peer_payload_free(&guest, p);
}

Test(guest_payload, the_smallest_that_is_large_enough_is_used, .init = begin,
     .fini = finish)
{
	use(4, (uint64_t[]){256 * KIB, MIB, 512 * KIB, 128 * KIB});
	struct msd_direct_peer_payload *p = take(300 * KIB);

	cr_expect_eq(p->cap, 512 * KIB);
	msd_direct_peer_payload_free(&guest, p);
}

Test(guest_payload, of_more_than_is_kept_the_oldest_goes, .init = begin, .fini = finish)
{
	use(2, (uint64_t[]){2 * MIB, MIB});
	use(1, (uint64_t[]){3 * MIB});
	cr_expect_eq(guest.kept_bytes, MSD_DIRECT_PEER_KEPT_BYTES);
	struct msd_direct_peer_payload *p = take(MIB), *q = take(2 * MIB);

	cr_expect(p->cap == MIB && q->cap == 3 * MIB);
	msd_direct_peer_payload_free(&guest, p);
	msd_direct_peer_payload_free(&guest, q);
}

Test(guest_payload, what_is_more_by_itself_is_not_kept, .init = begin, .fini = finish)
{
	use(1, (uint64_t[]){MIB});
	use(1, (uint64_t[]){MSD_DIRECT_PEER_KEPT_BYTES + 1});
	cr_expect_eq(guest.kept_bytes, MIB);
}

Test(guest_payload, no_more_is_kept_than_may_wait, .init = begin, .fini = finish)
{
	guest.max_bytes = 64 * KIB;
	use(3, (uint64_t[]){32 * KIB, 32 * KIB, 32 * KIB});
	cr_expect_eq(guest.kept_bytes, 64 * KIB);
	use(1, (uint64_t[]){65 * KIB});
	cr_expect_eq(guest.kept_bytes, 64 * KIB);
}
