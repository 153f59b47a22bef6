/* Stubs for a modserd that was built without the HTTP parser. */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/http.h"

msd_err msd_http_open(struct msd_edge *e, const struct msd_address *address,
		      const struct msd_listen_options *how, struct msd_diag *d)
{
	(void)e;
	(void)address;
	(void)how;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "--http: this modserd was built without HTTP (MSD_HTTP)");
}

void msd_http_finish(struct msd_edge *e)
{
	(void)e;
}
