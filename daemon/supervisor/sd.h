#ifndef MSD_SUPERVISOR_SD_H
#define MSD_SUPERVISOR_SD_H
/*
 * The service manager, spoken to without a library of its: sd_notify(3) over the socket
 * that $NOTIFY_SOCKET names, sd_listen_fds(3) and sd_watchdog_enabled(3) by their
 * variables, and its store of descriptors, which it keeps over a restart. Where nobody
 * manages the daemon, all of it does nothing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "proto/bytes.h"

#define MSD_SD_MOST_LISTEN 64u

struct msd_sd {
	int fd; /* messages leave here */
	struct sockaddr_un address;
	socklen_t address_bytes; /* 0: nobody wants any */
	uint64_t watchdog_ms;    /* how often to say that the loop runs; 0: never */
	uint32_t n_listen;
	int listen[MSD_SD_MOST_LISTEN]; /* sockets that are handed over */
	/* private */
	const char *names; /* of all that is handed over, as the variable has them */
	uint32_t n_handed;
};

/* How far somebody has got through what is handed over. */
struct msd_sd_cursor {
	uint32_t n;
	const char *names;
};

/** Read the environment and take its variables away: what is started by the daemon is
 * not the service. Sockets that are handed over are closed by exec. */
void msd_sd_init(struct msd_sd *sd);
void msd_sd_finish(struct msd_sd *sd);
/** Send lines such as READY=1 and STATUS=...; never blocks, a message may be lost. */
void msd_sd_notify(const struct msd_sd *sd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Have it keep the @n descriptors at @fds, which stay the caller's, under @name.
 * False: it was not told. That it has no room for them is not told. */
MSD_MUST_CHECK bool msd_sd_store(const struct msd_sd *sd, const char *name,
				 const int *fds, unsigned n);
/** Have it give up those called @name. */
void msd_sd_unstore(const struct msd_sd *sd, struct msd_span name);
/** The next descriptor that it has kept and handed over; *at is zero for the first.
 * False: there is none left. The caller's from then on. */
bool msd_sd_next_stored(const struct msd_sd *sd, struct msd_sd_cursor *at,
			struct msd_span *ret_name, int *ret_fd);
/** RELOADING=1, as the manager wants to have it. READY=1 ends it. */
void msd_sd_notify_reloading(const struct msd_sd *sd);

#endif
