#include "daemon/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/journal.h"
#include "proto/base/bytes.h"
#include "proto/base/utf8.h"

/*
 * Happy path: a line goes into a buffer, a thread writes it, and the caller waits for
 * that, PATIENCE_MS at most. So a line is usually written before its event becomes
 * visible, and a crash loses no line. Failures: if standard error takes nothing for
 * PATIENCE_MS, callers stop waiting until all is written. If the buffer is full,
 * lines are dropped and counted.
 */

#define BUFFER_BYTES (64u * 1024u)
#define LINE_BYTES 2200
#define PATIENCE_MS 5
#define END_PATIENCE_MS 5000

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled, written;
	char bytes[BUFFER_BYTES];
	size_t n;                 /* in bytes[], not yet written */
	unsigned long long n_put; /* lines put into the buffer, and lines written */
	unsigned long long n_out;
	unsigned long n_lost; /* since the last log_lost line */
	bool has_writer, is_stalled;
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .filled = PTHREAD_COND_INITIALIZER,
	    .written = PTHREAD_COND_INITIALIZER};

static enum msd_log_level threshold = MSD_LOG_INFO;
static bool under_journal; /* lines begin with <N> */
static bool has_journal;   /* lines are also sent as journal entries */

static const struct {
	const char *name;
	char priority; /* syslog priority, for the journal */
} levels[] = {{"error", '3'}, {"warn", '4'}, {"info", '6'}, {"debug", '7'}};

msd_err msd_log_init(struct msd_diag *d)
{
	const char *wanted = getenv("MODSERD_LOG");
	const unsigned n = sizeof(levels) / sizeof(levels[0]);
	unsigned i = 0;

	under_journal = getenv("JOURNAL_STREAM") != NULL;
	has_journal = msd_journal_is_there();
	if (wanted == NULL || wanted[0] == '\0')
		return MSD_OK;
	while (i < n && strcmp(wanted, levels[i].name) != 0)
		i++;
	if (i == n) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "MODSERD_LOG=%s: expected error, warn, info or "
				    "debug",
				    wanted);
	}
	threshold = (enum msd_log_level)i;
	return MSD_OK;
}

/* Escape characters that would break a line or a terminal. */
static size_t escape(const char *in, char *out, size_t cap)
{
	struct msd_span s = msd_span_of(in);
	size_t n = 0;

	while (s.n > 0 && n + 5 < cap) {
		size_t run = msd_utf8_shown(s);

		if (run > cap - n - 5)
			run = msd_utf8_prefix((struct msd_span){s.p, cap - n - 5});
		memcpy(out + n, s.p, run);
		n += run;
		if (run == s.n)
			break;
		n += (size_t)snprintf(out + n, 5, "\\x%02x", s.p[run]);
		s.p += run + 1;
		s.n -= run + 1;
	}
	return n;
}

/* Append a text; between quotes it gets a backslash before quotes and backslashes. */
static size_t put_text(char *out, size_t cap, const char *text, size_t bytes,
		       bool is_quoted)
{
	size_t n = 0;

	for (; bytes > 0 && *text != '\0' && n + 3 <= cap; bytes--, text++) {
		if (is_quoted && (*text == '"' || *text == '\\'))
			out[n++] = '\\';
		out[n++] = *text;
	}
	return n;
}

/*
 * As vsnprintf() with %s, %.*s, %d, %u and %llu, but a text between the quotes of @fmt
 * is escaped: it can neither end its value nor begin another key.
 */
static void format(char *out, size_t cap, const char *fmt, va_list ap)
{
	bool is_quoted = false;
	size_t n = 0;

	while (*fmt != '\0' && n + 1 < cap) {
		const size_t left = cap - n;

		if (*fmt != '%') {
			if (*fmt == '"')
				is_quoted = !is_quoted;
			out[n++] = *fmt++;
		} else if (strncmp(fmt, "%s", 2) == 0) {
			n += put_text(out + n, left, va_arg(ap, const char *), SIZE_MAX,
				      is_quoted);
			fmt += 2;
		} else if (strncmp(fmt, "%.*s", 4) == 0) {
			const int bytes = va_arg(ap, int);

			n += put_text(out + n, left, va_arg(ap, const char *),
				      (size_t)bytes, is_quoted);
			fmt += 4;
		} else if (strncmp(fmt, "%llu", 4) == 0) {
			(void)snprintf(out + n, left, "%llu",
				       va_arg(ap, unsigned long long));
			n += strlen(out + n);
			fmt += 4;
		} else {
			const int value = va_arg(ap, int);

			(void)snprintf(out + n, left, fmt[1] == 'u' ? "%u" : "%d",
				       value);
			n += strlen(out + n);
			fmt += 2;
		}
	}
	out[n] = '\0';
}

/* RFC 3339 format. */
static void put_time(char ret[32])
{
	struct timespec now;
	struct tm utc;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &utc) == NULL ||
	    strftime(ret, 32, "%Y-%m-%dT%H:%M:%S", &utc) == 0) {
		ret[0] = '\0';
		return;
	}
	const unsigned ms = (unsigned)(now.tv_nsec / 1000000) % 1000u;
	(void)snprintf(ret + strlen(ret), 8, ".%03uZ", ms);
}

