#ifndef MSD_SUPERVISOR_PROCESS_H
#define MSD_SUPERVISOR_PROCESS_H
/*
 * One worker process: spawned by exec in a process group of its own, spoken to over a
 * socketpair, its standard output and error kept in the module's log. Dead when it
 * exits or when its channel ends, whichever comes first; then its whole group is
 * killed.
 *
 * Reference-counted: the replica holds one reference, the process's own handles one,
 * and every reply in flight to a client that points into its out segments one.
 */
#include "daemon/supervisor/deadline.h"
#include "daemon/wire/conn.h"
#include "daemon/wire/segment.h"

struct msd_replica;
struct msd_server;

#define MSD_LAST_WORDS 400u

struct msd_process {
	struct msd_server *server;
	struct msd_replica *replica; /* NULL once it let go */
	struct msd_conn channel;
	uv_process_t handle;
	uv_poll_t log_poll;
	int log_fd;
	char words[MSD_LAST_WORDS]; /* the end of what it wrote */
	size_t n_words;
	pid_t pid;
	struct msd_segmap out; /* the worker's out segments, mapped read-only */
	struct msd_buf
		releases; /* pairs of segment, offset to be told, as msgpack ints */
	uint32_t n_releases;
	uint64_t release_bytes;
	struct msd_deadline release_timer;
	struct msd_deadline exit_timer; /* from the channel's end to the exit */
	uint32_t refs;
	int open_handles;
	bool has_exited, is_channel_closed, was_lost_told;
	char kill_reason[128]; /* why we killed it; "": we did not */
	int64_t exit_status;
	int term_signal;
};

/**
 * Start a worker for @rep on its module's artifact. On success *@ret has one reference
 * for the caller. Death is told once by msd_replica_on_lost().
 */
MSD_MUST_CHECK msd_err msd_process_spawn(struct msd_replica *rep,
					 struct msd_process **ret, struct msd_diag *d);
void msd_process_ref(struct msd_process *p);
void msd_process_unref(struct msd_process *p);
/** SIGKILL to the process group; @reason explains it in error texts. */
void msd_process_kill(struct msd_process *p, const char *reason);
/** The replica is gone or has another process: no more callbacks to it. */
void msd_process_detach(struct msd_process *p);
/** Tell the worker about out slots that are free again; batched. */
void msd_process_release(struct msd_process *p, uint16_t segment, uint64_t offset,
			 uint64_t bytes);
/** Send the batched releases now (before a request that may need the room). */
void msd_process_flush_releases(struct msd_process *p);
/** Describe its death: "signal SEGV", "exit status 3", and its last words. */
void msd_process_describe_end(const struct msd_process *p, struct msd_buf *out);

#endif
