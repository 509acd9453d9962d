/* demo_settings.c - parses the settings of a demo stream,
 * "demo:seed=7,tokens=1e6,events=on".
 *
 *     seed      random seed (1)
 *     tokens    end after the line that reaches this number of tokens; 0: endless (0)
 *     hashtags  on or off: end every line with a hashtag (off)
 *     events    on or off: schedule events (off)
 *     pace      speed of the events; 2 is twice as fast as in demo_calendar.c (1)
 *     rate      words per second; 0: unlimited (0)
 *
 * Switches also accept 1 and 0.
 */
#include "demo/demo.h"

#include <errno.h>
#include <stdlib.h>

static const char prefix[] = "demo:";

static const float pace_min = 0.01f, pace_max = 100;
static const uint64_t rate_max = 1000000000;

bool tide_demo_is_spec(const char *spec)
{
    return strncmp(spec, prefix, sizeof prefix - 1) == 0;
}

/* Parses an integer, which may be written as 1e6 or 2.5e6. */
static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9' || text[strspn(text, "0123456789.e+")] != '\0')
        return false;
    *number = strtoull(text, &end, 10);
    if (*end == '\0')
        return errno == 0;
    double value = strtod(text, &end);
    if (*end != '\0' || value > 1e18)
        return false;
    *number = (uint64_t)value;
    return (double)*number == value;
}

static int set_number(const char *name, const char *text, void *value, tide_error *err)
{
    if (read_number(text, value))
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "demo: %s must be a whole number, not '%s'", name, text);
}

static int set_rate(const char *name, const char *text, void *value, tide_error *err)
{
    int status = set_number(name, text, value, err);
    if (status == TIDE_OK && *(uint64_t *)value > rate_max)
        status = tide_fail(err, TIDE_ERROR_PARAMETER,
                           "demo: %s must be at most 1e9, not '%s'", name, text);
    return status;
}

static int set_switch(const char *name, const char *text, void *value, tide_error *err)
{
    bool on = strcmp(text, "on") == 0 || strcmp(text, "1") == 0;
    *(bool *)value = on;
    if (on || strcmp(text, "off") == 0 || strcmp(text, "0") == 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_PARAMETER, "demo: %s must be on or off, not '%s'",
                     name, text);
}

static int set_pace(const char *name, const char *text, void *value, tide_error *err)
{
    float *pace = value;
    const char *end = tide_decimal_read(text, pace);
    if (end && *end == '\0' && *pace >= pace_min && *pace <= pace_max)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "demo: %s must be a number from 0.01 to 100, not '%s'", name,
                     text);
}

static const struct setting {
    const char *name;
    size_t offset;
    int (*apply_setting)(const char *name, const char *text, void *value,
                         tide_error *err);
} table[] = {
    {"seed", offsetof(tide_demo_settings, seed), set_number},
    {"tokens", offsetof(tide_demo_settings, tokens), set_number},
    {"hashtags", offsetof(tide_demo_settings, hashtags), set_switch},
    {"events", offsetof(tide_demo_settings, events), set_switch},
    {"pace", offsetof(tide_demo_settings, pace), set_pace},
    {"rate", offsetof(tide_demo_settings, rate), set_rate},
};

static int apply_setting(char *setting, tide_demo_settings *settings, tide_error *err)
{
    char *value = strchr(setting, '=');
    if (!value)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "demo: %s needs a value", setting);
    *value++ = '\0';
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(setting, table[i].name) == 0)
            return table[i].apply_setting(setting, value,
                                          (char *)settings + table[i].offset, err);
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "demo: unknown setting '%s' (expected seed, tokens, hashtags, "
                     "events, pace or rate)",
                     setting);
}

int tide_demo_settings_read(const char *spec, tide_demo_settings *settings,
                            tide_error *err)
{
    char text[256], *rest = text;
    *settings = (tide_demo_settings){.seed = 1};
    if (!tide_demo_is_spec(spec))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "'%s' is not a demo stream ('demo:...')", spec);
    spec += sizeof prefix - 1;
    if (strlen(spec) >= sizeof text)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "demo: settings are longer than 255 bytes");
    memcpy(text, spec, strlen(spec) + 1);
    int status = TIDE_OK;
    for (char *setting; status == TIDE_OK && (setting = strsep(&rest, ","));)
        if (*setting)
            status = apply_setting(setting, settings, err);
    if (status == TIDE_OK && settings->pace > 0 && !settings->events)
        status = tide_fail(err, TIDE_ERROR_PARAMETER, "demo: pace needs events=on");
    settings->pace = settings->pace > 0 ? settings->pace : 1;
    return status;
}