/* Format the start of the line; returns its length. */
static size_t begin_line(char line[LINE_BYTES], enum msd_log_level level,
			 const char *event)
{
	int n;

	if (under_journal) {
		n = snprintf(line, LINE_BYTES, "<%c>event=%.80s ",
			     levels[level].priority, event);
	} else {
		char now[32];

		put_time(now);
		n = snprintf(line, LINE_BYTES, "%s modserd: %s event=%.80s ", now,
			     levels[level].name, event);
	}
	return (size_t)n;
}

/* Also wait for a descriptor that another process made non-blocking. */
static void write_out(const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t put = write(STDERR_FILENO, bytes, n);

		if (put > 0) {
			bytes += put;
			n -= (size_t)put;
		} else if (put < 0 && errno == EAGAIN) {
			struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

			(void)poll(&p, 1, -1);
		} else if (put == 0 || errno != EINTR) {
			return; /* no recovery is possible */
		}
	}
}

/* If the journal refuses the entries, write the lines to standard error. */
static void write_lines(const char *bytes, size_t n)
{
	while (has_journal && n > 0) {
		const char *end = memchr(bytes, '\n', n);
		const size_t line = end != NULL ? (size_t)(end - bytes) : n;

		if (!msd_journal_send(bytes, line))
			break;
		n -= end != NULL ? line + 1 : line;
		bytes += end != NULL ? line + 1 : line;
	}
	write_out(bytes, n);
}

static void *write_all(void *unused)
{
	static char bytes[BUFFER_BYTES];

	(void)unused;
	(void)pthread_mutex_lock(&buffer.lock);
	for (;;) {
		while (buffer.n == 0)
			(void)pthread_cond_wait(&buffer.filled, &buffer.lock);
		const size_t n = buffer.n;
		const unsigned long long n_put = buffer.n_put;

		memcpy(bytes, buffer.bytes, n);
		buffer.n = 0;
		(void)pthread_mutex_unlock(&buffer.lock);
		write_lines(bytes, n);
		(void)pthread_mutex_lock(&buffer.lock);
		buffer.n_out = n_put;
		if (buffer.n == 0)
			buffer.is_stalled = false;
		(void)pthread_cond_broadcast(&buffer.written);
	}
	return NULL;
}

/* Lock held. Returns 0, or an errno: then the caller writes itself. */
static int have_writer(void)
{
	pthread_t thread;
	int error;

	if (buffer.has_writer)
		return 0;
	error = pthread_create(&thread, NULL, write_all, NULL);
	if (error == 0)
		(void)pthread_detach(thread);
	buffer.has_writer = error == 0;
	return error;
}

int msd_log_open(void)
{
	(void)pthread_mutex_lock(&buffer.lock);
	const int error = have_writer();

	(void)pthread_mutex_unlock(&buffer.lock);
	return error;
}

/* Lock held: wait until all buffered lines are written. */
static void wait_written(unsigned patience_ms)
{
	const unsigned long long mine = buffer.n_put;
	struct timespec end;
	int rc = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (long)(patience_ms % 1000) * 1000000;
	end.tv_sec += patience_ms / 1000 + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (buffer.n_out < mine && rc == 0) {
		rc = pthread_cond_clockwait(&buffer.written, &buffer.lock,
					    CLOCK_MONOTONIC, &end);
	}
	if (buffer.n_out < mine)
		buffer.is_stalled = true;
}

/* Lock held. False if the buffer is full. */
static bool put_line(const char *line, size_t n)
{
	if (n > BUFFER_BYTES - buffer.n)
		return false;
	memcpy(buffer.bytes + buffer.n, line, n);
	buffer.n += n;
	buffer.n_put++;
	(void)pthread_cond_signal(&buffer.filled);
	return true;
}

/* Lock held: report the number of dropped lines, once there is room. */
static void put_lost(void)
{
	char line[LINE_BYTES];
	size_t n = begin_line(line, MSD_LOG_WARN, "log_lost");

	n += (size_t)snprintf(line + n, sizeof(line) - n, "lines=%lu\n", buffer.n_lost);
	if (put_line(line, n))
		buffer.n_lost = 0;
}

static void put(const char *line, size_t n)
{
	(void)pthread_mutex_lock(&buffer.lock);
	if (have_writer() != 0) {
		write_lines(line, n);
	} else {
		if (buffer.n_lost > 0)
			put_lost();
		if (buffer.n_lost > 0 || !put_line(line, n)) {
			buffer.n_lost++;
		} else if (!buffer.is_stalled) {
			wait_written(PATIENCE_MS);
		}
	}
	(void)pthread_mutex_unlock(&buffer.lock);
}

void msd_log(enum msd_log_level level, const char *event, const char *fmt, ...)
{
	char text[1024];
	char line[LINE_BYTES];
	va_list ap;

	if (level > threshold)
		return;
	va_start(ap, fmt);
	format(text, sizeof(text), fmt, ap);
	va_end(ap);
	size_t n = begin_line(line, level, event);
	n += escape(text, line + n, sizeof(line) - n - 1);
	line[n++] = '\n';
	put(line, n);
}

void msd_log_finish(void)
{
	(void)pthread_mutex_lock(&buffer.lock);
	if (buffer.n_lost > 0)
		put_lost();
	wait_written(END_PATIENCE_MS);
	(void)pthread_mutex_unlock(&buffer.lock);
}
