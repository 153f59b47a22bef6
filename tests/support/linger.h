#ifndef MSD_TESTS_LINGER_H
#define MSD_TESTS_LINGER_H
/* What somebody passes whose close() sleeps as long as he likes. */

#define LINGER_S 3600

/** A TCP socket with bytes that its peer never reads: its last close sleeps for
 * LINGER_S. *@ret_peer keeps the connection up. */
int lingering_socket(int *ret_peer);

#endif
