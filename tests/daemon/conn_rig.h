#ifndef MSD_TESTS_CONN_RIG_H
#define MSD_TESTS_CONN_RIG_H
/* One connection under test, its peer a plain socket that the test writes and reads. */
#include "daemon/stream/conn.h"

struct rig {
	uv_loop_t loop;
	struct msd_wire wire;
	struct msd_conn conn;
	int peer;
	unsigned n_frames, n_closed;
	msd_err closed_with;
	char why[200];
	uint8_t place[4096]; /* where payloads go */
	enum msd_place answer;
	uint64_t last_id, last_payload;
	int took_fd;
	uint64_t fd_id;    /* the frame that takes it; 0: each */
	uint64_t frame_ns; /* how long on_frame() takes, by the rig's clock */
};

void rig_open(struct rig *r, bool takes_fds);
/** The connection's clock goes on by @ns; it does not by itself. */
void pass_time(uint64_t ns);
/** Let the loop do all that is ready now. */
void turn(struct rig *r);
void rig_close(struct rig *r);
/** A whole `ping` frame with @payload bytes after it. Returns its bytes. */
size_t ping(uint8_t *out, uint64_t id, size_t payload);
/** Write @n bytes to the peer's end @to, with @fd passed along. */
void send_with_fd(int to, const void *bytes, size_t n, int fd);

#endif
