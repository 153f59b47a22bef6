#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"

#define PATIENCE_MS 120000
#define PADDING                                                                        \
	"............................................................................" \
	"...."
#define N_LINES 2000u /* more than the pipe and the log's own buffer hold */

/* Standard error becomes a pipe that holds one page; returns what reads it. */
static int small_stderr(void)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_gt(fcntl(ends[1], F_SETPIPE_SZ, 4096), 0);
	cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	return ends[0];
}

/* What has come by the time that @end stands in it. */
static void read_until(int fd, const char *end, char *ret, size_t cap)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t n = 0;

	ret[0] = '\0';
	while (strstr(ret, end) == NULL) {
		cr_assert_eq(poll(&p, 1, PATIENCE_MS), 1, "no more comes");
		ssize_t got = read(fd, ret + n, cap - n - 1);
		cr_assert_gt(got, 0);
		n += (size_t)got;
		ret[n] = '\0';
	}
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
		n++;
	return n;
}

Test(log, writes_one_escaped_line)
{
	char text[512];
	int fd = small_stderr();

	msd_log(MSD_LOG_WARN, "event", "name=%s", "a\nb");
	read_until(fd, "\n", text, sizeof(text));
	const char *end = strchr(text, ' '); /* of the time */
	cr_assert_not_null(end);
	cr_expect_str_eq(end + 1, "modserd: warn event=event name=a\\x0ab\n");
	close(fd);
}

Test(log, escapes_what_a_terminal_obeys)
{
	char text[512];
	int fd = small_stderr();

	msd_log(MSD_LOG_WARN, "event", "name=%s",
		"\xc3\xa9\xc2\x9b\xe2\x80\xae\xe2\x81\xa9\xff.");
	read_until(fd, "\n", text, sizeof(text));
	cr_expect_not_null(strstr(text, "name=\xc3\xa9\\xc2\\x9b\\xe2\\x80\\xae"
					"\\xe2\\x81\\xa9\\xff.\n"),
			   "%s", text);
	close(fd);
}

Test(log, begins_a_line_with_the_time)
{
	char text[512];
	struct tm t = {0};
	int fd = small_stderr();
	const time_t before = time(NULL);

	msd_log(MSD_LOG_WARN, "event", "n=1");
	read_until(fd, "\n", text, sizeof(text));
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S.", &t);
	cr_assert_not_null(rest, "%s", text);
	cr_expect_eq(strspn(rest, "0123456789"), 3, "milliseconds");
	cr_expect_eq(strncmp(rest + 3, "Z modserd: ", 11), 0, "%s", text);
	cr_expect_geq(timegm(&t), before);
	cr_expect_leq(timegm(&t), time(NULL));
	close(fd);
}

Test(log, refuses_a_level_that_there_is_not)
{
	struct msd_diag d = {0};

	cr_assert_eq(setenv("MODSERD_LOG", "loud", 1), 0);
	cr_assert_eq(msd_log_init(&d), MSD_BAD_REQUEST);
	cr_expect_not_null(strstr(msd_diag_text(&d), "MODSERD_LOG=loud"));
	cr_expect_not_null(strstr(msd_diag_text(&d), "warn"));
	cr_assert_eq(setenv("MODSERD_LOG", "error", 1), 0);
	cr_expect_eq(msd_log_init(NULL), MSD_OK);
	msd_diag_finish(&d);
}

/* The sum of all that a log_lost line says. */
static unsigned lost_lines(const char *text)
{
	const char *const word = "log_lost lines=";
	unsigned sum = 0;

	for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
		sum += (unsigned)strtoul(at + strlen(word), NULL, 10);
	return sum;
}

/* Of the first such line that has come whole; -1: none has. */
static long number_of_last(const char *text)
{
	const char *const word = "event=last n=";
	const char *at = strstr(text, word);

	if (at == NULL || strchr(at, '\n') == NULL)
		return -1;
	return strtol(at + strlen(word), NULL, 10);
}

Test(log, goes_on_and_counts_what_is_lost_while_nobody_reads, .timeout = 120)
{
	static char text[1u << 20];
	size_t n = 0;
	int fd = small_stderr();

	for (unsigned i = 0; i < N_LINES; i++)
		msd_log(MSD_LOG_WARN, "event", "padding=%s %u", PADDING, i);
	/* Lost, too, while it is full. */
	for (unsigned i = 0; number_of_last(text) < 0; i++) {
		msd_log(MSD_LOG_WARN, "last", "n=%u", i);
		read_until(fd, "\n", text + n, sizeof(text) - n);
		n += strlen(text + n);
	}
	cr_expect_gt(lost_lines(text), 0);
	cr_expect_eq(count(text, "padding=") + lost_lines(text),
		     N_LINES + (unsigned)number_of_last(text));
	close(fd);
}

Test(log, the_end_waits_for_what_is_unwritten)
{
	char text[512];
	int fd = small_stderr();

	msd_log(MSD_LOG_WARN, "event", "n=1");
	msd_log_finish();
	cr_assert_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	ssize_t n = read(fd, text, sizeof(text));
	cr_expect_gt(n, 0, "it is written by now");
	close(fd);
}

Test(log, a_text_in_quotes_ends_where_it_ends)
{
	char text[512];
	int fd = small_stderr();

	msd_log(MSD_LOG_WARN, "event", "n=%u a=\"%s\" b=%s c=\"%.*s\" d=%d e=%llu", 7u,
		"x\" b=\"\\", "\"", 2, "\"yz", -1, 18446744073709551615ull);
	read_until(fd, "\n", text, sizeof(text));
	cr_expect_not_null(strstr(text, "n=7 a=\"x\\\" b=\\\"\\\\\" b=\" c=\"\\\"y\" "
					"d=-1 e=18446744073709551615\n"),
			   "%s", text);
	close(fd);
}
