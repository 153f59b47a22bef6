#ifndef MSD_CLI_SESSION_H
#define MSD_CLI_SESSION_H
/* The common part of most verbs: connect, send one request, print the answer. */
#include "client/cli/cli.h"
#include "client/modser.h"

/** Connect as the command line says. Reports failures. */
enum msd_exit msd_session_open(const struct msd_cli *cli, modser_client **ret);
/**
 * Report if the daemon knows no module or function by the first word, NAME or
 * NAME:FUNC, because then errors in the other words do not matter. Returns
 * MSD_EXIT_OK if it exists, and if the daemon cannot be asked; the latter is not
 * reported.
 */
enum msd_exit msd_session_check_name(const struct msd_cli *cli);
/**
 * Connect, send one request with the command line's deadline, disconnect. If
 * MSD_EXIT_OK is returned, *@ret holds the value; free it with modser_result_free().
 * Reports failures.
 */
enum msd_exit msd_session_ask(const struct msd_cli *cli, const char *method,
			      const modser_value *params, size_t n_params,
			      modser_result **ret);
/**
 * The same for requests that load a module: a rejected file has one exit code, as in
 * msd_report_refusal().
 */
enum msd_exit msd_session_bring(const struct msd_cli *cli, const char *method,
				const modser_value *params, size_t n_params,
				modser_result **ret);
/** Print a result's value: JSON, or a map, a table or a text, depending on its kind. */
void msd_session_print(const struct msd_cli *cli, const modser_result *result);
void msd_session_print_value(const struct msd_cli *cli, const modser_value *v);
/** Send the request and print the answer. */
enum msd_exit msd_session_show(const struct msd_cli *cli, const char *method,
			       const modser_value *params, size_t n_params);

#endif
