#ifndef MSD_CLIENT_SHARED_SEGMENT_H
#define MSD_CLIENT_SHARED_SEGMENT_H
/* Client segments: memfds that a client shares with the daemon, identified by number.
 * A request refers to data in a segment by its place, and does not send it. */
#include "client/modser.h"
#include "proto/method.h"
#include "proto/value.h"

struct modser_segment {
	modser_client *client; /* NULL: the client is closed */
	modser_segment *next;  /* modser_client.segments */
	uint8_t *map;
	uint64_t bytes;
	uint16_t number; /* assigned by the daemon */
};

/** True if a request of @method may refer to segments. */
bool msd_shared_segment_serves(enum msd_method method);
/**
 * Set in @t, the tensor at @data, its place in a segment of the list @all. False: it
 * is in no segment, or at an offset that the protocol does not allow.
 */
bool msd_shared_segment_name(const modser_segment *all, const void *data,
			     struct msd_wire_tensor *t);
/** The client is closed: its segments stay mapped. */
void msd_shared_segment_leave(modser_segment *all);

#endif
