#ifndef MSD_TESTS_RPC_WORLD_H
#define MSD_TESTS_RPC_WORLD_H
/* A session of TVM's RPC in this process, whose client has sent all its bytes. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/rpc_page.h"

/**
 * Serve a client that sends the @n bytes at @data and ends. The first bytes of the
 * answers go to @ret, at most @room. Returns their number. *@page is what it says at
 * its end.
 */
size_t rpc_world_serve(const uint8_t *data, size_t n, uint8_t *ret, size_t room,
		       struct msd_rpc_page *page);

#endif
