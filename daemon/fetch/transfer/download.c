/*
 * Happy path: an easy handle requests the URL and its bytes go to the sink as they
 * arrive. on_done reports the end. Redirects are followed here, not by libcurl,
 * because each one is checked first. Failures: temporary ones (a cut, a stall, 429,
 * 5xx) are retried after a random back-off. The retry resumes if the server proves
 * that the file is the same; otherwise it restarts. Permanent failures end the
 * download.
 */
#include "daemon/fetch/transfer/download.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fetch/transfer/answer.h"
#include "daemon/fetch/transfer/network_options.h"
#include "daemon/fetch/transfer/sink.h"
#include "daemon/fetch/transfer/transfer.h"

#define STALL_BYTES_PER_S 64u /* a slower server counts as stalled */
#define AWAY_LEAST_MS 1000u

static void ask(struct msd_download *dl);

static void finish(struct msd_download *dl, msd_err err)
{
	struct msd_diag why = dl->why;

	dl->why = (struct msd_diag){0};
	(void)uv_timer_stop(&dl->timer);
	dl->on_done(dl, err, &why);
	msd_diag_finish(&why);
}

static void end_attempt(struct msd_download *dl)
{
	if (dl->is_asking)
		msd_net_end(dl->net, &dl->call);
	dl->is_asking = false;
	curl_easy_cleanup(dl->call.easy);
	dl->call.easy = NULL;
	curl_slist_free_all(dl->headers);
	dl->headers = NULL;
}

static void on_rested(uv_timer_t *timer)
{
	struct msd_download *dl = timer->data;
	const msd_err err = msd_redirects_restart(&dl->way, &dl->why);

	if (err == MSD_OK) {
		ask(dl);
	} else {
		finish(dl, err);
	}
}

/* dl->why holds the error. Retry after the back-off, which is at least @wait_ms. */
static void try_again(struct msd_download *dl, uint64_t wait_ms)
{
	const msd_err err = dl->why.code;

	end_attempt(dl);
	if (dl->sink->bytes >= dl->begun_bytes + MSD_DOWNLOAD_PROGRESS)
		dl->n_failures = 0;
	if (++dl->n_failures >= MSD_DOWNLOAD_ATTEMPTS) {
		finish(dl, err);
		return;
	}
	msd_diag_finish(&dl->why);
	(void)uv_timer_start(&dl->timer, on_rested,
			     msd_backoff_ms(dl->n_failures, dl->how.retry_ms, wait_ms),
			     0);
}

static void on_stall_check(uv_timer_t *timer)
{
	struct msd_download *dl = timer->data;
	const uint64_t least = dl->how.stall_ms * STALL_BYTES_PER_S / 1000 + 1;
	const uint64_t bytes = dl->sink->bytes;
	const uint64_t now_ms = uv_now(dl->net->loop);
	const bool was_away =
		now_ms - dl->checked_ms > dl->how.stall_ms + AWAY_LEAST_MS;

	dl->checked_ms = now_ms;
	/* The process was stopped or got no processor time: received bytes are not
	 * read yet. */
	if (was_away || bytes >= dl->checked_bytes + least) {
		dl->checked_bytes = bytes;
		return;
	}
	(void)msd_diag_set(&dl->why, MSD_IO,
			   "%s: it stalled: %llu bytes within %llu ms (fetch-stall)",
			   dl->way.at.shown,
			   (unsigned long long)(bytes - dl->checked_bytes),
			   (unsigned long long)dl->how.stall_ms);
	try_again(dl, 0);
}

/*
 * True if a 206 continues the received bytes. The range may end before the file does.
 */
static bool is_the_rest(const struct msd_download *dl, const struct msd_answer *a)
{
	return dl->sink->bytes > 0 && a->range.end > 0 &&
	       a->range.from == dl->sink->bytes &&
	       (dl->etag == NULL || a->etag == NULL ||
		strcmp(dl->etag, a->etag) == 0) &&
	       (dl->total_bytes == 0 || dl->total_bytes == a->range.total);
}

/* Check the response at its first byte, or at its end if it has no bytes. */
static msd_err begin_answer(struct msd_download *dl)
{
	const struct msd_answer a = msd_answer_of(dl->call.easy);
	msd_err err = MSD_OK;

	dl->has_begun = true;
	if (a.status == 206 && !is_the_rest(dl, &a)) {
		dl->must_restart = true;
		return msd_diag_set(
			&dl->why, MSD_IO,
			"%s: the received part does not continue the same file",
			dl->way.at.shown);
	}
	if (a.status == 200 && dl->sink->bytes > 0)
		err = dl->sink->restart(dl->sink, &dl->why);
	dl->checked_bytes = dl->begun_bytes = dl->sink->bytes;
	free(dl->etag);
	dl->etag = a.etag != NULL ? strdup(a.etag) : NULL;
	dl->total_bytes = a.status == 206 ? a.range.total : a.bytes;
	if (err == MSD_OK && dl->total_bytes > 0)
		err = dl->sink->expect(dl->sink, dl->total_bytes, &dl->why);
	return err != MSD_OK ? msd_diag_wrap(&dl->why, err, "%s", dl->way.at.shown)
			     : err;
}

