#include "daemon/supervisor/facts/exposition.h"

#include <string.h>

#include "proto/base/bytes.h"
#include "proto/base/utf8.h"

/* A scrape writes tens of thousands of lines on the daemon's loop, so this file
 * formats digits without printf. */

#define DIGITS_MAX 21u       /* digits of a uint64_t, and a decimal point */
#define FIRST_BUCKET_BIT 10u /* 2^10 ns, about 1 us */
#define LAST_BUCKET_BIT 34u  /* 2^34 ns, about 17 s */
#define BOUND_MAX 16u        /* characters of a bound */

/* Powers of two in seconds; they are most of the bytes of a scrape. */
static const char *const bounds[] = {
	"0.000001024", "0.000002048", "0.000004096", "0.000008192", "0.000016384",
	"0.000032768", "0.000065536", "0.000131072", "0.000262144", "0.000524288",
	"0.001048576", "0.002097152", "0.004194304", "0.008388608", "0.016777216",
	"0.033554432", "0.067108864", "0.134217728", "0.268435456", "0.536870912",
	"1.073741824", "2.147483648", "4.294967296", "8.589934592", "17.179869184"};

static void put_text(struct msd_buf *b, const char *text)
{
	msd_buf_put(b, text, strlen(text));
}

/* Write the digits of @value before @end; returns their first position. */
static char *put_digits(char *end, uint64_t value)
{
	do {
		*--end = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	return end;
}

/* Write @value in the base unit, that is, times 10^-@decimals, without trailing
 * zeros. */
static void put_number(struct msd_buf *b, uint64_t value, unsigned decimals)
{
	char text[DIGITS_MAX + 10];
	char *const end = text + sizeof(text);
	char *at = end;

	while (decimals > 0 && value % 10 == 0) {
		value /= 10;
		decimals--;
	}
	for (unsigned i = 0; i < decimals; i++, value /= 10)
		*--at = (char)('0' + value % 10);
	if (decimals > 0)
		*--at = '.';
	at = put_digits(at, value);
	msd_buf_put(b, at, (size_t)(end - at));
}

static unsigned decimals_of(enum msd_unit unit)
{
	static const unsigned decimals[] = {[MSD_UNIT_NONE] = 0,
					    [MSD_UNIT_US] = 6,
					    [MSD_UNIT_MS] = 3,
					    [MSD_UNIT_NS] = 9,
					    [MSD_UNIT_PERCENT] = 2};

	return decimals[unit];
}

/* Prometheus has three escapes. A byte that cannot be shown is replaced first: byte
 * 9b becomes the four characters \x9b, and then the backslash is escaped. */
static void put_escaped(struct msd_buf *b, const char *text)
{
	struct msd_span s = msd_span_of(text);

	while (s.n > 0) {
		const size_t n = strcspn((const char *)s.p, "\\\"\n");
		size_t run = msd_utf8_shown((struct msd_span){s.p, n});

		msd_buf_put(b, s.p, run);
		if (run == s.n)
			return;
		const uint8_t c = s.p[run++];
		if (run <= n) {
			msd_buf_printf(b, "\\\\x%02x", c);
		} else {
			put_text(b, c == '\n' ? "\\n" : c == '"' ? "\\\"" : "\\\\");
		}
		s.p += run;
		s.n -= run;
	}
}

/* Without the closing brace: a bucket has one more label. */
static void put_labels(struct msd_buf *b, const struct msd_label *labels, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put_text(b, i > 0 ? "," : "{");
		put_text(b, labels[i].name);
		put_text(b, "=\"");
		put_escaped(b, labels[i].value);
		put_text(b, "\"");
	}
}

/* Version 0.0.4 names a counter by its samples, OpenMetrics by the counted thing. */
static void put_name(const struct msd_exposition *x, const struct msd_family *f)
{
	put_text(x->out, f->name);
	if (f->kind == MSD_COUNTER && !x->is_openmetrics)
		put_text(x->out, "_total");
}

