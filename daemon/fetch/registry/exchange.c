/*
 * Happy path: a request is sent, and the status and headers of the response are kept.
 * After a 401 with a Bearer challenge, one token request follows, and the request is
 * repeated. After a Basic challenge, the request is repeated with the registry's name
 * and password. Failures: no response, or http to another machine.
 */
#include "daemon/fetch/registry/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/fetch/registry/challenge.h"
#include "daemon/fetch/transfer/answer.h"

#define TEXT_BYTES 65536u /* of a response: a token, or an error text */
#define CONNECT_S 30L
#define STALL_S 30L

/* The request body, and the number of bytes already sent. */
struct sending {
	const struct msd_exchange_body *body;
	uint64_t at;
};

static size_t on_wanted(char *to, size_t size, size_t n, void *user)
{
	struct sending *s = user;
	const uint64_t left = s->body->bytes - s->at;
	const size_t room = size * n < left ? size * n : (size_t)left;

	if (s->body->fd < 0) {
		memcpy(to, s->body->text.p + s->at, room);
	} else if (pread(s->body->fd, to, room, (off_t)s->at) != (ssize_t)room) {
		return CURL_READFUNC_ABORT;
	}
	s->at += room;
	return room;
}

static int on_seek(void *user, curl_off_t offset, int origin)
{
	struct sending *s = user;

	if (origin != SEEK_SET || offset < 0)
		return CURL_SEEKFUNC_CANTSEEK;
	s->at = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static size_t on_text(char *p, size_t size, size_t n, void *user)
{
	struct msd_buf *text = user;

	if (text->n + size * n <= TEXT_BYTES)
		msd_buf_put(text, p, size * n);
	return text->bad ? 0 : size * n;
}

static char *copy_header(CURL *easy, const char *name)
{
	struct curl_header *h;

	return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK
		       ? strdup(h->value)
		       : NULL;
}

static void set_security(struct msd_exchange *x, const struct msd_uri *to)
{
	CURL *easy = x->easy;

	msd_address_check_set(&x->gate, &x->reach, to, easy);
	(void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	(void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, STALL_S);
}

static void set_method(CURL *easy, const char *method, struct sending *s)
{
	if (strcmp(method, "HEAD") == 0) {
		(void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	} else if (strcmp(method, "POST") == 0) {
		(void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
		(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
	} else if (s->body != NULL) {
		(void)curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		(void)curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_wanted);
		(void)curl_easy_setopt(easy, CURLOPT_READDATA, s);
		(void)curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
		(void)curl_easy_setopt(easy, CURLOPT_SEEKDATA, s);
		(void)curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
				       (curl_off_t)s->body->bytes);
	}
}

static struct curl_slist *headers_of(const struct msd_exchange *x,
				     const struct msd_uri *to,
				     const struct msd_exchange_body *body)
{
	struct curl_slist *list = NULL;
	char type[256];

	if (body != NULL) {
		(void)snprintf(type, sizeof(type), "Content-Type: %s", body->type);
		list = curl_slist_append(list, type);
	}
	if (x->authorization != NULL && strcmp(x->authorized, to->host) == 0)
		list = curl_slist_append(list, x->authorization);
	return list;
}

static msd_err ask_once(struct msd_exchange *x, const char *method,
			const struct msd_uri *to, const char *url,
			const struct msd_exchange_body *body,
			struct msd_exchange_answer *ret, struct msd_diag *d)
{
	struct sending s = {.body = body};
	struct curl_slist *headers = headers_of(x, to, body);

	curl_easy_reset(x->easy);
	set_security(x, to);
	set_method(x->easy, method, &s);
	(void)curl_easy_setopt(x->easy, CURLOPT_URL, url);
	(void)curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, on_text);
	(void)curl_easy_setopt(x->easy, CURLOPT_WRITEDATA, &ret->text);
	const CURLcode rc = curl_easy_perform(x->easy);
	curl_slist_free_all(headers);
	if (x->gate.is_refused)
		return msd_address_check_refuse(&x->gate, d);
	if (rc != CURLE_OK) {
		return msd_diag_set(d, MSD_IO, "%s: %s", to->shown,
				    curl_easy_strerror(rc));
	}
	(void)curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &ret->status);
	ret->url = strdup(to->shown);
	ret->challenge = msd_answer_challenges(x->easy);
	ret->location = copy_header(x->easy, "Location");
	return ret->url != NULL ? MSD_OK : msd_diag_no_memory(d);
}

/*
 * From now on send the name and password of @host, if they exist, to the host of @to.
 */
static msd_err take_name(struct msd_exchange *x, const char *host,
			 const struct msd_uri *to, struct msd_diag *d)
{
	free(x->authorization);
	free(x->authorized);
	x->authorization = NULL;
	x->authorized = strdup(to->host);
	return x->authorized != NULL ? msd_network_options_header(&x->reach, host, to,
								  &x->authorization, d)
				     : msd_diag_no_memory(d);
}

static msd_err take_token(struct msd_exchange *x, const struct msd_uri *to,
			  const struct msd_challenge *challenge, const char *from,
			  struct msd_diag *d)
{
	struct msd_exchange_answer a = {0};
	struct msd_uri at = {0};
	char *url = NULL, *header = NULL;
	msd_err err = msd_challenge_url(challenge, from, "pull,push", false, &url, d);

	if (err == MSD_OK)
		err = msd_uri_read(url, false, &at, d);
	at.is_free = err == MSD_OK && msd_network_options_is_free(&x->reach, url);
	if (err == MSD_OK)
		err = take_name(x, to->host, &at, d);
	if (err == MSD_OK && x->authorization != NULL)
		err = msd_network_options_check_realm(&x->reach, to, &at, d);
	if (err == MSD_OK)
		err = ask_once(x, "GET", &at, url, NULL, &a, d);
	if (err == MSD_OK) {
		err = msd_token_header((struct msd_span){a.text.p, a.text.n}, &header,
				       d);
	}
	msd_exchange_answer_finish(&a);
	msd_uri_finish(&at);
	free(url);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s: token", to->shown);
	free(x->authorization);
	free(x->authorized);
	x->authorization = header;
	x->authorized = strdup(to->host);
	return x->authorized != NULL ? MSD_OK : msd_diag_no_memory(d);
}

static msd_err authorize(struct msd_exchange *x, const struct msd_uri *to,
			 const struct msd_challenge *challenge, const char *from,
			 struct msd_diag *d)
{
	msd_err err;

	if (challenge->realm != NULL)
		return take_token(x, to, challenge, from, d);
	err = take_name(x, to->host, to, d);
	if (err == MSD_OK && x->authorization == NULL) {
		err = msd_diag_set(d, MSD_REFUSED,
				   "%s: the registry requires a name and password; "
				   "name a file with those of %s with --auth",
				   to->shown, to->host);
	}
	return err;
}

msd_err msd_exchange_ask(struct msd_exchange *x, const char *method, const char *url,
			 const struct msd_exchange_body *body,
			 struct msd_exchange_answer *ret, struct msd_diag *d)
{
	struct msd_uri to;
	msd_err err = msd_uri_read(url, false, &to, d);

	to.is_free = msd_network_options_is_free(&x->reach, url);
	*ret = (struct msd_exchange_answer){0};
	if (err == MSD_OK)
		err = ask_once(x, method, &to, url, body, ret, d);
	if (err == MSD_OK && ret->status == 401 && ret->challenge != NULL) {
		struct msd_challenge c;
		err = msd_challenge_read(ret->challenge, &c, d);
		if (err == MSD_OK)
			err = authorize(x, &to, &c, url, d);
		msd_challenge_finish(&c);
		msd_exchange_answer_finish(ret);
		if (err == MSD_OK)
			err = ask_once(x, method, &to, url, body, ret, d);
	}
	msd_uri_finish(&to);
	return err;
}

msd_err msd_exchange_refuse(const struct msd_exchange_answer *a, struct msd_diag *d)
{
	const msd_err err = a->status == 401 || a->status == 403   ? MSD_REFUSED
			    : a->status == 404 || a->status == 410 ? MSD_NOT_FOUND
								   : MSD_IO;

	return msd_diag_set(d, err, "%s: the registry answered %ld", a->url, a->status);
}

void msd_exchange_answer_finish(struct msd_exchange_answer *a)
{
	free(a->url);
	free(a->location);
	free(a->challenge);
	msd_buf_finish(&a->text);
	*a = (struct msd_exchange_answer){0};
}

msd_err msd_exchange_open(struct msd_exchange *x, struct msd_diag *d)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return msd_diag_set(d, MSD_IO, "libcurl cannot be prepared");
	x->easy = curl_easy_init();
	return x->easy != NULL ? MSD_OK : msd_diag_no_memory(d);
}

void msd_exchange_close(struct msd_exchange *x)
{
	curl_easy_cleanup(x->easy);
	free(x->authorization);
	free(x->authorized);
}
