#include "daemon/fetch/answer.h"

#include <stdlib.h>
#include <string.h>

static const char *header(CURL *easy, const char *name)
{
	struct curl_header *h;

	return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK
		       ? h->value
		       : NULL;
}

/* "bytes 100-199/200" */
static uint64_t range_start(const char *text)
{
	static const char unit[] = "bytes ";
	char *end;

	if (text == NULL || strncmp(text, unit, sizeof(unit) - 1) != 0)
		return UINT64_MAX;
	text += sizeof(unit) - 1;
	if (*text < '0' || *text > '9')
		return UINT64_MAX;
	const uint64_t from = strtoull(text, &end, 10);
	return *end == '-' ? from : UINT64_MAX;
}

struct msd_answer msd_answer_of(CURL *easy)
{
	struct msd_answer a = {0};
	curl_off_t bytes = -1, wait = 0;

	(void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &a.status);
	(void)curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &bytes);
	(void)curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
	a.bytes = bytes > 0 ? (uint64_t)bytes : 0;
	a.retry_after_s = wait > 0 ? (uint64_t)wait : 0;
	a.from = range_start(header(easy, "Content-Range"));
	a.etag = header(easy, "ETag");
	a.challenge = header(easy, "WWW-Authenticate");
	return a;
}

bool msd_answer_may_be_better(CURLcode rc)
{
	static const CURLcode passing[] = {
		CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_PARTIAL_FILE,
		CURLE_RECV_ERROR,           CURLE_SEND_ERROR,      CURLE_GOT_NOTHING,
		CURLE_OPERATION_TIMEDOUT,   CURLE_HTTP2,           CURLE_HTTP2_STREAM,
		CURLE_SSL_CONNECT_ERROR};

	for (unsigned i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		if (rc == passing[i])
			return true;
	}
	return false;
}
