#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/edge/objects/future.h"
#include "proto/result_of.h"
#include "proto/value.h"

static struct msd_futures all;
static struct msd_account account;
static unsigned n_told;

static void on_ready(struct msd_futures *p)
{
	(void)p;
	n_told++;
}

static void begin(void)
{
	msd_futures_init(&all, &account, on_ready);
}

static void end(void)
{
	msd_futures_finish(&all);
	cr_expect_eq(account.used_bytes, 0, "all was given back");
}

static void expect_known(uint64_t id)
{
	cr_assert_eq(msd_futures_expect(&all, id, MSD_M_CALL, NULL), MSD_OK);
}

static void keep_int(uint64_t id, int64_t value)
{
	struct msd_buf b = {0};

	msd_pack_int(&b, value);
	msd_futures_keep(&all, id, (struct msd_span){b.p, b.n});
	msd_buf_finish(&b);
}

/* An array of the results of these. */
static struct msd_buf names_of(const uint64_t *ids, uint32_t n)
{
	struct msd_buf b = {0};

	msd_pack_array(&b, n);
	for (uint32_t i = 0; i < n; i++)
		msd_pack_result_of(&b, &(struct msd_result_of){.id = ids[i]});
	return b;
}

static msd_err await(uint64_t id, const uint64_t *ids, uint32_t n,
		     struct msd_dependency **ret, struct msd_diag *d)
{
	struct msd_buf b = names_of(ids, n);
	msd_err err =
		msd_dependency_new(&all, id, (struct msd_span){b.p, b.n}, n, ret, d);

	msd_buf_finish(&b);
	return err;
}

static struct msd_dependency *expect_await(uint64_t id, uint64_t one, uint64_t two)
{
	struct msd_dependency *a = NULL;

	cr_assert_eq(await(id, (const uint64_t[]){one, two}, 2, &a, NULL), MSD_OK);
	return a;
}

static void expect_written(struct msd_dependency *a, uint64_t one, uint64_t two,
			   const char *bytes)
{
	struct msd_buf b = names_of((const uint64_t[]){one, two}, 2), out = {0};

	cr_assert_eq(msd_dependency_write(a, (struct msd_span){b.p, b.n}, &out, NULL),
		     MSD_OK);
	cr_expect_eq(out.n, strlen(bytes));
	cr_expect_arr_eq(out.p, bytes, out.n);
	msd_buf_finish(&b);
	msd_buf_finish(&out);
	msd_dependency_destroy(a);
}

Test(promise, one_that_names_what_is_there_is_ready_at_once, .init = begin, .fini = end)
{
	expect_known(1);
	keep_int(1, 7);
	struct msd_dependency *a = expect_await(2, 1, 1);
	cr_expect(msd_dependency_is_ready(a));
	cr_expect_eq(n_told, 0);
	expect_written(a, 1, 1, "\x92\x07\x07");
}

Test(promise, one_is_ready_when_the_last_of_those_it_names_is_settled, .init = begin,
     .fini = end)
{
	expect_known(1);
	expect_known(2);
	struct msd_dependency *a = expect_await(3, 1, 2);
	keep_int(2, 5);
	cr_expect_eq(n_told, 0);
	keep_int(1, 6);
	cr_expect_eq(n_told, 1);
	cr_assert_eq(msd_futures_ready(&all), a);
	expect_written(a, 1, 2, "\x92\x06\x05");
	cr_expect_null(msd_futures_ready(&all));
}

Test(promise, those_of_one_result_are_ready_in_the_order_of_their_coming, .init = begin,
     .fini = end)
{
	expect_known(1);
	expect_known(2);
	struct msd_dependency *first = expect_await(3, 1, 2);
	struct msd_dependency *second = expect_await(4, 1, 1);
	keep_int(1, 6);
	cr_expect_null(msd_futures_ready(&all), "the first waits for another, too");
	keep_int(2, 5);
	cr_assert_eq(msd_futures_ready(&all), first);
	expect_written(first, 1, 2, "\x92\x06\x05");
	cr_assert_eq(msd_futures_ready(&all), second);
	msd_dependency_destroy(second);
}

