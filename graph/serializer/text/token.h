#ifndef MSD_TEXT_TOKEN_H
#define MSD_TEXT_TOKEN_H
/* Tokens of protobuf's text form: names, numbers, strings and single characters.
 * Spaces and comments (# to the end of the line) separate them. */
#include "proto/base/bytes.h"

enum msd_token_kind {
	MSD_TOKEN_END,
	MSD_TOKEN_NAME,
	MSD_TOKEN_NUMBER, /* without its sign */
	MSD_TOKEN_STRING, /* with its quotes, escapes unread */
	MSD_TOKEN_SIGN,   /* one character */
	MSD_TOKEN_BAD     /* a string that does not end, or no character of the form */
};

struct msd_tokens {
	struct msd_span left;
	size_t line; /* line of the current token, from 1 */
	enum msd_token_kind kind;
	struct msd_span text; /* the current token */
};

/** Start with the first token of @text. */
void msd_tokens_init(struct msd_tokens *t, struct msd_span text);
/** Move to the next token. */
void msd_tokens_next(struct msd_tokens *t);
/** True if the current token is the character @c. */
bool msd_tokens_at(const struct msd_tokens *t, char c);
/** True, and moves on, if the current token is the character @c. */
bool msd_tokens_skip(struct msd_tokens *t, char c);
/** Append the bytes that the current token, a string, means. False: a bad escape. */
MSD_MUST_CHECK bool msd_tokens_string(const struct msd_tokens *t, struct msd_buf *out);

#endif
