#include "daemon/supervisor/sd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_LISTEN 64u

static const char *const variables[] = {"NOTIFY_SOCKET", "LISTEN_PID",
					"LISTEN_FDS",    "LISTEN_FDNAMES",
					"WATCHDOG_PID",  "WATCHDOG_USEC"};

/* A number that a variable holds; 0 when it holds none. */
static uint64_t number_of(const char *variable)
{
	const char *text = secure_getenv(variable);
	char *end;

	if (text == NULL || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	uint64_t v = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' ? v : 0;
}

static bool is_for_us(const char *variable)
{
	return secure_getenv(variable) == NULL ||
	       number_of(variable) == (uint64_t)getpid();
}

/* A path, or '@' and a name that is in no file system. */
static void read_address(const char *text, struct msd_sd *sd)
{
	const size_t n = text != NULL ? strlen(text) : 0;

	if (n < 2 || n >= sizeof(sd->address.sun_path) ||
	    (*text != '/' && *text != '@'))
		return;
	sd->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sd->fd < 0)
		return;
	sd->address.sun_family = AF_UNIX;
	memcpy(sd->address.sun_path, text, n);
	if (*text == '@')
		sd->address.sun_path[0] = '\0';
	sd->address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}

static void take_sockets(struct msd_sd *sd)
{
	const uint64_t n = number_of("LISTEN_FDS");

	if (secure_getenv("LISTEN_PID") == NULL || !is_for_us("LISTEN_PID") ||
	    n > MAX_LISTEN)
		return;
	sd->n_listen = (uint32_t)n;
	for (int fd = MSD_SD_FIRST_FD; fd < MSD_SD_FIRST_FD + (int)n; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void msd_sd_init(struct msd_sd *sd)
{
	*sd = (struct msd_sd){0};
	take_sockets(sd);
	read_address(secure_getenv("NOTIFY_SOCKET"), sd);
	if (sd->address_bytes > 0 && is_for_us("WATCHDOG_PID")) {
		/* Half of what it waits. */
		const uint64_t us = number_of("WATCHDOG_USEC");

		sd->watchdog_ms = us == 0 ? 0 : us < 2000 ? 1 : us / 2000;
	}
	for (unsigned i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		(void)unsetenv(variables[i]);
}

void msd_sd_finish(struct msd_sd *sd)
{
	if (sd->address_bytes > 0)
		(void)close(sd->fd);
	sd->address_bytes = 0;
}

void msd_sd_notify(const struct msd_sd *sd, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (sd->address_bytes == 0)
		return;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n <= 0)
		return;
	(void)sendto(sd->fd, text,
		     (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1,
		     MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&sd->address,
		     sd->address_bytes);
}

void msd_sd_notify_reloading(const struct msd_sd *sd)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	msd_sd_notify(sd, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		      (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
}
