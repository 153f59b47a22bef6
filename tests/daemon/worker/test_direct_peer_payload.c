/* Memory for what a guest sends: which is used again, and how much of it is kept. */
#include <criterion/criterion.h>
#include <string.h>

#include "daemon/worker/direct/direct_peer.h"

#define KIB 1024u
#define MIB (1024u * KIB)

static struct msd_direct_peer guest;

static void begin_with(uint64_t max_bytes)
{
	guest = (struct msd_direct_peer){.max_bytes = max_bytes};
	msd_segpool_init(&guest.payloads, 3 * max_bytes + MSD_DIRECT_PEER_KEPT_BYTES,
			 NULL, NULL);
}

static void begin(void)
{
	begin_with(16 * MIB);
}

static void finish(void)
{
	msd_segpool_finish(&guest.payloads);
}

static struct msd_slot take(uint64_t bytes)
{
	struct msd_slot slot;

	cr_assert(msd_direct_peer_payload_get(&guest, bytes));
	slot = guest.coming;
	guest.coming = (struct msd_slot){0};
	cr_assert_geq(slot.bytes, bytes);
	memset(slot.p, 1, bytes); /* all of it is there */
	return slot;
}

/* Take as many bytes as each of @n at the same time, and give all back in that order.
 */
static void use(unsigned n, const uint64_t bytes[])
{
	struct msd_slot slots[8];

	for (unsigned i = 0; i < n; i++)
		slots[i] = take(bytes[i]);
	for (unsigned i = 0; i < n; i++)
		msd_direct_peer_payload_free(&guest, &slots[i]);
}

static uint64_t kept_bytes(void)
{
	return guest.payloads.warm_bytes - guest.payloads.used_bytes +
	       guest.coming.bytes;
}

Test(guest_payload, begins_with_a_page, .init = begin, .fini = finish)
{
	struct msd_slot one = take(100), two = take(100);

	cr_expect_eq((uintptr_t)one.p % 4096, 0);
	cr_expect_eq((uintptr_t)two.p % 4096, 0);
}

Test(guest_payload, what_was_given_back_is_used_again, .init = begin, .fini = finish)
{
	struct msd_slot slot = take(MIB);
	const uint8_t *was = slot.p;

	msd_direct_peer_payload_free(&guest, &slot);
	cr_expect_null(slot.p);
	cr_expect_eq(kept_bytes(), MIB);
	cr_expect_eq(take(MIB).p, was);
	cr_expect_eq(kept_bytes(), 0);
}

Test(guest_payload, one_that_is_as_large_as_may_be_kept_is_kept_beside_smaller_ones,
     .init = begin, .fini = finish)
{
	use(1, (uint64_t[]){MIB});
	for (unsigned i = 0; i < 2; i++)
		use(1, (uint64_t[]){MSD_DIRECT_PEER_KEPT_BYTES});
	cr_expect_eq(kept_bytes(), MSD_DIRECT_PEER_KEPT_BYTES);
}

Test(guest_payload, more_than_is_kept_goes, .init = begin, .fini = finish)
{
	use(8, (uint64_t[]){2 * MIB, MIB, 2 * MIB, MIB, 3 * MIB, MIB, 2 * MIB, MIB});
	cr_expect_leq(kept_bytes(), MSD_DIRECT_PEER_KEPT_BYTES);
	use(1, (uint64_t[]){MSD_DIRECT_PEER_KEPT_BYTES + 1});
	cr_expect_leq(kept_bytes(), MSD_DIRECT_PEER_KEPT_BYTES);
}

Test(guest_payload, no_more_is_kept_than_may_wait, .fini = finish)
{
	begin_with(2 * MIB);
	use(3, (uint64_t[]){MIB, MIB, 2 * MIB});
	cr_expect_leq(kept_bytes(), 2 * MIB);
}

Test(guest_payload, of_little_that_may_wait_one_segment_is_kept, .fini = finish)
{
	begin_with(64 * KIB);
	for (unsigned i = 0; i < 2; i++) {
		use(3, (uint64_t[]){32 * KIB, 64 * KIB, 32 * KIB});
		cr_expect_eq(kept_bytes(), MSD_MIN_SEGMENT_BYTES);
	}
}

Test(guest_payload, what_waits_and_one_more_have_room, .init = begin, .fini = finish)
{
	struct msd_slot slots[512];

	for (unsigned i = 0; i < 512; i++)
		slots[i] = take(i % 2 == 0 ? 60 * KIB : 4 * KIB);
	for (unsigned i = 0; i < 512; i += 2)
		msd_direct_peer_payload_free(&guest, &slots[i]);
	cr_expect_geq(take(16 * MIB).bytes, 16 * MIB);
}
