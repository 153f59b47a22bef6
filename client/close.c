#include <stdlib.h>
#include <unistd.h>

#include "client/client.h"
#include "client/transport/auto_direct.h"
#include "client/transport/shared_segment.h"

void modser_close(modser_client *client)
{
	if (client == NULL)
		return;
	msd_auto_direct_close(client->unasked);
	(void)msd_diag_set(&client->why, MSD_CANCELLED,
			   "the client closed the connection");
	msd_client_lose(client, MSD_CANCELLED);
	for (size_t i = 0; i < client->cap_table; i++)
		msd_ticket_destroy(client->table[i]);
	free(client->table);
	msd_request_pool_finish(&client->spares);
	msd_memory_finish(&client->asked);
	msd_reply_cache_finish(&client->heard);
	msd_shared_segment_leave(client->segments);
	msd_receive_finish(&client->rx);
	msd_lost_workers_finish(&client->lost);
	if (client->passed_fd >= 0)
		(void)close(client->passed_fd);
	msd_diag_finish(&client->why);
	free(client->address);
	free(client);
}
