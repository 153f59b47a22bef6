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

/*
 * Happy path: environment variables give the address for messages and the descriptors
 * that were passed: listening sockets, and descriptors kept for an earlier daemon,
 * distinguished by name. Failures: if the variables are for another process or not
 * valid, there is no service manager. A message is lost if the manager's socket
 * buffer is full.
 */

#define FIRST_FD 3
#define MOST_STORED 4096u
/* Prefix of the names of kept descriptors; listening sockets have other names. */
#define STORED "modserd-"
#define MOST_AT_ONCE 16u

static const char *const variables[] = {"NOTIFY_SOCKET", "LISTEN_PID",
					"LISTEN_FDS",    "LISTEN_FDNAMES",
					"WATCHDOG_PID",  "WATCHDOG_USEC"};

/* The number in a variable; 0 if it is not a number. */
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

/* A path, or '@' and an abstract socket name. */
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

/* The next descriptor that was passed, and its name from the list separated by ':'.
 * The name is empty if it has no name. */
static int next_handed(const struct msd_sd *sd, struct msd_sd_cursor *at,
		       struct msd_span *ret_name)
{
	if (at->n == 0)
		at->names = sd->names != NULL ? sd->names : "";
	const size_t bytes = strcspn(at->names, ":");

	*ret_name = (struct msd_span){(const uint8_t *)at->names, bytes};
	at->names += bytes + (at->names[bytes] == ':');
	return FIRST_FD + (int)at->n++;
}

static bool is_stored(struct msd_span name)
{
	return name.n >= strlen(STORED) && memcmp(name.p, STORED, strlen(STORED)) == 0;
}

static void take_handed(struct msd_sd *sd)
{
	const uint64_t n = number_of("LISTEN_FDS");
	struct msd_sd_cursor at = {0};
	struct msd_span name;

	if (secure_getenv("LISTEN_PID") == NULL || !is_for_us("LISTEN_PID") ||
	    n > MSD_SD_MOST_LISTEN + MOST_STORED)
		return;
	sd->n_handed = (uint32_t)n;
	sd->names = secure_getenv("LISTEN_FDNAMES"); /* the string stays valid */
	while (at.n < sd->n_handed) {
		const int fd = next_handed(sd, &at, &name);

		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		if (!is_stored(name) && sd->n_listen < MSD_SD_MOST_LISTEN)
			sd->listen[sd->n_listen++] = fd;
	}
}

bool msd_sd_next_stored(const struct msd_sd *sd, struct msd_sd_cursor *at,
			struct msd_span *ret_name, int *ret_fd)
{
	while (at->n < sd->n_handed) {
		*ret_fd = next_handed(sd, at, ret_name);
		if (is_stored(*ret_name))
			return true;
	}
	return false;
}

void msd_sd_init(struct msd_sd *sd)
{
	*sd = (struct msd_sd){0};
	take_handed(sd);
	read_address(secure_getenv("NOTIFY_SOCKET"), sd);
	if (sd->address_bytes > 0 && is_for_us("WATCHDOG_PID")) {
		/* Half of the manager's timeout. */
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

/* Send with descriptors; never blocks. */
static bool send_with(const struct msd_sd *sd, const char *text, size_t bytes,
		      const int *fds, unsigned n)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t)text, .iov_len = bytes};
	union {
		char room[CMSG_SPACE(MOST_AT_ONCE * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct msghdr m = {.msg_name = (void *)(uintptr_t)&sd->address,
			   .msg_namelen = sd->address_bytes,
			   .msg_iov = &piece,
			   .msg_iovlen = 1};

	if (n > 0) {
		m.msg_control = control.room;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	return sendmsg(sd->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

bool msd_sd_store(const struct msd_sd *sd, const char *name, const int *fds, unsigned n)
{
	char text[300];

	if (sd->address_bytes == 0 || n > MOST_AT_ONCE)
		return false;
	const int bytes = snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", name);
	return bytes > 0 && (size_t)bytes < sizeof(text) &&
	       send_with(sd, text, (size_t)bytes, fds, n);
}

void msd_sd_unstore(const struct msd_sd *sd, struct msd_span name)
{
	msd_sd_notify(sd, "FDSTOREREMOVE=1\nFDNAME=%.*s", (int)name.n,
		      (const char *)name.p);
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
	(void)send_with(sd, text,
			(size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1, NULL,
			0);
}

void msd_sd_notify_reloading(const struct msd_sd *sd)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	msd_sd_notify(sd, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		      (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
}
