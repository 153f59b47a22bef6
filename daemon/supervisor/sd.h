#ifndef MSD_SUPERVISOR_SD_H
#define MSD_SUPERVISOR_SD_H
/*
 * The service manager, spoken to without a library of its: sd_notify(3) over the socket
 * that $NOTIFY_SOCKET names, sd_listen_fds(3) and sd_watchdog_enabled(3) by their
 * variables. Where nobody manages the daemon, all of it does nothing.
 */
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MSD_SD_FIRST_FD 3 /* of the sockets that are handed over */

struct msd_sd {
	int fd; /* messages leave here */
	struct sockaddr_un address;
	socklen_t address_bytes; /* 0: nobody wants any */
	uint64_t watchdog_ms;    /* how often to say that the loop runs; 0: never */
	uint32_t n_listen;       /* sockets from MSD_SD_FIRST_FD on */
};

/** Read the environment and take its variables away: what is started by the daemon is
 * not the service. Sockets that are handed over are closed by exec. */
void msd_sd_init(struct msd_sd *sd);
void msd_sd_finish(struct msd_sd *sd);
/** Send lines such as READY=1 and STATUS=...; never blocks, a message may be lost. */
void msd_sd_notify(const struct msd_sd *sd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** RELOADING=1, as the manager wants to have it. READY=1 ends it. */
void msd_sd_notify_reloading(const struct msd_sd *sd);

#endif
