#ifndef MSD_SUPERVISOR_RECHECK_H
#define MSD_SUPERVISOR_RECHECK_H

/* Trust check of open TLS connections. */

#include <stdint.h>

struct msd_edge;
struct msd_tls;

/**
 * The trusted authorities or the revocations changed: close the connections whose
 * certificates @tls does not accept any more. Returns their number. Logs each, at
 * most ten a second.
 */
uint32_t msd_tls_recheck_connections(struct msd_edge *e, const struct msd_tls *tls);

#endif