void msd_exposition_open(struct msd_exposition *x, const struct msd_family *f)
{
	static const char *const kinds[] = {[MSD_GAUGE] = "gauge",
					    [MSD_COUNTER] = "counter",
					    [MSD_HISTOGRAM] = "histogram"};

	put_text(x->out, "# HELP ");
	put_name(x, f);
	put_text(x->out, " ");
	put_text(x->out, f->help);
	put_text(x->out, "\n# TYPE ");
	put_name(x, f);
	put_text(x->out, " ");
	put_text(x->out, kinds[f->kind]);
	put_text(x->out, "\n");
}

void msd_exposition_put(struct msd_exposition *x, const struct msd_family *f,
			const struct msd_label *labels, size_t n, uint64_t value)
{
	put_text(x->out, f->name);
	if (f->kind == MSD_COUNTER)
		put_text(x->out, "_total");
	put_labels(x->out, labels, n);
	put_text(x->out, n > 0 ? "} " : " ");
	put_number(x->out, value, decimals_of(f->unit));
	put_text(x->out, "\n");
}

static void put_part(struct msd_exposition *x, const char *name,
		     const struct msd_buf *labels, const char *part, uint64_t value,
		     unsigned decimals)
{
	put_text(x->out, name);
	put_text(x->out, part);
	msd_buf_put(x->out, labels->p, labels->n);
	put_text(x->out, labels->n > 0 ? "} " : " ");
	put_number(x->out, value, decimals);
	put_text(x->out, "\n");
}

static uint8_t *copy(uint8_t *at, const void *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}

/* Write the lines of the buckets with a bound: @head, the bound, and the count below
 * it. */
static void put_buckets(struct msd_buf *b, const struct msd_buf *head,
			const struct msd_histogram *h)
{
	static const char between[] = "\"} ";
	const size_t n_lines = LAST_BUCKET_BIT - FIRST_BUCKET_BIT + 1;
	char number[DIGITS_MAX];
	char *const end = number + sizeof(number);
	uint64_t below = 0, written = UINT64_MAX;
	const char *digits = end;

	if (head->bad || !msd_buf_reserve(b, n_lines * (head->n + BOUND_MAX +
							sizeof(between) + DIGITS_MAX)))
		return;
	uint8_t *at = b->p + b->n;
	for (unsigned bit = 0; bit <= LAST_BUCKET_BIT; below += h->n[bit++]) {
		if (bit < FIRST_BUCKET_BIT)
			continue;
		const char *bound = bounds[bit - FIRST_BUCKET_BIT];
		if (below != written) { /* else the count is that of the line before */
			digits = put_digits(end, below);
			written = below;
		}
		at = copy(at, head->p, head->n);
		at = copy(at, bound, strlen(bound));
		at = copy(at, between, sizeof(between) - 1);
		at = copy(at, digits, (size_t)(end - digits));
		*at++ = '\n';
	}
	b->n = (size_t)(at - b->p);
}

void msd_exposition_put_times(struct msd_exposition *x, const struct msd_family *f,
			      const struct msd_label *labels, size_t n,
			      const struct msd_histogram *h, uint64_t sum_ns)
{
	struct msd_buf text = {0}, head = {0};
	const uint64_t total = msd_histogram_total(h);

	put_labels(&text, labels, n);
	put_text(&head, f->name);
	put_text(&head, "_bucket");
	msd_buf_put(&head, text.p, text.n);
	put_text(&head, n > 0 ? ",le=\"" : "{le=\"");
	put_buckets(x->out, &head, h);
	msd_buf_put(x->out, head.p, head.n);
	put_text(x->out, "+Inf\"} ");
	put_number(x->out, total, 0);
	put_text(x->out, "\n");
	put_part(x, f->name, &text, "_sum", sum_ns, 9);
	put_part(x, f->name, &text, "_count", total, 0);
	x->out->bad |= text.bad || head.bad;
	msd_buf_finish(&text);
	msd_buf_finish(&head);
}

void msd_exposition_close(struct msd_exposition *x)
{
	if (x->is_openmetrics)
		put_text(x->out, "# EOF\n");
}
