/*
 * Connects as the command line says and sends requests.
 *
 * Happy path: connect and ping; a daemon answers a ping at once, even if its modules
 * are busy. Then send the verb's own request, which may take long. Failures: there is
 * no daemon, the peer is not modserd, or it does not answer; the exit code is then
 * that of no connection.
 */
#include "client/cli/session.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/doctor/http_probe.h"
#include "client/cli/tls_option.h"
#include "client/cli/values/json.h"
#include "client/cli/values/print.h"
#include "client/cli/values/token.h"
#include "client/cli/verbs/report.h"
#include "proto/base/clock.h"

#define CONNECT_MS 10000u /* default */

/* Longest wait for the daemon's first answer. */
static uint32_t patience_ms(const struct msd_cli *cli)
{
	const uint32_t ms = cli->connect_ms != 0 ? cli->connect_ms : CONNECT_MS;

	return cli->deadline_ms != 0 && cli->deadline_ms < ms ? cli->deadline_ms : ms;
}

static const char *address_of(const struct msd_cli *cli)
{
	const char *from_env = getenv("MODSER_HOST");

	if (cli->host != NULL)
		return cli->host;
	return from_env != NULL && from_env[0] != '\0' ? from_env
						       : "the default socket";
}

static enum msd_exit report_stranger(const struct msd_cli *cli)
{
	char message[512];
	const modser_error e = {MODSER_PROTOCOL, "PROTOCOL", message,
				"correct the address: the address of modserd --http is "
				"for curl, not for modser"};

	(void)snprintf(message, sizeof(message),
		       "%s: the peer is an HTTP server, not modserd", address_of(cli));
	(void)msd_report_error(&e);
	return MSD_EXIT_CONNECT;
}

static enum msd_exit report_silent(const struct msd_cli *cli)
{
	char message[512];
	const modser_error e = {MODSER_DEADLINE, "DEADLINE", message,
				"check the daemon's process and log, correct the "
				"address, or give more time with --connect-timeout"};

	(void)snprintf(message, sizeof(message),
		       "%s: the peer has sent nothing for %u ms: it is a stopped "
		       "daemon, or not modserd",
		       address_of(cli), patience_ms(cli));
	enum msd_exit code = msd_report_error(&e);
	return patience_ms(cli) == cli->deadline_ms ? code : MSD_EXIT_CONNECT;
}

/* Check that the peer is a daemon and answers, and log in with @token, empty for
 * none. */
static enum msd_exit greet(const struct msd_cli *cli, modser_client *client,
			   const struct msd_buf *token, uint64_t until_ms)
{
	modser_result *result = NULL;
	enum msd_exit code = MSD_EXIT_OK;
	modser_value pair[2] = {modser_str("token"), {0}};
	const modser_value who = {.kind = MODSER_MAP,
				  .as.tuple = {.n = 1, .item = pair}};
	uint64_t id;

	if (token->n > 0)
		pair[1] = modser_str((const char *)token->p);
	if (modser_start(client, token->n > 0 ? "session.hello" : "ping", &who,
			 token->n > 0 ? 1 : 0, NULL, &id) != MODSER_OK)
		return msd_report_error(modser_why(client));
	while (!modser_take(client, id, &result)) {
		struct pollfd p = {.fd = modser_fd(client), .events = POLLIN};
		const uint64_t now = msd_now_ms();

		if (now >= until_ms) {
			return msd_knock_is_http(modser_fd(client))
				       ? report_stranger(cli)
				       : report_silent(cli);
		}
		if ((modser_events(client) & MODSER_WRITABLE) != 0)
			p.events |= POLLOUT;
		(void)poll(&p, 1, (int)(until_ms - now));
		(void)modser_process(client);
	}
	if (modser_result_error(result)->code != MODSER_OK)
		code = msd_report_result(client, result);
	modser_result_free(result);
	return code;
}

static enum msd_exit connect_to(const struct msd_cli *cli, modser_client **ret)
{
	modser_result *why = NULL;
	modser_err err = modser_open(cli->host, patience_ms(cli), ret, &why);

	if (err == MODSER_OK)
		return MSD_EXIT_OK;
	modser_error e = *modser_result_error(why);
	if (err == MODSER_BAD_REQUEST) {
		e.hint = cli->host != NULL ? "correct the value that the text names, "
					     "or the address after -H"
					   : "correct the value that the text names, "
					     "or MODSER_HOST";
	}
	enum msd_exit code = msd_report_error(&e);
	modser_result_free(why);
	if (err == MODSER_BAD_REQUEST)
		return MSD_EXIT_USAGE;
	return err == MODSER_REFUSED ? code : MSD_EXIT_CONNECT;
}

