#ifndef MSD_CLI_REPORT_H
#define MSD_CLI_REPORT_H
/*
 * Errors as people and scripts see them: on stderr one line of cause, one line of what
 * to do; with --json one line that is a JSON object. And the exit code.
 */
#include "client/cli/cli.h"
#include "client/modser.h"
#include "proto/bytes.h"
#include "proto/diag.h"

/** From now on errors are JSON. */
void msd_report_as_json(void);
bool msd_report_is_json(void);
/** The code of the error that was reported last; MODSER_OK: there was none. */
modser_err msd_report_last(void);
/** From now on an error is not printed but kept, in the place of the one before. */
void msd_report_hold(void);
/** Print what is kept, when @is_wanted, and go on as before msd_report_hold(). */
void msd_report_release(bool is_wanted);
/** Report and return MSD_EXIT_USAGE. @hint may be NULL: the general one. */
enum msd_exit msd_report_usage(const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum msd_exit msd_report_no_memory(void); /* the same */
/** Report and return MSD_EXIT_USAGE: no verb is called @word. */
enum msd_exit msd_report_verb(const char *word);
/** Report and return MSD_EXIT_USAGE when @name cannot be a module's. */
enum msd_exit msd_report_name(const char *name);
/** Report what @d holds with @hint and return @code. */
enum msd_exit msd_report_diag(enum msd_exit code, const char *hint,
			      const struct msd_diag *d);
/** Report why a library cannot be taken apart or put together, and return the code. */
enum msd_exit msd_report_pack(const struct msd_diag *d);
/** Report why a file cannot be read, used or written, and return the exit code. */
enum msd_exit msd_report_file(const struct msd_diag *d);
/** Append what would be printed of @e. */
void msd_report_put(struct msd_buf *out, const modser_error *e);
/** Report a daemon's error and return the exit code that belongs to it. */
enum msd_exit msd_report_error(const modser_error *e);
/** The same for @result of a request on @client, whose connection may be lost. */
enum msd_exit msd_report_result(const modser_client *client,
				const modser_result *result);
/** The same of a module that was to be loaded: a file that is refused is one exit code,
 * whoever found what is wrong with it. */
enum msd_exit msd_report_refusal(const modser_client *client,
				 const modser_result *result);
/** Flush standard output: what could not be written is an error. */
enum msd_exit msd_report_stdout(enum msd_exit code);

#endif
