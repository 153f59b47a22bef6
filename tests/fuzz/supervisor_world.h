#ifndef MSD_TESTS_SUPERVISOR_WORLD_H
#define MSD_TESTS_SUPERVISOR_WORLD_H
/*
 * A whole supervisor with clients on real sockets and children that are fake. What a
 * client asks is counted, and so is each answer: a second one, one to nothing, or none
 * at the end is a broken promise, and so is anything that is kept when all have left.
 */
#include "daemon/supervisor/server.h"

#define WORLD_CLIENTS 4u
#define WORLD_ASKED 256u /* of one client */

struct client {
	int fd;       /* -1: not connected */
	bool is_deaf; /* reads nothing for now */
	bool is_wild; /* has sent what is no request: what it is told is not counted */
	bool may_be_ended; /* it has kept the supervisor waiting */
	struct msd_buf going;
	struct msd_buf coming;
	uint64_t n_asked; /* ids are 1, 2, ... */
	uint8_t answers[WORLD_ASKED + 1];
	uint8_t object[16]; /* the last handle that it was given, msgpack */
	size_t n_object;
	uint8_t tensor[128]; /* the same for a tensor */
	size_t n_tensor;
	uint64_t answered; /* the id of the last answer */
};

struct world {
	struct msd_server server;
	struct client clients[WORLD_CLIENTS];
};

/** Start a supervisor of small limits. */
void world_begin(struct world *w);
/** All is answered, all leave, all is given back; or it is a broken promise. */
void world_end(struct world *w);
/** Let everybody go on until nothing happens any more. */
void world_settle(struct world *w);

void client_connect(struct world *w, struct client *c);
void client_leave(struct client *c);
/** It can ask something. */
bool client_is_fit(const struct client *c);
/**
 * Ask: `[0, id, method, params]`, @n params of @params msgpack; @options a map or
 * empty; @payload zeros. Returns its id.
 */
uint64_t client_ask(struct client *c, const char *method, uint32_t n,
		    const struct msd_buf *params, const struct msd_buf *options,
		    uint32_t payload);
/** Ask for a memfd of @bytes to be a segment, with @seals: segment.add. */
void client_lend(struct client *c, uint32_t bytes, int seals);
/** Upload something, and ask for it to be loaded. */
void client_load(struct world *w, struct client *c, const char *name, uint32_t workers,
		 bool replace);

#endif
