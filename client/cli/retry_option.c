#include "client/cli/retry_option.h"

#include <poll.h>
#include <stdlib.h>

#include "client/cli/deadline_option.h"
#include "client/cli/session.h"
#include "client/cli/verbs/report.h"
#include "proto/address_list.h"
#include "proto/base/clock.h"

static void drop(void *ctx, modser_result *result)
{
	(void)ctx;
	modser_result_free(result);
}

/* Results may be objects. A daemon without them refuses this, which has no effect. */
static void ask_objects(modser_client *client)
{
	const modser_value pair[2] = {modser_str("objects"), modser_bool(true)};
	const modser_value map = {.kind = MODSER_MAP,
				  .as.tuple = {.item = pair, .n = 1}};
	const modser_options options = {.done = drop};

	(void)!modser_start(client, "session.hello", &map, 1, &options, NULL);
}

static enum msd_exit call_once(const struct msd_cli *cli, struct msd_steps *steps)
{
	const modser_options options = {.deadline_ms = cli->deadline_ms,
					.device = cli->device,
					.kill_abandoned = cli->kill_on_exit,
					.trace = cli->trace,
					.background = cli->background};
	modser_client *client = NULL;
	enum msd_exit code = msd_session_open(cli, &client);

	if (code == MSD_EXIT_OK) {
		ask_objects(client);
		code = msd_steps_call(steps, client, &options);
	}
	modser_close(client);
	return code;
}

static const char *list_of(const struct msd_cli *cli)
{
	const char *list = cli->host != NULL ? cli->host : getenv("MODSER_HOST");

	return list != NULL ? list : "";
}

static uint32_t count(const char *list)
{
	uint32_t n = 1;

	for (list += msd_address_list_first(list); *list != '\0'; n++)
		list += 1 + msd_address_list_first(list + 1);
	return n;
}

/* Write @list with its first address moved to the end. */
static bool turn(const char *list, struct msd_buf *ret)
{
	const size_t n = msd_address_list_first(list);

	if (list[n] != '\0')
		msd_buf_printf(ret, "%s,", list + n + 1);
	msd_buf_printf(ret, "%.*s", (int)n, list);
	msd_buf_put_u8(ret, 0);
	return !ret->bad;
}

/* Start with the next address of the list. */
static bool turn_host(struct msd_cli *cli, struct msd_buf *host)
{
	struct msd_buf turned = {0};

	if (*list_of(cli) == '\0')
		return true; /* the default socket */
	if (!turn(list_of(cli), &turned)) {
		msd_buf_finish(&turned);
		return false;
	}
	msd_buf_finish(host);
	*host = turned;
	cli->host = (const char *)host->p;
	return true;
}

/* Without an answer nothing was sent. Only a missing daemon may be temporary. */
static bool is_final(enum msd_exit code, const struct msd_steps *steps,
		     bool may_run_twice)
{
	return code == MSD_EXIT_OK || (steps->n_begun > 1 && !may_run_twice) ||
	       (msd_steps_answer(steps) == NULL && code != MSD_EXIT_CONNECT);
}

/* The daemon or module is leaving and did not begin the call. Its successor may
 * already run, or the kernel queues the connection for it (systemd/modserd.socket). */
static bool is_for_next(void)
{
	return msd_report_last() == MODSER_DRAINING;
}

static uint32_t time_for(const struct msd_cli *cli)
{
	return cli->deadline_ms != 0 && cli->deadline_ms < cli->retry_ms
		       ? cli->deadline_ms
		       : cli->retry_ms;
}

enum msd_exit msd_again_call(const struct msd_cli *cli, struct msd_steps *steps)
{
	modser_retry retry = {.for_ms = time_for(cli),
			      .daemons = count(list_of(cli)),
			      .idempotent = cli->idempotent};
	const struct msd_due due = msd_due_begin(cli->deadline_ms);
	struct msd_buf host = {0};
	struct msd_cli now = *cli;
	bool asks_next = true;
	enum msd_exit code;

	msd_report_hold();
	for (;;) {
		uint32_t wait_ms;

		code = call_once(&now, steps);
		const uint64_t elapsed_ms = msd_now_ms() - due.since_ms;
		if (is_final(code, steps, cli->idempotent) || elapsed_ms > UINT32_MAX)
			break;
		if (!modser_retry_next(&retry, msd_steps_answer(steps),
				       (uint32_t)elapsed_ms, &wait_ms)) {
			if (!asks_next || !is_for_next())
				break;
			asks_next = false;
			wait_ms = 0;
		}
		if (!turn_host(&now, &host))
			break;
		msd_steps_clear(steps);
		(void)poll(NULL, 0, wait_ms <= INT32_MAX ? (int)wait_ms : INT32_MAX);
		now.deadline_ms = msd_due_left_ms(&due);
	}
	msd_report_release(code != MSD_EXIT_OK);
	msd_buf_finish(&host);
	return code;
}
