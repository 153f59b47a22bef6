#include "daemon/supervisor/facts/exposition.h"

#include <string.h>

#include "proto/bytes.h"

/*
 * A scrape writes tens of thousands of lines on the daemon's loop, so that digits are
 * made here and not by printf.
 */

#define DIGITS_MAX 21u       /* of a uint64_t, and a point */
#define FIRST_BUCKET_BIT 10u /* 2^10 ns, some 1 us */
#define LAST_BUCKET_BIT 34u  /* 2^34 ns, some 17 s */

static void put_text(struct msd_buf *b, const char *text)
{
	msd_buf_put(b, text, strlen(text));
}

/* @value in the base unit, of which it is 10^-@decimals, without zeros at the end. */
static void put_number(struct msd_buf *b, uint64_t value, unsigned decimals)
{
	char text[DIGITS_MAX + 10];
	size_t at = sizeof(text);

	while (decimals > 0 && value % 10 == 0) {
		value /= 10;
		decimals--;
	}
	for (unsigned i = 0; i < decimals; i++, value /= 10)
		text[--at] = (char)('0' + value % 10);
	if (decimals > 0)
		text[--at] = '.';
	do {
		text[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	msd_buf_put(b, text + at, sizeof(text) - at);
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

static void put_escaped(struct msd_buf *b, const char *text)
{
	for (size_t n; *text != '\0'; text += n) {
		n = strcspn(text, "\\\"\n");
		msd_buf_put(b, text, n);
		if (text[n] == '\0')
			return;
		put_text(b, text[n] == '\n' ? "\\n" : text[n] == '"' ? "\\\"" : "\\\\");
		n++;
	}
}

/* Without the brace that closes it: a bucket has one label more. */
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

/* Version 0.0.4 names a counter by its samples, OpenMetrics by what they count. */
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

void msd_exposition_put_times(struct msd_exposition *x, const struct msd_family *f,
			      const struct msd_label *labels, size_t n,
			      const struct msd_histogram *h, uint64_t sum_ns)
{
	struct msd_buf text = {0};
	const uint64_t total = msd_histogram_total(h);
	uint64_t below = 0;

	put_labels(&text, labels, n);
	for (unsigned bit = 0; bit <= LAST_BUCKET_BIT; bit++) {
		if (bit >= FIRST_BUCKET_BIT) {
			put_text(x->out, f->name);
			put_text(x->out, "_bucket");
			msd_buf_put(x->out, text.p, text.n);
			put_text(x->out, n > 0 ? ",le=\"" : "{le=\"");
			put_number(x->out, UINT64_C(1) << bit, 9);
			put_text(x->out, "\"} ");
			put_number(x->out, below, 0);
			put_text(x->out, "\n");
		}
		below += h->n[bit];
	}
	put_text(x->out, f->name);
	put_text(x->out, "_bucket");
	msd_buf_put(x->out, text.p, text.n);
	put_text(x->out, n > 0 ? ",le=\"+Inf\"} " : "{le=\"+Inf\"} ");
	put_number(x->out, total, 0);
	put_text(x->out, "\n");
	put_part(x, f->name, &text, "_sum", sum_ns, 9);
	put_part(x, f->name, &text, "_count", total, 0);
	x->out->bad |= text.bad;
	msd_buf_finish(&text);
}

void msd_exposition_close(struct msd_exposition *x)
{
	if (x->is_openmetrics)
		put_text(x->out, "# EOF\n");
}
