#ifndef MSD_CLI_REPORT_H
#define MSD_CLI_REPORT_H
/* Reports errors. On stderr: one line with the cause, one line of advice; with --json
 * one JSON object on a line. Also returns the exit code. */
#include "client/cli/cli.h"
#include "client/modser.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** Report later errors as JSON. */
void msd_report_as_json(void);
bool msd_report_is_json(void);
/** The code of the last reported error; MODSER_OK: none. */
modser_err msd_report_last(void);
/** Do not print later errors; keep only the last one. */
void msd_report_hold(void);
/** Print the kept error if @is_wanted, and end the effect of msd_report_hold(). */
void msd_report_release(bool is_wanted);
/** Report and return MSD_EXIT_USAGE. @hint may be NULL: the default hint. */
enum msd_exit msd_report_usage(const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum msd_exit msd_report_no_memory(void); /* the same */
/** Report an unknown verb @word and return MSD_EXIT_USAGE. */
enum msd_exit msd_report_verb(const char *word);
/** If @name is not a valid module name, report it and return MSD_EXIT_USAGE. */
enum msd_exit msd_report_name(const char *name);
/** Report the error in @d with @hint and return @code. */
enum msd_exit msd_report_diag(enum msd_exit code, const char *hint,
			      const struct msd_diag *d);
/** Report a failure to unpack or pack a library, and return the exit code. */
enum msd_exit msd_report_pack(const struct msd_diag *d);
/** Report a failure to read, use or write a file, and return the exit code. */
enum msd_exit msd_report_file(const struct msd_diag *d);
/** Append the printed form of @e. */
void msd_report_put(struct msd_buf *out, const modser_error *e);
/** Report a daemon's error and return its exit code. */
enum msd_exit msd_report_error(const modser_error *e);
/** The same for @result of a request on @client, whose connection may be lost. */
enum msd_exit msd_report_result(const modser_client *client,
				const modser_result *result);
/**
 * The same for a module that failed to load: a rejected file has one exit code,
 * whether the client, the daemon or the worker rejected it.
 */
enum msd_exit msd_report_refusal(const modser_client *client,
				 const modser_result *result);
/** Flush standard output; report a failed write. */
enum msd_exit msd_report_stdout(enum msd_exit code);

#endif