static bool is_whole_or_part(long status)
{
	return status == 200 || status == 206;
}

/* Skip the body of an error page: the status is enough. */
static size_t on_bytes(char *p, size_t size, size_t n, void *user)
{
	struct msd_download *dl = user;
	const struct msd_span bytes = {(const uint8_t *)p, size * n};
	long status = 0;

	(void)curl_easy_getinfo(dl->call.easy, CURLINFO_RESPONSE_CODE, &status);
	if (!is_whole_or_part(status))
		return CURL_WRITEFUNC_ERROR;
	if (!dl->has_begun && begin_answer(dl) != MSD_OK)
		return CURL_WRITEFUNC_ERROR;
	const msd_err err = dl->sink->take(dl->sink, bytes, &dl->why);
	if (err != MSD_OK) {
		(void)msd_diag_wrap(&dl->why, err, "%s", dl->way.at.shown);
		return CURL_WRITEFUNC_ERROR;
	}
	return bytes.n;
}

static void on_redirect(struct msd_download *dl)
{
	char *location = NULL;

	(void)curl_easy_getinfo(dl->call.easy, CURLINFO_REDIRECT_URL, &location);
	const msd_err err = msd_redirects_follow(&dl->way, location, &dl->why);

	end_attempt(dl);
	if (err == MSD_OK) {
		ask(dl);
	} else {
		finish(dl, err);
	}
}

/* The server refuses the file, at least for now. */
static void on_refusal(struct msd_download *dl, const struct msd_answer *a)
{
	const long status = a->status;
	const uint64_t wait_ms = a->retry_after_s * 1000;
	msd_err err = status == 404 || status == 410   ? MSD_NOT_FOUND
		      : status == 401 || status == 403 ? MSD_REFUSED
						       : MSD_IO;

	err = msd_diag_set(&dl->why, err, "%s: the server answered %ld",
			   dl->way.at.shown, status);
	if (status == 401 && msd_redirects_is_home(&dl->way))
		dl->challenge = msd_answer_challenges(dl->call.easy);
	if (status == 416) {
		dl->must_restart = true;
		try_again(dl, 0);
	} else if (status == 429 || status == 408 || status >= 500) {
		try_again(dl, wait_ms);
	} else {
		end_attempt(dl);
		finish(dl, err);
	}
}

/* A 200 or 206 response is complete. A 206 may be shorter than the rest of the file. */
static void on_whole(struct msd_download *dl)
{
	msd_err err = MSD_OK;

	if (!dl->has_begun) /* the body is empty */
		err = begin_answer(dl);
	const bool is_cut = err == MSD_OK && dl->total_bytes > 0 &&
			    dl->sink->bytes != dl->total_bytes;
	if (is_cut) {
		dl->must_restart = dl->sink->bytes > dl->total_bytes;
		(void)msd_diag_set(&dl->why, MSD_IO, "%s: %llu of %llu bytes came",
				   dl->way.at.shown,
				   (unsigned long long)dl->sink->bytes,
				   (unsigned long long)dl->total_bytes);
	}
	if (dl->must_restart || is_cut) {
		try_again(dl, 0);
		return;
	}
	end_attempt(dl);
	finish(dl, err);
}

/* The response is missing or incomplete. */
static void on_fault(struct msd_download *dl, CURLcode rc)
{
	if (dl->gate.is_refused) {
		(void)msd_address_check_refuse(&dl->gate, &dl->why);
	} else if (dl->why.code == MSD_OK) {
		(void)msd_diag_set(&dl->why, MSD_IO, "%s: %s", dl->way.at.shown,
				   curl_easy_strerror(rc));
	}
	if (!dl->gate.is_refused &&
	    (dl->must_restart || msd_answer_may_be_better(rc))) {
		try_again(dl, 0);
	} else {
		const msd_err err = dl->why.code;

		end_attempt(dl);
		finish(dl, err);
	}
}

