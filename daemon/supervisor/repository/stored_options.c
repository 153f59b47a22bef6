#include "daemon/supervisor/repository/stored_options.h"

#include <stdio.h>

#include "daemon/supervisor/module/life/catalog.h"

msd_err msd_stored_options_put(const struct msd_load *load, struct msd_edition *e,
			       struct msd_diag *d)
{
	char device[MSD_DEVICE_LIST_TEXT_MAX], workers[16], batch[16], within[16];
	char max_run[16];
	const struct {
		const char *key, *value; /* NULL: not given */
	} options[] = {
		{"device", load->device_list.n > 0 ? device : NULL},
		{"workers",
		 load->workers > 1 || load->device_list.n > 1 ? workers : NULL},
		{"abi", msd_abi_word_name(load->era)},
		{"missing-weights", msd_fill_word_name(load->fill)},
		{"format", msd_model_word(load->words.format)},
		{"input", msd_model_word(load->words.input)},
		{"ignore-unknown-inputs", load->tvm_inputs ? "yes" : NULL},
		{"batch", load->batching.rows > 0 ? batch : NULL},
		{"batch-delay", load->batching.within_ms > 0 ? within : NULL},
		{"max-run", load->max_run.is_said ? max_run : NULL},
	};
	msd_err err = MSD_OK;

	(void)msd_device_list_format(&load->device_list, device);
	(void)snprintf(workers, sizeof(workers), "%u", load->workers);
	(void)snprintf(batch, sizeof(batch), "%u", load->batching.rows);
	(void)snprintf(within, sizeof(within), "%ums", load->batching.within_ms);
	(void)snprintf(max_run, sizeof(max_run), "%ums", load->max_run.ms);
	e->n_options = 0;
	for (size_t i = 0; err == MSD_OK && i < sizeof(options) / sizeof(options[0]);
	     i++) {
		if (options[i].value != NULL) {
			err = msd_edition_add_option(e, options[i].key,
						     options[i].value, d);
		}
	}
	return err;
}
