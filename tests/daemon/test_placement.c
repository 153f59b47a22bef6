#include <criterion/criterion.h>
#include <string.h>

#include "daemon/loop/work.h"
#include "daemon/supervisor/request/placement.h"
#include "proto/value.h"

static unsigned n_rooms;

static void on_room(struct msd_budget *budget)
{
	(void)budget;
	n_rooms++;
}

/* A pool, and a budget of 1000 bytes. */
static struct msd_segpool pool;
static struct msd_budget budget;

static void begin(void)
{
	msd_segpool_init(&pool, 16u << 20, NULL, NULL);
	budget = (struct msd_budget){.max_bytes = 1000, .on_room = on_room};
	n_rooms = 0;
}

static void end(void)
{
	cr_expect_eq(budget.used_bytes, 0, "all was given back");
	cr_expect_eq(pool.used_bytes, 0, "no slot is left");
	msd_segpool_finish(&pool);
}

Test(placement, of_nothing_takes_nothing, .init = begin, .fini = end)
{
	struct msd_placement p = {0};

	cr_assert_eq(msd_placement_reserve(&p, &budget, &pool, 0, NULL), MSD_OK);
	msd_placement_end(&p);
	cr_expect_eq(n_rooms, 0, "nobody is woken for it");
}

Test(placement, gives_back_the_slot_and_the_claim, .init = begin, .fini = end)
{
	struct msd_placement p = {.wanted_bytes = 600};

	cr_assert_eq(msd_placement_reserve(&p, &budget, &pool, 500, NULL), MSD_OK);
	memset(p.slot.p, 1, 500);
	cr_expect_eq(budget.used_bytes, 600);
	msd_placement_end(&p);
	cr_expect_eq(n_rooms, 1);
	msd_placement_end(&p);
	cr_expect_eq(n_rooms, 1, "a second end gives nothing back again");
}

Test(placement, that_has_no_room_now_waits_and_holds_nothing, .init = begin,
     .fini = end)
{
	struct msd_placement first = {.wanted_bytes = 600},
			     second = {.wanted_bytes = 401};

	cr_assert_eq(msd_placement_reserve(&first, &budget, &pool, 600, NULL), MSD_OK);
	cr_expect_eq(msd_placement_reserve(&second, &budget, &pool, 401, NULL),
		     MSD_WAIT);
	cr_expect_eq(budget.used_bytes, 600);
	msd_placement_end(&first);
	cr_expect_eq(msd_placement_reserve(&second, &budget, &pool, 401, NULL), MSD_OK);
	msd_placement_end(&second);
}

Test(placement, over_the_whole_budget_never_waits, .init = begin, .fini = end)
{
	struct msd_placement p = {.wanted_bytes = 1001};
	struct msd_diag d = {0};

	cr_expect_eq(msd_placement_reserve(&p, &budget, &pool, 1, &d), MSD_NO_SPACE);
	cr_expect_not_null(strstr(msd_diag_text(&d), "max-memory"));
	msd_diag_finish(&d);
	msd_placement_end(&p);
}

Test(placement, that_finds_no_slot_gives_its_claim_back, .init = begin, .fini = end)
{
	struct msd_placement p = {.wanted_bytes = 900};

	pool.max_bytes = 0;
	cr_expect_eq(msd_placement_reserve(&p, &budget, &pool, 900, NULL),
		     MSD_NO_SPACE);
	msd_placement_end(&p);
}

Test(placement, points_inline_tensors_to_their_bytes, .init = begin, .fini = end)
{
	struct msd_placement before = {.wanted_bytes = 128}, p = {.wanted_bytes = 256};
	const int64_t shape[] = {16};
	struct msd_wire_tensor t = {.where = MSD_AT_INLINE,
				    .dtype = {MSD_DT_FLOAT, 32, 1},
				    .ndim = 1,
				    .shape = {16},
				    .offset = 128,
				    .bytes = 64};
	uint8_t data[MSD_WIRE_TENSOR_BYTES + sizeof(shape)];

	cr_assert_eq(msd_placement_reserve(&before, &budget, &pool, 128, NULL), MSD_OK);
	cr_assert_eq(msd_placement_reserve(&p, &budget, &pool, 256, NULL), MSD_OK);
	size_t n = msd_wire_tensor_write(&t, data);
	msd_placement_point(&p, data, t.offset);
	cr_assert_eq(msd_wire_tensor_read(data, n, &t, NULL), MSD_OK);
	cr_expect_eq(t.where, MSD_AT_SEGMENT);
	cr_expect_eq(t.segment, p.slot.segment);
	cr_expect_eq(t.offset, p.slot.offset + 128);
	msd_placement_end(&p);
	msd_placement_end(&before);
}

static void on_grown(void *ctx)
{
	(void)ctx;
}

Test(placement, keeps_its_claim_while_the_pool_grows)
{
	struct msd_placement p = {.wanted_bytes = 8u << 20};
	uv_loop_t loop;

	begin();
	budget.max_bytes = 8u << 20;
	(void)uv_loop_init(&loop);
	msd_segpool_grow_aside(&pool, &loop, on_grown);
	cr_expect_eq(msd_placement_reserve(&p, &budget, &pool, 8u << 20, NULL),
		     MSD_WAIT);
	cr_expect_eq(budget.used_bytes, 8u << 20);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(msd_placement_reserve(&p, &budget, &pool, 8u << 20, NULL), MSD_OK);
	cr_expect_eq(budget.used_bytes, 8u << 20, "it claims once");
	msd_placement_end(&p);
	end();
	msd_work_close();
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0, "nothing is left");
}

