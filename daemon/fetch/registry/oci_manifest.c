#include "daemon/fetch/registry/oci_manifest.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* {"digest": "sha256:...", "size": n} */
static msd_err read_descriptor(const json_t *o, struct msd_oci_blob *ret,
			       struct msd_diag *d)
{
	const char *text = json_string_value(json_object_get(o, "digest"));
	const json_t *size = json_object_get(o, "size");
	const struct msd_span span = {(const uint8_t *)text,
				      text != NULL ? strlen(text) : 0};

	if (text == NULL || strncmp(text, "sha256:", 7) != 0 ||
	    !msd_digest_parse(span, &ret->digest) || !json_is_integer(size) ||
	    json_integer_value(size) < 0) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"the manifest has an entry without sha256 digest and size");
	}
	ret->bytes = (uint64_t)json_integer_value(size);
	return MSD_OK;
}

static const char *word_of(const json_t *object, const char *key)
{
	const char *word = json_string_value(json_object_get(object, key));

	return word != NULL ? word : "";
}

/* An entry without an architecture fits no machine. */
static struct msd_platform platform_of(const json_t *entry)
{
	const json_t *notes = json_object_get(entry, "annotations");

	return (struct msd_platform){
		.arch = word_of(json_object_get(entry, "platform"), "architecture"),
		.device = word_of(notes, MSD_OCI_DEVICE),
		.capability = word_of(notes, MSD_OCI_CAPABILITY)};
}

/* The best of the entries that fit; the first of equal ones. */
static const json_t *choose(const json_t *manifests,
			    const struct msd_platform_machine *m,
			    bool *ret_needs_devices)
{
	const json_t *best = NULL;
	struct msd_platform of_best = {0};

	for (size_t i = 0; i < json_array_size(manifests); i++) {
		const json_t *entry = json_array_get(manifests, i);
		const struct msd_platform is = platform_of(entry);
		const enum msd_platform_fit fit = msd_platform_fit(m, &is);

		if (fit == MSD_PLATFORM_UNKNOWN)
			*ret_needs_devices = true;
		if (fit != MSD_PLATFORM_SUITS ||
		    (best != NULL && !msd_platform_is_better(&is, &of_best)))
			continue;
		best = entry;
		of_best = is;
	}
	return best;
}

static msd_err read_index(const json_t *manifests, const struct msd_platform_machine *m,
			  struct msd_oci_manifest *ret, struct msd_diag *d)
{
	const json_t *best = choose(manifests, m, &ret->needs_devices);

	ret->is_index = true;
	if (ret->needs_devices)
		return MSD_OK;
	if (best != NULL)
		return read_descriptor(best, &ret->blob, d);
	return msd_platform_refuse(m, "the index has nothing for this machine", d);
}

/* The only layer with that media type; NULL if there is none or several. */
static const json_t *layer_of(const json_t *layers, const char *wanted)
{
	const json_t *found = NULL;

	for (size_t i = 0; i < json_array_size(layers); i++) {
		const json_t *layer = json_array_get(layers, i);
		const char *type =
			json_string_value(json_object_get(layer, "mediaType"));

		if (type == NULL || strcmp(type, wanted) != 0)
			continue;
		if (found != NULL)
			return NULL;
		found = layer;
	}
	return found;
}

static msd_err read_module(const json_t *manifest, const json_t *signature,
			   struct msd_oci_manifest *ret, struct msd_diag *d)
{
	msd_err err = read_descriptor(manifest, &ret->blob, d);

	ret->has_manifest = true;
	ret->has_signature = signature != NULL;
	if (err == MSD_OK && ret->has_signature)
		err = read_descriptor(signature, &ret->signature, d);
	return err;
}

static msd_err read_layer(const json_t *layer, struct msd_oci_layer *ret,
			  struct msd_diag *d)
{
	/* OCI's, ModelPack's, and what ModelPack had before. */
	static const char *const titles[] = {"org.opencontainers.image.title",
					     "org.cncf.model.filepath",
					     "org.cnai.model.filepath"};
	const json_t *notes = json_object_get(layer, "annotations");
	const char *title = "";

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles) && *title == '\0'; i++)
		title = word_of(notes, titles[i]);
	(void)snprintf(ret->title, sizeof(ret->title), "%s", title);
	ret->may_be_archive = strstr(word_of(layer, "mediaType"), ".tar") != NULL;
	return read_descriptor(layer, &ret->blob, d);
}

static msd_err read_layers(const json_t *layers, struct msd_oci_manifest *ret,
			   struct msd_diag *d)
{
	const size_t n = json_array_size(layers);
	msd_err err = MSD_OK;

	if (n == 0 || n > MSD_OCI_LAYERS) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "the manifest has %zu layers, expected 1 to %u", n,
				    MSD_OCI_LAYERS);
	}
	ret->layers = calloc(n, sizeof(*ret->layers));
	if (ret->layers == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < n; i++) {
		const json_t *entry = json_array_get(layers, i);
		struct msd_oci_layer *layer = &ret->layers[ret->n_layers];

		if (strcmp(word_of(entry, "mediaType"), MSD_OCI_MANIFEST_TYPE) == 0) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "it has several manifests of a module");
		}
		err = read_layer(entry, layer, d);
		ret->n_layers += err == MSD_OK && (layer->blob.bytes > 0 || n == 1);
	}
	if (err == MSD_OK && ret->n_layers == 0)
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "all its layers are empty");
	return err;
}

void msd_oci_manifest_finish(struct msd_oci_manifest *m)
{
	free(m->layers);
	m->layers = NULL;
	m->n_layers = 0;
}

msd_err msd_oci_manifest_read(struct msd_span json,
			      const struct msd_platform_machine *machine,
			      struct msd_oci_manifest *ret, struct msd_diag *d)
{
	json_t *root =
		json_loadb((const char *)json.p, json.n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *manifests = json_object_get(root, "manifests");
	const json_t *layers = json_object_get(root, "layers");
	const json_t *module = layer_of(layers, MSD_OCI_MANIFEST_TYPE);
	struct msd_oci_manifest m = {0};
	msd_err err;

	if (json_is_array(manifests)) {
		err = read_index(manifests, machine, &m, d);
	} else if (module != NULL) {
		err = read_module(module, layer_of(layers, MSD_OCI_SIGNATURE_TYPE), &m,
				  d);
	} else if (json_is_array(layers)) {
		err = read_layers(layers, &m, d);
	} else {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "it is not a manifest");
	}
	json_decref(root);
	if (err != MSD_OK) {
		msd_oci_manifest_finish(&m);
		return err;
	}
	*ret = m;
	return MSD_OK;
}
