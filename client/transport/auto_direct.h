#ifndef MSD_CLIENT_AUTO_DIRECT_H
#define MSD_CLIENT_AUTO_DIRECT_H
/*
 * Automatic direct channel for blocking calls. A client that calls a module often,
 * one call after another, over a unix socket, gets a channel to its worker. Calls
 * that the channel supports use it. All other calls, and all calls after it closes,
 * go through the daemon. Results are the same on both paths.
 *
 * The channel is used only if no other request of the connection is in flight, so
 * that the order of requests does not change.
 */
#include "client/client.h"

struct msd_auto_direct;

/**
 * The channel that this call of @client may use. NULL: the call goes through the
 * daemon, and a channel may be requested with it: msd_auto_direct_settle().
 */
modser_client *msd_auto_direct_channel(modser_client *client, const char *function,
				       const modser_value *args, size_t n_args,
				       const modser_options *options);
/** A call of @client through the daemon has ended as @result. */
void msd_auto_direct_settle(modser_client *client, const modser_result *result);
/**
 * A call on @channel, a channel of @client, has ended as @result. True: it did not
 * begin there, and must go through the daemon. Closes a channel that is no longer
 * usable.
 */
bool msd_auto_direct_is_for_daemon(modser_client *client, const modser_client *channel,
				   modser_result *result);
/** Close all channels. NULL is fine. */
void msd_auto_direct_close(struct msd_auto_direct *u);

#endif
