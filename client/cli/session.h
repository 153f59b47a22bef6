#ifndef MSD_CLI_SESSION_H
#define MSD_CLI_SESSION_H
/* What most verbs do: connect, ask one thing, print the answer. */
#include "client/cli/cli.h"
#include "client/modser.h"

/** Connect as the command line says. What fails is reported. */
enum msd_exit msd_session_open(const struct msd_cli *cli, modser_client **ret);
/**
 * Report when the daemon knows no module or function by the first word, NAME or
 * NAME:FUNC, for what is wrong with the others is of no interest then. MSD_EXIT_OK when
 * it does, and when it cannot be asked, which is not reported.
 */
enum msd_exit msd_session_check_name(const struct msd_cli *cli);
/**
 * Connect, send one request with the command line's deadline, disconnect. *@ret, to be
 * freed with modser_result_free(), holds the value when MSD_EXIT_OK is returned; what
 * fails is reported.
 */
enum msd_exit msd_session_ask(const struct msd_cli *cli, const char *method,
			      const modser_value *params, size_t n_params,
			      modser_result **ret);
/** The same of what brings a module: what is refused of it is one exit code, as by
 * msd_report_refusal(). */
enum msd_exit msd_session_bring(const struct msd_cli *cli, const char *method,
				const modser_value *params, size_t n_params,
				modser_result **ret);
/** Print a result's value: JSON, or a map, a table or a text as fits it. */
void msd_session_print(const struct msd_cli *cli, const modser_result *result);
void msd_session_print_value(const struct msd_cli *cli, const modser_value *v);
/** Ask and print. */
enum msd_exit msd_session_show(const struct msd_cli *cli, const char *method,
			       const modser_value *params, size_t n_params);

#endif
