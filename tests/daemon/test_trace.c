#include <criterion/criterion.h>

#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/stats/trace.h"

/* Read at 1000, sent at 1300, answered at 2000 after a run of 400, told of at 2050. */
static const struct msd_req request = {.at = {.since_ns = 2000,
					      .spent_ns = {[MSD_STAGE_READ] = 100,
							   [MSD_STAGE_QUEUE] = 200,
							   [MSD_STAGE_WORKER] = 300,
							   [MSD_STAGE_RUN] = 400}}};
#define NOW_NS 2050
#define TOTAL_NS (100 + 200 + 300 + 400 + 50)

/* The meta that a client gets when the worker tells these. */
static struct msd_buf write_trace(uint64_t to_worker, uint64_t in, uint64_t out)
{
	struct msd_buf worker = {0}, b = {0};

	msd_pack_map(&worker, 4);
	msd_pack_pair_uint(&worker, "to_worker_ns", to_worker);
	msd_pack_pair_uint(&worker, "copy_in_ns", in);
	msd_pack_pair_uint(&worker, "copy_out_ns", out);
	msd_pack_pair_uint(&worker, "exec_ns", 400);
	msd_trace_write(&request, (struct msd_span){worker.p, worker.n}, NOW_NS, &b);
	msd_buf_finish(&worker);
	cr_assert_not(b.bad);
	return b;
}

static int64_t int_of(struct msd_span map, const char *key)
{
	struct msd_cur c = msd_cur_of(msd_map_value(map, key));
	struct msd_wire_value v;

	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK, "%s", key);
	cr_assert_eq(v.kind, MSD_K_INT, "%s", key);
	return v.as.i;
}

static struct msd_span trace_of(const struct msd_buf *b)
{
	return msd_map_value((struct msd_span){b->p, b->n}, "trace");
}

static int64_t sum_of(struct msd_span trace)
{
	static const char *const stages[] = {"read_ns",    "queue_ns", "to_worker_ns",
					     "copy_in_ns", "run_ns",   "copy_out_ns",
					     "reply_ns"};
	int64_t sum = 0;

	for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++)
		sum += int_of(trace, stages[i]);
	return sum;
}

Test(trace, each_stage_has_its_time)
{
	struct msd_buf b = write_trace(70, 80, 90);
	const struct msd_span t = trace_of(&b);

	cr_expect_eq(int_of(t, "read_ns"), 100);
	cr_expect_eq(int_of(t, "queue_ns"), 200);
	cr_expect_eq(int_of(t, "to_worker_ns"), 70);
	cr_expect_eq(int_of(t, "copy_in_ns"), 80);
	cr_expect_eq(int_of(t, "run_ns"), 400);
	cr_expect_eq(int_of(t, "copy_out_ns"), 90);
	cr_expect_eq(int_of(t, "reply_ns"), 60 + 50,
		     "what the worker does not tell of");
	cr_expect_eq(int_of(t, "total_ns"), TOTAL_NS);
	msd_buf_finish(&b);
}

Test(trace, stages_are_the_total_whatever_a_worker_tells)
{
	static const uint64_t told[] = {0, 1, 299, 300, 301, INT64_MAX, UINT64_MAX};
	const size_t n = sizeof(told) / sizeof(*told);

	for (size_t i = 0; i < n * n; i++) {
		struct msd_buf b = write_trace(told[i / n], told[i % n], told[i / n]);
		cr_expect_eq(sum_of(trace_of(&b)), TOTAL_NS);
		cr_expect_eq(int_of(trace_of(&b), "total_ns"), TOTAL_NS);
		msd_buf_finish(&b);
	}
}

Test(trace, worker_that_tells_nothing_is_waited_for_in_the_reply)
{
	struct msd_buf b = {0};

	msd_trace_write(&request, (struct msd_span){0}, NOW_NS, &b);
	cr_expect_eq(int_of(trace_of(&b), "reply_ns"), 300 + 50);
	cr_expect_eq(sum_of(trace_of(&b)), TOTAL_NS);
	msd_buf_finish(&b);
}

Test(trace, says_how_long_the_function_ran_as_every_answer_does)
{
	struct msd_buf b = write_trace(0, 0, 0);

	cr_expect_eq(int_of((struct msd_span){b.p, b.n}, "exec_ns"), 400);
	msd_buf_finish(&b);
}
