/*
 * Every error ends in report(): two lines on stderr, or one JSON object. The other
 * functions find the texts and the exit code: for a diag, a result, an unreadable
 * file, an unknown verb.
 */
#include "client/cli/verbs/report.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "artifact/json.h"
#include "client/cli/values/print.h"
#include "proto/base/spelling.h"
#include "proto/name.h"

#define GENERAL_HINT "see `modser help` or modser(1)"
#define BAD_FILE_HINT                                                                  \
	"docs/reference/models.md lists the supported files; export or copy the file " \
	"again; in "                                                                   \
	"your own manifest or source, correct what the text names"

static bool as_json;
static bool is_holding;
static modser_err last;
static struct msd_buf held;

void msd_report_as_json(void)
{
	as_json = true;
}

bool msd_report_is_json(void)
{
	return as_json;
}

static void write_buf(struct msd_buf *out)
{
	/* A failed write to stderr cannot be reported. */
	(void)fwrite(out->p, 1, out->n, stderr);
	msd_buf_finish(out);
}

void msd_report_hold(void)
{
	is_holding = true;
}

void msd_report_release(bool is_wanted)
{
	is_holding = false;
	if (is_wanted) {
		write_buf(&held);
	} else {
		msd_buf_finish(&held);
	}
}

/* Append a text of several lines as one line. */
static void put_folded(struct msd_buf *out, const char *text)
{
	for (;;) {
		const size_t n = strcspn(text, "\n");

		msd_print_line(out, text, n);
		text += n;
		text += strspn(text, "\n ");
		if (*text == '\0')
			return;
		msd_buf_put_u8(out, ' ');
	}
}

static void put(struct msd_buf *out, const char *name, const char *message,
		const char *hint)
{
	if (as_json) {
		msd_json_put(out,
			     json_pack("{s:{s:o,s:o,s:o}}", "error", "name",
				       msd_json_string(name), "message",
				       msd_json_string(message), "hint",
				       msd_json_string(hint)),
			     0);
		msd_buf_put_u8(out, '\n');
	} else {
		msd_buf_printf(out, "modser: ");
		put_folded(out, message);
		msd_buf_printf(out, " [");
		msd_print_line(out, name, strlen(name)); /* a worker may have set it */
		msd_buf_printf(out, "]\n  to do: ");
		msd_print_line(out, hint, strlen(hint));
		msd_buf_printf(out, "\n");
	}
}

void msd_report_put(struct msd_buf *out, const modser_error *e)
{
	put(out, e->name, e->message, e->hint);
}

static void report(const char *name, const char *message, const char *hint)
{
	struct msd_buf out = {0};

	put(&out, name, message, hint);
	if (is_holding) {
		msd_buf_finish(&held);
		held = out;
	} else {
		write_buf(&out);
	}
}

enum msd_exit msd_report_usage(const char *hint, const char *fmt, ...)
{
	char line[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	report("USAGE", line, hint != NULL ? hint : GENERAL_HINT);
	return MSD_EXIT_USAGE;
}

enum msd_exit msd_report_no_memory(void)
{
	return msd_report_usage("free memory", "out of memory");
}

/* Commands of docker, Ollama or Triton, and their equivalents here. */
static const struct {
	const char *other, *verb;
} elsewhere[] = {{"run", "call"},      {"exec", "call"},   {"infer", "call"},
		 {"predict", "call"},  {"start", "load"},  {"create", "load"},
		 {"stop", "unload"},   {"kill", "unload"}, {"remove", "unload"},
		 {"delete", "unload"}, {"status", "ls"},   {"models", "ls"},
		 {"describe", "show"}, {"images", "store"}};

/* Find the verb for @word, which may be another program's command or mistyped. */
static void look_for_verb(struct msd_spelling *near, const char *word)
{
	msd_spelling_start(near, msd_span_of(word));
	for (const struct msd_verb *v = msd_verbs; v->name != NULL; v++)
		msd_spelling_look(near, msd_span_of(v->name));
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		if (strcmp(elsewhere[i].other, word) == 0)
			near->best = msd_span_of(elsewhere[i].verb);
	}
}

enum msd_exit msd_report_verb(const char *word)
{
	struct msd_spelling near;
	struct msd_buf hint = {0};

	look_for_verb(&near, word);
	msd_buf_printf(&hint, "use one of");
	for (const struct msd_verb *v = msd_verbs; v->name != NULL; v++)
		msd_buf_printf(&hint, " %s", v->name);
	msd_buf_put_u8(&hint, 0);
	enum msd_exit code = msd_report_usage(
		hint.bad ? NULL : (const char *)hint.p, "unknown verb \"%s\"%s%.*s%s",
		word, near.best.n > 0 ? "; did you mean " : "", (int)near.best.n,
		near.best.n > 0 ? (const char *)near.best.p : "",
		near.best.n > 0 ? "?" : "");
	msd_buf_finish(&hint);
	return code;
}

