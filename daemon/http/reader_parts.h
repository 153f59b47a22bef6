#ifndef MSD_HTTP_READER_PARTS_H
#define MSD_HTTP_READER_PARTS_H
/* Shared by the reader's two files: reader.c has the states and bodies, reader_head.c
 * the llhttp callbacks for a head. */
#include "daemon/http/reader.h"

enum msd_reader_state {
	MSD_READER_BETWEEN,
	MSD_READER_IN_HEAD,
	MSD_READER_AT_BODY,
	MSD_READER_IN_BODY,
	MSD_READER_OVER,
	MSD_READER_BROKEN
};

static inline struct msd_http_reader *msd_http_reader_of(llhttp_t *parser)
{
	return parser->data;
}

/** Set the reason for the refusal, unless one is already set. Returns -1. */
int msd_http_reader_fail(struct msd_http_reader *r, unsigned status, const char *why);
/* Callbacks of llhttp_settings_t. */
int msd_http_on_url(llhttp_t *parser, const char *at, size_t n);
int msd_http_on_field(llhttp_t *parser, const char *at, size_t n);
int msd_http_on_value(llhttp_t *parser, const char *at, size_t n);
int msd_http_on_head(llhttp_t *parser);

#endif
