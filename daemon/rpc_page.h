#ifndef MSD_RPC_PAGE_H
#define MSD_RPC_PAGE_H
/*
 * A page that a session of TVM's RPC shares with the supervisor, which says what it
 * does. When the session dies, the supervisor reads here if it may still answer the
 * client, and in which encoding.
 *
 * The session runs foreign code, so any field may be wrong. The supervisor uses it
 * only for that session's client.
 */
#include <stdint.h>
#include <string.h>

#define MSD_RPC_PAGE_NAME_BYTES 256u

enum msd_rpc_page_state {
	MSD_RPC_PAGE_IDLE,    /* it waits for a packet */
	MSD_RPC_PAGE_RUNNING, /* it has begun to read one */
	MSD_RPC_PAGE_WRITING  /* the client may have the begin of its answer */
};

struct msd_rpc_page {
	uint32_t state;                     /* enum msd_rpc_page_state; atomic */
	uint32_t is_classic;                /* era of the client */
	uint64_t n_packets;                 /* that it has begun to read; atomic */
	uint64_t in_bytes, out_bytes;       /* of whole packets */
	uint64_t answer_bytes;              /* size of the answer that it writes */
	char name[MSD_RPC_PAGE_NAME_BYTES]; /* "call of NAME"; "": no foreign code */
};

static inline void msd_rpc_page_set(struct msd_rpc_page *p,
				    enum msd_rpc_page_state state)
{
	__atomic_store_n(&p->state, (uint32_t)state, __ATOMIC_RELEASE);
}

static inline uint32_t msd_rpc_page_state_of(const struct msd_rpc_page *p)
{
	return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
}

/** Note that foreign code runs: @what ("call of"), @name. NULL: it has returned. */
static inline void msd_rpc_page_note(struct msd_rpc_page *p, const char *what,
				     const char *name)
{
	size_t n = 0;

	if (what != NULL) {
		n = strlen(what) < sizeof(p->name) / 2 ? strlen(what) : 0;
		memcpy(p->name, what, n);
		p->name[n++] = ' ';
		const size_t room = sizeof(p->name) - 1 - n;
		const size_t n_name = strlen(name) < room ? strlen(name) : room;
		memcpy(p->name + n, name, n_name);
		n += n_name;
	}
	p->name[n] = '\0';
}

#endif
