#ifndef MSD_SUPERVISOR_VOUCHED_H
#define MSD_SUPERVISOR_VOUCHED_H
/* Connections by TLS whose certificates the daemon has believed. */
#include <stdint.h>

struct msd_edge;
struct msd_tls;

/** Other authorities are believed from now on, or more certificates are revoked: end
 * the connections that @tls would not let in any more. Their number; each is a line of
 * the log, ten a second at most. */
uint32_t msd_vouched_judge(struct msd_edge *e, const struct msd_tls *tls);

#endif
