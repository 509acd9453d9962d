/* fuzz_detect.c - detection never reads beyond the bytes, and a single line of text is
 * always text.
 *
 * The first byte says what is expected and whether more bytes may follow.
 */

#include "base/base.h"
#include "detect/detect.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* UTF-8 without line feeds or other control characters. */
static bool is_one_line(const unsigned char *bytes, size_t size)
{
    for (size_t at = 0, step; at < size; at += step) {
        step = tide_utf8_length(bytes + at, size - at);
        if (step == 0 || bytes[at] < 0x20 || bytes[at] == 0x7f)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    unsigned char *bytes = malloc(size); /* of the exact size, for AddressSanitizer */
    if (!bytes)
        abort();
    memcpy(bytes, data + 1, --size);
    tide_head head = {bytes, size, data[0] % 2};
    tide_expected expected = (tide_expected)(data[0] / 2 % 4);
    tide_detected found = tide_detect(head, expected);
    tide_error err = {0};
    if (found.kind && expected == TIDE_EXPECTED_ALL)
        abort();
    if (found.kind && is_one_line(bytes, size) &&
        (!head.whole || found.kind->content != TIDE_CONTENT_RECORDS))
        abort();
    if (found.kind &&
        (tide_detect_refuse(found.kind, head, "x", &err) != TIDE_ERROR_FORMAT ||
         err.text[0] == '\0'))
        abort();
    if (found.kind && head.whole && !tide_content_of(bytes, size, true, &err))
        abort();
    free(bytes);
    return 0;
}
