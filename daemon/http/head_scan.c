#include "daemon/http/head_scan.h"

enum { FIRST, REQUEST, SPACE, REQUEST_CR, LINE, NAME, VALUE, VALUE_CR, LAST_CR, ENDED };

/* Token characters other than letters and digits: RFC 9110, 5.6.2. */
static bool is_token(uint8_t c)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	for (unsigned i = 0; i + 1 < sizeof(others); i++) {
		if (c == (uint8_t)others[i])
			return true;
	}
	return false;
}

static bool is_text(uint8_t c)
{
	return (c >= ' ' && c != 0x7f) || c == '\t';
}

static unsigned fail(struct msd_head_scan *h, const char *why)
{
	h->why = why;
	return ENDED;
}

/* In a text that ends by CR LF: the request line or a field's value. */
static unsigned in_text(struct msd_head_scan *h, uint8_t c, unsigned here,
			unsigned after_cr)
{
	if (is_text(c))
		return here;
	if (c == '\r')
		return after_cr;
	return fail(h, c == '\n' ? "a line ends without CR"
				 : "a control character in the head");
}

static unsigned expect_lf(struct msd_head_scan *h, uint8_t c, unsigned next)
{
	return c == '\n' ? next : fail(h, "a CR that ends no line");
}

static unsigned at_line(struct msd_head_scan *h, uint8_t c)
{
	if (c == '\r')
		return LAST_CR;
	if (c == ' ' || c == '\t')
		return fail(h, "a line that continues the one before");
	return is_token(c) ? NAME : fail(h, "the name of a field is not a token");
}

static unsigned in_name(struct msd_head_scan *h, uint8_t c)
{
	if (c == ':')
		return VALUE;
	if (c == ' ' || c == '\t')
		return fail(h, "a space before the colon of a field");
	return is_token(c) ? NAME : fail(h, "the name of a field is not a token");
}

/* In the request line: its parts are separated by single spaces. */
static unsigned in_request(struct msd_head_scan *h, uint8_t c)
{
	if (c == '\t' || (h->state == SPACE && (c == ' ' || c == '\r')))
		return fail(h, "more between the words of a request than one space");
	return c == ' ' ? SPACE : in_text(h, c, REQUEST, REQUEST_CR);
}

static unsigned step(struct msd_head_scan *h, uint8_t c)
{
	switch (h->state) {
	case FIRST:
		return c > ' ' && c < 0x7f ? REQUEST
					   : fail(h, "a request begins with a method");
	case REQUEST:
	case SPACE:
		return in_request(h, c);
	case REQUEST_CR:
	case VALUE_CR:
		return expect_lf(h, c, LINE);
	case LINE:
		return at_line(h, c);
	case NAME:
		return in_name(h, c);
	case VALUE:
		return in_text(h, c, VALUE, VALUE_CR);
	default:
		return expect_lf(h, c, ENDED);
	}
}

size_t msd_head_scan(struct msd_head_scan *h, struct msd_span s, bool *ret_ended)
{
	size_t i = 0;

	while (i < s.n && h->state != ENDED)
		h->state = step(h, s.p[i++]);
	*ret_ended = h->state == ENDED;
	return i;
}
