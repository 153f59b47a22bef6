#include <criterion/criterion.h>
#include <stdio.h>

#include "daemon/supervisor/request/job_waiter.h"

static struct msd_client client;
static struct msd_job_waiter waiter;
static char told[64];
static msd_err code;

static void reply_error(struct msd_client *c, uint64_t id, const struct msd_diag *why)
{
	(void)c;
	(void)id;
	code = why->code;
	(void)snprintf(told, sizeof(told), "%s", msd_diag_text(why));
}

static void on_done(struct msd_client *c, const struct msd_req *r)
{
	(void)c;
	(void)r;
}

static const struct msd_client_ops ops = {.reply_error = reply_error,
					  .on_done = on_done};

static struct msd_req *wait_for_job(void)
{
	msd_client_init(&client, &ops);
	struct msd_req *r = msd_req_new_waiting(&client, 1, MSD_M_MODULE_UNLOAD);

	cr_assert_not_null(r);
	msd_job_waiter_init(&waiter, r, "the disk is slow");
	cr_assert_eq(msd_job_waiter_request(&waiter), r);
	return r;
}

Test(job_waiter, whose_deadline_passes_has_the_text_of_its_job)
{
	msd_req_apply(wait_for_job(), MSD_REQ_DUE);
	cr_expect_eq(code, MSD_DEADLINE);
	cr_expect_str_eq(told, "the disk is slow");
	cr_expect_null(msd_job_waiter_request(&waiter));
}

Test(job_waiter, whose_client_left_has_no_request)
{
	(void)wait_for_job();
	msd_client_leave(&client);
	cr_expect_null(msd_job_waiter_request(&waiter));
	cr_expect_eq(code, MSD_OK, "it gets no answer");
}

Test(job_waiter, without_a_client_has_no_request)
{
	msd_job_waiter_init(&waiter, NULL, NULL);
	cr_expect_null(msd_job_waiter_request(&waiter));
}

Test(job_waiter, the_job_answers_the_request)
{
	msd_req_refuse(wait_for_job(), MSD_IO, "the disk is full");
	cr_expect_eq(code, MSD_IO);
	cr_expect_null(msd_job_waiter_request(&waiter));
}
