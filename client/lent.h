#ifndef MSD_CLIENT_LENT_H
#define MSD_CLIENT_LENT_H
/*
 * Memory that a client lends the daemon: memfds that the daemon knows by number. What
 * lies in one is named by its place in a request, and does not travel.
 */
#include "client/modser.h"
#include "proto/method.h"
#include "proto/value.h"

struct modser_segment {
	modser_client *client; /* NULL: closed */
	modser_segment *next;  /* modser_client.segments */
	uint8_t *map;
	uint64_t bytes;
	uint16_t number; /* the daemon's */
};

/** Whether a request of @method may name places. */
bool msd_lent_serves(enum msd_method method);
/** Let @t, whose bytes are at @data, name its place in one of @all, a list. False: it
 * lies in none of them, or not where the protocol lets it. */
bool msd_lent_name(const modser_segment *all, const void *data,
		   struct msd_wire_tensor *t);
/** The client is closed: its segments stay as they are. */
void msd_lent_leave(modser_segment *all);

#endif