Test(promise, one_that_goes_lets_the_next_come, .init = begin, .fini = end)
{
	expect_known(1);
	expect_known(2);
	struct msd_dependency *first = expect_await(3, 1, 2);
	struct msd_dependency *second = expect_await(4, 1, 1);
	keep_int(1, 6);
	msd_dependency_destroy(first);
	cr_assert_eq(msd_futures_ready(&all), second);
	msd_dependency_destroy(second);
}

static void expect_refused(uint64_t id, uint64_t named, const char *text)
{
	struct msd_dependency *a = NULL;
	struct msd_diag d = {0};

	cr_expect_eq(await(id, &named, 1, &a, &d), MSD_BAD_REQUEST);
	cr_expect_null(a);
	cr_expect_not_null(strstr(msd_diag_text(&d), text), "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(promise, what_is_not_known_is_named, .init = begin, .fini = end)
{
	expect_known(1);
	expect_refused(2, 9, "request 9 is unknown");
	expect_refused(2, 2, "request 2 names its own result");
}

Test(promise, the_oldest_that_nobody_waits_for_is_forgotten, .init = begin, .fini = end)
{
	expect_known(1);
	keep_int(1, 3);
	struct msd_dependency *a = expect_await(2, 1, 1);
	for (uint64_t id = 10; id <= 10 + MSD_MAX_RESULTS_KEPT; id++) {
		expect_known(id);
		keep_int(id, 0);
	}
	expect_refused(2, 10, "request 10 is unknown");
	cr_expect_eq(all.n_idle, MSD_MAX_RESULTS_KEPT);
	expect_written(a, 1, 1, "\x92\x03\x03");
	expect_refused(2, 1, "request 1 is unknown");
}

static void expect_failure(uint64_t id, const uint64_t *named, msd_err code,
			   const char *text, struct msd_diag *d)
{
	struct msd_dependency *a = NULL;
	struct msd_buf b = names_of(named, 1), out = {0};

	cr_assert_eq(await(id, named, 1, &a, NULL), MSD_OK);
	cr_expect_eq(msd_dependency_write(a, (struct msd_span){b.p, b.n}, &out, d),
		     code);
	cr_expect_str_eq(msd_diag_text(d), text);
	msd_dependency_destroy(a);
	msd_buf_finish(&b);
	msd_buf_finish(&out);
}

Test(promise, a_failure_is_passed_on_in_the_words_of_the_first, .init = begin,
     .fini = end)
{
	static const char text[] = "the result of request 1 (call) is needed: no room";
	struct msd_diag d = {0};

	expect_known(1);
	expect_known(2);
	(void)msd_diag_set(&d, MSD_BUSY, "no room");
	d.retry_after_ms = 5;
	msd_futures_fail(&all, 1, &d);
	msd_diag_finish(&d);
	expect_failure(2, &(const uint64_t){1}, MSD_BUSY, text, &d);
	cr_expect_eq(d.retry_after_ms, 5);
	msd_futures_fail(&all, 2, &d);
	msd_diag_finish(&d);
	expect_failure(3, &(const uint64_t){2}, MSD_BUSY, text, &d);
	msd_diag_finish(&d);
}

Test(promise, a_map_stands_for_its_name_and_another_for_nothing, .init = begin,
     .fini = end)
{
	static const char named[] = "\x82\xa4name\xa1m\xa5state";
	struct msd_diag d = {0};

	expect_known(1);
	msd_futures_keep(&all, 1,
			 (struct msd_span){(const uint8_t *)named, sizeof(named) - 1});
	expect_written(expect_await(3, 1, 1), 1, 1, "\x92\xa1m\xa1m");
	expect_known(2);
	msd_futures_keep(&all, 2, (struct msd_span){(const uint8_t *)"\x80", 1});
	expect_failure(4, &(const uint64_t){2}, MSD_UNSUPPORTED,
		       "the result of request 2 (call) is needed: its result is a map "
		       "without a name",
		       &d);
	msd_diag_finish(&d);
}

Test(promise, there_are_no_more_than_may_be, .init = begin, .fini = end)
{
	struct msd_diag d = {0};

	for (uint64_t id = 0; id < 2048; id++)
		expect_known(id);
	cr_expect_eq(msd_futures_expect(&all, 2048, MSD_M_CALL, &d), MSD_BUSY);
	msd_diag_finish(&d);
}
