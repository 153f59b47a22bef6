#include "client/cli/session.h"

#include "client/cli/json.h"
#include "client/cli/print.h"
#include "client/cli/report.h"

#define CONNECT_MS 10000u /* when no deadline is given */

enum msd_exit msd_session_open(const struct msd_cli *cli, modser_client **ret)
{
	uint32_t timeout_ms = cli->deadline_ms != 0 ? cli->deadline_ms : CONNECT_MS;
	modser_result *why = NULL;
	modser_err err = modser_open(cli->host, timeout_ms, ret, &why);

	if (err == MODSER_OK)
		return MSD_EXIT_OK;
	modser_error e = *modser_result_error(why);
	if (err == MODSER_BAD_REQUEST) {
		e.hint = cli->host != NULL ? "correct the address behind -H"
					   : "correct MODSER_HOST";
	}
	enum msd_exit code = msd_report_error(&e);
	modser_result_free(why);
	if (err == MODSER_BAD_REQUEST)
		return MSD_EXIT_USAGE;
	return err == MODSER_REFUSED ? code : MSD_EXIT_CONNECT;
}

enum msd_exit msd_session_ask(const struct msd_cli *cli, const char *method,
			      const modser_value *params, size_t n_params,
			      modser_result **ret)
{
	modser_options options = {.deadline_ms = cli->deadline_ms};
	modser_client *client;
	enum msd_exit code = msd_session_open(cli, &client);

	*ret = NULL;
	if (code != MSD_EXIT_OK)
		return code;
	if (modser_request(client, method, params, n_params, &options, ret) !=
	    MODSER_OK)
		code = msd_report_result(client, *ret);
	modser_close(client);
	return code;
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
		msd_print_table(&out, v, for_people);
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
