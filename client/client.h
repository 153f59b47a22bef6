#ifndef MSD_CLIENT_CLIENT_H
#define MSD_CLIENT_CLIENT_H
/*
 * The parts of one connection: a queue of tickets to send, a table of tickets by id,
 * and the frame being received.
 *
 *   send.c      queue -> sendmsg(), many tickets at once, nothing copied
 *   heard.c     which answers are known again, and need no reading
 *   receive.c   header -> body -> payload into place (payload.c) -> the ticket ends
 *   client.c    ends tickets, keeps deadlines
 *   wait.c      blocks until a ticket has ended
 *   close.c     ends the client
 *   connect.c   sockets
 *   open.c      which of several daemons
 *   direct.c    past the daemon, when asked
 *   unasked.c   the same of blocking calls, unasked
 */
#include "client/heard.h"
#include "client/lost_workers.h"
#include "client/spare_tickets.h"
#include "proto/frame.h"
#include "proto/spin.h"

/* Where the next bytes of a payload go. */
struct msd_piece {
	uint8_t *to; /* NULL: thrown away */
	uint64_t n;
};

enum msd_receive_state { MSD_RX_HEADER, MSD_RX_BODY, MSD_RX_PAYLOAD };

struct msd_receive {
	enum msd_receive_state state;
	struct msd_frame frame;
	uint8_t *buf; /* bytes [at, at + n) have been received and not used */
	size_t cap, at, n;
	uint64_t ticket_id; /* whose payload this is; 0: nobody's, thrown away */
	struct msd_piece *pieces;
	size_t n_pieces, at_piece, cap_pieces;
};

struct msd_unasked;

struct modser_client {
	int fd;                       /* -1: lost */
	char *address;                /* for texts; NULL: it was opened by its fd */
	bool is_direct;               /* to a module's worker */
	uint64_t worker_pid;          /* which that is */
	uint64_t most_bytes;          /* of one call there */
	bool was_reset;               /* at its end the worker had not read all */
	struct msd_unasked *unasked;  /* owned: unasked.c's; NULL: nothing yet */
	struct msd_lost_workers lost; /* of direct channels that it had */
	bool takes_fd;                /* one may come with what is read */
	int passed_fd;                /* that has come; owned; -1: none */
	struct msd_client_tls *tls;   /* NULL: bytes go as they are */
	uint64_t next_id;
	modser_segment *segments;              /* that it lends */
	struct msd_ticket *queue, *queue_tail; /* being sent, oldest first */
	struct msd_ticket **table; /* at id % cap_table; in flight or not taken */
	size_t cap_table, n_table; /* cap: power of two */
	struct msd_spare_tickets spares;
	size_t n_in_flight;        /* not ended */
	uint64_t next_deadline_ns; /* none is earlier; UINT64_MAX: there is none */
	bool is_processing;        /* done functions may be running */
	struct msd_spin spin;      /* how answers are waited for */
	uint64_t n_reads;          /* that brought something */
	struct msd_receive rx;
	bool has_plans;          /* what comes again is not read again */
	struct msd_memory asked; /* requests */
	struct msd_heard heard;  /* answers */
	struct msd_diag why;
	modser_error why_error;
};

/* The ticket of @id, or NULL. */
struct msd_ticket *msd_client_find(const modser_client *c, uint64_t id);
/** @t->result is final: hand it over. @t may be gone afterwards. */
void msd_client_end(modser_client *c, struct msd_ticket *t);
/** Free @t when its result was handed over and nothing more comes for it. */
void msd_client_drop(modser_client *c, struct msd_ticket *t);

/** The worker's channel takes no more: what was not sent whole ends, not begun. What
 * was is answered yet. */
void msd_client_stop_sending(modser_client *c);
/** The connection is no more: every request ends as @err, c->why says how. */
void msd_client_lose(modser_client *c, msd_err err);

/** Everything once; @may_block: wait for something to come. Why the connection is lost,
 * if it is. */
modser_err msd_client_turn(modser_client *c, bool may_block);
/** Send what fits without blocking. Non-OK: the connection is broken, c->why says how.
 */
MSD_MUST_CHECK msd_err msd_client_send(modser_client *c);
/** Receive what is there; @may_block: wait for the first of it. As msd_client_send().
 */
MSD_MUST_CHECK msd_err msd_client_receive(modser_client *c, bool may_block);
/** The transport has failed by errno while @doing: c->why says so. Returns its code. */
msd_err msd_client_broken(modser_client *c, const char *doing);
void msd_receive_finish(struct msd_receive *rx);

#endif
