/*
 * Opens a client from an address, or from a list of equivalent daemons.
 *
 * Happy path: the address text, or the default, is parsed and connected to. If there
 * are several addresses, the client pings each in order, and takes the first daemon
 * that answers and is not draining. Failures: an address that fails is followed by
 * the next. If all daemons are draining, the first of them is taken, because it still
 * serves. If no daemon answers, the error lists the reason for each address.
 */
#include <stdlib.h>

#include "client/client.h"
#include "client/result.h"
#include "client/transport/connect.h"
#include "proto/address_list.h"
#include "proto/base/clock.h"

/* Without a bound from the caller, only the last address may wait without limit; a
 * silent daemon must not block the next addresses. */
#define EACH_NS (3u * UINT64_C(1000000000))

static msd_err find_addresses(const char *text, struct msd_address_list *ret,
			      struct msd_diag *d)
{
	const char *from_env = getenv("MODSER_HOST");

	if (text != NULL)
		return msd_address_list_parse(text, ret, d);
	if (from_env == NULL || from_env[0] == '\0') {
		ret->n = 1;
		return msd_address_default(true, &ret->at[0], d);
	}
	msd_err err = msd_address_list_parse(from_env, ret, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "MODSER_HOST");
}

/* Deadline for the first of @n addresses: the remaining addresses share the time. */
static uint64_t share_of(uint64_t until_ns, size_t n)
{
	const uint64_t now = msd_now_ns();

	if (n == 1)
		return until_ns;
	if (until_ns == UINT64_MAX)
		return now + EACH_NS;
	return until_ns > now ? now + (until_ns - now) / n : now;
}

/* Ping the peer: does it answer, and is it draining? */
static msd_err ask(modser_client *c, uint64_t until_ns, bool *ret_is_leaving,
		   struct msd_diag *d)
{
	modser_result *r = NULL;
	uint64_t id;

	if (modser_start(c, "ping", NULL, 0, NULL, &id) != MODSER_OK)
		return msd_diag_set(d, c->why.code, "%s", msd_diag_text(&c->why));
	c->next_deadline_ns = msd_client_find(c, id)->deadline_ns = until_ns;
	msd_err err = (msd_err)modser_wait(c, id, &r);
	if (err == MSD_OK) {
		*ret_is_leaving = r->is_leaving;
	} else {
		(void)msd_diag_set(d, err, "%s", modser_result_error(r)->message);
	}
	modser_result_free(r);
	return err;
}

/* Connect to one address of the list and ping it. */
static msd_err try(const struct msd_address *a, uint64_t until_ns, modser_client **ret,
		   bool *ret_is_leaving, char hint[static MSD_HINT_MAX],
		   struct msd_diag *d)
{
	char text[MSD_ADDRESS_TEXT_MAX];
	msd_err err = msd_client_connect(a, until_ns, ret, hint, d);

	if (err != MSD_OK)
		return err;
	err = ask(*ret, until_ns, ret_is_leaving, d);
	if (err == MSD_OK)
		return MSD_OK;
	modser_close(*ret);
	return msd_diag_wrap(d, err, "%s", msd_address_format(a, text));
}

static msd_err open_one_of(const struct msd_address_list *list, uint64_t until_ns,
			   modser_client **ret, char hint[static MSD_HINT_MAX],
			   struct msd_diag *d)
{
	modser_client *leaving = NULL, *c = NULL;
	struct msd_diag one = {0};

	for (size_t i = 0; i < list->n; i++) {
		bool is_leaving = false;
		msd_err err = try(&list->at[i], share_of(until_ns, list->n - i), &c,
				  &is_leaving, hint, &one);

		if (err == MSD_OK && !is_leaving) {
			modser_close(leaving);
			leaving = c;
			break;
		}
		if (err == MSD_OK && leaving == NULL) {
			leaving = c;
		} else if (err == MSD_OK) {
			modser_close(c);
		} else {
			(void)msd_diag_set(d, err, "%s%s%s",
					   i > 0 ? msd_diag_text(d) : "",
					   i > 0 ? "; " : "", msd_diag_text(&one));
		}
	}
	msd_diag_finish(&one);
	if (leaving == NULL)
		return d->code;
	hint[0] = '\0';
	*ret = leaving;
	return MSD_OK;
}

modser_err modser_open(const char *address, uint32_t timeout_ms, modser_client **ret,
		       modser_result **ret_why)
{
	uint64_t until_ns = UINT64_MAX;
	char hint[MSD_HINT_MAX] = "";
	struct msd_address_list list;
	struct msd_diag d = {0};
	msd_err err = find_addresses(address, &list, &d);

	if (timeout_ms != 0)
		until_ns = msd_now_ns() + (uint64_t)timeout_ms * 1000000u;
	if (err == MSD_OK && list.n == 1) {
		err = msd_client_connect(&list.at[0], until_ns, ret, hint, &d);
	} else if (err == MSD_OK) {
		err = open_one_of(&list, until_ns, ret, hint, &d);
	}
	if (err != MSD_OK && ret_why != NULL) {
		*ret_why = msd_result_create(0);
		if (*ret_why != NULL)
			msd_result_fail(*ret_why, err, d.text);
		if (*ret_why != NULL && hint[0] != '\0')
			msd_result_advise(*ret_why, hint);
	}
	msd_diag_finish(&d);
	return (modser_err)err;
}
