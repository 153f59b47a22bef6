#ifndef MSD_CLIENT_RESULT_H
#define MSD_CLIENT_RESULT_H
/*
 * A result under construction. It is created with its request, so that a request that
 * was taken on always has somewhere to end, and is filled once: by an error, or by the
 * value of a response.
 */
#include "client/modser.h"
#include "proto/body.h"
#include "proto/method.h"

/* A tree of no more is part of its result's own block: five values, or fewer and their
 * strings. */
#define MSD_RESULT_ROOM_BYTES 288u

struct modser_result {
	uint64_t id;
	modser_error error;
	uint64_t exec_ns;
	modser_trace trace;      /* total_ns 0: the daemon did not say */
	bool is_leaving;         /* of a ping: the daemon is about to end */
	bool is_reply;           /* the error is the daemon's word on this request */
	bool is_unsent;          /* its connection was lost, and nobody has begun it */
	uint32_t retry_after_ms; /* of an error: not to be sent before; 0: not said */
	modser_value root;       /* valid while error.code is MODSER_OK */
	char *text;              /* owned: what error.name and error.message point to */
	char *hint;              /* owned: error.hint, where it is not the code's */
	void *tree;              /* items, dimensions and strings below root: its own
				    `room`, else owned */
	uint32_t n_values;       /* that the tree begins with */
	uint32_t tree_bytes;     /* of a tree in `room` */
	void *block;             /* owned: tensor data */
	_Alignas(modser_value) uint8_t room[MSD_RESULT_ROOM_BYTES];
};

modser_result *msd_result_create(uint64_t id); /* NULL: out of memory */
/** Room for a tree of @bytes, which @r has not had yet. NULL: out of memory. */
void *msd_result_tree(modser_result *r, size_t bytes);
/** Its tree has room in it. */
bool msd_result_is_small(const modser_result *r);
/** Make @r an error. @message may be NULL: the code's sentence. */
void msd_result_fail(modser_result *r, msd_err code, const char *message);
/** What to do about the error that @r is, instead of what its code says. */
void msd_result_advise(modser_result *r, const char *hint);
/** Make @r the error that the response to @method carries. */
void msd_result_fail_body(modser_result *r, enum msd_method method,
			  const struct msd_body_error *e);
/** Fill @ret with static texts for @code; @message is borrowed, NULL: the sentence. */
void msd_error_of(msd_err code, const char *message, modser_error *ret);

#endif
