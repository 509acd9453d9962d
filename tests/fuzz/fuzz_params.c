/* fuzz_params.c - arbitrary bytes as parameters.
 *
 * The first byte decides what the rest is: if even, lines of a name, a space and a
 * value to be set; if odd, the params section of a model file. A value that was set is
 * printed as a text that sets the same; a refused one is reported and leaves the
 * parameter as it was. Parameters that were set are printed as a text that parses to
 * the same.
 */
#include "base/base.h"
#include "params/params.h"
#include "fuzz_fixture.h"

enum { READ_BACK = 8 }; /* one case in this many, because it is slow */

static void set_one(tide_params *params, const char *name, const char *value)
{
    char before[TEXT_MAX], after[TEXT_MAX];
    tide_error err = {.text = ""};
    bool known = tide_params_text(params, name, before, sizeof before) >= 0;
    int status = tide_params_set(params, name, value, &err);
    must(known || status == TIDE_ERROR_PARAMETER);
    if (status)
        must_have_error_text(&err);
    if (!known)
        return;
    int length = tide_params_text(params, name, after, sizeof after);
    must(length >= 0 && length < TEXT_MAX);
    if (status) {
        must(strcmp(before, after) == 0);
        return;
    }
    tide_params first;
    memcpy(&first, params, sizeof first);
    must(tide_params_set(params, name, after, &err) == TIDE_OK);
    must(memcmp(&first, params, sizeof first) == 0);
}

static void set_all(tide_params *params, char *lines)
{
    for (char *value; (value = strsep(&lines, "\n"));) {
        const char *name = strsep(&value, " ");
        set_one(params, name, value ? value : "");
    }
}

static void read_back(const tide_params *params)
{
    tide_params *copy = tide_params_new(NULL);
    char *text = tide_params_print(params);
    must(copy && text && tide_params_scan(copy, text, "model", NULL) == TIDE_OK);
    free(text);
    tide_params_free(copy);
}

static void scan(tide_params *params, const char *text)
{
    tide_error err = {.text = ""};
    if (tide_params_scan(params, text, "model", &err)) {
        must(err.status == TIDE_ERROR_FORMAT);
        must_have_error_text(&err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tide_params *fresh;
    static tide_params params;
    if (!fresh)
        fresh = tide_params_new(NULL);
    must(fresh != NULL);
    if (size == 0)
        return 0;
    params = *fresh;
    char *text = strndup((const char *)data + 1, size - 1);
    must(text != NULL);
    if (data[0] & 1)
        scan(&params, text);
    else
        set_all(&params, text);
    if (!(data[0] & 1) && tide_hash(data, size, 0) % READ_BACK == 0)
        read_back(&params);
    free(text);
    return 0;
}