enum msd_exit msd_report_name(const char *name)
{
	if (msd_name_valid(msd_span_of(name)))
		return MSD_EXIT_OK;
	return msd_report_usage("a name is [A-Za-z0-9][A-Za-z0-9._-]{0,63}",
				"\"%s\" is not a valid module name", name);
}

enum msd_exit msd_report_diag(enum msd_exit code, const char *hint,
			      const struct msd_diag *d)
{
	report(code == MSD_EXIT_USAGE ? "USAGE" : msd_err_name(d->code),
	       msd_diag_text(d), hint != NULL ? hint : GENERAL_HINT);
	return code;
}

static enum msd_exit exit_of(modser_err code)
{
	switch ((int)code) {
	case MODSER_OK:
		return MSD_EXIT_OK;
	case MODSER_NOT_FOUND:
		return MSD_EXIT_NOT_FOUND;
	case MODSER_NOT_READY:
	case MODSER_QUARANTINED:
	case MODSER_DRAINING:
		return MSD_EXIT_NOT_READY;
	case MODSER_DEADLINE:
		return MSD_EXIT_DEADLINE;
	case MODSER_REFUSED:
		return MSD_EXIT_REFUSED;
	case MODSER_NOT_VERIFIED:
		return MSD_EXIT_NOT_VERIFIED;
	default:
		return MSD_EXIT_REMOTE;
	}
}

modser_err msd_report_last(void)
{
	return last;
}

enum msd_exit msd_report_error(const modser_error *e)
{
	last = e->code;
	report(e->name, e->message, e->hint);
	return exit_of(e->code);
}

enum msd_exit msd_report_result(const modser_client *client,
				const modser_result *result)
{
	enum msd_exit code = msd_report_error(modser_result_error(result));

	return modser_fd(client) < 0 ? MSD_EXIT_CONNECT : code;
}

enum msd_exit msd_report_refusal(const modser_client *client,
				 const modser_result *result)
{
	const enum msd_exit code = msd_report_result(client, result);
	const int is = modser_result_error(result)->code;

	return is == MSD_UNSUPPORTED || is == MSD_BAD_ARTIFACT || is == MSD_CALL_FAILED
		       ? MSD_EXIT_BAD_FILE
		       : code;
}

/* True if standard output is a pipe whose reader has left, as with `| head`. */
static bool has_left_reader(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

enum msd_exit msd_report_stdout(enum msd_exit code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	if (has_left_reader()) { /* end quietly, as programs do that keep the signal */
		(void)signal(SIGPIPE, SIG_DFL);
		(void)raise(SIGPIPE);
	}
	return msd_report_usage("check where the output goes", "standard output: %s",
				strerror(errno));
}

enum msd_exit msd_report_pack(const struct msd_diag *d)
{
	switch ((int)d->code) {
	case MSD_NOT_FOUND:
		return msd_report_diag(MSD_EXIT_NOT_FOUND, "check the file's name", d);
	case MSD_UNSUPPORTED:
		return msd_report_diag(MSD_EXIT_BAD_FILE,
				       "see docs/how-to/pack.md for what can be packed",
				       d);
	case MSD_CALL_FAILED:
		return msd_report_diag(MSD_EXIT_REMOTE,
				       "free memory, or choose another compiler with "
				       "--cc",
				       d);
	case MSD_BAD_ARTIFACT:
		return msd_report_diag(MSD_EXIT_BAD_FILE, BAD_FILE_HINT, d);
	case MSD_REFUSED:
		return msd_report_diag(MSD_EXIT_REFUSED,
				       "put what it needs into the manifest's folder",
				       d);
	case MSD_IO:
		return msd_report_diag(MSD_EXIT_USAGE,
				       "check that it is a file in a writable folder",
				       d);
	default:
		return msd_report_diag(
			MSD_EXIT_USAGE,
			"correct what the text names; see docs/how-to/pack.md", d);
	}
}

enum msd_exit msd_report_file(const struct msd_diag *d)
{
	switch ((int)d->code) {
	case MSD_NOT_FOUND:
		return msd_report_diag(MSD_EXIT_NOT_FOUND, "check the file's name", d);
	case MSD_UNSUPPORTED:
		return msd_report_diag(MSD_EXIT_BAD_FILE,
				       "follow the text; docs/reference/models.md "
				       "lists the supported files, "
				       "docs/reference/static-graph.md the models of "
				       "frameworks; --plugin FILE "
				       "adds formats",
				       d);
	case MSD_CALL_FAILED:
		return msd_report_diag(MSD_EXIT_REMOTE,
				       "free memory, or name another compiler in CC",
				       d);
	case MSD_BAD_ARTIFACT:
		return msd_report_diag(MSD_EXIT_BAD_FILE, BAD_FILE_HINT, d);
	default:
		return msd_report_diag(MSD_EXIT_USAGE, "check the file", d);
	}
}