Test(placement, that_is_reduced_leaves_its_end_to_others_and_gets_it_back,
     .init = begin, .fini = end)
{
	struct msd_placement p = {.wanted_bytes = 900}, other = {.wanted_bytes = 600};

	cr_assert_eq(msd_placement_reserve(&p, &budget, &pool, 800, NULL), MSD_OK);
	memset(p.slot.p, 7, 256);
	msd_placement_reduce(&p, 256);
	cr_expect_eq(budget.used_bytes, 256);
	cr_expect_eq(n_rooms, 1);
	cr_assert_eq(msd_placement_reserve(&other, &budget, &pool, 600, NULL), MSD_OK);
	cr_expect_eq(msd_placement_restore(&p, 800, 256, false, NULL), MSD_WAIT);
	cr_expect_eq(budget.used_bytes, 856, "who waits takes nothing");
	msd_placement_end(&other);
	cr_assert_eq(msd_placement_restore(&p, 800, 256, false, NULL), MSD_OK);
	cr_expect_eq(budget.used_bytes, 900);
	cr_expect_eq(p.slot.p[255], 7);
	msd_placement_end(&p);
}

Test(placement, that_cannot_grow_where_it_lies_moves_unless_it_must_stay, .init = begin,
     .fini = end)
{
	struct msd_placement p = {.wanted_bytes = 500}, behind = {.wanted_bytes = 300};

	cr_assert_eq(msd_placement_reserve(&p, &budget, &pool, 500, NULL), MSD_OK);
	memset(p.slot.p, 7, 128);
	msd_placement_reduce(&p, 128);
	cr_assert_eq(msd_placement_reserve(&behind, &budget, &pool, 300, NULL), MSD_OK);
	const uint8_t *was = p.slot.p;
	cr_expect_eq(msd_placement_restore(&p, 500, 128, true, NULL), MSD_WAIT);
	cr_assert_eq(msd_placement_restore(&p, 500, 128, false, NULL), MSD_OK);
	cr_expect_neq(p.slot.p, was);
	cr_expect_eq(p.slot.p[127], 7);
	msd_placement_end(&behind);
	msd_placement_end(&p);
}

/* Ext data behind an array's head: heads of 1 and 3 bytes. */
#define FIRST_AT 4u

/* Write an inline tensor of 64 bytes and one of a client's segment; return where the
 * second one's ext data begin. */
static size_t write_two(struct msd_buf *params)
{
	struct msd_wire_tensor t = {.where = MSD_AT_INLINE,
				    .dtype = {MSD_DT_FLOAT, 32, 1},
				    .ndim = 1,
				    .shape = {16},
				    .bytes = 64};

	msd_pack_array(params, 2);
	msd_pack_tensor(params, &t);
	const size_t second = params->n + 3;
	t.where = MSD_AT_SEGMENT;
	t.segment = MSD_FIRST_LENT;
	msd_pack_tensor(params, &t);
	return second;
}

static void expect_at(const struct msd_buf *params, size_t at, uint16_t segment,
		      uint64_t offset)
{
	struct msd_wire_tensor t;

	cr_assert_eq(msd_wire_tensor_read(params->p + at, 40, &t, NULL), MSD_OK);
	cr_expect_eq(t.segment, segment);
	cr_expect_eq(t.offset, offset);
}

Test(placement, moves_with_its_bytes_to_another_pool, .init = begin, .fini = end)
{
	struct msd_placement before = {.wanted_bytes = 128}, p = {.wanted_bytes = 256};
	struct msd_segpool other;
	struct msd_buf params = {0};
	const size_t second = write_two(&params);

	msd_segpool_init(&other, 16u << 20, NULL, NULL);
	cr_assert_eq(msd_placement_reserve(&before, &budget, &other, 128, NULL),
		     MSD_OK);
	cr_assert_eq(msd_placement_reserve(&p, &budget, &pool, 256, NULL), MSD_OK);
	memset(p.slot.p, 7, 256);
	msd_placement_point(&p, params.p + FIRST_AT, 128);
	cr_assert_eq(msd_placement_move(&p, &other, &params, NULL), MSD_OK);
	cr_expect_eq(pool.used_bytes, 0);
	expect_at(&params, FIRST_AT, p.slot.segment, p.slot.offset + 128);
	expect_at(&params, second, MSD_FIRST_LENT, 0);
	cr_expect_eq(p.slot.p[255], 7);
	msd_placement_end(&p);
	msd_placement_end(&before);
	cr_expect_eq(other.used_bytes, 0);
	msd_segpool_finish(&other);
	msd_buf_finish(&params);
}

Test(placement, of_more_than_a_mebibyte_does_not_move, .init = begin, .fini = end)
{
	struct msd_placement p = {.wanted_bytes = (1u << 20) + 1};
	struct msd_segpool other;
	struct msd_buf params = {0};

	budget.max_bytes = 2u << 20;
	msd_segpool_init(&other, 16u << 20, NULL, NULL);
	cr_assert_eq(msd_placement_reserve(&p, &budget, &pool, p.wanted_bytes, NULL),
		     MSD_OK);
	cr_expect_eq(msd_placement_move(&p, &other, &params, NULL), MSD_WAIT);
	cr_expect_eq(p.pool, &pool);
	msd_placement_end(&p);
	msd_segpool_finish(&other);
}
