#ifndef MSD_SUPERVISOR_RPC_PROCESS_H
#define MSD_SUPERVISOR_RPC_PROCESS_H
/*
 * The process of one session (modserd-rpc), with the page that it shares. The
 * supervisor reads there what the session does, to limit its time and to explain its
 * end to the client.
 */
#include "daemon/child/child.h"

struct msd_limits;
struct msd_module_registry;
struct msd_rpc_page;

struct msd_rpc_process {
	struct msd_child *child;   /* NULL: none, or its end was reported */
	struct msd_rpc_page *page; /* NULL: never started */
	/* The page at the last change, and the time. */
	uint64_t seen_packets, seen_ms;
	uint32_t seen_state;
};

/**
 * Start @program for the client of @socket_fd, with the limits and the sandbox of a
 * worker of @registry. @number is that of the connection. Errors: MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_rpc_process_start(struct msd_rpc_process *p, char *program,
					     struct msd_module_registry *registry,
					     int socket_fd, uint64_t number,
					     const struct msd_child_ops *ops,
					     void *user, struct msd_diag *d);
/** Return why it must be killed now, static text. NULL: it goes on. */
const char *msd_rpc_process_look(struct msd_rpc_process *p,
				 const struct msd_limits *limits, uint64_t now_ms);
/** Return the interval of these looks. 0: no limit is set. */
uint64_t msd_rpc_process_look_ms(const struct msd_limits *limits);
/**
 * Append the packet that explains the end to the client: "@why: in call of NAME".
 * @written: the bytes that the process has written to the socket. Append nothing if
 * the client has only a part of an answer.
 */
void msd_rpc_process_tell(const struct msd_rpc_process *p, struct msd_span why,
			  uint64_t written, struct msd_buf *out);
/** Unmap the page. */
void msd_rpc_process_finish(struct msd_rpc_process *p);

#endif
