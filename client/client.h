#ifndef MSD_CLIENT_CLIENT_H
#define MSD_CLIENT_CLIENT_H
/*
 * The parts of one connection: a queue of tickets to send, a table of tickets by id,
 * and the frame being received.
 *
 *   send.c      queue -> sendmsg(), many tickets at once, nothing copied
 *   reply_cache.c     which answers are cached, and need no parsing
 *   receive.c   header -> body -> payload into place (payload.c) -> the ticket ends
 *   client.c    ends tickets, checks deadlines
 *   wait.c      blocks until a ticket has ended
 *   close.c     ends the client
 *   connect.c   sockets
 *   open.c      which of several daemons
 *   direct.c    direct channel, on request
 *   auto_direct.c   direct channel, automatic, for blocking calls
 */
#include "client/lost_workers.h"
#include "client/reply_cache.h"
#include "client/request_pool.h"
#include "proto/base/spin.h"
#include "proto/frame.h"

/* Destination of the next bytes of a payload. */
struct msd_piece {
	uint8_t *to; /* NULL: discarded */
	uint64_t n;
};

enum msd_receive_state { MSD_RX_HEADER, MSD_RX_BODY, MSD_RX_PAYLOAD };

struct msd_receive {
	enum msd_receive_state state;
	struct msd_frame frame;
	uint8_t *buf; /* bytes [at, at + n) are received and not yet used */
	size_t cap, at, n;
	uint64_t ticket_id; /* ticket of this payload; 0: none, discarded */
	struct msd_piece *pieces;
	size_t n_pieces, at_piece, cap_pieces;
};

struct msd_auto_direct;

struct modser_client {
	int fd;              /* -1: lost */
	char *address;       /* for messages; NULL: opened from a descriptor */
	bool is_direct;      /* direct channel to a module's worker */
	uint64_t worker_pid; /* process id of that worker */
	uint64_t most_bytes; /* limit of one call there */
	bool was_reset;      /* the worker closed before it had read all bytes */
	struct msd_auto_direct
		*unasked;             /* owned by auto_direct.c; NULL: not used yet */
	struct msd_lost_workers lost; /* lost workers of its direct channels */
	bool takes_objects;           /* it has said session.hello */
	bool takes_fd;                /* a descriptor may arrive with the data */
	int passed_fd;                /* received descriptor; owned; -1: none */
	struct msd_client_tls *tls;   /* NULL: not encrypted */
	uint64_t next_id;
	modser_segment *segments;              /* segments that the client shares */
	struct msd_ticket *queue, *queue_tail; /* to be sent, oldest first */
	struct msd_ticket *
		*table; /* indexed by id % cap_table; in flight or not taken */
	size_t cap_table, n_table; /* cap: a power of two */
	struct msd_request_pool spares;
	size_t n_in_flight;        /* not ended */
	uint64_t next_deadline_ns; /* earliest deadline; UINT64_MAX: none */
	bool is_processing;        /* done functions may be running */
	struct msd_spin spin;      /* state of polling for answers */
	uint64_t n_reads;          /* reads that returned data */
	struct msd_receive rx;
	bool has_plans;               /* repeated answers are not decoded again */
	struct msd_memory asked;      /* request cache */
	struct msd_reply_cache heard; /* reply cache */
	struct msd_diag why;
	modser_error why_error;
};

/* The ticket of @id; NULL if absent. */
struct msd_ticket *msd_client_find(const modser_client *c, uint64_t id);
/** @t->result is final: deliver it. @t may be freed afterwards. */
void msd_client_end(modser_client *c, struct msd_ticket *t);
/** Free @t if its result was delivered and no response is due. */
void msd_client_drop(modser_client *c, struct msd_ticket *t);

/**
 * The worker's channel accepts no more requests. Requests that were not sent
 * completely end as not begun. Completely sent requests still get their answers.
 */
void msd_client_stop_sending(modser_client *c);
/** The connection is lost: every request ends with @err; c->why has the reason. */
void msd_client_lose(modser_client *c, msd_err err);

/**
 * Run one iteration; @may_block: wait for data. Returns the reason if the connection
 * is lost.
 */
modser_err msd_client_turn(modser_client *c, bool may_block);
/**
 * Send as much as possible without blocking. Non-OK: the connection is broken; c->why
 * has the reason.
 */
MSD_MUST_CHECK msd_err msd_client_send(modser_client *c);
/**
 * Receive the available data; @may_block: wait for the first byte. Errors: as
 * msd_client_send().
 */
MSD_MUST_CHECK msd_err msd_client_receive(modser_client *c, bool may_block);
/** The transport failed with errno while @doing: set c->why. Returns its code. */
msd_err msd_client_broken(modser_client *c, const char *doing);
void msd_receive_finish(struct msd_receive *rx);

#endif
