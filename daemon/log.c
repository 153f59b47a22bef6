#include "daemon/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum msd_log_level threshold = MSD_LOG_INFO;
static bool under_journal;

static const struct {
	const char *name;
	char priority; /* syslog's, for the journal */
} levels[] = {{"error", '3'}, {"warn", '4'}, {"info", '6'}, {"debug", '7'}};

void msd_log_init(void)
{
	const char *wanted = getenv("MODSERD_LOG");

	under_journal = getenv("JOURNAL_STREAM") != NULL;
	for (unsigned i = 0; wanted != NULL && i < sizeof(levels) / sizeof(levels[0]);
	     i++) {
		if (strcmp(wanted, levels[i].name) == 0)
			threshold = (enum msd_log_level)i;
	}
}

/* Replace what would break a line or a terminal. */
static size_t escape(const char *in, char *out, size_t cap)
{
	size_t n = 0;

	for (; *in != '\0' && n + 5 < cap; in++) {
		unsigned char ch = (unsigned char)*in;
		if (ch >= 0x20 && ch != 0x7f) {
			out[n++] = (char)ch;
		} else {
			n += (size_t)snprintf(out + n, 5, "\\x%02x", ch);
		}
	}
	return n;
}

void msd_log(enum msd_log_level level, const char *event, const char *fmt, ...)
{
	char text[1024];
	char line[2200];
	va_list ap;
	int n;

	if (level > threshold)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (under_journal) {
		n = snprintf(line, 128, "<%c>event=%s ", levels[level].priority, event);
	} else {
		n = snprintf(line, 128, "modserd: %s event=%s ", levels[level].name,
			     event);
	}
	size_t len = (size_t)n + escape(text, line + n, sizeof(line) - (size_t)n - 1);
	line[len++] = '\n';
	/* One write, one line; nothing sensible is left to do when it fails. */
	ssize_t ignored = write(STDERR_FILENO, line, len);
	(void)ignored;
}
