#include "daemon/supervisor/module/stats/histogram.h"

uint64_t msd_histogram_total(const struct msd_histogram *h)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < MSD_HISTOGRAM_BINS; i++)
		total += h->n[i];
	return total;
}

uint64_t msd_histogram_quantile(const struct msd_histogram *h, unsigned percent)
{
	const uint64_t total = msd_histogram_total(h);
	double rank = (double)total * percent / 100.0;
	unsigned i = 0;

	if (total == 0)
		return 0;
	while (i + 1 < MSD_HISTOGRAM_BINS && (h->n[i] == 0 || rank > (double)h->n[i])) {
		rank -= (double)h->n[i];
		i++;
	}
	const double least = (double)(UINT64_C(1) << i);
	const double part = h->n[i] > 0 ? rank / (double)h->n[i] : 0;
	return (uint64_t)(least + least * part);
}
