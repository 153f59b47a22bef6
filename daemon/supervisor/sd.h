#ifndef MSD_SUPERVISOR_SD_H
#define MSD_SUPERVISOR_SD_H
/*
 * The protocol of the service manager, without libsystemd: sd_notify(3) over the
 * socket in $NOTIFY_SOCKET, and sd_listen_fds(3) and sd_watchdog_enabled(3) by their
 * variables. It also uses the manager's descriptor store, which survives a restart.
 * Without a service manager all functions do nothing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "proto/base/bytes.h"

#define MSD_SD_MOST_LISTEN 64u

struct msd_sd {
	int fd; /* socket for messages */
	struct sockaddr_un address;
	socklen_t address_bytes; /* 0: no service manager */
	uint64_t watchdog_ms;    /* interval of the watchdog message; 0: never */
	uint32_t n_listen;
	int listen[MSD_SD_MOST_LISTEN]; /* listening sockets that were passed */
	/* private */
	const char *names; /* names of all passed descriptors, as in the variable */
	uint32_t n_handed;
};

/* Position in the list of passed descriptors. */
struct msd_sd_cursor {
	uint32_t n;
	const char *names;
};

/**
 * Read the environment and remove its variables, because child processes are not the
 * service. Passed sockets are set to close on exec.
 */
void msd_sd_init(struct msd_sd *sd);
void msd_sd_finish(struct msd_sd *sd);
/** Send lines such as READY=1 and STATUS=...; never blocks, a message may be lost. */
void msd_sd_notify(const struct msd_sd *sd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/**
 * Ask the manager to keep the @n descriptors at @fds under @name; they stay the
 * caller's. Returns false if the message was not sent. A full store is not reported.
 */
MSD_MUST_CHECK bool msd_sd_store(const struct msd_sd *sd, const char *name,
				 const int *fds, unsigned n);
/** Ask the manager to drop the descriptors with the name @name. */
void msd_sd_unstore(const struct msd_sd *sd, struct msd_span name);
/**
 * The next descriptor that the manager kept and passed; *at is zero for the first
 * call. The caller owns it. Returns false after the last one.
 */
bool msd_sd_next_stored(const struct msd_sd *sd, struct msd_sd_cursor *at,
			struct msd_span *ret_name, int *ret_fd);
/** Send RELOADING=1 in the form that the manager requires. READY=1 ends the reload. */
void msd_sd_notify_reloading(const struct msd_sd *sd);

#endif
