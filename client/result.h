#ifndef MSD_CLIENT_RESULT_H
#define MSD_CLIENT_RESULT_H
/*
 * A result under construction. Each result is created with its request, so that every
 * accepted request has a place for its result. The result is filled once: with an
 * error, or with the value of a response.
 */
#include "client/modser.h"
#include "proto/body.h"
#include "proto/method.h"

/* A tree of at most this size is in the result's own block: five values, or fewer
 * with their strings. */
#define MSD_RESULT_ROOM_BYTES 288u

struct modser_result {
	uint64_t id;
	modser_error error;
	uint64_t exec_ns;
	modser_trace trace; /* total_ns 0: not reported by the daemon */
	bool is_leaving;    /* for a ping: the daemon is draining */
	bool is_reply;      /* the error is the daemon's answer to this request */
	bool has_objects;   /* the value has objects or map values */
	bool is_varied; /* the same function may return objects or maps another time */
	bool is_unsent; /* the connection was lost before the request began */
	uint32_t retry_after_ms; /* for an error: earliest retry; 0: not given */
	modser_value root;       /* valid while error.code is MODSER_OK */
	char *text;              /* owned: storage of error.name and error.message */
	char *hint;              /* owned: error.hint, unless it is the code's hint */
	void *tree;              /* items, dimensions, strings; in `room`, else owned */
	uint32_t n_values;       /* values at the start of the tree */
	uint32_t tree_bytes;     /* bytes of a tree in `room` */
	void *block;             /* owned: tensor data */
	_Alignas(modser_value) uint8_t room[MSD_RESULT_ROOM_BYTES];
};

modser_result *msd_result_create(uint64_t id); /* NULL: out of memory */
/** Allocate room for a tree of @bytes; once for each @r. NULL: out of memory. */
void *msd_result_tree(modser_result *r, size_t bytes);
/** True if the tree is in the result's own block. */
bool msd_result_is_small(const modser_result *r);
/** Make @r an error. @message may be NULL: the code's default sentence. */
void msd_result_fail(modser_result *r, msd_err code, const char *message);
/** Set the advice of the error @r, instead of its code's hint. */
void msd_result_advise(modser_result *r, const char *hint);
/** Make @r the error of the response @e to @method. */
void msd_result_fail_body(modser_result *r, enum msd_method method,
			  const struct msd_body_error *e);
/**
 * Fill @ret with static texts for @code; @message is borrowed, NULL: the default
 * sentence.
 */
void msd_error_of(msd_err code, const char *message, modser_error *ret);

#endif
