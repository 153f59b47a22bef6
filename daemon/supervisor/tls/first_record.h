#ifndef MSD_SUPERVISOR_TLS_FIRST_RECORD_H
#define MSD_SUPERVISOR_TLS_FIRST_RECORD_H
/*
 * Whether the first record of a handshake has come whole. Until then there is no state
 * of OpenSSL's, which takes 44 KiB: who begins a thousand handshakes with some bytes
 * each has them in the system's buffers alone.
 */
#include <stdbool.h>

/**
 * Must @fd, which begins with a TLS record, be waited for? It is readable then when the
 * record is whole, or when nothing more will come. *@low is kept from call to call, 0
 * before the first; when it is false, @fd is readable by each byte again.
 */
bool msd_tls_first_record_waits(int fd, int *low);
/** What has come of it on @fd is nobody's: unread it would make a close a reset. */
void msd_tls_first_record_drop(int fd);

#endif
