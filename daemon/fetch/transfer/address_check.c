#include "daemon/fetch/transfer/address_check.h"

#include <string.h>
#include <sys/socket.h>

#include "daemon/fetch/transfer/public_address.h"

/* Refuse before any packet is sent, so that open and closed ports look the same. */
static curl_socket_t on_socket(void *user, curlsocktype purpose,
			       struct curl_sockaddr *a)
{
	struct msd_address_check *g = user;

	(void)purpose;
	if (g->is_barred || (!g->to->is_free && !msd_public_is(&a->addr))) {
		g->is_refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* This machine may also have a public address. */
static bool is_bounded_out(const struct msd_address_check *g, const char *peer,
			   const char *local)
{
	return g->is_barred || (!g->to->is_free && (!msd_public_is_text(peer) ||
						    strcmp(peer, local) == 0));
}

static int on_connected(void *user, char *peer, char *local, int peer_port,
			int local_port)
{
	struct msd_address_check *g = user;

	(void)peer_port;
	(void)local_port;
	g->is_refused = is_bounded_out(g, peer, local) ||
			!msd_network_options_allows(g->reach, g->to, peer);
	return g->is_refused ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void msd_address_check_set(struct msd_address_check *g,
			   const struct msd_network_options *reach,
			   const struct msd_uri *to, CURL *easy)
{
	*g = (struct msd_address_check){
		.reach = reach,
		.to = to,
		.is_barred = !to->is_free && msd_network_options_has_proxy(reach, to)};
	msd_network_options_apply(reach, to, easy);
	if (!to->is_free) {
		(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
		(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, g);
	}
	(void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, g);
}

msd_err msd_address_check_refuse(const struct msd_address_check *g, struct msd_diag *d)
{
	return g->to->is_free ? msd_diag_set(d, MSD_REFUSED,
					     "%s: it is not an address of this machine",
					     g->to->shown)
			      : msd_network_options_refuse(g->to, d);
}
