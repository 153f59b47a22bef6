#ifndef MSD_CLIENT_UNASKED_H
#define MSD_CLIENT_UNASKED_H
/*
 * Blocking calls that go past the daemon without being told to. Who calls a module
 * often, one call after the other, over a unix socket, gets a channel to its worker by
 * itself, and calls what can be called there by it; what cannot, and all once that is
 * gone, goes through the daemon as ever. Nobody is told another thing by either way.
 *
 * Only when nothing else of the connection is in flight, so that the order of its
 * requests stays what it is.
 */
#include "client/client.h"

struct msd_unasked;

/** The channel that this call of @client may go by; NULL: it goes through the daemon,
 * which may be asked for a channel by the way: msd_unasked_settle(). */
modser_client *msd_unasked_channel(modser_client *client, const char *function,
				   const modser_value *args, size_t n_args,
				   const modser_options *options);
/** A call of @client that went through the daemon has ended as @result. */
void msd_unasked_settle(modser_client *client, const modser_result *result);
/** A call by @channel, one of @client's, has ended as @result: true, it was not begun
 * there, and is for the daemon. A channel that is of no use any more is closed. */
bool msd_unasked_is_for_daemon(modser_client *client, const modser_client *channel,
			       modser_result *result);
/** Close them all. NULL is fine. */
void msd_unasked_close(struct msd_unasked *u);

#endif
