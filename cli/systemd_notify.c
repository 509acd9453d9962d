/* systemd_notify.c - the protocol of sd_notify(3), without libsystemd.
 *
 * A notification is a datagram of NAME=VALUE lines to the socket in NOTIFY_SOCKET,
 * which is a path or, after '@', an abstract name. WATCHDOG_USEC is the longest
 * interval between notifications that systemd tolerates from process WATCHDOG_PID; we
 * send them twice as often. Sending never blocks. A datagram that cannot be sent, for
 * example while systemd itself restarts, is sent again with the next call.
 */
#include "systemd_notify.h"
#include "output.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STATUS_SECONDS 10.0
#define LAST_SAVE_SECONDS 300 /* systemd waits this long between two notifications */

static struct {
    int socket; /* -1 if systemd expects no notifications */
    struct sockaddr_un address;
    socklen_t length;
    bool watchdog;   /* systemd's watchdog waits for us */
    double interval; /* seconds between notifications */
    double last;     /* time of the last notification */
    bool ending;     /* only the last save is left to do */
    bool sent_ready, sent_stopping;
    bool logged_failure;
} service = {.socket = -1};

static void log_failure_once(const char *reason)
{
    if (!service.logged_failure)
        log_message("cannot notify systemd: %s", reason);
    service.logged_failure = true;
}

static bool parse_address(const char *name)
{
    size_t length = strlen(name);
    if ((*name != '/' && *name != '@') || length < 2 ||
        length >= sizeof service.address.sun_path) {
        log_failure_once("NOTIFY_SOCKET is not a path or an abstract name");
        return false;
    }
    service.address.sun_family = AF_UNIX;
    memcpy(service.address.sun_path, name, length);
    /* The kernel marks abstract names with a zero; their length ends them. */
    if (*name == '@')
        service.address.sun_path[0] = 0;
    service.length =
        (socklen_t)(sizeof service.address - sizeof service.address.sun_path + length);
    return true;
}

/* A whole number in the environment; 0 if the variable is unset or invalid. */
static unsigned long long environment_number(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    errno = 0;
    unsigned long long number = text && *text != '-' ? strtoull(text, &end, 10) : 0;
    return end && end > text && !*end && !errno ? number : 0;
}

static void parse_watchdog(void)
{
    unsigned long long limit_us = environment_number("WATCHDOG_USEC");
    bool ours = !getenv("WATCHDOG_PID") ||
                environment_number("WATCHDOG_PID") == (unsigned long long)getpid();
    service.watchdog = limit_us > 0 && ours;
    service.interval = STATUS_SECONDS;
    if (service.watchdog && (double)limit_us / 2e6 < service.interval)
        service.interval = (double)limit_us / 2e6;
}

void systemd_open(void)
{
    static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC",
                                        "WATCHDOG_PID"};
    const char *name = getenv("NOTIFY_SOCKET");
    if (name && *name && parse_address(name)) {
        parse_watchdog();
        service.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (service.socket < 0)
            log_failure_once(strerror(errno));
    }
    /* Programs that this one starts must not speak for it. */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

bool systemd_is_due(bool ending)
{
    service.ending = service.ending || ending;
    bool state_changed = service.ending ? !service.sent_stopping : !service.sent_ready;
    return service.socket >= 0 &&
           (state_changed || tide_now_seconds() - service.last >= service.interval);
}

/* The line that reports a change of state, sent once per change. */
static const char *state_line(void)
{
    if (service.ending)
        return service.sent_stopping ? "" : "STOPPING=1\n";
    return service.sent_ready ? "" : "READY=1\n";
}

void systemd_notify(const char *status)
{
    char text[512], extension[64] = "";
    if (service.ending)
        snprintf(extension, sizeof extension, "EXTEND_TIMEOUT_USEC=%d000000\n",
                 LAST_SAVE_SECONDS);
    int size = snprintf(text, sizeof text, "%s%s%sSTATUS=%.256s\n", state_line(),
                        extension, service.watchdog ? "WATCHDOG=1\n" : "", status);
    if (sendto(service.socket, text, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *)&service.address, service.length) < 0) {
        if (errno != EAGAIN) /* the queue of the socket is full for the moment */
            log_failure_once(strerror(errno));
        return;
    }
    service.last = tide_now_seconds();
    service.sent_ready = true;
    service.sent_stopping = service.ending;
}
