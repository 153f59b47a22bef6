/* Verbs for the daemon as a whole. */
#include <stdio.h>
#include <string.h>

#include "client/cli/session.h"
#include "client/cli/values/json.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "proto/base/argv.h"
#include "proto/base/clock.h"

enum msd_exit msd_verb_ping(const struct msd_cli *cli)
{
	modser_options options = {.deadline_ms = cli->deadline_ms};
	modser_client *client;
	modser_result *result = NULL;
	enum msd_exit code = msd_session_open(cli, &client);

	if (code != MSD_EXIT_OK)
		return code;
	const uint64_t start_ns = msd_now_ns();
	if (modser_request(client, "ping", NULL, 0, &options, &result) != MODSER_OK) {
		code = msd_report_result(client, result);
	} else if (cli->json) {
		(void)printf("{\"ms\": %.3f}\n",
			     (double)(msd_now_ns() - start_ns) / 1e6);
	} else {
		(void)printf("ok, %.3f ms\n", (double)(msd_now_ns() - start_ns) / 1e6);
	}
	modser_result_free(result);
	modser_close(client);
	return code;
}

/* Print the client's version, then the daemon's if there is one. */
enum msd_exit msd_verb_version(const struct msd_cli *cli)
{
	modser_result *result = NULL;
	struct msd_buf out = {0};
	const modser_value *version = NULL;

	if (!cli->json)
		(void)printf("modser %s\n", modser_version());
	enum msd_exit code = msd_session_ask(cli, "session.hello", NULL, 0, &result);
	if (code == MSD_EXIT_OK)
		version = modser_find(modser_result_value(result), "version");
	if (version != NULL && version->kind == MODSER_STR && cli->json) {
		msd_buf_printf(&out,
			       "{\"modser\": \"%s\", \"modserd\": ", modser_version());
		msd_json_put_value(&out, version);
		msd_buf_printf(&out, "}\n");
	} else if (version != NULL && version->kind == MODSER_STR) {
		msd_buf_printf(&out, "modserd ");
		msd_print_line(&out, version->as.str.p, version->as.str.n);
		msd_buf_put_u8(&out, '\n');
	}
	msd_print_flush(&out);
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_metrics(const struct msd_cli *cli)
{
	return msd_session_show(cli, "server.metrics", NULL, 0);
}

static enum msd_exit end_client(const struct msd_cli *cli)
{
	uint32_t number = 0;

	if (cli->n_words != 2 || strcmp(cli->words[0], "kill") != 0 ||
	    !msd_argv_count(cli->words[1], &number)) {
		return msd_report_usage(
			"`modser clients` lists them with their numbers",
			"clients %s: expected kill and a connection's "
			"number",
			cli->words[0]);
	}
	const modser_value connection = modser_int(number);
	return msd_session_show(cli, "client.kill", &connection, 1);
}

enum msd_exit msd_verb_clients(const struct msd_cli *cli)
{
	if (cli->n_words > 0)
		return end_client(cli);
	return msd_session_show(cli, "client.list", NULL, 0);
}

enum msd_exit msd_verb_reload(const struct msd_cli *cli)
{
	return msd_session_show(cli, "server.reload", NULL, 0);
}

/* Report backends without a device on stderr, so that the list stays parseable. */
static void tell_absent(const modser_value *absent)
{
	struct msd_buf out = {0};

	for (size_t i = 0;
	     absent != NULL && absent->kind == MODSER_TUPLE && i < absent->as.tuple.n;
	     i++) {
		const modser_value *v = &absent->as.tuple.item[i];
		if (v->kind != MODSER_STR)
			continue;
		msd_buf_printf(&out, "modser: ");
		msd_print_line(&out, v->as.str.p, v->as.str.n);
		msd_buf_put_u8(&out, '\n');
	}
	msd_print_flush_to(&out, stderr);
}

enum msd_exit msd_verb_devices(const struct msd_cli *cli)
{
	modser_result *result;
	enum msd_exit code = msd_session_ask(cli, "server.info", NULL, 0, &result);
	const modser_value *devices = NULL;

	if (code == MSD_EXIT_OK)
		devices = modser_find(modser_result_value(result), "devices");
	if (devices != NULL)
		msd_session_print_value(cli, devices);
	if (devices != NULL && !cli->json)
		tell_absent(modser_find(modser_result_value(result), "absent"));
	modser_result_free(result);
	return code;
}