static void on_ended(struct msd_net_call *call, CURLcode rc)
{
	struct msd_download *dl =
		(void *)((char *)call - offsetof(struct msd_download, call));
	const struct msd_answer a = msd_answer_of(call->easy);

	dl->is_asking = false;
	(void)uv_timer_stop(&dl->timer);
	const bool is_told =
		dl->why.code == MSD_OK && (rc == CURLE_OK || rc == CURLE_WRITE_ERROR);
	if (is_told && a.status == 304 && dl->known_etag != NULL) {
		dl->is_known = true;
		end_attempt(dl);
		finish(dl, MSD_OK);
	} else if (is_told && a.status >= 300 && a.status <= 308) {
		on_redirect(dl);
	} else if (is_told && a.status > 308) {
		on_refusal(dl, &a);
	} else if (is_told && rc == CURLE_OK && is_whole_or_part(a.status)) {
		on_whole(dl);
	} else {
		on_fault(dl, rc);
	}
}

static void add_header(struct msd_download *dl, const char *line)
{
	struct curl_slist *more = curl_slist_append(dl->headers, line);

	if (more != NULL)
		dl->headers = more;
}

/* Resume an earlier attempt if the digest or a strong ETag protects the file. If the
 * owner has a copy, request the file only if it changed. */
static msd_err set_range(struct msd_download *dl)
{
	const bool may_resume =
		dl->sink->is_checked || (dl->etag != NULL && dl->etag[0] == '"');
	char text[256];

	if (dl->sink->bytes == 0) {
		dl->must_restart = false;
		if (dl->known_etag != NULL) {
			(void)snprintf(text, sizeof(text), "If-None-Match: %.200s",
				       dl->known_etag);
			add_header(dl, text);
		}
		return MSD_OK;
	}
	if (!may_resume || dl->must_restart) {
		dl->must_restart = false;
		free(dl->etag);
		dl->etag = NULL;
		return dl->sink->restart(dl->sink, &dl->why);
	}
	(void)snprintf(text, sizeof(text), "%llu-",
		       (unsigned long long)dl->sink->bytes);
	(void)curl_easy_setopt(dl->call.easy, CURLOPT_RANGE, text);
	if (dl->etag != NULL && dl->etag[0] == '"') {
		(void)snprintf(text, sizeof(text), "If-Range: %.200s", dl->etag);
		add_header(dl, text);
	}
	return MSD_OK;
}

static void set_options(struct msd_download *dl)
{
	CURL *easy = dl->call.easy;

	(void)curl_easy_setopt(easy, CURLOPT_URL, dl->way.url);
	dl->way.at.is_free = (dl->how.is_vouched && msd_redirects_is_begun(&dl->way)) ||
			     msd_network_options_is_free(dl->how.reach, dl->way.url);
	msd_address_check_set(&dl->gate, dl->how.reach, &dl->way.at, easy);
	(void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L * 1024L);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, dl);
}

static void ask(struct msd_download *dl)
{
	msd_err err = MSD_OK;

	dl->call.easy = curl_easy_init();
	dl->call.done = on_ended;
	dl->has_begun = false;
	if (dl->call.easy == NULL)
		err = msd_diag_no_memory(&dl->why);
	if (err == MSD_OK) {
		set_options(dl);
		if (dl->accept != NULL)
			add_header(dl, dl->accept);
		if (dl->authorization != NULL && msd_redirects_is_home(&dl->way))
			add_header(dl, dl->authorization);
		err = set_range(dl);
		(void)curl_easy_setopt(dl->call.easy, CURLOPT_HTTPHEADER, dl->headers);
	}
	dl->begun_bytes = dl->checked_bytes = dl->sink->bytes;
	if (err == MSD_OK)
		err = msd_net_begin(dl->net, &dl->call, &dl->why);
	if (err != MSD_OK) {
		end_attempt(dl);
		finish(dl, err);
		return;
	}
	dl->is_asking = true;
	dl->checked_ms = uv_now(dl->net->loop);
	(void)uv_timer_start(&dl->timer, on_stall_check, dl->how.stall_ms,
			     dl->how.stall_ms);
}

msd_err msd_download_begin(struct msd_download *dl, const char *url, struct msd_diag *d)
{
	const msd_err err =
		msd_redirects_begin(&dl->way, url, dl->how.reach->insecure, d);

	if (err != MSD_OK)
		return err;
	(void)uv_timer_init(dl->net->loop, &dl->timer);
	dl->timer.data = dl;
	(void)uv_timer_start(&dl->timer, on_rested, 0, 0);
	return MSD_OK;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct msd_download *dl = handle->data;

	dl->on_closed(dl);
}

void msd_download_close(struct msd_download *dl)
{
	end_attempt(dl);
	msd_redirects_finish(&dl->way);
	msd_diag_finish(&dl->why);
	free(dl->etag);
	free(dl->challenge);
	uv_close((uv_handle_t *)&dl->timer, on_timer_closed);
}