enum msd_exit msd_session_open(const struct msd_cli *cli, modser_client **ret)
{
	const uint64_t until_ms = msd_now_ms() + patience_ms(cli);
	struct msd_buf token = {0};
	modser_client *client;
	enum msd_exit code = msd_token_find(cli, address_of(cli), &token);

	if (code == MSD_EXIT_OK)
		code = msd_tls_option_apply(cli, address_of(cli));
	if (code == MSD_EXIT_OK)
		code = connect_to(cli, &client);
	if (code != MSD_EXIT_OK) {
		msd_buf_finish(&token);
		return code;
	}
	code = greet(cli, client, &token, until_ms);
	msd_buf_finish(&token);
	if (code != MSD_EXIT_OK) {
		modser_close(client);
		return code;
	}
	*ret = client;
	return MSD_EXIT_OK;
}

enum msd_exit msd_session_check_name(const struct msd_cli *cli)
{
	const modser_options options = {.deadline_ms = patience_ms(cli)};
	const char *colon = strchr(cli->words[0], ':');
	modser_value params[2] = {modser_str(cli->words[0])};
	enum msd_exit code = MSD_EXIT_OK;
	modser_client *client = NULL;
	modser_result *answer = NULL;

	if (colon != NULL) {
		params[0].as.str.n = (size_t)(colon - cli->words[0]);
		params[1] = modser_str(colon + 1);
	}
	if (modser_open(cli->host, patience_ms(cli), &client, NULL) != MODSER_OK)
		return MSD_EXIT_OK;
	if (modser_request(client, colon != NULL ? "function.get" : "module.describe",
			   params, colon != NULL ? 2 : 1, &options,
			   &answer) == MODSER_NOT_FOUND)
		code = msd_report_result(client, answer);
	modser_result_free(answer);
	modser_close(client);
	return code;
}

/* @report reports an error. */
static enum msd_exit
ask(const struct msd_cli *cli, const char *method, const modser_value *params,
    size_t n_params, modser_result **ret,
    enum msd_exit (*report)(const modser_client *client, const modser_result *result))
{
	modser_options options = {.deadline_ms = cli->deadline_ms};
	modser_client *client;
	enum msd_exit code = msd_session_open(cli, &client);

	*ret = NULL;
	if (code != MSD_EXIT_OK)
		return code;
	if (modser_request(client, method, params, n_params, &options, ret) !=
	    MODSER_OK)
		code = report(client, *ret);
	modser_close(client);
	return code;
}

enum msd_exit msd_session_ask(const struct msd_cli *cli, const char *method,
			      const modser_value *params, size_t n_params,
			      modser_result **ret)
{
	return ask(cli, method, params, n_params, ret, msd_report_result);
}

enum msd_exit msd_session_bring(const struct msd_cli *cli, const char *method,
				const modser_value *params, size_t n_params,
				modser_result **ret)
{
	return ask(cli, method, params, n_params, ret, msd_report_refusal);
}

void msd_session_print(const struct msd_cli *cli, const modser_result *result)
{
	msd_session_print_value(cli, modser_result_value(result));
}

void msd_session_print_value(const struct msd_cli *cli, const modser_value *v)
{
	bool for_people = msd_print_for_people();
	struct msd_buf out = {0};

	if (cli->json) {
		msd_json_put_value(&out, v);
		msd_buf_put_u8(&out, '\n');
	} else if (v->kind == MODSER_MAP) {
		msd_print_map(&out, v, for_people);
	} else if (v->kind == MODSER_TUPLE) {
		msd_print_table(&out, v, for_people, cli->header);
	} else if (v->kind == MODSER_STR) {
		msd_print_text(&out, v->as.str.p, v->as.str.n);
	} else if (v->kind != MODSER_NIL) {
		msd_print_value(&out, v, for_people);
		msd_buf_put_u8(&out, '\n');
	}
	msd_print_flush(&out);
}

enum msd_exit msd_session_show(const struct msd_cli *cli, const char *method,
			       const modser_value *params, size_t n_params)
{
	modser_result *result;
	enum msd_exit code = msd_session_ask(cli, method, params, n_params, &result);

	if (code == MSD_EXIT_OK)
		msd_session_print(cli, result);
	modser_result_free(result);
	return code;
}
